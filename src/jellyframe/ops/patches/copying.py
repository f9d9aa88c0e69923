"""Copy patches from a reader to a writer, of any stream types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from jellyframe.batch import Batch
from jellyframe.formats.patches import PatchOutput
from jellyframe.kernel.patch_fields import PATCH_PUNCTUATION
from jellyframe.patch.marks import with_marks, write_marked
from jellyframe.patch.options import PatchStreamType


class CopiedPatches(NamedTuple):
    """The counts of a copy.

    Attributes:
        rows: rows read, including the ends of patches
        is_open: whether the last patch has rows and no end yet
    """

    rows: int
    is_open: bool


def copy_patches(batches: Iterable[Batch], stream_type: PatchStreamType, output: PatchOutput) -> CopiedPatches:
    """Write the patches of a stream to an output.

    Patches stay separate unless the output is FLAT, which is one patch with all rows. The last patch
    ends when the output is closed, or with `end_patch`.

    Args:
        batches: rows of patches, with the column `op`
        stream_type: the type of their stream, which decides where patches end
        output: the output
    """
    rows = 0
    is_open = False
    for batch in with_marks(batches, stream_type):
        rows += len(batch)
        if batch.op is not None and len(batch):
            is_open = batch.op[len(batch) - 1] != PATCH_PUNCTUATION
        write_marked(batch, output)
    return CopiedPatches(rows, is_open)
