"""Read and write N-Triples and N-Quads.

    for batch in ntriples.read("people.nt.gz"):
        ...
    ntriples.write(reader.batches(), "people.nq")

Reading follows the W3C grammars exactly, with quoted triples, `<< s p o >>`, as subject and object. The text that is
written is canonical. Terms that are not valid in N-Triples are written as valid text: a character that is not allowed
in IRIs becomes an escape, and an invalid label of a blank node is written in hexadecimal, `_:hex-…` (so is a label
that begins like that, so that different labels stay different). Only an IRI that is not absolute is written
unchanged, for lenient reading, and an invalid language tag is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, overload

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import EncodeError, LimitError, OptionsError, TextError, locating
from jellyframe.formats.settings import BatchInput, BatchOutput, ReadSettings, WriteSettings
from jellyframe.formats.text_reading import TextReader
from jellyframe.kernel.memory_cy import Memory
from jellyframe.options import Limits, check_batch_rows
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Compression, Sink, Source

if TYPE_CHECKING:
    from jellyframe.formats.registry import Format
    from jellyframe.kernel.table_cy import StringTable

    # Makes lines of rows from the texts of their terms, and returns the lines and the row at which they end.
    WriteLines: TypeAlias = Callable[[StringTable, int, int], tuple[memoryview, int]]

__all__ = ["read", "write"]

# Rows per text buffer, and bytes.
LINES_ROWS = 8192
LINES_BYTES = 8 << 20
# The limit for the texts of the terms of one batch; above that, lines are written without them.
TEXTS_BYTES = 64 << 20

_TRIPLES_NAME = re.compile(r"\.(nt|ntriples)(\.\w+)?$", re.IGNORECASE)
_QUADS_NAME = re.compile(r"\.(nq|nquads)(\.\w+)?$", re.IGNORECASE)


def read(
    source: Source,
    *,
    quads: bool | None = None,
    generalized: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    lenient: bool = False,
    limits: Limits | None = None,
    on_error: Callable[[TextError], object] | None = None,
) -> Iterator[Batch]:
    """Read N-Triples or N-Quads text, batch by batch.

    Args:
        source: a path, a URI, bytes, or a binary file object; gzip and Zstandard are detected
        quads: whether statements may have a graph, so that batches have a column `g`. By default the name of the file
            decides, if it ends in .nt or .nq, with or without .gz or .zst; otherwise the first batch decides: if none
            of its lines has a graph, the text is N-Triples
        generalized: whether any term may be at any position, except a quoted triple as graph
        batch_rows: the maximum number of statements in a batch
        lenient: accept IRIs that are not absolute
        limits: the limits for untrusted input, such as the depth of quoted triples
        on_error: a function that is called with the error of each bad line, which is then skipped

    Raises:
        TextError: if the text is invalid, with line and column, unless there is an `on_error`
    """
    check_batch_rows(batch_rows)
    return _read(source, quads, generalized, batch_rows, lenient, limits or Limits(), on_error)


def _read(
    source: Source,
    quads: bool | None,
    generalized: bool,
    batch_rows: int,
    lenient: bool,
    limits: Limits,
    on_error: Callable[[TextError], object] | None,
) -> Iterator[Batch]:
    with ByteSource(source, limits) as file:
        if quads is None:
            quads = _quads_by_name(file.name)
        # Imported here, as the kernels below: most programs either read text or write it.
        from jellyframe.kernel.ntriples_parse_cy import TextParser

        parser = TextParser(quads is not False, generalized, limits.max_nesting_depth, on_error, lenient)
        text = TextReader(file, parser, quads=quads is not False)
        with locating(file.name):
            for builder in text.builders(batch_rows):
                if quads is None:
                    quads = text.quads = parser.quads = parser.graphs > 0
                yield Batch.from_builder(builder).fitted(has_graph=quads)


def _quads_by_name(name: str | None) -> bool | None:
    name = os.path.basename(name or "")
    if _QUADS_NAME.search(name):
        return True
    return False if _TRIPLES_NAME.search(name) else None


def open_input(source: Source, found: Format, settings: ReadSettings) -> BatchInput:
    """Open N-Triples or N-Quads as batches: an entry of the registry."""
    return _Input(source, found, settings)


class _Input(BatchInput):
    def __init__(self, source: Source, found: Format, settings: ReadSettings) -> None:
        self._batches = read(
            source,
            quads=found.has_graphs,
            generalized=settings.generalized,
            lenient=settings.lenient,
            batch_rows=settings.batch_rows,
            limits=settings.limits,
            on_error=settings.on_error,
        )

    def batches(self) -> Iterator[Batch]:
        return self._batches


def open_output(sink: ByteSink, _found: Format, _settings: WriteSettings) -> BatchOutput:
    """Open a sink for N-Triples or N-Quads: an entry of the registry."""
    return _Output(sink)


class _Output(BatchOutput):
    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink
        self._memory = Memory()

    def write(self, batch: Batch) -> None:
        for lines in text_pieces(batch, memory=self._memory):
            self._sink.write(lines)


@overload
def write(batches: Batch | Iterable[Batch], sink: None = None, *, compression: None = None) -> bytes: ...
@overload
def write(batches: Batch | Iterable[Batch], sink: Sink, *, compression: Compression | None = None) -> None: ...
def write(
    batches: Batch | Iterable[Batch], sink: Sink | None = None, *, compression: Compression | None = None
) -> bytes | None:
    """Write batches as N-Triples or, if they have graphs, as N-Quads.

    Args:
        batches: one batch, or several
        sink: a path, at which the file appears whole or not at all, or a binary file object; by default the text is
            returned
        compression: `gzip`, `zstd` or None

    Raises:
        OptionsError: if there is a compression and no sink
    """
    if isinstance(batches, Batch):
        batches = (batches,)
    if sink is None and compression is None:
        return b"".join(_lines(batches))
    if sink is None:
        raise OptionsError(f"compression={compression!r} needs a sink to write to")
    with ByteSink(sink, compression) as file:
        for lines in _lines(batches):
            file.write(lines)
    return None


def _lines(batches: Iterable[Batch]) -> Iterator[memoryview]:
    memory = Memory()
    for batch in batches:
        yield from text_pieces(batch, memory=memory)


def text_pieces(
    batch: Batch, start: int = 0, stop: int | None = None, *, memory: Memory | None = None
) -> Iterator[memoryview]:
    """Return the rows `start` to `stop` as N-Triples or N-Quads, in pieces of up to about 8 MiB, cut anywhere."""
    from jellyframe.kernel.line_write_cy import write_lines

    def write(strings: StringTable, start: int, stop: int) -> tuple[memoryview, int]:
        return write_lines(*batch.columns, strings, start, stop, LINES_BYTES, memory)

    return line_pieces(batch, start, len(batch) if stop is None else stop, write, memory)


def line_pieces(
    batch: Batch, start: int, stop: int, write: WriteLines, memory: Memory | None, ops: memoryview | None = None
) -> Iterator[memoryview]:
    """Yield rows as lines, in pieces of up to about 8 MiB, cut anywhere.

    `write` makes the lines of as many rows as fit into one piece from the texts of their terms. If these would take
    too much memory, the lines are made without them, with the operations `ops` if the rows are those of a patch.
    """
    strings = _bounded_texts(batch, memory)
    while strings is not None and start < stop:
        try:
            lines, start = write(strings, start, min(start + LINES_ROWS, stop))
        except EncodeError as error:
            # The rows before the refused one are written.
            yield from line_pieces(batch, start, start if error.row is None else error.row, write, memory, ops)
            raise
        if not lines:
            break
        yield lines
    if start < stop:
        from jellyframe.kernel.ntriples_stream_cy import LineStream

        stream = LineStream(batch.columns, batch.terms, start, stop, LINES_BYTES, ops)
        while piece := stream.next_piece():
            yield piece


def _bounded_texts(batch: Batch, memory: Memory | None) -> StringTable | None:
    """Return the texts of the terms of a batch; None if they would take too much memory."""
    from jellyframe.kernel.ntriples_write_cy import term_strings

    if batch.terms.text_bytes() <= TEXTS_BYTES:
        # Escapes may make them longer.
        with suppress(LimitError):
            return term_strings(batch.terms, memory, 0, TEXTS_BYTES, batch.columns)
    return None
