"""Load Jelly files into stores of pyoxigraph, and dump stores as Jelly files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Unpack

import pyoxigraph

from jellyframe.batch import Batch
from jellyframe.batch.selection import without_graphs
from jellyframe.errors import TextError, one_line, short_line
from jellyframe.formats import ntriples
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.kernel.memory_cy import Memory
from jellyframe.options import StreamOptions
from jellyframe.storage.types import Sink
from jellyframe.stream.writer import JellyWriter, WriterSettings, open_writer

_NQUADS = pyoxigraph.RdfFormat.N_QUADS
_NTRIPLES = pyoxigraph.RdfFormat.N_TRIPLES
_BLOCK_STATEMENTS = 8192
_BLOCK_BYTES = 4 << 20


def load(
    store: pyoxigraph.Store,
    source: Statements,
    *,
    to_graph: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.DefaultGraph | None = None,
    **reading: Unpack[ReadingOptions],
) -> int:
    """Load statements into a store with its bulk loader, and return their number.

    They are streamed as text, which is the fastest way: our kernel writes it, and the store's loader reads it.
    As with `Store.bulk_load`, blank nodes get new labels, and statements loaded before an error may stay.

    Args:
        store: the store
        source: a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly
        to_graph: the graph for the triples; quads must not be in named graphs then
        reading: as in `read_pandas`

    Raises:
        JellyError: if pyoxigraph cannot hold a statement, such as one with quoted triples
    """
    batches: Iterable[Batch] = StatementSource(source, reading).batches()
    if to_graph is not None:
        batches = without_graphs(batches, merge=None, target="a load with to_graph", source=None)
    text = _Text(batches)
    try:
        if to_graph is None:
            store.bulk_load(text, _NQUADS, lenient=True)  # type: ignore[arg-type]
        else:
            store.bulk_load(text, _NTRIPLES, to_graph=to_graph, lenient=True)  # type: ignore[arg-type]
    except SyntaxError as error:
        raise TextError(
            f"pyoxigraph has no place for statement {error.lineno or 'a statement'}: {one_line(str(error.msg))}"
        ) from None
    return text.statements


class _Text:
    """Batches as a file object with N-Quads. Our errors pass through pyoxigraph unchanged."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self.statements = 0
        self._pieces = self._text_of(batches)
        self._waiting = memoryview(b"")

    def _text_of(self, batches: Iterable[Batch]) -> Iterator[memoryview]:
        memory = Memory()
        for batch in batches:
            self.statements += len(batch)
            yield from ntriples.text_pieces(batch, memory=memory)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        while not len(self._waiting):
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._waiting = piece
        end = len(self._waiting) if size < 0 else size
        found, self._waiting = bytes(self._waiting[:end]), self._waiting[end:]
        return found


def dump(
    store: pyoxigraph.Store | Iterable[pyoxigraph.Quad] | Iterable[pyoxigraph.Triple],
    sink: Sink,
    options: StreamOptions | None = None,
    **settings: Unpack[WriterSettings],
) -> int:
    """Write the quads of a store as a Jelly stream, and return their number.

    They are streamed as text, as in `load`.

    Args:
        store: a store, or an iterable of quads, such as `store.quads_for_pattern(…)`, or of triples
        sink: as in `open_writer`
        options: the options of the stream
        settings: as in `open_writer`

    Raises:
        TextError: if Jelly cannot hold a term, such as a triple term of RDF 1.2
    """
    with open_writer(sink, options, **settings) as writer:
        lines = _Lines(writer)
        if isinstance(store, pyoxigraph.Store):
            store.dump(lines, _NQUADS)  # type: ignore[arg-type]
        else:
            quads = iter(store)
            while block := list(islice(quads, _BLOCK_STATEMENTS)):
                lines.quads = not isinstance(block[0], pyoxigraph.Triple)
                lines.write(pyoxigraph.serialize(block, format=_NQUADS if lines.quads else _NTRIPLES) or b"")
        lines.flush()
        return writer.statements_written


class _Lines:
    """A file object for N-Quads, which writes the statements to a Jelly stream, block by block."""

    def __init__(self, writer: JellyWriter) -> None:
        self.quads = True
        self._writer = writer
        self._waiting: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        """Add text; the last line may be incomplete."""
        self._waiting.append(bytes(data))
        self._size += len(data)
        if self._size >= _BLOCK_BYTES:
            text = b"".join(self._waiting)
            end = text.rfind(b"\n") + 1
            self._waiting, self._size = [text[end:]], len(text) - end
            self._pass_on(text[:end])
        return len(data)

    def flush(self) -> None:
        """Write the remaining quads."""
        text, self._waiting, self._size = b"".join(self._waiting), [], 0
        # pyoxigraph may flush in the middle of a line.
        end = text.rfind(b"\n") + 1
        if end < len(text):
            self._waiting, self._size = [text[end:]], len(text) - end
        self._pass_on(text[:end])

    def _pass_on(self, text: bytes) -> None:
        try:
            for batch in ntriples.read(text, quads=self.quads, lenient=True):
                self._writer.write_batch(batch)
        except TextError as error:
            line = text.split(b"\n", error.line or 1)[(error.line or 1) - 1].decode()
            raise TextError(f"a statement has no place in Jelly: {error.message}: {short_line(line)}") from None
