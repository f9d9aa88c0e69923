"""Every error that bad input, bad options or bad data can cause, in one tree rooted in `JellyError`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing import Self, Unpack

# Messages may quote data, but never megabytes of it.
MAX_MESSAGE_LENGTH = 1000
_MESSAGE_HEAD, _MESSAGE_TAIL = 700, 200
_ErrorT = TypeVar("_ErrorT", bound="JellyError")


class Advice(NamedTuple):
    """The setting that helps against an error: each user interface has its own words for it.

    `kind` says what the setting belongs to: `Limits`, `StreamOptions`, or the arguments of the function that was
    called. `value` is what to set it to; empty where it is a number to raise. Of the kind `function` it is no setting,
    but the function that reads such input, and the command that does.
    """

    kind: Literal["limit", "stream option", "argument", "function"]
    name: str
    value: str = ""

    def __str__(self) -> str:
        """Return the advice in the words of the Python interface."""
        if self.kind == "limit":
            return f"raise Limits.{self.name} if you trust the input"
        if self.kind == "function":
            return f"read it with {self.name} or `{self.value}`"
        place = " in the options" if self.kind == "stream option" else ""
        return f"set {self.name}={self.value}{place}" if self.value else f"raise {self.name}{place}"


# Patterns are compiled when they are first used: every program that starts imports this module.
_LIMIT_ADVICE = r"; raise Limits\.(\w+) if you trust the input$"
_FUNCTION_ADVICE = r"; read it with (\w+) or `([\w ]+)`$"
_SETTING_ADVICE = r"; (?:set (\w+)=(\S+)|raise (\w+))( in the options)?$"


def split_advice(text: str) -> tuple[str, Advice | None]:
    """Return the text of an error without the advice at its end, and that advice.

    Of an error in another process there is only the text. Other user interfaces say the advice in their own words.
    """
    if found := re.search(_LIMIT_ADVICE, text):
        return text[: found.start()], Advice("limit", found[1])
    if found := re.search(_FUNCTION_ADVICE, text):
        return text[: found.start()], Advice("function", found[1], found[2])
    if found := re.search(_SETTING_ADVICE, text):
        kind: Literal["stream option", "argument"] = "stream option" if found[4] else "argument"
        return text[: found.start()], Advice(kind, found[1] or found[3], found[2] or "")
    return text, None


@contextmanager
def advising(argument: str, *, in_place_of: str) -> Iterator[None]:
    """Have errors advise an argument by the name that the caller has for it."""
    try:
        yield
    except JellyError as error:
        if error.advice is None or error.advice[:2] != ("argument", in_place_of):
            raise
        raise error.replace(advice=error.advice._replace(name=argument)) from error.__cause__


@contextmanager
def locating(source: str | None) -> Iterator[None]:
    """Name the `source` in errors that are raised inside this and do not name one."""
    try:
        yield
    except JellyError as error:
        if error.source is not None:
            raise
        raise error.replace(source=source) from error.__cause__


class ErrorParts(TypedDict, total=False):
    """Parts of an error that `JellyError.replace` changes. Only a `TextError` has `line` and `column`."""

    message: str
    source: str | None
    frame: int | None
    row: int | None
    offset: int | None
    line: int | None
    column: int | None
    advice: Advice | None


class JellyError(ValueError):
    """Something about the data, the options or the limits is wrong; the message says what and where.

    `source`, `frame`, `row` and `offset` hold the place as far as it is known: the name of the input, the number of the
    frame in it and of the row in that frame (both from 0), and the offset in bytes in the (uncompressed) input.
    `advice` names the setting that helps, if there is one. Errors are not changed once they are made: `located` and
    `replace` return another one.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        frame: int | None = None,
        row: int | None = None,
        offset: int | None = None,
        advice: Advice | None = None,
    ) -> None:
        message = clipped(message)
        super().__init__(message)
        self.message = message
        self.source = source
        self.frame = frame
        self.row = row
        self.offset = offset
        self.advice = advice

    def located(
        self,
        *,
        source: str | None = None,
        frame: int | None = None,
        row: int | None = None,
        offset: int | None = None,
    ) -> Self:
        """Return this error with its position, if it has none.

        Args:
            source: the name of the input
            frame: the number of the frame
            row: the number of the row in the frame
            offset: the offset in bytes
        """
        return self.replace(
            source=source if self.source is None else self.source,
            frame=frame if self.frame is None else self.frame,
            row=row if self.row is None else self.row,
            offset=offset if self.offset is None else self.offset,
        )

    def replace(self, **changes: Unpack[ErrorParts]) -> Self:
        """Return an error of the same class with some parts changed, raised from the same place.

        Args:
            changes: the parts to change, by name
        """
        message = changes.get("message", self.message)
        copy = _rebuild(type(self), message, {**self.__dict__, **changes, "message": clipped(message)})
        return copy.with_traceback(self.__traceback__)

    def place(self) -> str:
        """Return the position of the error as text; empty if nothing is known."""
        words = ", ".join(f"{name} {number}" for name, number in self._position().items() if number is not None)
        return ": ".join(part for part in (self.source, words) if part)

    def _position(self) -> dict[str, int | None]:
        return {"frame": self.frame, "row": self.row, "byte": self.offset}

    def reason(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the message and the advice.

        Args:
            wording: puts advice into the words of a user interface
        """
        return self.message if self.advice is None else f"{self.message}; {wording(self.advice)}"

    def describe(self, wording: Callable[[Advice], str] = str) -> str:
        """Return the place, the message and the advice.

        Args:
            wording: puts advice into the words of a user interface
        """
        place = self.place()
        return f"{place}: {self.reason(wording)}" if place else self.reason(wording)

    def __str__(self) -> str:
        return self.describe()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, dict(self.__dict__)))


def _rebuild(kind: type[_ErrorT], message: str, state: dict[str, object]) -> _ErrorT:
    """Unpickle an error: places are keyword arguments, which the default way would lose."""
    error = kind(message)
    error.__dict__.update(state)
    return error


class ParseError(JellyError):
    """The bytes break a rule of the Jelly format."""


class LimitError(JellyError):
    """The input asks for more than the limits allow; raise the limit if you trust the input."""


class OptionsError(JellyError):
    """Stream options that are invalid, do not fit together, or differ where they have to be equal."""


class SettingError(OptionsError):
    """A value that a setting cannot have. `setting` is the name of the setting, which most messages begin with.

    User interfaces put their own name of the setting in its place.
    """

    def __init__(self, message: str, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class StreamKindError(OptionsError):
    """A stream of the other kind: of patches where statements are read, or of statements where patches are."""


class EncodeError(JellyError):
    """A statement that cannot be written with the options of the stream."""


class NamedGraphError(EncodeError):
    """A statement in a named graph, where only triples, or statements in the default graph, can be written."""


class TermError(JellyError):
    """A term that RDF does not have, such as a literal with an empty language."""


class TextError(JellyError):
    """Text that is not N-Triples or N-Quads. `line` and `column` count from 1, columns in characters."""

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        source: str | None = None,
        offset: int | None = None,
        advice: Advice | None = None,
    ) -> None:
        super().__init__(message, source=source, offset=offset, advice=advice)
        self.line = line
        self.column = column

    def _position(self) -> dict[str, int | None]:
        return {"line": self.line, "column": self.column}


class TableError(JellyError):
    """An Arrow table whose columns do not hold statements in a layout that we know."""


class UsageError(JellyError):
    """A reader or writer that is used after it was closed or by two threads at a time, or a batch of the wrong kind."""


class KernelError(JellyError):
    """The kernel that was asked for is not there."""


class MissingPackageError(OptionsError, ImportError):
    """A package that only some need is not installed; the message has the command that installs it."""


class StorageError(JellyError, OSError):
    """A file does not exist, cannot be accessed, or cannot be written."""


class RemoteError(JellyError):
    """A server cannot be reached, has closed the connection, or has refused the request.

    `status` is the name of the gRPC status, such as `UNAVAILABLE` or `INVALID_ARGUMENT`.
    """

    def __init__(
        self, message: str, *, status: str = "UNKNOWN", source: str | None = None, advice: Advice | None = None
    ) -> None:
        super().__init__(message, source=source, advice=advice)
        self.status = status


def shortened(text: str) -> str:
    """Return a string as a message quotes it: with its quotation marks, and not all of it if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def clipped(text: str) -> str:
    """Return text as it is, or its beginning and its end if it is too long for a message."""
    if len(text) <= MAX_MESSAGE_LENGTH:
        return text
    left_out = len(text) - _MESSAGE_HEAD - _MESSAGE_TAIL
    return f"{text[:_MESSAGE_HEAD]} … ({left_out} characters) … {text[-_MESSAGE_TAIL:]}"


def short_line(line: str) -> str:
    """Return the line of a statement as a message quotes it: not all of it if it is long."""
    return line if len(line) <= 300 else f"{line[:200]} … ({len(line) - 260} characters) … {line[-60:]}"


def display_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as text that can be written in UTF-8: bytes that are not UTF-8 become `\\xNN`.

    The user and the password of a URI are left out.
    """
    name = os.fspath(path)
    if "@" in name:
        name = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+://)[^/?#]*@", r"\1", name)
    if name.isascii():
        return name
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    """Return text on one line, with nothing in it that a terminal would obey; lone surrogates become escapes."""
    return "".join(letter if letter.isprintable() else " " for letter in display_name(text))


# Errors in the content of a file. Failures of the storage may be temporary, so they always stop a read.
BAD_INPUT = (ParseError, LimitError, OptionsError)

# The packages that a plain installation lacks, and the extra that brings each.
_EXTRA_OF_PACKAGE = {
    "confluent_kafka": "kafka",
    "duckdb": "duckdb",
    "google": "proto",
    "grpc": "grpc",
    "grpc_health": "grpc",
    "grpc_reflection": "grpc",
    "networkx": "networkx",
    "numpy": "tables",
    "pandas": "pandas",
    "polars": "polars",
    "prometheus_client": "grpc",
    "pyoxigraph": "pyoxigraph",
    "pyspark": "spark",
    "rdflib": "rdflib",
    "shtab": "cli",
    "uvicorn": "http",
}


def how_to_install(error: ModuleNotFoundError) -> str | None:
    """Return the command that installs the package that was not found, if it comes with an extra of ours."""
    extra = _EXTRA_OF_PACKAGE.get((error.name or "").partition(".")[0])
    return None if extra is None else f"pip install 'jellyframe[{extra}]'"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Import packages that come with an extra, inside this: one that is not there becomes a MissingPackageError.

    Args:
        what: what needs them, as the error says it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        command = how_to_install(error)
        if command is None:
            raise
        raise MissingPackageError(f"{what} needs {error.name}, which is not installed: {command}") from None
