"""Every error that bad input, bad options or bad data can cause, in one tree rooted in `JellyError`."""

from __future__ import annotations


class JellyError(ValueError):
    """Something about the data, the options or the limits is wrong; the message says what and where.

    `source`, `frame`, `row` and `offset` hold the place as far as it is known: the name of the input, the number of the
    frame in it and of the row in that frame (both from 0), and the offset in bytes in the (uncompressed) input.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        frame: int | None = None,
        row: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.frame = frame
        self.row = row
        self.offset = offset

    def place(self) -> str:
        """Where it happened, in words; empty when nothing is known."""
        parts = (("frame", self.frame), ("row", self.row), ("byte", self.offset))
        words = ", ".join(f"{name} {number}" for name, number in parts if number is not None)
        return ": ".join(part for part in (self.source, words) if part)

    def __str__(self) -> str:
        place = self.place()
        return f"{place}: {self.message}" if place else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, dict(self.__dict__)))


def _rebuild(kind: type[JellyError], message: str, state: dict[str, object]) -> JellyError:
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
    ) -> None:
        super().__init__(message, source=source, offset=offset)
        self.line = line
        self.column = column

    def place(self) -> str:
        parts = (("line", self.line), ("column", self.column))
        words = ", ".join(f"{name} {number}" for name, number in parts if number is not None)
        return ": ".join(part for part in (self.source, words) if part)


class TableError(JellyError):
    """An Arrow table whose columns do not hold statements in a layout that we know."""


class KernelError(JellyError):
    """The kernel that was asked for is not there."""


def shortened(text: str) -> str:
    """A string as a message quotes it: with its quotation marks, and not all of it if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def one_line(text: str) -> str:
    """Text from who knows where on one line, with nothing in it that a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
