"""Patches from a reader to a writer, whatever the stream types of the two are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from jellyframe.batch import Batch
from jellyframe.formats.patches import PatchOutput
from jellyframe.kernel.patch_fields import PATCH_PUNCTUATION
from jellyframe.patch.options import PatchStreamType


class CopiedPatches(NamedTuple):
    """What has been written.

    Attributes:
        rows: rows read, of all kinds
        is_open: whether the last patch has rows and no end yet
    """

    rows: int
    is_open: bool


def copy_patches(batches: Iterable[Batch], stream_type: PatchStreamType, output: PatchOutput) -> CopiedPatches:
    """Write the patches of a stream to an output.

    Patches stay apart unless the output is FLAT: that is one patch, of the rows of all. The patch in hand at the end
    ends when the output is closed, or with `end_patch`.

    Args:
        batches: rows of patches, with the column `op`
        stream_type: what ends a patch among them
        output: where the rows go
    """
    wanted = output.options.stream_type
    rows = 0
    is_open = False
    for batch in batches:
        rows += len(batch)
        if stream_type is PatchStreamType.FRAME:
            is_open = batch.last_frame_open
        elif batch.op is not None and len(batch):
            is_open = batch.op[len(batch) - 1] != PATCH_PUNCTUATION
        if stream_type is PatchStreamType.FRAME and wanted is not PatchStreamType.FLAT:
            for span in batch.frame_spans():
                output.write_batch(batch, span.start, span.stop)
                if span.is_complete:
                    output.end_patch()
        elif stream_type is not PatchStreamType.PUNCTUATED or wanted is PatchStreamType.PUNCTUATED:
            output.write_batch(batch)
        else:
            _write_between_marks(batch, output, ends=wanted is PatchStreamType.FRAME)
    return CopiedPatches(rows, is_open)


def _write_between_marks(batch: Batch, output: PatchOutput, *, ends: bool) -> None:
    """Write what lies between punctuation marks, and for each mark the end of the patch."""
    assert batch.op is not None
    ops = batch.op.tolist()
    start = 0
    for _ in range(ops.count(PATCH_PUNCTUATION)):
        mark = ops.index(PATCH_PUNCTUATION, start)
        output.write_batch(batch, start, mark)
        if ends:
            output.end_patch()
        start = mark + 1
    output.write_batch(batch, start)
