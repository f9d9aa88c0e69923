"""Patches of whole data sets: their differences, what patches leave behind, and what they say.

`diff`, `apply`, `compact`, `invert` and `log` read and write files of any format. `core` and `committed` have the same
on streams of batches, for shares of data that somebody else has divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.ops.patches.applying import Applied, apply
    from jellyframe.ops.patches.committed import CommittedRows
    from jellyframe.ops.patches.compacting import Compacted, compact
    from jellyframe.ops.patches.core import ApplyCounts, apply_batches, diff_batches, last_operations
    from jellyframe.ops.patches.diffing import PatchDifference, diff
    from jellyframe.ops.patches.history import LogEntry, log
    from jellyframe.ops.patches.inverting import Inverted, invert

__all__ = [
    "Applied",
    "ApplyCounts",
    "CommittedRows",
    "Compacted",
    "Inverted",
    "LogEntry",
    "PatchDifference",
    "apply",
    "apply_batches",
    "compact",
    "diff",
    "diff_batches",
    "invert",
    "last_operations",
    "log",
]

_HOMES = {
    "Applied": "applying",
    "ApplyCounts": "core",
    "CommittedRows": "committed",
    "Compacted": "compacting",
    "Inverted": "inverting",
    "LogEntry": "history",
    "PatchDifference": "diffing",
    "apply": "applying",
    "apply_batches": "core",
    "compact": "compacting",
    "diff": "diffing",
    "diff_batches": "core",
    "invert": "inverting",
    "last_operations": "core",
    "log": "history",
}

if not TYPE_CHECKING:  # for type checkers, a name that is not there is a mistake
    __getattr__ = attribute_loader(__name__, _HOMES)
