"""A patch that is recorded in memory."""

from __future__ import annotations

import io
from typing import Any

from jellyframe.patch import PatchOptions, PatchStreamType, open_patch_reader, open_patch_writer


class Recorded:
    """A writer of patches to memory, and the rows that were written."""

    def __init__(self, options: PatchOptions | None = None) -> None:
        self.sink = io.BytesIO()
        self.writer = open_patch_writer(self.sink, options or PatchOptions(stream_type=PatchStreamType.FLAT))

    def rows(self) -> list[Any]:
        """Close the writer and return all rows."""
        self.writer.close()
        with open_patch_reader(self.sink.getvalue()) as reader:
            return list(reader.rows())
