"""Unwrap errors of workers, which Spark passes on as text inside its own errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from jellyframe.errors import JellyError, split_advice

# The last line of a traceback, with an error of jellyframe or any other.
_OUR_ERROR = re.compile(r"^\s*jellyframe\.[\w.]+\.(\w+Error): (.+)$", re.MULTILINE)
_OTHER_ERROR = re.compile(r"^\s*((?:\w+\.)*\w+(?:Error|Exception)): (.+)$", re.MULTILINE)
_SPARK = ("pyspark", "py4j", "grpc")


class JobError(JellyError):
    """A Spark job failed for a reason other than its input."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise errors of Spark inside the block as errors of jellyframe with a message of one line."""
    try:
        yield
    except JellyError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(_SPARK):
            raise
        raise plain_error(error) from error


def plain_error(error: Exception) -> JellyError:
    """Return the worker's error that a Spark error wraps, or else an error with the first line of the Spark error."""
    text = str(error)
    ours = _OUR_ERROR.findall(text)
    if ours:
        kind, text = ours[-1]
        message, advice = split_advice(text.rstrip())
        return _kinds().get(kind, JobError)(message, advice=advice)
    _, traceback, rest = text.partition("Traceback (most recent call last):")
    others = _OTHER_ERROR.findall(rest) if traceback else []
    if others:
        return JobError(f"a task failed: {': '.join(others[0])}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return JobError(f"Spark: {lines[0] if lines else type(error).__name__}")


def _kinds() -> dict[str, type[JellyError]]:
    """Return the error classes of jellyframe by name."""
    from jellyframe import errors
    from jellyframe.ops.bad_input import MissingFileError

    found = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, JellyError)]
    return {kind.__name__: kind for kind in (*found, MissingFileError)}
