"""Advice in errors of the data sources, in the words of their options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jellyframe.errors import Advice, JellyError

_SOURCES = {"open_reader": "jelly", "open_patch_reader": "jelly-patch"}


@contextmanager
def in_option_words() -> Iterator[None]:
    """Put the advice of errors into the words of the options of a data source."""
    try:
        yield
    except JellyError as error:
        if error.advice is None:
            raise
        message = f"{error.message}; {_option_words(error.advice)}"
        raise error.replace(message=message, advice=None) from error.__cause__


def _option_words(advice: Advice) -> str:
    if advice.kind == "limit":
        return f"raise the option {advice.name} if you trust the input"
    if advice.kind == "function" and advice.name in _SOURCES:
        return f'read it with format("{_SOURCES[advice.name]}")'
    if advice.kind == "argument" and advice.value in ("True", "False"):
        return f"set the option {advice.name} to {advice.value.lower()}"
    return str(advice)
