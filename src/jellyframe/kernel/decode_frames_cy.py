"""Split the bytes of a stream into frames and rows, and collect the rows in batches.

This module does not know which rows a stream has. A decoder of rows derives from `FrameDecoder`, says which fields
its rows have, and reads them in `read_row`. `feed` takes bytes and fills a batch. It stops when the batch is full or
no further frame is whole, and continues from there when called again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import Advice, JellyError
from jellyframe.kernel.decode_terms_cy import TermDecoder
from jellyframe.kernel.memory_cy import Memory, grown_ints, int_column
from jellyframe.kernel.table_cy import BatchBuilder, TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_terms_cy import TermDecoder
    from cython.cimports.jellyframe.kernel.fields import FRAME_METADATA, FRAME_ROWS, ROW_OPTIONS
    from cython.cimports.jellyframe.kernel.memory_cy import Memory
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder, TermTable
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import FRAME_METADATA, FRAME_ROWS, ROW_OPTIONS
    from jellyframe.kernel.varints import read_length, read_varint

# Hints for errors about references, after a second options row.
REPEATED_HINT = "; the options are repeated before this: these may be several streams, one after the other"
NEW_STREAM_HINT = "; an options row before this was taken for a new stream: it may only repeat those of the stream"

# A batch also ends when its terms grow out of proportion to its rows, so that no input makes it grow without bound.
TERMS_PER_ROW = cython.declare(cython.Py_ssize_t, 8)


@cython.cclass
class FrameDecoder(TermDecoder):
    """Reads the frames of a stream.

    `read_options(message, is_first)` is called for options rows, raises if they are not acceptable, and returns what
    the kernel needs of them: the settings for `begin_stream`, whether generalized statements and RDF-star are allowed,
    and the sizes of the tables of names, prefixes and datatypes.

    Subclasses set which fields a row may have (`row_fields`, a bit for each; all are messages and
    below 16), which of them are lookup entries, and the name of the stream in errors. `statement_fields` has a bit
    for each field that is a plain statement at this point of the stream, with `statement_width` terms; with 3, `graph`
    is its graph. Most rows are such statements: they are read here and never reach `read_row`.
    """

    def __init__(
        self,
        read_options: Callable[[bytes, bool], tuple[tuple[int, ...], bool, bool, int, int, int]],
        max_nesting_depth: cython.int,
        max_frame_bytes: cython.longlong,
        batch_rows: cython.Py_ssize_t,
        batch_bytes: cython.Py_ssize_t,
        concatenated: cython.bint,
    ):
        TermDecoder.__init__(self, max_nesting_depth, max_frame_bytes)
        self.read_options = read_options
        self.batch_rows = batch_rows
        self.batch_bytes = batch_bytes
        self.concatenated = concatenated
        self.row_fields = 0
        self.name_field = 0
        self.prefix_field = 0
        self.datatype_field = 0
        self.statement_fields = 0
        self.statement_width = 3
        self.graph = -1
        self.stream_name = ""
        self.options_message: bytes | None = None
        self.has_options = False
        self.frame_left = -1
        self.unknown_fields = 0
        self.rows_frame = -1
        self.rows_frame_offset = 0
        self.memory = Memory()
        self.begin_batch(BatchBuilder(False))

    # ---- hooks for subclasses ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Read a row that is not the options, a lookup entry or one of `statement_fields`."""
        raise NotImplementedError

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_stream(self, settings: Sequence[int]) -> cython.bint:
        """Apply the settings of a new stream and return whether its rows have a graph."""
        raise NotImplementedError

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_stream_end(self, pos: cython.Py_ssize_t) -> cython.int:
        """Raise if another stream cannot begin here, because something that spans several rows has not ended."""
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def check_frame_end(self) -> cython.int:
        """Raise if a frame may not end here."""
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def adopt_terms(self, terms: TermTable) -> cython.int:
        """Copy the terms that later rows refer to into the table of the next batch, `self.terms`."""
        return 0

    # ---- bytes ----

    def begin_at(self, offset: cython.longlong, frame: cython.longlong) -> None:
        """Set the offset of the first byte and the number of the first frame."""
        self.base_offset = offset
        self.frame_offset = offset
        self.frame_number = frame
        self.first_frame = frame

    @cython.cfunc
    def begin_batch(self, builder: BatchBuilder) -> None:
        self.builder = builder
        self.terms = builder.terms
        self.frame_ends = int_column(16)
        self.frames_ended = 0
        self.first_frame = self.frame_number
        self.metadata: dict[int, dict[str, bytes]] = {}
        self.metadata_bytes = 0
        self.namespaces: list[tuple[int, str, str]] = []
        self.inherited_text = 0
        self.must_break = False
        self.safe_rows = 0
        self.safe_frames = 0

    def feed(self, buf: bytes | bytearray | memoryview, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> int:
        """Read delimited frames from `buf[pos:stop]` and return the end position.

        Unless `is_batch_full()` afterwards, the next call requires at least `needed` bytes from that position on.
        """
        length: cython.Py_ssize_t
        self.buf = memoryview(buf)
        self.needed = 0
        while pos < stop and not self.is_batch_full():
            if self.frame_left < 0:
                self.row_number = 0
                self.frame_offset = self.base_offset + pos
                length = self.frame_length(pos, stop)
                if length < 0:
                    break
                pos = self.pos
                self.frame_left = length
            pos = self.read_frame(pos)
        self.buf = memoryview(b"")
        return pos

    def feed_bare(self, buf: bytes | bytearray | memoryview, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> int:
        """Read `buf[pos:stop]` as one bare frame until it ends or the batch is full, and return the end position."""
        self.buf = memoryview(buf)
        if self.frame_left < 0:
            self.row_number = 0
            self.frame_offset = self.base_offset + pos
            self.check_frame_length(stop - pos, pos)
            self.frame_left = stop - pos
        pos = self.read_frame(pos)
        self.buf = memoryview(b"")
        return pos

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_frame(self, pos: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Continue the current frame until it ends or the batch is full, and return the end position."""
        stop: cython.Py_ssize_t = pos + self.frame_left
        pos = self.read_rows(pos, stop)
        self.frame_left = stop - pos
        if pos == stop:
            self.end_frame()
            self.frame_left = -1
            self.frame_offset = self.base_offset + pos
        return pos

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end_frame(self) -> cython.int:
        self.check_frame_end()
        if self.frames_ended >= self.frame_ends.shape[0]:
            self.frame_ends = grown_ints(self.frame_ends, self.frames_ended, 2 * self.frames_ended)
        self.frame_ends[self.frames_ended] = cython.cast(cython.int, self.builder.rows)
        self.frames_ended += 1
        if self.row_number > 0:
            self.rows_frame = self.frame_number
            self.rows_frame_offset = self.frame_offset
        self.frame_number += 1
        self.safe_rows = self.builder.rows
        self.safe_frames = self.frames_ended
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def new_text(self) -> cython.longlong:
        """Return the approximate size of the batch's terms as text, without those copied from the last batch."""
        terms: TermTable = self.terms
        size: cython.longlong = terms.values.data_size + terms.quoted_text + terms.longest_detail * terms.count
        return size - self.inherited_text

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def is_batch_full(self) -> cython.bint:
        """Return whether `take_batch` has to be called before more can be read."""
        if self.must_break:
            return True
        # Terms kept from the last batch may be large by themselves, and must not lead to an empty batch.
        if self.builder.rows == 0 and self.frames_ended == 0 and len(self.namespaces) == 0:
            return False
        return (
            self.builder.rows >= self.batch_rows
            or self.new_text() >= self.batch_bytes
            or self.terms.count >= TERMS_PER_ROW * self.batch_rows
            or self.frames_ended >= self.batch_rows
            or len(self.namespaces) >= self.batch_rows
            or self.metadata_bytes >= self.batch_bytes
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_rows(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read rows up to `stop`, or until the batch is full, and return the end position."""
        tag: cython.longlong
        field: cython.int
        row_start: cython.Py_ssize_t
        row_stop: cython.Py_ssize_t
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag != (FRAME_ROWS << 3 | 2):
                pos = self.other_frame_field(tag, pos, stop)
                continue
            n = read_length(self, self.pos, stop)
            row_start = self.pos
            row_stop = row_start + n
            # Nearly every row is one field of fewer than 128 bytes that fills it.
            if (
                2 <= n < 130
                and self.buf[row_start + 1] == n - 2
                and self.buf[row_start] & 7 == 2
                and self.row_fields >> (self.buf[row_start] >> 3) & 1
            ):
                field = self.buf[row_start] >> 3
                self.field_start = row_start + 2
                self.field_stop = row_stop
            else:
                field = self.find_row_field(row_start, row_stop)
            if self.statement_fields >> field & 1:
                self.statement(self.field_start, self.field_stop, self.statement_width)
                self.builder.add_row(
                    self.last[0],
                    self.last[1],
                    self.last[2],
                    self.last[3] if self.statement_width == 4 else self.graph,
                )
            elif field == ROW_OPTIONS:
                if not self.options_row(self.field_start, self.field_stop):
                    self.must_break = True
                    return pos
            elif not self.has_options:
                self.fail("the stream does not begin with an options row", self.field_start)
            elif field == self.name_field:
                self.name_entry(self.field_start, self.field_stop)
            elif field == self.prefix_field:
                self.prefix_entry(self.field_start, self.field_stop)
            elif field == self.datatype_field:
                self.datatype_entry(self.field_start, self.field_stop)
            else:
                self.read_row(field, self.field_start, self.field_stop)
            pos = row_stop
            self.row_number += 1
            if self.builder.rows >= self.batch_rows or self.new_text() >= self.batch_bytes:
                break
        return pos

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_row_field(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the number of a row's only field, and set `field_start` and `field_stop`."""
        start: cython.Py_ssize_t = pos
        tag: cython.longlong
        n: cython.Py_ssize_t
        found: cython.int = 0
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag < 8 or tag >= 128 or not self.row_fields >> (tag >> 3) & 1:
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field {tag >> 3} of a row has the wire type {tag & 7}, and must have 2", pos)
            if found != 0:
                self.fail("a row with more than one content", start)
            found = cython.cast(cython.int, tag >> 3)
            n = read_length(self, self.pos, stop)
            self.field_start = self.pos
            pos = self.field_stop = self.pos + n
        if found == 0:
            self.fail("a row with no content that this version of the format knows", start)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def options_row(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.bint:
        """Read the options row. Return false if the batch must be taken first: a stream with other options begins."""
        message: bytes = bytes(memoryview(self.buf)[pos:stop])
        is_first: cython.bint = self.options_message is None or self.concatenated
        has_graph: cython.bint
        if self.options_message is not None:
            self.reference_hint = NEW_STREAM_HINT if self.concatenated else REPEATED_HINT
            self.reference_advice = Advice("argument", "concatenated", str(not self.concatenated))
            if not self.concatenated and message == self.options_message:
                return True
            if self.concatenated:
                self.require_stream_end(pos)
                if message != self.options_message and self.has_content():
                    return False
        try:
            settings, generalized, rdf_star, names, prefixes, datatypes = self.read_options(message, is_first)
        except JellyError as error:
            raise error.located(
                source=self.source_name,
                frame=self.frame_number,
                row=self.row_number,
                offset=self.base_offset + pos,
            ) from None
        if is_first:
            self.options_message = message
            self.has_options = True
            has_graph = self.begin_stream(settings)
            self.reset_lookups(names, prefixes, datatypes, generalized, rdf_star)
            if self.builder.has_graph != has_graph:
                # The builder is still empty, though frames without rows may have ended.
                self.builder = BatchBuilder(has_graph, memory=self.memory)
                self.terms = self.builder.terms
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def other_frame_field(
        self, tag: cython.longlong, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Read a frame's field that is not a row, after its tag, and return its end: metadata or an unknown field."""
        n: cython.Py_ssize_t
        if tag >> 3 == FRAME_ROWS or (tag >> 3 == FRAME_METADATA and (tag & 7) != 2):
            self.fail(f"field {tag >> 3} of a frame has the wire type {tag & 7}, and must have 2", pos)
        if tag >> 3 != FRAME_METADATA:
            self.unknown_fields += 1
            return self.skip(tag, self.pos, stop)
        n = read_length(self, self.pos, stop)
        pos = self.pos
        self.metadata_entry(pos, pos + n)
        return pos + n

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def metadata_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        key: bytes = b""
        value: bytes = b""
        start: cython.Py_ssize_t = pos
        tag: cython.longlong
        n: cython.Py_ssize_t
        self.metadata_bytes += stop - pos
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x0A:
                n = read_length(self, self.pos, stop)
                pos = self.pos + n
                key = bytes(memoryview(self.buf)[self.pos : pos])
            elif tag == 0x12:
                n = read_length(self, self.pos, stop)
                pos = self.pos + n
                value = bytes(memoryview(self.buf)[self.pos : pos])
            else:
                if tag >> 3 < 3:
                    self.fail(f"field {tag >> 3} of frame metadata has the wrong wire type {tag & 7}", pos)
                pos = self.skip(tag, self.pos, stop)
        try:
            name = key.decode()
        except UnicodeDecodeError:
            return self.fail("a metadata key is not valid UTF-8", start)
        self.metadata.setdefault(self.frame_number, {})[name] = value
        return 0

    # ---- batches ----

    def waiting_rows(self) -> int:
        """Return the number of rows that a batch taken now would have."""
        return self.builder.rows

    def has_content(self) -> bool:
        """Return whether a batch taken now would not be empty."""
        return self.builder.rows > 0 or self.frames_ended > 0 or bool(self.namespaces)

    def take_batch(self) -> tuple[Any, ...]:
        """Return columns, terms, first frame, frame ends, whether the last frame is open, metadata and namespaces.

        Terms that later rows may repeat are copied to the next batch.
        """
        old: BatchBuilder = self.builder
        terms: TermTable = old.terms
        new: BatchBuilder
        last = [self.last[i] for i in range(4)]
        is_open = self.frame_left >= 0
        ends = grown_ints(self.frame_ends, self.frames_ended, self.frames_ended + is_open)
        if is_open:
            ends[self.frames_ended] = old.rows
        taken = (
            old.columns(),
            terms,
            self.first_frame,
            ends[: self.frames_ended + is_open],
            is_open,
            self.metadata,
            self.namespaces,
        )
        new = BatchBuilder(
            old.has_graph,
            old.rows,
            TermTable(terms.count + terms.count // 8, terms.values.data_size * 9 // 8, self.memory),
            self.memory,
        )
        self.begin_batch(new)
        self.forget_terms()
        for i, term in enumerate(last):
            if term >= 0:
                self.last[i] = new.terms.adopt(terms, term)
        self.adopt_terms(terms)
        self.inherited_text = new.terms.text_bytes()
        terms.forget_index()
        return taken

    def drop_unfinished_frame(self) -> None:
        """Drop the rows of the unfinished frame after an error, so that those of whole frames can still be taken."""
        self.builder.keep_rows(self.safe_rows)
        self.frames_ended = self.safe_frames
        self.frame_left = -1
        self.metadata.pop(self.frame_number, None)
        self.namespaces = [entry for entry in self.namespaces if entry[0] != self.frame_number]

    def end_of_input(self) -> None:
        """Raise if the stream may not end here.

        Frames with no rows need no options before them. But input with only unknown fields is not a Jelly stream.
        """
        if self.options_message is None and self.unknown_fields > 0:
            self.fail(f"there are unknown fields and no options row, so this is not a {self.stream_name} stream", 0)

    def is_inside_frame(self) -> bool:
        """Return whether a frame has begun and not ended."""
        return self.frame_left >= 0
