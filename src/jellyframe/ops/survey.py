"""The parts of a Jelly stream: rows, terms and lookup entries, with counts and bytes, in one pass and little memory.

    survey = inspect("people.jelly")
    survey.options, survey.counts.statements, survey.counts.row_bytes("name")

Only the structure is counted, frame by frame. With `content=True` the stream is also decoded, in the same pass, for
its length as N-Triples and its most frequent predicates; broken references are then an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from jellyframe.dialects import dialect_named
from jellyframe.dialects.recognition import recognised_dialect
from jellyframe.errors import JellyError, ParseError
from jellyframe.kernel import fields
from jellyframe.kernel import survey_cy as kernel
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.sources import CountedSource
from jellyframe.options import DialectName, Limits, StreamOptions
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource
from jellyframe.stream.framing import SNIFFED_BYTES, looks_delimited
from jellyframe.wire import decode_fields, decode_varint

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.storage.types import Source

# The kinds of row, in the order in which they are shown, and their field numbers on the wire.
ROW_FIELDS = {
    "option": fields.ROW_OPTIONS,
    "triple": fields.ROW_TRIPLE,
    "quad": fields.ROW_QUAD,
    "graph_start": fields.ROW_GRAPH_START,
    "graph_end": fields.ROW_GRAPH_END,
    "namespace": fields.ROW_NAMESPACE,
    "name": fields.ROW_NAME,
    "prefix": fields.ROW_PREFIX,
    "datatype": fields.ROW_DATATYPE,
}
POSITIONS = ("subject", "predicate", "object", "graph")
TERM_KINDS = ("iri", "bnode", "literal", "triple", "default_graph", "repeated")
LOOKUP_TABLES = ("name", "prefix", "datatype")

_ALL_FRAMES = 1 << 60
# Limits, in frames and bytes, of the search for the dialect: frames that do not show it have no statements.
_RECOGNISED_FRAMES = 1024
_RECOGNISED_BYTES = 16 << 20
# The number of predicates that are counted; if there are more, the rarest are evicted.
_MAX_PREDICATES = 4096
_MAX_PREDICATE_BYTES = 1000


class Counts:
    """Counts of rows, terms and bytes, of a whole stream or of one frame."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers

    def __sub__(self, earlier: Counts) -> Counts:
        return Counts([now - before for now, before in zip(self._numbers, earlier._numbers, strict=True)])

    @property
    def frames(self) -> int:
        return self._numbers[kernel.AT_FRAMES]

    @property
    def frame_bytes(self) -> int:
        """The bytes of the frames, without the lengths in front of them."""
        return self._numbers[kernel.AT_FRAME_BYTES]

    @property
    def metadata(self) -> int:
        return self._numbers[kernel.AT_METADATA]

    @property
    def metadata_bytes(self) -> int:
        return self._numbers[kernel.AT_METADATA_BYTES]

    @property
    def statements(self) -> int:
        return self.rows("triple") + self.rows("quad")

    def rows(self, kind: str) -> int:
        return self._numbers[kernel.AT_ROWS + ROW_FIELDS[kind]]

    def row_bytes(self, kind: str) -> int:
        """Return the bytes of the messages in the rows of a kind, without the fields and lengths that wrap them."""
        return self._numbers[kernel.AT_ROW_BYTES + ROW_FIELDS[kind]]

    @property
    def all_rows(self) -> int:
        return sum(map(self.rows, ROW_FIELDS))

    @property
    def wrapping_bytes(self) -> int:
        """The bytes of frames besides their rows and metadata."""
        return self.frame_bytes - self.metadata_bytes - sum(map(self.row_bytes, ROW_FIELDS))

    def terms(self, position: str, kind: str) -> int:
        """Count terms at a position of statements (`graph`: of graph starts too); `repeated` ones take no bytes."""
        return self._numbers[kernel.AT_TERMS + _term_index(position, kind)]

    def term_bytes(self, position: str, kind: str) -> int:
        return self._numbers[kernel.AT_TERM_BYTES + _term_index(position, kind)]

    def quoted_terms(self, kind: str) -> int:
        """Count the terms inside quoted triples, at any depth."""
        return self._numbers[kernel.AT_QUOTED + TERM_KINDS.index(kind)]

    def replaced(self, table: str) -> int:
        """Return the number of lookup entries that replaced another one."""
        return self._numbers[kernel.AT_REPLACED + LOOKUP_TABLES.index(table)]


def _term_index(position: str, kind: str) -> int:
    return len(TERM_KINDS) * POSITIONS.index(position) + TERM_KINDS.index(kind)


class FrameCounts:
    """One frame: its number, metadata and content."""

    __slots__ = ("counts", "metadata", "number")

    def __init__(self, number: int, counts: Counts, metadata: dict[str, bytes]) -> None:
        self.number = number
        self.counts = counts
        self.metadata = metadata


class StreamSurvey:
    """The counts of a stream, to which bytes are pushed.

    Args:
        limits: the limits for untrusted input
        concatenated: whether every options row begins a new stream
        delimited: whether frames are delimited; by default it is detected from the first bytes
        on_frame: a function that is called with the survey and each frame that was counted
        keep_metadata: whether the frames passed to `on_frame` have their metadata
        dialect: `released` or `draft`; by default it is detected from the first frames
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        concatenated: bool = False,
        delimited: bool | None = None,
        on_frame: Callable[[StreamSurvey, FrameCounts], object] | None = None,
        keep_metadata: bool = False,
        dialect: DialectName | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self.delimited = delimited
        self.input_bytes = 0
        self.compression: str | None = None
        self.content: ContentSurvey | None = None
        self._options: StreamOptions | None = None
        self._on_frame = on_frame
        self._kernel = kernel.Survey(
            self._limits.max_nesting_depth, self._limits.max_frame_bytes, concatenated, keep_metadata
        )
        self.dialect = dialect
        if dialect is not None:
            self._kernel.is_draft = dialect_named(dialect).name == "draft"
        self._is_undecided = dialect is None
        self._undecided_frames = 0
        self._undecided_bytes = 0
        self._before = self.counts
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._needed = 3

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        return Counts(self._kernel.numbers())

    @property
    def options(self) -> StreamOptions | None:
        """The options of the (first) stream, once they have been read and the dialect is known."""
        if self._options is None and self._kernel.options_message is not None and not self._is_undecided:
            self._options = dialect_named(self.dialect or "released").parse_options(self._kernel.options_message)
        return self._options

    @property
    def is_undecided(self) -> bool:
        """Whether the dialect is still unknown."""
        return self._is_undecided

    def _recognise(self, frame: memoryview) -> None:
        """Look for the dialect in a frame."""
        self._undecided_frames += 1
        self._undecided_bytes += len(frame)
        self.dialect = recognised_dialect(frame)
        self._kernel.is_draft = self.dialect == "draft"
        self._is_undecided = (
            self.dialect is None
            and self._undecided_frames < _RECOGNISED_FRAMES
            and self._undecided_bytes < _RECOGNISED_BYTES
        )

    def recognise_waiting(self) -> None:
        """Look for the dialect in an incomplete frame, or in a bare one."""
        if self._is_undecided and self._waiting:
            data = b"".join(self._pieces)
            start = decode_varint(data, 0)[1] if self.delimited else 0
            self._recognise(memoryview(data)[start:])

    def _recognise_in(self, data: bytes) -> None:
        """Look for the dialect in the complete frames of delimited data."""
        pos = 0
        while self._is_undecided and pos < len(data):
            try:
                length, pos = decode_varint(data, pos)
            except ParseError:
                return
            if pos + length > len(data):
                return
            self._recognise(memoryview(data)[pos : pos + length])
            pos += length

    def push(self, data: bytes) -> None:
        """Count `data`, the next bytes of the (uncompressed) stream."""
        self.input_bytes += len(data)
        self._pieces.append(data)
        self._waiting += len(data)
        if self._waiting >= self._needed and self.delimited is not False:
            self._survey_whole_frames()
        elif self._waiting > self._limits.max_frame_bytes:
            self._kernel.feed_bare(b"".join(self._pieces))

    def finish(self) -> None:
        """Mark the end of the input."""
        if self.delimited is not False and self._waiting:
            self._survey_whole_frames()
        if self.delimited is False:
            if not self._waiting:
                raise ParseError("the input is empty", frame=0, offset=0)
            data = b"".join(self._pieces)
            if self._is_undecided:
                self._recognise(memoryview(data))
            self._kernel.feed_bare(data)
            self._frame_done()
        elif self._waiting:
            raise ParseError(
                f"the input ends inside a frame: {self._waiting} bytes of it are there, "
                f"and at least {self._needed} are needed",
                frame=self._kernel.frame_number,
                offset=self._kernel.base_offset,
            )
        self._is_undecided = False
        if self.options is None:
            raise ParseError("the input holds no options row, so it is not a Jelly stream")

    def _survey_whole_frames(self) -> None:
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        if self.delimited is None:
            self.delimited = looks_delimited(data[:SNIFFED_BYTES])
            if not self.delimited:
                self._pieces = [data]
                return
        self._recognise_in(data)
        pos = 0
        while True:
            at = self._kernel.feed(data, pos, len(data), _ALL_FRAMES if self._on_frame is None else 1)
            if at == pos:
                break
            pos = at
            self._frame_done()
        self._kernel.base_offset += pos
        self._pieces = [data[pos:]] if pos < len(data) else []
        self._waiting = len(data) - pos
        self._needed = max(self._kernel.needed, 1)

    def _frame_done(self) -> None:
        if self._on_frame is None:
            return
        now = self.counts
        entries = self._kernel.metadata[:]
        self._kernel.metadata.clear()
        frame = FrameCounts(self._kernel.frame_number - 1, now - self._before, dict(map(_metadata_entry, entries)))
        self._before = now
        self._on_frame(self, frame)


def _metadata_entry(message: bytes) -> tuple[str, bytes]:
    values = {number: value for number, _type, value in decode_fields(message) if isinstance(value, bytes)}
    return values.get(1, b"").decode(errors="replace"), values.get(2, b"")


class ContentSurvey:
    """Counts that need decoding: the length of a stream as text, and its predicates."""

    def __init__(self) -> None:
        self.statements = 0
        self.ntriples_bytes = 0
        self._predicates: dict[str, int] = {}
        self._is_approximate = False

    def add(self, batch: Batch) -> None:
        from jellyframe.kernel.ntriples_stream_cy import LineStream
        from jellyframe.kernel.ntriples_write_cy import text_sizes

        sizes = text_sizes(batch.terms)
        texts = LineStream(batch.columns, batch.terms, 0, 0, _MAX_PREDICATE_BYTES)
        self.statements += len(batch)
        self.ntriples_bytes += kernel.text_size(batch.s, batch.p, batch.o, batch.g, sizes)
        for term, uses in enumerate(kernel.term_uses(batch.p, batch.terms.count)):
            if uses:
                text = texts.term_start(term).decode(errors="ignore")
                if sizes[term] > _MAX_PREDICATE_BYTES:
                    # Other predicates may have the same start and length.
                    self._is_approximate = True
                    text += f"… ({sizes[term]} bytes)"
                self._predicates[text] = self._predicates.get(text, 0) + uses
        if len(self._predicates) > _MAX_PREDICATES:
            self._is_approximate = True
            kept = sorted(self._predicates.items(), key=lambda item: item[1], reverse=True)
            self._predicates = dict(kept[: _MAX_PREDICATES // 2])

    def top_predicates(self, number: int) -> list[tuple[str, int]]:
        """Return the most frequent predicates, in N-Triples form, and how often each is used."""
        ordered = sorted(self._predicates.items(), key=lambda item: (-item[1], item[0]))
        return ordered[:number]

    @property
    def predicate_count(self) -> int | None:
        """The number of distinct predicates; None if there are too many to count."""
        return None if self._is_approximate else len(self._predicates)


def inspect(
    source: Source,
    *,
    content: bool = False,
    concatenated: bool = False,
    delimited: bool | None = None,
    limits: Limits | None = None,
    on_frame: Callable[[StreamSurvey, FrameCounts], object] | None = None,
    keep_metadata: bool = False,
    progress: ProgressCallback | None = None,
    dialect: DialectName | None = None,
) -> StreamSurvey:
    """Count the parts of a Jelly stream in one pass, and return the counts and the stream's options.

    Args:
        source: a path, a URI, bytes, or a binary file object; gzip and Zstandard are detected
        limits: the limits for untrusted input
        concatenated: whether every options row begins a new stream
        delimited: whether frames are delimited; by default it is detected from the first bytes
        content: whether to decode the stream as well: `survey.content` then has its size as N-Triples and its most
            frequent predicates, and a broken reference is an error
        on_frame: a function that is called with the survey so far and each frame
        keep_metadata: whether the frames passed to `on_frame` have their metadata
        progress: a function that is called with a `Progress`
        dialect: `released` or `draft`; by default it is detected from the first statements, and in `survey.dialect`
    """
    limits = limits or Limits()
    survey = StreamSurvey(
        limits=limits,
        concatenated=concatenated,
        delimited=delimited,
        on_frame=on_frame,
        keep_metadata=keep_metadata,
        dialect=dialect,
    )
    with CountedSource(source, limits=limits) as counted, ByteSource(counted, limits) as file:
        survey.compression = file.compression
        tee = _Tee(file, survey, counted, ProgressMeter(progress, counted.total_bytes))
        try:
            if content:
                survey.content = ContentSurvey()
                tee.read_ahead()
                _decode(tee, survey, limits, concatenated, delimited)
            else:
                while tee.read(CHUNK_BYTES):
                    pass
            survey.finish()
        except JellyError as error:
            raise error.located(source=counted.name) from None
    return survey


def dialect_of(source: Source, limits: Limits | None = None) -> DialectName:
    """Return the dialect that the first statements of a Jelly stream show; `released` if there are none.

    Args:
        source: a path, a URI, bytes, or a binary file object
        limits: the limits for untrusted input
    """
    survey = StreamSurvey(limits=limits or Limits())
    with CountedSource(source, limits=limits) as counted, ByteSource(counted, limits) as file:
        _Tee(file, survey, counted, ProgressMeter(None, None)).read_ahead()
    return survey.dialect or "released"


def _decode(source: _Tee, survey: StreamSurvey, limits: Limits, concatenated: bool, delimited: bool | None) -> None:
    from jellyframe.stream.reader import open_reader

    assert survey.content is not None
    with open_reader(
        source,
        limits=limits,
        concatenated=concatenated,
        delimited=delimited,
        dialect=survey.dialect or "released",
    ) as reader:
        for batch in reader.batches():
            survey.content.add(batch)


class _Tee:
    """A file object for a reader that passes the same bytes to the survey."""

    name = None

    def __init__(self, file: ByteSource, survey: StreamSurvey, counted: CountedSource, meter: ProgressMeter) -> None:
        self._file = file
        self._survey = survey
        self._counted = counted
        self._meter = meter
        self._ahead: deque[bytes] = deque()

    def read_ahead(self) -> None:
        """Read until the dialect is known, so that a reader can be opened."""
        size = 0
        while self._survey.is_undecided and size < _RECOGNISED_BYTES and (data := self._read(CHUNK_BYTES)):
            size += len(data)
            self._ahead.append(data)
        self._survey.recognise_waiting()

    def read(self, size: int) -> bytes:
        return self._ahead.popleft() if self._ahead else self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        if data:
            self._survey.push(data)
            self._meter.report(self._counted.bytes_read, self._survey.counts.statements)
        return data
