"""Jelly text: the rows of a stream in protobuf's text format, frame by frame.

    # Frame 0
    rows {
      options {
        physical_type: PHYSICAL_STREAM_TYPE_TRIPLES
        …

Lines that begin with `# Frame` mark the start of a frame, so that the same frames are read again. A text without
such lines is cut into frames of a number of rows, as in jelly-cli. Other comments are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from google.protobuf import text_format

from jellyframe.defaults import DEFAULT_FRAME_ROWS
from jellyframe.dialects.recognition import recognised_dialect
from jellyframe.errors import Advice, OptionsError, ParseError, TextError, one_line
from jellyframe.formats.jelly import JellyInput
from jellyframe.formats.settings import BatchInput, BatchOutput, JellySettings, ReadSettings, WriteSettings
from jellyframe.options import Limits
from jellyframe.proto import rdf_pb2
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource
from jellyframe.stream.framing import FrameSplitter, read_frames
from jellyframe.stream.writer import open_writer
from jellyframe.wire import encode_varint

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.batch.selection import FrameRange
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.types import Buffer, Source

_FRAME_MARK = b"# Frame"


# ---- Jelly to text ----------------------------------------------------------------------------------------


def jelly_to_text(source: Source, sink: ByteSink, frames: FrameRange, limits: Limits) -> None:
    """Write a stream as text. Rows are not decoded, so an invalid stream can be shown too."""
    with ByteSource(source, limits) as file:
        for number, frame in enumerate(read_frames(file, limits.max_frame_bytes)):
            if frames.stop is not None and number >= frames.stop:
                return
            if number >= frames.start:
                sink.write(_text_of_frame(number, frame.body))


def _text_of_frame(number: int, data: bytes) -> bytes:
    if recognised_dialect(data) == "draft":
        # protobuf would read its fields as others with the same numbers.
        raise ParseError(
            "the rows look like those of the draft dialect of Jelly, and are read as those of the released one",
            frame=number,
            advice=Advice("argument", "dialect", "'draft'"),
        )
    frame = rdf_pb2.RdfStreamFrame()
    try:
        frame.ParseFromString(data)
    except Exception as error:
        raise ParseError(f"the frame is not a protobuf message: {one_line(str(error))}", frame=number) from None
    text = text_format.MessageToString(frame, as_utf8=True)
    return b"%s %d\n%s" % (_FRAME_MARK, number, text.encode())


def open_output(sink: ByteSink, _found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for Jelly text: an entry of the registry."""
    return _Output(sink, settings)


class _Output(BatchOutput):
    """An output that writes a Jelly stream, and each of its frames as text."""

    def __init__(self, sink: ByteSink, settings: WriteSettings) -> None:
        self._frames = _TextSink(sink)
        jelly = JellySettings(**settings.jelly)
        jelly["delimited"] = True
        if jelly.get("dialect") == "draft":
            raise OptionsError("Jelly text shows rows of the released format, not of the draft dialect")
        self._writer = open_writer(self._frames, settings.options, **jelly)

    def write(self, batch: Batch) -> None:
        self._writer.write_batch(batch)

    def declare(self, name: str, iri: str) -> None:
        self._writer.declare_namespace(name, iri)

    def close(self) -> None:
        self._writer.close()

    def discard(self) -> None:
        self._writer.discard()


class _TextSink:
    """A file object for delimited frames, in any pieces, which writes their text."""

    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink
        self._splitter = FrameSplitter(delimited=True)
        self._frames = 0

    def write(self, data: Buffer) -> int:
        for frame in self._splitter.push(data):
            self._sink.write(_text_of_frame(self._frames, frame.body))
            self._frames += 1
        return len(data)


# ---- text to Jelly ----------------------------------------------------------------------------------------


def open_input(source: Source, _found: Format, settings: ReadSettings) -> BatchInput:
    """Open Jelly text as batches: an entry of the registry."""
    return TextInput(source, settings)


class TextInput(JellyInput):
    """The statements and the frames of a Jelly text.

    A text without marks is cut into frames of `frame_rows` rows; with `is_one_frame` it is one frame.
    """

    def __init__(
        self,
        source: Source,
        settings: ReadSettings,
        *,
        frame_rows: int = DEFAULT_FRAME_ROWS,
        is_one_frame: bool = False,
    ) -> None:
        name = getattr(source, "name", source if isinstance(source, str) else None)
        frames = text_frames(source, frame_rows, is_one=is_one_frame)
        self._frames = _FrameSource(frames, name if isinstance(name, str) else None)
        super().__init__(self._frames, settings, delimited=True)

    def copy(self, batches: Iterator[Batch], sink: ByteSink, *, delimited: bool) -> None:
        """Copy the frames as they are read. They are decoded too, so that only valid ones are copied."""
        for _batch in batches:
            sink.write(self._frames.take(delimited=delimited))
        sink.write(self._frames.take(delimited=delimited))


class _FrameSource:
    """Frames as a file object with delimited frames, which keeps the bytes that were read from it."""

    def __init__(self, frames: Iterator[bytes], name: str | None) -> None:
        self._frames = frames
        self._taken: list[bytes] = []
        self._rest = b""
        self.name = name

    def read(self, size: int) -> bytes:
        if not self._rest:
            frame = next(self._frames, None)
            if frame is None:
                return b""
            self._taken.append(frame)
            self._rest = encode_varint(len(frame)) + frame
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def take(self, *, delimited: bool) -> bytes:
        taken, self._taken = self._taken, []
        return b"".join(encode_varint(len(frame)) + frame if delimited else frame for frame in taken)


def text_frames(source: Source, rows_per_frame: int, *, is_one: bool = False) -> Iterator[bytes]:
    """Yield the frames of a text, as messages; one frame if `is_one`."""
    lines: list[bytes] = []
    first_line = 1
    rows = 0
    has_marks = False
    number = 0
    for number, line in enumerate(_lines(source), 1):
        if line.startswith(_FRAME_MARK) and not is_one:
            if has_marks or any(other.strip() and not other.startswith(b"#") for other in lines):
                yield _frame(lines, first_line)
            lines, rows, first_line, has_marks = [], 0, number + 1, True
            continue
        lines.append(line)
        rows += line.startswith(b"}")
        if rows == rows_per_frame and not has_marks and not is_one:
            yield _frame(lines, first_line)
            lines, rows, first_line = [], 0, number + 1
    if has_marks or any(line.strip() for line in lines):
        yield _frame(lines, first_line)


def _lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file, which may be compressed."""
    with ByteSource(source) as file:
        rest = b""
        while piece := file.read(CHUNK_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
        if rest:
            yield rest


def _frame(lines: list[bytes], first_line: int) -> bytes:
    try:
        text = b"\n".join(lines).decode()
        return bytes(text_format.Parse(text, rdf_pb2.RdfStreamFrame()).SerializeToString())
    except UnicodeDecodeError:
        raise TextError("the text is not UTF-8", line=first_line) from None
    except text_format.ParseError as error:
        line = error.GetLine()
        place = None if line is None else first_line + line - 1
        raise TextError(_bare(str(error)), line=place, column=error.GetColumn()) from None


def _bare(message: str) -> str:
    """Return a message of protobuf without the position at its start, `line:column : `."""
    place, colon, rest = message.partition(" : ")
    return rest if colon and place.replace(":", "").isdigit() else message
