"""Messages: a few statements as one bare frame, which something else delimits, such as a Kafka or gRPC message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jellyframe.options import DialectName, Limits, StreamOptions
from jellyframe.stream.encoder import StreamEncoder
from jellyframe.stream.reader import open_reader
from jellyframe.stream.statements import encode_statements

if TYPE_CHECKING:
    from jellyframe.terms import Quad, Triple


def dumps(
    statements: Iterable[Triple | Quad], options: StreamOptions | None = None, *, dialect: DialectName = "released"
) -> bytes:
    """Return statements as one self-contained bare frame.

    Args:
        statements: triples, or quads
        options: the options of the frame; by default any statement is allowed, and the first one decides between
            triples and quads
        dialect: `released`, or `draft` for the draft of the format

    Raises:
        EncodeError: if a statement cannot be written
        OptionsError: if the options are invalid
    """
    encoder = StreamEncoder(options, delimited=False, dialect=dialect)
    for _ in encode_statements(encoder, statements):
        # A bare frame is ready when it is finished, not before.
        pass
    encoder.finish()
    return encoder.take()


def loads(
    data: bytes | bytearray | memoryview, *, limits: Limits | None = None, dialect: DialectName = "released"
) -> list[Triple | Quad]:
    """Return the statements of a message: of a bare frame, or of a whole delimited stream.

    Args:
        data: the message
        limits: the limits for untrusted input, see `Limits`
        dialect: `released`, or `draft` for the draft of the format

    Raises:
        ParseError: if the bytes break a rule of the format
        LimitError: if the message asks for more than the limits allow
    """
    with open_reader(data, limits=limits, dialect=dialect) as reader:
        return [statement for batch in reader.batches() for statement in batch.statements()]
