"""Objects that a patch can be applied to: rdflib graphs and datasets, pyoxigraph stores, sets and similar objects."""

from __future__ import annotations

from collections.abc import MutableSet
from typing import TYPE_CHECKING, Any, Protocol

from jellyframe.errors import NamedGraphError
from jellyframe.terms import DefaultGraph, Quad, Statement, Triple

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

# The module of stores of pyoxigraph whose changes are recorded. It is not imported here, as it needs pyoxigraph.
_RECORDED_STORES = "jellyframe.integrations.pyoxigraph_recording"
# Terms in the cache of conversions to another library.
_CACHED_TERMS = 50_000


class AddsAndRemoves(Protocol):
    """An object that statements can be added to and removed from."""

    def add(self, statement: Statement, /) -> object:
        """Add a statement."""

    def remove(self, statement: Statement, /) -> object:
        """Remove a statement."""


class StatementTarget(Protocol):
    """Adds and removes statements. All statements of a transaction are checked before the first one is applied."""

    def check(self, statement: Statement) -> None:
        """Raise if the target cannot hold the statement."""

    def add(self, statement: Statement) -> None:
        """Add a statement, if it does not exist."""

    def remove(self, statement: Statement) -> None:
        """Remove a statement, if it exists."""

    def bind(self, name: str, iri: str | None) -> None:
        """Add a namespace, or with None remove it, if the target supports that."""


def libraries_of(value: object) -> set[str]:
    """Return the names of the packages that define the classes of an object, without importing any."""
    return {kind.__module__.partition(".")[0] for kind in type(value).__mro__}


def target_of(target: Any) -> StatementTarget:
    """Return an object as a target of statements.

    Raises:
        TypeError: if it does not have both `add` and one of `remove` and `discard`
    """
    libraries = libraries_of(target)
    if "rdflib" in libraries:
        import rdflib

        if isinstance(target, rdflib.Graph):
            return RdflibTarget(target)
    if "pyoxigraph" in libraries or type(target).__module__ == _RECORDED_STORES:
        return PyoxigraphTarget(target)
    if isinstance(target, MutableSet):
        return _AnyTarget(target.add, target.discard)
    remove = getattr(target, "discard", None) or getattr(target, "remove", None)
    if not callable(getattr(target, "add", None)) or not callable(remove):
        raise TypeError(
            f"a patch cannot be applied to a {type(target).__name__}; give a Graph or Dataset of rdflib, a Store of "
            "pyoxigraph, a set, or an object with add and remove"
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

    rdflib distinguishes `"a"` from `"a"^^xsd:string`: the first is added, unless the second exists, and both are
    removed. rdflib cannot remove a namespace.
    """

    def __init__(self, graph: rdflib.Graph) -> None:
        import rdflib

        from jellyframe.integrations.rdflib_terms import other_form, to_rdflib

        self._graph = graph
        self._default = graph
        if isinstance(graph, rdflib.Dataset):
            self._default = graph.default_graph
        elif isinstance(graph, rdflib.ConjunctiveGraph):
            self._default = graph.default_context
        self._is_dataset = isinstance(graph, rdflib.ConjunctiveGraph)
        self._other_form = other_form
        self._to_rdflib = _CachedConversion(to_rdflib)

    def check(self, statement: Statement) -> None:
        self._parts(statement)

    def add(self, statement: Statement) -> None:
        triple, graph = self._parts(statement)
        other = self._other_form(triple)
        if other is None or other not in graph:
            graph.add(triple)

    def remove(self, statement: Statement) -> None:
        triple, graph = self._parts(statement)
        graph.remove(triple)
        other = self._other_form(triple)
        if other is not None:
            graph.remove(other)

    def bind(self, name: str, iri: str | None) -> None:
        if iri is not None:
            self._graph.bind(name, iri, override=True, replace=True)

    def _parts(self, statement: Statement) -> tuple[Any, Any]:
        triple = tuple(map(self._to_rdflib, statement[:3]))
        if not isinstance(statement, Quad) or isinstance(statement.g, DefaultGraph):
            return triple, self._default
        if not self._is_dataset:
            raise NamedGraphError(
                f"a statement in a named graph, and the target is a single graph; use a Dataset: {statement.to_line()}"
            )
        return triple, self._graph.get_context(self._to_rdflib(statement.g))  # type: ignore[attr-defined]


class PyoxigraphTarget:
    """A store of pyoxigraph, which has no namespaces."""

    def __init__(self, store: pyoxigraph.Store) -> None:
        from jellyframe.formats.pyoxigraph_terms import quad_to_pyoxigraph

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


class _CachedConversion:
    """A conversion of terms with a cache."""

    def __init__(self, convert: Any) -> None:
        self._convert = convert
        self._known: dict[Any, Any] = {}

    def __call__(self, term: Any) -> Any:
        if isinstance(term, Triple):
            return self._convert(term)
        found = self._known.get(term)
        if found is None:
            if len(self._known) >= _CACHED_TERMS:
                self._known.clear()
            found = self._known[term] = self._convert(term)
        return found
