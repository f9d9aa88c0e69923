"""The base of the writers of Turtle, RDF/XML and JSON-LD: checks, and output in pieces of bounded size."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.formats.target_rules import check_target
from jellyframe.kernel.ntriples_write_cy import term_strings

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.kernel.table_cy import StringTable
    from jellyframe.storage.sinks import ByteSink

PIECE_BYTES = 1 << 20
# The limit for the texts of the terms of one batch: quoted triples that repeat long terms could take any amount.
TEXTS_BYTES = 256 << 20


def term_texts(batch: Batch) -> StringTable:
    """Return the texts of the terms of a batch, as in N-Triples."""
    return term_strings(batch.terms, None, 0, TEXTS_BYTES, batch.columns)


def listed_texts(batch: Batch) -> list[bytes]:
    """Return the text of each term of a batch, as N-Triples has it; that of the default graph is empty."""
    offsets, data = term_texts(batch).buffers()
    text = bytes(data)
    return [text[start:stop] for start, stop in pairwise(offsets.tolist())]


class DocumentOutput(BatchOutput):
    """A document of statements. `_put` collects its bytes, which are written in pieces of about 1 MiB."""

    def __init__(self, sink: ByteSink, found: Format, settings: WriteSettings) -> None:
        self._sink = sink
        self._format = found
        self._settings = settings
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._statements = 0

    def write(self, batch: Batch) -> None:
        check_target(batch, self._format, self._statements, self._settings.source)
        self._write_rows(batch)
        self._statements += len(batch)

    def _write_rows(self, batch: Batch) -> None:
        raise NotImplementedError

    def _put(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._waiting.append(piece)
            self._waiting_bytes += len(piece)
        if self._waiting_bytes >= PIECE_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._sink.write(b"".join(self._waiting))
        self._waiting = []
        self._waiting_bytes = 0

    def close(self) -> None:
        self._flush()
