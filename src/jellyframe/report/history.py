"""The frames of a stream in order, summed up in a bounded number of steps."""

from __future__ import annotations

from collections.abc import Callable

from jellyframe.ops.survey import LOOKUP_TABLES, FrameCounts, StreamSurvey

MAX_STEPS = 160
# Predicates that are shown by name.
TOP_PREDICATES = 12


class Step:
    """A run of consecutive frames."""

    __slots__ = ("entries", "first_frame", "frame_bytes", "frames", "largest", "smallest", "statements")

    def __init__(self, frame: FrameCounts) -> None:
        counts = frame.counts
        self.first_frame = frame.number
        self.frames = 1
        self.frame_bytes = self.smallest = self.largest = counts.frame_bytes
        self.statements = counts.statements
        self.entries = [counts.rows(table) for table in LOOKUP_TABLES]

    @property
    def last_frame(self) -> int:
        return self.first_frame + self.frames - 1

    def join(self, later: Step) -> None:
        """Add the following step to this one."""
        self.frames += later.frames
        self.frame_bytes += later.frame_bytes
        self.smallest = min(self.smallest, later.smallest)
        self.largest = max(self.largest, later.largest)
        self.statements += later.statements
        self.entries = [mine + theirs for mine, theirs in zip(self.entries, later.entries, strict=True)]


class FrameHistory:
    """Collects the frames of a survey in steps of equal length, which grow with the stream."""

    def __init__(self, on_frame: Callable[[StreamSurvey, FrameCounts], object] | None = None) -> None:
        self.steps: list[Step] = []
        # Number of frames by the bit length of their size: one for 1 byte, 8 for 128 to 255 bytes.
        self.frames_by_bits: dict[int, int] = {}
        self._frames_a_step = 1
        self._on_frame = on_frame

    def add(self, survey: StreamSurvey, frame: FrameCounts) -> None:
        if self._on_frame is not None:
            self._on_frame(survey, frame)
        bits = frame.counts.frame_bytes.bit_length()
        self.frames_by_bits[bits] = self.frames_by_bits.get(bits, 0) + 1
        step = Step(frame)
        if self.steps and self.steps[-1].frames < self._frames_a_step:
            self.steps[-1].join(step)
            return
        if len(self.steps) == MAX_STEPS:
            for earlier, later in zip(self.steps[::2], self.steps[1::2], strict=True):
                earlier.join(later)
            del self.steps[1::2]
            self._frames_a_step *= 2
        self.steps.append(step)
