"""Files that are served as a topic: a file or a folder, of any format. Subscriptions end at the end of the files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from jellyframe.batch import Batch
from jellyframe.batch.frames import frames_of
from jellyframe.defaults import DEFAULT_FRAME_ROWS
from jellyframe.errors import JellyError
from jellyframe.grpc.publications import CheckedFrame, FrameContent
from jellyframe.grpc.retention.store import Deliver, Message, ReadOnlyError, Store, StoreReader, require_offset
from jellyframe.ops.inputs import InputOptions, Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.options import Limits, StreamOptions
from jellyframe.storage.stores import DataFile
from jellyframe.stream.cutting import is_splittable
from jellyframe.stream.framing import walk_frames
from jellyframe.stream.index import INDEX_KEY
from jellyframe.stream.splits import Piece


class StaticStore(Store):
    """Serves files as they are when the server starts: the frames of Jelly files, and frames of 256 rows otherwise.

    Args:
        path: a file, a folder, a pattern or a URI
        limits: the limits for reading the files
    """

    retention = "static"
    is_finite = True

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        self._path = path
        self._limits = limits or Limits()
        self._inputs: Inputs | None = None
        self._frames = 0

    async def start(self, deliver: Deliver) -> None:
        await super().start(deliver)
        await asyncio.to_thread(self._open)

    def _open(self) -> None:
        self._inputs = Inputs.find(self._path, options=InputOptions(limits=self._limits))
        self._frames = sum(self._count(file) for file in self._inputs.files)

    def _count(self, file: DataFile) -> int:
        """Return the number of frames of a file. Uncompressed Jelly files are counted without decoding."""
        assert self._inputs is not None
        if self._inputs.formats[file].cut == "restart points":
            with file.open() as source:
                if is_splittable(source):
                    frames = walk_frames(source, 0, file.size, head_bytes=64)
                    return sum(1 for frame in frames if INDEX_KEY.encode() not in bytes(frame.head[:64]))
        return sum(1 for _frame in _frames_of_file(self._inputs, file))

    @property
    def first_offset(self) -> int:
        return 0

    @property
    def next_offset(self) -> int:
        return self._frames

    async def append(self, frame: CheckedFrame) -> None:
        raise ReadOnlyError("the topic is served from files, and nothing can be published to it")

    def reader(self, offset: int) -> StoreReader:
        require_offset(self, offset)
        assert self._inputs is not None
        return _FileReader(self._inputs, offset)


class _FileReader(StoreReader):
    def __init__(self, inputs: Inputs, offset: int) -> None:
        self._wanted = offset
        self._next = 0
        self._frames = (frame for file in inputs.files for frame in _frames_of_file(inputs, file))

    def read(self, max_bytes: int) -> list[Message]:
        messages: list[Message] = []
        size = 0
        for frame in self._frames:
            offset = self._next
            self._next += 1
            if offset < self._wanted:
                continue
            messages.append(Message(offset, frame))
            size += sum(batch.terms.text_bytes() for batch in frame.content.batches) + 64
            if size >= max_bytes:
                break
        return messages

    def close(self) -> None:
        self._frames.close()


def _frames_of_file(inputs: Inputs, file: DataFile) -> Iterator[CheckedFrame]:
    """Yield the frames of a Jelly file; of other files, frames of 256 rows."""

    def fail(error: JellyError) -> None:
        raise error

    batches = piece_batches(Piece(file), inputs, fail)
    if inputs.formats[file].cut != "restart points":
        for batch in batches:
            options = StreamOptions.big().resolved(has_graph=batch.has_graph)
            for start in range(0, len(batch), DEFAULT_FRAME_ROWS):
                yield CheckedFrame(options, FrameContent([batch.slice(start, start + DEFAULT_FRAME_ROWS)], [], {}))
        return
    for frame in frames_of(batches):
        parts = [batch.slice(start, stop) for batch, start, stop in frame.parts()]
        if INDEX_KEY not in frame.metadata or parts:
            yield CheckedFrame(_options_of(parts), FrameContent(parts, frame.namespaces, frame.metadata))


def _options_of(parts: list[Batch]) -> StreamOptions:
    """Return the options of the stream of a frame. A frame without statements fits any options."""
    options = parts[0].options if parts else None
    return options or StreamOptions.big().resolved(has_graph=bool(parts) and parts[0].has_graph)
