"""Default sizes of batches, frames and files."""

from __future__ import annotations

from typing import Final

DEFAULT_BATCH_ROWS: Final = 16_384
DEFAULT_FRAME_ROWS: Final = 256
DEFAULT_FRAME_BYTES: Final = 1_000_000
DEFAULT_RESTART_EVERY: Final = 8 << 20
