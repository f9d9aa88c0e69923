"""The common part of encoders of all kinds of streams: the output buffer and the settings of frames."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from jellyframe.batch import Batch
from jellyframe.dialects.dialect import FrameSettings
from jellyframe.errors import OptionsError
from jellyframe.kernel.encode_frames_cy import FrameEncoder
from jellyframe.options import check_number
from jellyframe.stream.framing import split_frames
from jellyframe.stream.index import encode_index_frame

# Output is passed on in pieces of about this size.
OUTPUT_BYTES: Final = 1 << 20
# Counts of rows or bytes above this are refused.
_LARGEST_COUNT: Final = 1 << 62
_KernelT = TypeVar("_KernelT", bound=FrameEncoder)


def stop_row(batch: Batch, start: int, stop: int | None) -> int:
    """Return `stop`, by default the number of rows. Raises IndexError unless a batch has the rows `start` to `stop`."""
    stop = len(batch) if stop is None else stop
    if not 0 <= start <= stop <= len(batch):
        raise IndexError(f"rows {start} to {stop} of a batch of {len(batch)}")
    return stop


class AnyStreamEncoder(Generic[_KernelT]):
    """Holds the kernel of a stream, once there is one, and returns its finished bytes."""

    def __init__(
        self,
        *,
        frame_rows: int | None,
        frame_bytes: int | None,
        delimited: bool,
        restart_every: int | None,
        index: bool,
        output_bytes: int,
    ) -> None:
        for name, value in (("frame_rows", frame_rows), ("frame_bytes", frame_bytes), ("restart_every", restart_every)):
            if value is not None:
                check_number(name, value, 1, _LARGEST_COUNT)
        check_number("output_bytes", output_bytes, 1, _LARGEST_COUNT)
        if index and not delimited:
            raise OptionsError("an index needs a delimited stream")
        self._frame_rows = frame_rows
        self._frame_bytes = frame_bytes
        self._is_delimited = delimited
        self._restart_every = restart_every
        self._has_index = index
        self._output_bytes = output_bytes
        self._index_frame = b""
        self._kernel: _KernelT | None = None
        # The last batch without graphs in a stream of quads, and its column of graphs.
        self._graphs: tuple[Batch, memoryview | None] | None = None

    @property
    def statements(self) -> int:
        """The number of statements encoded."""
        return 0 if self._kernel is None else self._kernel.statements

    @property
    def frames(self) -> int:
        """The number of frames that are complete."""
        return 0 if self._kernel is None else self._kernel.frames

    @property
    def restarts(self) -> list[tuple[int, int]]:
        """The restart points so far: for each its offset in the stream, and how many statements come before it."""
        return [] if self._kernel is None else list(self._kernel.restarts)

    @property
    def ready_bytes(self) -> int:
        """The number of bytes that `take` would return."""
        return len(self._index_frame) + (0 if self._kernel is None else self._kernel.output_size())

    def take(self) -> bytes:
        """Return the bytes finished since the last call, which are whole frames."""
        taken = b"" if self._kernel is None else self._kernel.take_output()
        if self._index_frame:
            taken += self._index_frame
            self._index_frame = b""
        return taken

    def take_frames(self) -> list[bytes]:
        """Return the frames finished since the last call, each without its length: for messages."""
        data = self.take()
        if not self._is_delimited:
            return [data] if data else []
        return split_frames(data)

    def _frame_settings(self, *, may_cut: bool) -> FrameSettings:
        """Return the settings of frames for a kernel. `may_cut` lets frames end by size, if not bare."""
        may_cut = may_cut and self._is_delimited
        return FrameSettings(
            self._frame_rows or 0 if may_cut else 0,
            self._frame_bytes or 0 if may_cut else 0,
            self._is_delimited,
            self._restart_every or 0,
            self._output_bytes,
        )

    def _graph_column(self, batch: Batch) -> memoryview | None:
        """Return the graphs of a batch for a stream of quads, where triples are in the default graph."""
        if batch.has_graph:
            return batch.g
        if self._graphs is None or self._graphs[0] is not batch:
            self._graphs = (batch, batch.with_graph().g)
        return self._graphs[1]

    def _finish(self, kernel: FrameEncoder) -> None:
        """End the stream, with an index if that was asked for."""
        kernel.finish()
        if self._has_index:
            self._index_frame = encode_index_frame(kernel.restarts, kernel.statements, kernel.offset())
