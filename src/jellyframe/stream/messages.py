"""Messages: a few statements as one bare frame, which something else delimits, such as a Kafka or gRPC message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jellyframe.errors import EncodeError
from jellyframe.kernel.objects_cy import build_statements
from jellyframe.options import Limits, StreamOptions
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import default_options, new_encoder

if TYPE_CHECKING:
    from jellyframe.terms import Quad, Triple


def dumps(statements: Iterable[Triple | Quad], options: StreamOptions | None = None) -> bytes:
    """One bare frame that stands by itself. Without `options` the first statement decides between triples and quads."""
    builder = build_statements(statements, None if options is None else options.has_graph)
    if options is None:
        options = default_options(has_graph=builder.has_graph)
    else:
        options.check()
    encoder = new_encoder(
        options.with_version(uses_1_1=False), frame_rows=None, frame_bytes=None, delimited=False, restart_every=None
    )
    try:
        encoder.encode(*builder.columns(), builder.terms, 0, builder.rows)
    except EncodeError as error:
        error.message, error.row = f"statement {error.row} of those given: {error.message}", None
        raise
    encoder.finish()
    return encoder.take_output()


def loads(data: bytes | bytearray | memoryview, *, limits: Limits | None = None) -> list[Triple | Quad]:
    """The statements of a message: of a bare frame, or of a whole delimited stream."""
    with open_reader(data, limits=limits) as reader:
        return [statement for batch in reader.batches() for statement in batch.statements()]
