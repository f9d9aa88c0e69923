"""The check before every row whether the frame is full; `framing.pxd` has the same for C."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jellyframe.kernel.encode_frames_cy import FrameEncoder


def is_frame_full(encoder: FrameEncoder) -> bool:
    """Return whether the next row begins another frame; true for the first row."""
    return (
        encoder.restart_due
        or 0 < encoder.frame_row_limit <= encoder.frame_rows
        or (encoder.frame_byte_limit > 0 and encoder.frame_size >= encoder.frame_byte_soft_limit)
    )
