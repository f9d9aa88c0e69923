"""Errors in the words of the command line: one line, with the options that help."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from jellyframe.cli.console import UsageError
from jellyframe.errors import Advice, JellyError, SettingError, clipped, how_to_install, split_advice

# Options of commands that have other names than the arguments of functions.
_SAVE = "save"
_NAMES_OF_ARGUMENTS = {
    "compare_format": "compare_to_format",
    "compare_dialect": "compare_to_dialect",
    "frame_rows": "rows_per_frame",
}


@contextmanager
def fitting_advice(arguments: argparse.Namespace) -> Iterator[None]:
    """Replace advice about an option that the running command does not have, and the names of settings by options."""
    try:
        yield
    except SettingError as error:
        from jellyframe.cli.stream_options import STREAM_OPTIONS

        name = _NAMES_OF_ARGUMENTS.get(error.setting, error.setting)
        # Else it is a setting in a file.
        is_given = getattr(arguments, name, None) is not None and not error.place()
        if not is_given or not error.message.startswith(error.setting):
            raise
        option = _option(name, is_stream_option=name in STREAM_OPTIONS)
        raise error.replace(message=f"{option}{error.message.removeprefix(error.setting)}") from error.__cause__
    except JellyError as error:
        advice = error.advice
        if advice is None or advice.kind != "argument" or hasattr(arguments, _option_name(advice)):
            raise
        if advice.name != "dialect":
            raise error.replace(advice=None) from error.__cause__
        dialect = advice.value.strip("'")
        message = f"{error.message}; rewrite it with `jellyframe rdf transcode --dialect {dialect}`, and use that file"
        raise error.replace(message=message, advice=None) from error.__cause__


def describe(error: Exception) -> str:
    """Return an error as one line: the position, the problem, and what to do."""
    if isinstance(error, JellyError):
        return error.describe(option_words)
    if isinstance(error, UsageError):
        return clipped(str(error))
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, ModuleNotFoundError) and (command := how_to_install(error)) is not None:
        return f"this needs the package {error.name}: {command}"
    if isinstance(error, MemoryError):
        return "out of memory"
    return f"{type(error).__name__}: {clipped(str(error))} (a mistake in jellyframe; --debug shows where)"


def reworded(text: str) -> str:
    """Return the text of an error with its advice in the words of the command line."""
    message, advice = split_advice(text)
    return message if advice is None else f"{message}; {option_words(advice)}"


def option_words(advice: Advice) -> str:
    """Return an advice in the words of the command line."""
    if advice.kind == "limit":
        return f"raise it with --limit {advice.name}=… if you trust the input"
    if advice.kind == "function":
        return f"read it with `{advice.value}`"
    option = _option(_option_name(advice), is_stream_option=advice.kind == "stream option")
    if not advice.value:
        return f"raise {option}"
    if advice.value == "True" or advice.name == _SAVE:
        return f"use {option}"
    value = advice.value.lower() if advice.value == "False" else advice.value.strip("'")
    return f"use {option}={value}"


def _option(name: str, *, is_stream_option: bool) -> str:
    return f"--{'opt.' if is_stream_option else ''}{name.replace('_', '-')}"


def _option_name(advice: Advice) -> str:
    """Return the name of the option that an argument is on the command line, where each way to save is a switch."""
    if advice.name == _SAVE:
        return advice.value.strip("'")
    return _NAMES_OF_ARGUMENTS.get(advice.name, advice.name)
