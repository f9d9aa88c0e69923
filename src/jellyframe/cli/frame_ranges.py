"""Ranges of frames on the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jellyframe.batch.selection import FrameRange


def frame_range(text: str) -> FrameRange:
    """Parse a range of frames as in Rust: `3`, `..3`, `3..`, `1..5`, `4..=6`."""
    from jellyframe.batch.selection import FrameRange

    first, dots, last = text.strip().partition("..")
    is_inclusive = last.startswith("=") and last != "="
    last = last.removeprefix("=") if is_inclusive else last
    if not all(not part or (part.isascii() and part.isdigit()) for part in (first, last)) or not (first or dots):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of frames such as 3, ..3, 3.., 1..5 or 4..=6")
    if not dots:
        return FrameRange(int(first), int(first) + 1)
    return FrameRange(int(first or 0), int(last) + is_inclusive if last else None)
