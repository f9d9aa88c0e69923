"""Changes of namespaces by patches: the last operation on each name, held in memory, as there are few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jellyframe.batch import Batch
from jellyframe.errors import LimitError
from jellyframe.ops.patches.committed import NAMESPACES, CommittedRows
from jellyframe.patch import NamespaceAdd, NamespaceDelete, rows_of
from jellyframe.terms import DEFAULT_GRAPH, IRI, GraphName

# Bytes of names and IRIs that are held.
MAX_BYTES = 64 << 20


class NamespaceChanges:
    """The last operation on each name in each graph, in the order of these operations."""

    def __init__(self) -> None:
        self._last: dict[tuple[GraphName, str], NamespaceAdd | NamespaceDelete] = {}
        self._size = 0

    @classmethod
    def of(cls, rows: CommittedRows) -> NamespaceChanges:
        """Return the committed changes."""
        return cls.of_batches(rows.rows(NAMESPACES))

    @classmethod
    def of_batches(cls, batches: Iterable[Batch]) -> NamespaceChanges:
        """Return the changes of rows that all add or delete a namespace."""
        changes = cls()
        for batch in batches:
            for row in rows_of(batch):
                assert isinstance(row, NamespaceAdd | NamespaceDelete)
                changes.add(row)
        return changes

    def add(self, row: NamespaceAdd | NamespaceDelete) -> None:
        """Add an operation that follows the others."""
        key = (DEFAULT_GRAPH if row.g is None else row.g, row.name)
        if self._last.pop(key, None) is None:
            self._size += len(row.name) + len(str(row.iri)) + len(str(row.g))
            if self._size > MAX_BYTES:
                raise LimitError(f"the patches change more than {MAX_BYTES >> 20} MiB of namespaces")
        self._last[key] = row

    def __len__(self) -> int:
        return len(self._last)

    def __iter__(self) -> Iterator[NamespaceAdd | NamespaceDelete]:
        return iter(self._last.values())

    def applied_to(self, namespaces: Mapping[str, str]) -> dict[str, str]:
        """Return namespaces after the changes. In data they have no graph, so the changes of all graphs count."""
        result = dict(namespaces)
        for row in self:
            if isinstance(row, NamespaceAdd):
                result[row.name] = row.iri.value
            else:
                result.pop(row.name, None)
        return result


def namespace_differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[NamespaceAdd | NamespaceDelete]:
    """Yield the changes from some namespaces to others. A changed one is deleted first, so that this can be undone."""
    for name, iri in old.items():
        if new.get(name) != iri:
            yield NamespaceDelete(name, IRI(iri), DEFAULT_GRAPH)
    for name, iri in new.items():
        if old.get(name) != iri:
            yield NamespaceAdd(name, IRI(iri), DEFAULT_GRAPH)
