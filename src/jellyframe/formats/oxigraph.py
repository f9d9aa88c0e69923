"""RDF/XML and JSON-LD as batches: parsed by pyoxigraph, and passed on as N-Quads text, which is the fastest way.

Statements are passed in blocks, so memory does not grow with the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import pyoxigraph

from jellyframe.batch import BATCH_BYTES, Batch
from jellyframe.errors import JellyError, TextError, one_line
from jellyframe.formats import ntriples
from jellyframe.formats.settings import BatchInput, ReadSettings
from jellyframe.formats.turtle import base_iri
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Source

if TYPE_CHECKING:
    from jellyframe.formats.registry import Format

# Statements are taken from the parser in steps of this size, until a block has enough rows or bytes.
STEP_STATEMENTS = 512
_FORMATS = {"rdfxml": pyoxigraph.RdfFormat.RDF_XML, "jsonld": pyoxigraph.RdfFormat.JSON_LD}
_NQUADS = pyoxigraph.RdfFormat.N_QUADS
# Bytes that pyoxigraph reads at a time. For text without line numbers, errors are located this exactly.
_PIECE_BYTES = 8192


def open_input(source: Source, found: Format, settings: ReadSettings) -> BatchInput:
    """Open RDF/XML or JSON-LD as batches: an entry of the registry."""
    return _Input(source, found, settings)


class _Input(BatchInput):
    def __init__(self, source: Source, found: Format, settings: ReadSettings) -> None:
        self._format = found
        self._settings = settings
        self._file = _CountedLines(ByteSource(source, settings.limits))
        self._before = 0
        self._parser = pyoxigraph.parse(
            self._file,  # type: ignore[arg-type]
            _FORMATS[found.name],
            base_iri=base_iri(self._file.name, settings),
            lenient=settings.lenient,
        )

    def namespaces(self) -> dict[str, str]:
        return dict(self._parser.prefixes)

    def close(self) -> None:
        self._file.close()

    def batches(self) -> Iterator[Batch]:
        while block := self._block():
            text = pyoxigraph.serialize(block, format=_NQUADS) or b""
            del block
            try:
                for batch in ntriples.read(
                    text, quads=True, lenient=True, batch_rows=self._settings.batch_rows, limits=self._settings.limits
                ):
                    yield batch if self._format.has_graphs else batch.without_graph()
            except TextError as error:
                # A statement that Jelly cannot hold, such as a triple term; the line is that of our own text.
                statement = self._before + (error.line or 1)
                raise TextError(
                    f"statement {statement}: {error.message}", source=self._file.name, advice=error.advice
                ) from None
            self._before += text.count(b"\n")

    def _block(self) -> list[pyoxigraph.Quad]:
        """Return the next statements of the parser, of about as many bytes as a batch may have."""
        block: list[pyoxigraph.Quad] = []
        start = self._file.bytes_read
        try:
            while len(block) < self._settings.batch_rows and self._file.bytes_read - start < BATCH_BYTES:
                step = list(islice(self._parser, STEP_STATEMENTS))
                block += step
                if len(step) < STEP_STATEMENTS:
                    break
        except SyntaxError as error:
            raise self._text_error(error) from None
        except MemoryError:
            raise TextError(
                f"a string or element longer than 16 MiB after statement {self._before + len(block)}: pyoxigraph, "
                f"which reads {self._format.title}, takes none; N-Triples, N-Quads, Turtle, TriG and Jelly may have it",
                line=self._file.line,
                source=self._file.name,
            ) from None
        except JellyError as error:
            raise error.located(source=self._file.name) from error.__cause__
        return block

    def _text_error(self, error: SyntaxError) -> TextError:
        message = one_line(str(error.msg))
        if error.lineno is not None:
            # Oxigraph writes the position into its message.
            message = message.partition(": ")[2] or message
            return TextError(_short(message), line=error.lineno, column=error.offset, source=self._file.name)
        first, last = self._file.last_lines
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        return TextError(f"{where}: {_short(message)}", source=self._file.name)


def _short(message: str) -> str:
    return message if len(message) <= 300 else message[:297] + "..."


class _CountedLines:
    """A byte source that is passed on in whole lines if they are long enough, and counts the lines."""

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self.name = file.name
        self.bytes_read = 0
        self.line = 1
        # The lines of the last piece. Pieces are read on demand, so an error is in this one.
        self.last_lines = (1, 1)
        self._waiting = b""

    def read(self, size: int = -1) -> bytes:
        most = _PIECE_BYTES if size < 0 else min(size, _PIECE_BYTES)
        if not self._waiting:
            self._waiting = self._file.read()
        end = self._waiting.find(b"\n", 0, most) + 1 or most
        piece, self._waiting = self._waiting[:end], self._waiting[end:]
        self.bytes_read += len(piece)
        self.last_lines = (self.line, self.line + piece.count(b"\n", 0, len(piece) - 1))
        self.line += piece.count(b"\n")
        return piece

    def close(self) -> None:
        self._file.close()
