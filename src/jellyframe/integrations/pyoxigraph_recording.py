"""Record changes of pyoxigraph's stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO, Any

import pyoxigraph

from jellyframe.batch import Batch
from jellyframe.formats import ntriples
from jellyframe.formats.pyoxigraph_terms import quad_from_pyoxigraph, quad_to_pyoxigraph
from jellyframe.integrations.recorder import Recorder, Recording
from jellyframe.ops.patches.core import diff_batches
from jellyframe.patch import Add, Delete, PatchRow, rows_of
from jellyframe.patch.journal import Journal
from jellyframe.terms import DEFAULT_GRAPH


def recorded_store(store: pyoxigraph.Store, recorder: Recorder) -> Recording[RecordedStore]:
    """Return a recording of a store."""
    recorded = RecordedStore(store, recorder)
    return Recording(recorded, recorder, recorded)


class RecordedStore:
    """A store of pyoxigraph whose changes are recorded. It has the methods of `pyoxigraph.Store`.

    Args:
        store: the store
        recorder: the recorder of the changes
    """

    def __init__(self, store: pyoxigraph.Store, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder

    # ---- changes ----

    def add(self, quad: pyoxigraph.Quad) -> None:
        """Add a quad.

        Args:
            quad: the quad
        """
        if quad not in self._store:
            row = self._row(Add, quad)
            self._store.add(quad)
            self._recorder.note(row)

    def extend(self, quads: Iterable[pyoxigraph.Quad]) -> None:
        """Add quads. If the iterable raises, none is added.

        Args:
            quads: the quads
        """
        self.bulk_extend(list(quads))

    def bulk_extend(self, quads: Iterable[pyoxigraph.Quad]) -> None:
        """Add quads, one by one.

        Args:
            quads: the quads
        """
        for quad in quads:
            self.add(quad)

    def remove(self, quad: pyoxigraph.Quad) -> None:
        """Remove a quad, if it exists.

        Args:
            quad: the quad
        """
        if quad in self._store:
            row = self._row(Delete, quad)
            self._store.remove(quad)
            self._recorder.note(row)

    def load(self, *arguments: Any, to_graph: Any = None, **named: Any) -> None:
        """Add the quads of a file, or of text. If it cannot be parsed, none is added.

        Args:
            arguments: those of `pyoxigraph.Store.load`
            to_graph: the graph for statements of the default graph
            named: the keyword arguments of `pyoxigraph.Store.load`
        """
        self.extend(_parsed(*arguments, to_graph=to_graph, **named))

    def bulk_load(self, *arguments: Any, to_graph: Any = None, **named: Any) -> None:
        """Add the quads of a file, or of text, one by one.

        Args:
            arguments: those of `pyoxigraph.Store.bulk_load`
            to_graph: the graph for statements of the default graph
            named: the keyword arguments of `pyoxigraph.Store.bulk_load`
        """
        self.bulk_extend(_parsed(*arguments, to_graph=to_graph, **named))

    def clear(self) -> None:
        """Remove all quads and graphs."""
        self._remove_all(self._store)
        self._store.clear()

    def clear_graph(self, graph_name: Any) -> None:
        """Remove the quads of a graph.

        Args:
            graph_name: the name of the graph
        """
        self._remove_all(self._store.quads_for_pattern(None, None, None, graph_name))

    def remove_graph(self, graph_name: Any) -> None:
        """Remove a graph and its quads.

        Args:
            graph_name: the name of the graph
        """
        self.clear_graph(graph_name)
        self._store.remove_graph(graph_name)

    def update(self, update: str, **named: Any) -> None:
        """Run a SPARQL update. Its changes are found by comparing the content of the store before and after.

        If the result has terms that a patch cannot hold, the update is undone.

        Args:
            update: the update
            named: the keyword arguments of `pyoxigraph.Store.update`
        """
        with (
            TemporaryFile(prefix="jellyframe-") as before,
            TemporaryFile(prefix="jellyframe-") as after,
            Journal() as changes,
        ):
            self._store.dump(before, pyoxigraph.RdfFormat.N_QUADS)
            graphs = list(self._store.named_graphs())
            self._store.update(update, **named)
            try:
                self._store.dump(after, pyoxigraph.RdfFormat.N_QUADS)
                for batch in diff_batches(lambda: _batches(before), lambda: _batches(after)):
                    changes.append(batch)
            except BaseException:
                self._restore(before, graphs)
                raise
            self._recorder.note_all(self._fitting(row) for batch in changes.batches() for row in rows_of(batch))

    def _restore(self, dump: IO[bytes], graphs: Iterable[Any]) -> None:
        """Replace the content of the store by that of a dump."""
        self._store.clear()
        dump.seek(0)
        self._store.bulk_extend(pyoxigraph.parse(dump, pyoxigraph.RdfFormat.N_QUADS, lenient=True))
        for graph in graphs:
            self._store.add_graph(graph)

    def undo(self, row: PatchRow) -> None:
        """Undo a change.

        Args:
            row: the change
        """
        if isinstance(row, Add):
            self._store.remove(quad_to_pyoxigraph(row.statement))
        elif isinstance(row, Delete):
            self._store.add(quad_to_pyoxigraph(row.statement))

    # ---- everything else ----

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def __contains__(self, quad: pyoxigraph.Quad) -> bool:
        return quad in self._store

    def __iter__(self) -> Iterator[pyoxigraph.Quad]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)

    def _remove_all(self, quads: Iterable[pyoxigraph.Quad]) -> None:
        for quad in quads:
            self.remove(quad)

    def _row(self, kind: type[Add] | type[Delete], quad: pyoxigraph.Quad) -> PatchRow:
        return self._fitting(kind(*quad_from_pyoxigraph(quad)))

    def _fitting(self, row: PatchRow) -> PatchRow:
        """Return a row for the stream: without the default graph if its statements are triples."""
        if isinstance(row, Add | Delete) and row.g is DEFAULT_GRAPH and not self._recorder.has_graph:
            return type(row)(row.s, row.p, row.o)
        return row


def _parsed(*arguments: Any, to_graph: Any, **named: Any) -> Iterator[pyoxigraph.Quad]:
    """Yield the quads of a file as `pyoxigraph.Store.load` adds them: with new labels of blank nodes."""
    for quad in pyoxigraph.parse(*arguments, **named, rename_blank_nodes=True):
        if to_graph is not None and isinstance(quad.graph_name, pyoxigraph.DefaultGraph):
            quad = pyoxigraph.Quad(quad.subject, quad.predicate, quad.object, to_graph)
        yield quad


def _batches(file: IO[bytes]) -> Iterator[Batch]:
    file.seek(0)
    return ntriples.read(file, quads=True, lenient=True)
