"""Jelly text: the rows of a stream in protobuf's text format, frame by frame.

    # Frame 0
    rows {
      options {
        physical_type: PHYSICAL_STREAM_TYPE_TRIPLES
        …

Lines that begin with `# Frame` tell where frames begin, so that reading gives the same frames again. A text without
any is cut into frames of `--rows-per-frame` rows, as jelly-cli does. Other comments are passed over.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format

from jellyframe.cli.stream_options import DEFAULT_ROWS_PER_FRAME, base_options, given_options, writer_settings
from jellyframe.errors import LimitError, ParseError, TextError
from jellyframe.options import Limits
from jellyframe.proto import rdf_pb2
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource
from jellyframe.stream.framing import looks_delimited
from jellyframe.stream.reader import open_reader
from jellyframe.wire import decode_varint, encode_varint

if TYPE_CHECKING:
    from jellyframe.batch.selection import FrameRange
    from jellyframe.cli.streams import ProgressOfInputs
    from jellyframe.storage.sources import InputFile

_FRAME_MARK = b"# Frame"
_MAX_VARINT_BYTES = 10


# ---- Jelly to text ----------------------------------------------------------------------------------------


def raw_frames(source: Any) -> Iterator[bytes]:
    """The frames of a stream, delimited or one bare frame, as they stand in the file."""
    limits = Limits()
    with ByteSource(source, limits) as file:
        data = b""
        while len(data) < 3 and (piece := file.read(CHUNK_BYTES)):
            data += piece
        if data and not looks_delimited(data[:3]):
            pieces = [data]
            while piece := file.read(CHUNK_BYTES):
                pieces.append(piece)
            yield b"".join(pieces)
            return
        number = at = 0
        while True:
            head = data[at : at + _MAX_VARINT_BYTES]
            is_head_whole = any(byte < 0x80 for byte in head)
            length, size = decode_varint(head, 0) if is_head_whole else (0, _MAX_VARINT_BYTES)
            if length > limits.max_frame_bytes:
                raise LimitError(
                    f"a frame of {length} bytes, above the limit of {limits.max_frame_bytes}", frame=number
                )
            if is_head_whole and len(data) - at >= size + length:
                yield data[at + size : at + size + length]
                at += size + length
                number += 1
                continue
            piece = file.read(max(CHUNK_BYTES, length))
            if not piece:
                if at < len(data):
                    raise ParseError("the input ends inside a frame", source=file.name, frame=number)
                return
            data, at = data[at:] + piece, 0


def jelly_to_text(source: Any, sink: ByteSink, frames: FrameRange) -> None:
    """Write a stream as text. Nothing is decoded, so a stream that breaks the rules can be looked at too."""
    for number, data in enumerate(raw_frames(source)):
        if frames.stop is not None and number >= frames.stop:
            return
        if number < frames.start:
            continue
        frame = rdf_pb2.RdfStreamFrame()
        try:
            frame.ParseFromString(data)
        except Exception as error:
            raise ParseError(f"the frame is no protobuf message: {error}", frame=number) from None
        text = text_format.MessageToString(frame, as_utf8=True)
        sink.write(b"%s %d\n%s" % (_FRAME_MARK, number, text.encode()))


# ---- text to Jelly ----------------------------------------------------------------------------------------


def text_to_jelly(source: InputFile, sink: Any, arguments: argparse.Namespace, progress: ProgressOfInputs) -> None:
    """Write the rows of a text as Jelly. They stay as they are, unless the command line asks for other options."""
    rows = arguments.rows_per_frame or DEFAULT_ROWS_PER_FRAME
    frames = _FrameSource(text_frames(source, rows, is_one=not arguments.delimited), source.name)
    given = given_options(arguments)
    base = base_options(arguments)
    settings = writer_settings(arguments)
    is_as_it_is = base is None and not given and not settings["index"] and "restart_every" not in settings
    with open_reader(frames, delimited=True) as reader:
        batches = progress.over(reader.batches(), source)
        if arguments.validate_terms:
            from jellyframe.batch.selection import checked

            batches = checked(batches, source.name)
        if is_as_it_is:
            _copy(frames, batches, ByteSink(sink, settings["compression"]), delimited=arguments.delimited)
            return
        from jellyframe.ops.regroup import FrameRows, write_frames

        options = (base or reader.options).replace(physical_type=reader.options.physical_type, **given)
        write_frames([batches], sink, options, settings, FrameRows(rows))


def _copy(frames: _FrameSource, batches: Iterable[Any], sink: ByteSink, *, delimited: bool) -> None:
    """Pass the frames on as they are read. They are decoded all the same: only what is valid gets a place."""
    with sink:
        for _batch in batches:
            sink.write(frames.take(delimited=delimited))
        sink.write(frames.take(delimited=delimited))


class _FrameSource:
    """Frames as a file object that holds them delimited, which keeps what has been read from it."""

    def __init__(self, frames: Iterator[bytes], name: str) -> None:
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


def text_frames(source: Any, rows_per_frame: int, *, is_one: bool = False) -> Iterator[bytes]:
    """The frames of a text, as messages; all in one if `is_one`."""
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


def _lines(source: Any) -> Iterator[bytes]:
    """The lines of a file, which may be compressed."""
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
    """A message of protobuf without the place that stands before it, `line:column : `."""
    place, colon, rest = message.partition(" : ")
    return rest if colon and place.replace(":", "").isdigit() else message
