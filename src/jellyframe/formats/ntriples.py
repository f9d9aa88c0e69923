"""N-Triples and N-Quads: text to batches and back.

    for batch in ntriples.read("people.nt.gz"):
        ...
    ntriples.write(reader.batches(), "people.nq")

Reading follows the W3C grammars to the letter, and knows quoted triples, `<< s p o >>`, as subject and object. Writing
gives canonical N-Triples. What Jelly can hold and N-Triples cannot is written so that the text is still valid: a
character that IRIs may not hold becomes an escape, and a blank node label that is no label is spelled in hexadecimal,
`_:hex-…` (so is a label that begins like that, so that different labels stay different). Only an IRI that is not
absolute is written as it is, and a language tag that is none is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from jellyframe.batch import Batch
from jellyframe.errors import JellyError, LimitError, OptionsError, TextError
from jellyframe.kernel.memory_cy import Memory
from jellyframe.kernel.ntriples_parse_cy import TextParser
from jellyframe.kernel.ntriples_stream_cy import LineStream
from jellyframe.kernel.ntriples_write_cy import term_strings, write_lines
from jellyframe.kernel.table_cy import BatchBuilder, TermTable
from jellyframe.options import Limits
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource

__all__ = ["read", "write"]

DEFAULT_BATCH_ROWS = 16_384
# What the terms of one batch may take, so that long literals do not make a batch large without bound.
BATCH_BYTES = 32 << 20
# Rows per text buffer, and bytes.
LINES_ROWS = 8192
LINES_BYTES = 8 << 20
# What the texts of the terms of one batch may take; beyond that, lines are written without them.
TEXTS_BYTES = 64 << 20
# What a line takes in most data; only used to guess how large a table will be.
USUAL_LINE_BYTES = 100

_TRIPLES_NAME = re.compile(r"\.(nt|ntriples)(\.\w+)?$", re.IGNORECASE)
_QUADS_NAME = re.compile(r"\.(nq|nquads)(\.\w+)?$", re.IGNORECASE)


def read(
    source: Any,
    *,
    quads: bool | None = None,
    generalized: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    max_depth: int = 64,
    limits: Limits | None = None,
    on_error: Callable[[TextError], object] | None = None,
) -> Iterator[Batch]:
    """Read N-Triples or N-Quads text, batch by batch.

    `source` is a path, bytes, or a binary file object; gzip and Zstandard are recognised and inflated, within `limits`.

    `quads` says whether statements may have a graph, and so whether batches have a column `g` (the default graph stands
    there where a line has none). By default the name of the file tells, if it ends in .nt or .nq, with or without
    .gz or .zst. Else the first batch does: if none of its lines has a graph, the text is taken for N-Triples.

    `generalized` lets any term stand in any place (but no quoted triple as graph). Quoted triples may be nested
    `max_depth` deep. Text that breaks the rules is a TextError with line and column; with `on_error`, that is called
    with the error instead, and the line left out.
    """
    if batch_rows < 1:
        raise OptionsError(f"batch_rows is {batch_rows}, and must be at least 1")
    return _read(source, quads, generalized, batch_rows, max_depth, limits or Limits(), on_error)


def _read(
    source: Any,
    quads: bool | None,
    generalized: bool,
    batch_rows: int,
    max_depth: int,
    limits: Limits,
    on_error: Callable[[TextError], object] | None,
) -> Iterator[Batch]:
    with ByteSource(source, limits) as file:
        if quads is None:
            quads = _quads_by_name(file.name)
        text = _TextReader(file, TextParser(quads is not False, generalized, max_depth, on_error))
        try:
            for builder in text.builders(batch_rows):
                if quads is None:
                    quads = text.parser.quads = text.parser.graphs > 0
                    if not quads:
                        s, p, o, _ = builder.columns()
                        yield Batch((s, p, o, None), builder.terms)
                        continue
                yield Batch.from_builder(builder)
        except JellyError as error:
            error.source = error.source or file.name
            raise


def _quads_by_name(name: str | None) -> bool | None:
    name = os.path.basename(name or "")
    if _QUADS_NAME.search(name):
        return True
    return False if _TRIPLES_NAME.search(name) else None


class _TextReader:
    """The bytes of a source, cut where the parser has got to. Bytes in memory are parsed where they are."""

    def __init__(self, file: ByteSource, parser: TextParser) -> None:
        self.parser = parser
        self._file = file
        self._data: bytes | memoryview = file.take_memory()
        self._pos = 0
        self._is_all = len(self._data) > 0
        self._memory = Memory()

    def builders(self, batch_rows: int) -> Iterator[BatchBuilder]:
        """One full builder after the other; the last one need not be full, but none is empty."""
        if not self._is_all:
            self._read_on()
        lines = min(batch_rows, len(self._data) // USUAL_LINE_BYTES)
        builder = self._builder(lines, lines, lines * USUAL_LINE_BYTES)
        while True:
            self._fill(builder, batch_rows)
            if builder.rows:
                yield builder
            if self._is_all and self._pos == len(self._data):
                return
            # The next batch will most likely be much like this one.
            builder = self._builder(builder.rows, builder.terms.count * 9 // 8, builder.terms.values.data_size * 9 // 8)

    def _builder(self, rows: int, terms: int, size: int) -> BatchBuilder:
        """A builder with room for so many rows, and terms of that size together."""
        return BatchBuilder(self.parser.quads, rows, TermTable(terms, size, self._memory), self._memory)

    def _fill(self, builder: BatchBuilder, batch_rows: int) -> None:
        while True:
            self._pos = self.parser.parse(
                builder, self._data, self._pos, len(self._data), self._is_all, batch_rows, BATCH_BYTES
            )
            is_full = builder.rows >= batch_rows or builder.terms.values.data_size >= BATCH_BYTES
            if is_full or self._is_all:
                return
            self._read_on()

    def _read_on(self) -> None:
        """Drop what has been parsed and read more: at least as much as is left, lest a long line be copied for ever."""
        pieces = [self._data[self._pos :]]
        wanted = max(len(pieces[0]), 1)
        while wanted > 0:
            piece = self._file.read(CHUNK_BYTES)
            if not piece:
                self._is_all = True
                break
            pieces.append(piece)
            wanted -= len(piece)
        self._data = b"".join(pieces)
        self._pos = 0


def write(batches: Batch | Iterable[Batch], sink: Any = None, *, compression: str | None = None) -> bytes | None:
    """Write batches as N-Triples or, where they have graphs, as N-Quads.

    `sink` is a path, where the file appears whole or not at all, or a binary file object; without one the text is
    returned. `compression` is "gzip", "zstd" or None.
    """
    if isinstance(batches, Batch):
        batches = (batches,)
    if sink is None and compression is None:
        return b"".join(_lines(batches))
    if sink is None:
        raise OptionsError(f"compression={compression!r} needs a sink to write to")
    with ByteSink(sink, compression) as file:
        for lines in _lines(batches):
            file.write(bytes(lines))
    return None


def _lines(batches: Iterable[Batch]) -> Iterator[memoryview]:
    memory = Memory()
    for batch in batches:
        yield from text_pieces(batch, memory=memory)


def line_blocks(batch: Batch) -> Iterator[bytes]:
    """Return the rows as N-Triples or N-Quads, in blocks of whole lines: of about 8 MiB at most, or one line."""
    text = bytearray()
    for piece in text_pieces(batch):
        end = bytes(piece).rfind(b"\n") + 1
        if end and text:
            yield bytes(text + piece[:end])
            text = bytearray(piece[end:])
        elif end:
            yield bytes(piece[:end])
            text = bytearray(piece[end:])
        else:
            text += piece


def line_start(batch: Batch, row: int, size: int = 300) -> str:
    """Return a row as a line, for messages: if it is long, only about its first `size` bytes."""
    line = bytes(LineStream(batch.columns, batch.terms, row, row + 1, size).next_piece())
    if len(line) <= size and line.endswith(b"\n"):
        return line.decode().rstrip("\n")
    return line[:size].decode(errors="ignore") + "…"


def text_pieces(
    batch: Batch, start: int = 0, stop: int | None = None, *, memory: Memory | None = None
) -> Iterator[memoryview]:
    """Return the rows `start` to `stop` as N-Triples or N-Quads, in pieces of about 8 MiB at most that end anywhere."""
    stop = len(batch) if stop is None else stop
    strings = None
    if batch.terms.text_bytes() <= TEXTS_BYTES:
        # Escapes may still make them longer.
        with suppress(LimitError):
            strings = term_strings(batch.terms, memory, 0, TEXTS_BYTES, batch.columns)
    while strings is not None and start < stop:
        last = min(start + LINES_ROWS, stop)
        lines, start = write_lines(batch.s, batch.p, batch.o, batch.g, strings, start, last, LINES_BYTES)
        if not lines:
            break
        yield lines
    if start < stop:
        stream = LineStream(batch.columns, batch.terms, start, stop, LINES_BYTES)
        while piece := stream.next_piece():
            yield piece
