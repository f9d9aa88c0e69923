"""What a patch can be applied to: a graph or dataset of rdflib, a store of pyoxigraph, a set, an object like a set."""

from __future__ import annotations

from collections.abc import MutableSet
from typing import TYPE_CHECKING, Any, Protocol

from jellyframe.errors import NamedGraphError
from jellyframe.terms import DefaultGraph, Literal, Quad, Statement, Triple

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

# Terms whose counterparts in another library are remembered.
_REMEMBERED = 50_000


class AddsAndRemoves(Protocol):
    """An object that statements can be added to and removed from."""

    def add(self, statement: Statement, /) -> object:
        """Add a statement."""

    def remove(self, statement: Statement, /) -> object:
        """Remove a statement."""


class StatementTarget(Protocol):
    """Takes statements in and out. Each is checked before any is, so that what does not fit changes nothing."""

    def check(self, statement: Statement) -> None:
        """Raise if the statement cannot be held."""

    def add(self, statement: Statement) -> None:
        """Add a statement, if it is not there."""

    def remove(self, statement: Statement) -> None:
        """Remove a statement, if it is there."""

    def bind(self, name: str, iri: str | None) -> None:
        """Add a namespace, or with None remove it, where that can be done."""


def target_of(target: Any) -> StatementTarget:
    """Return how statements get into an object.

    Raises:
        TypeError: if it has neither `add` nor `remove` or `discard`
    """
    libraries = {kind.__module__.partition(".")[0] for kind in type(target).__mro__}
    if "rdflib" in libraries:
        import rdflib

        if isinstance(target, rdflib.Graph):
            return RdflibTarget(target)
    if "pyoxigraph" in libraries:
        return PyoxigraphTarget(target)
    if isinstance(target, MutableSet):
        return _AnyTarget(target.add, target.discard)
    remove = getattr(target, "discard", None) or getattr(target, "remove", None)
    if not callable(getattr(target, "add", None)) or not callable(remove):
        raise TypeError(
            f"a patch cannot be applied to a {type(target).__name__}: it takes a Graph or Dataset of rdflib, a Store "
            "of pyoxigraph, a set, or an object with add and remove"
        )
    return _AnyTarget(target.add, remove)


class _AnyTarget:
    """An object with two methods that take statements."""

    def __init__(self, add: Any, remove: Any) -> None:
        self.add = add
        self.remove = remove

    def check(self, statement: Statement) -> None:
        pass

    def bind(self, name: str, iri: str | None) -> None:
        pass


class RdflibTarget:
    """A graph or a dataset of rdflib.

    rdflib tells `"a"` from `"a"^^xsd:string`: of these, the first is added, and both are removed. It cannot forget a
    namespace.
    """

    def __init__(self, graph: rdflib.Graph) -> None:
        import rdflib

        from jellyframe.integrations.rdflib_terms import graph_to_rdflib, to_rdflib

        self._graph = graph
        self._is_dataset = isinstance(graph, rdflib.ConjunctiveGraph)
        self._simple = rdflib.XSD.string
        self._literal = rdflib.Literal
        self._to_rdflib = _Remembered(to_rdflib)
        self._graph_to_rdflib = graph_to_rdflib

    def check(self, statement: Statement) -> None:
        self._parts(statement)

    def add(self, statement: Statement) -> None:
        triple, graph = self._parts(statement)
        graph.add(triple)

    def remove(self, statement: Statement) -> None:
        triple, graph = self._parts(statement)
        graph.remove(triple)
        if isinstance(statement.o, Literal) and triple[2].datatype is None and triple[2].language is None:
            graph.remove((*triple[:2], self._literal(str(triple[2]), datatype=self._simple, normalize=False)))

    def bind(self, name: str, iri: str | None) -> None:
        if iri is not None:
            self._graph.bind(name, iri, override=True, replace=True)

    def _parts(self, statement: Statement) -> tuple[Any, Any]:
        triple = tuple(map(self._to_rdflib, statement[:3]))
        if self._is_dataset:
            name = self._graph_to_rdflib(statement.g if isinstance(statement, Quad) else None)
            return triple, self._graph.get_context(name)  # type: ignore[attr-defined]
        if isinstance(statement, Quad) and not isinstance(statement.g, DefaultGraph):
            raise NamedGraphError(
                f"a statement in a named graph, and the target is one graph; use a Dataset: {statement.to_line()}"
            )
        return triple, self._graph


class PyoxigraphTarget:
    """A store of pyoxigraph, which has no namespaces."""

    def __init__(self, store: pyoxigraph.Store) -> None:
        from jellyframe.integrations.pyoxigraph_terms import quad_to_pyoxigraph

        self._store = store
        self._quad = quad_to_pyoxigraph

    def check(self, statement: Statement) -> None:
        self._quad(statement)

    def add(self, statement: Statement) -> None:
        self._store.add(self._quad(statement))

    def remove(self, statement: Statement) -> None:
        self._store.remove(self._quad(statement))

    def bind(self, name: str, iri: str | None) -> None:
        pass


class _Remembered:
    """A conversion of terms that is done once for each of many."""

    def __init__(self, convert: Any) -> None:
        self._convert = convert
        self._known: dict[Any, Any] = {}

    def __call__(self, term: Any) -> Any:
        if isinstance(term, Triple):
            return self._convert(term)
        found = self._known.get(term)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[term] = self._convert(term)
        return found
