"""Operations on patches and whole data sets: compare, apply, invert, compact, inspect.

`diff`, `apply`, `compact`, `invert` and `log` read and write files of any format. `core` and `committed` work
on streams of batches, also of partitioned data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.ops.patches.applying import Applied, apply
    from jellyframe.ops.patches.committed import CommittedRows
    from jellyframe.ops.patches.compacting import Compacted, compact
    from jellyframe.ops.patches.converting import ConvertedPatches, convert_patches
    from jellyframe.ops.patches.core import ApplyCounts, apply_batches, diff_batches, last_operations
    from jellyframe.ops.patches.diffing import PatchDifference, diff
    from jellyframe.ops.patches.history import LogEntry, log
    from jellyframe.ops.patches.inverting import Inverted, invert
    from jellyframe.ops.patches.survey import inspect_patches
    from jellyframe.ops.patches.validating import validate_patches

__all__ = [
    "Applied",
    "ApplyCounts",
    "CommittedRows",
    "Compacted",
    "ConvertedPatches",
    "Inverted",
    "LogEntry",
    "PatchDifference",
    "apply",
    "apply_batches",
    "compact",
    "convert_patches",
    "diff",
    "diff_batches",
    "inspect_patches",
    "invert",
    "last_operations",
    "log",
    "validate_patches",
]

_HOMES = {
    "Applied": "applying",
    "ApplyCounts": "core",
    "CommittedRows": "committed",
    "Compacted": "compacting",
    "ConvertedPatches": "converting",
    "Inverted": "inverting",
    "LogEntry": "history",
    "PatchDifference": "diffing",
    "apply": "applying",
    "apply_batches": "core",
    "compact": "compacting",
    "convert_patches": "converting",
    "diff": "diffing",
    "diff_batches": "core",
    "inspect_patches": "survey",
    "invert": "inverting",
    "last_operations": "core",
    "log": "history",
    "validate_patches": "validating",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
