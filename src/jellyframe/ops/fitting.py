"""Adapt batches to the physical type of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jellyframe.batch import selection

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import PhysicalType


@dataclass(frozen=True)
class Fitting:
    """Checks batches, and drops their graphs if needed, before they are written to a stream of a physical type."""

    physical_type: PhysicalType
    has_graph: bool
    merge_graphs: bool = False
    validate_terms: bool = False

    def apply(self, batches: Iterable[Batch], source: str | None) -> Iterable[Batch]:
        """Return the batches of a source in a form that the stream can hold."""
        if self.validate_terms:
            batches = selection.checked(batches, source)
        if self.merge_graphs or not self.has_graph:
            target = f"the physical type {self.physical_type.name}"
            batches = selection.without_graphs(batches, merge=self.merge_graphs, target=target, source=source)
        return batches
