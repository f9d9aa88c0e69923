"""Split the rows of a stream into frames, begin restart points with the options row, and collect the finished bytes.

This module does not know which rows a stream has. An encoder of rows derives from `FrameEncoder`, plans and writes its
rows, and calls `begin_frame` before a row where `is_frame_full` says so.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError
from jellyframe.kernel.encode_terms_cy import TermEncoder
from jellyframe.kernel.memory_cy import byte_column, grown_bytes, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.encode_rows_cy import varint_size
    from cython.cimports.jellyframe.kernel.encode_terms_cy import TermEncoder
    from cython.cimports.jellyframe.kernel.fields import ROW_OPTIONS
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.steps import LARGEST_MESSAGE
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.encode_rows_cy import varint_size
    from jellyframe.kernel.fields import ROW_OPTIONS
    from jellyframe.kernel.runs import move_bytes
    from jellyframe.kernel.steps import LARGEST_MESSAGE
    from jellyframe.kernel.table_cy import TermTable

# Upper bound for a graph end and the length of a frame.
FRAME_OVERHEAD = cython.declare(cython.int, 16)
# An output buffer above this size is not kept for the next output.
LARGEST_KEPT_OUTPUT = cython.declare(cython.Py_ssize_t, 8 << 20)


@cython.cclass
class FrameEncoder(TermEncoder):
    """Splits rows into frames. `options` is the options message; `frame_row_limit` and `restart_every` are 0 for none.

    Finished bytes are taken with `take_output`. `restarts` lists the points at which a reader may start: the offset in
    the stream and the number of statements before it. `option_offsets` has the offset of each options message in the
    finished bytes.
    """

    def __init__(
        self,
        options: bytes,
        generalized: cython.bint,
        rdf_star: cython.bint,
        names: cython.int,
        prefixes: cython.int,
        datatypes: cython.int,
        frame_row_limit: cython.Py_ssize_t,
        frame_byte_limit: cython.Py_ssize_t,
        delimited: cython.bint,
        restart_every: cython.longlong,
        output_limit: cython.Py_ssize_t,
    ):
        TermEncoder.__init__(self, names, prefixes, datatypes, generalized, rdf_star, frame_byte_limit)
        self.options = options
        self.frame_row_limit = frame_row_limit
        # A frame ends between statements before it is full, so that it need not end inside one.
        self.frame_byte_soft_limit = frame_byte_limit // 4 * 3
        self.delimited = delimited
        self.restart_every = restart_every
        self.output_limit = output_limit
        self.out = byte_column(4096)
        self.out_size = 0
        self.bytes_taken = 0
        self.frames = 0
        self.statements = 0
        self.restarts: list[tuple[int, int]] = []
        self.option_offsets: list[int] = []
        self.restart_offset = 0
        self.restart_due = True
        self.has_options_row = False
        self.is_broken = False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_open(self) -> cython.int:
        """Raise an EncodeError unless more can be written to the stream."""
        if self.is_broken:
            raise EncodeError("an earlier error has left the stream incomplete, and nothing more can be written to it")
        if not self.delimited and self.frames > 0:
            raise EncodeError("a stream without delimiters holds one frame only; write it delimited")
        return 0

    def check_open(self) -> None:
        """Raise an EncodeError unless more can be written to the stream."""
        self.require_open()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_frame(self) -> cython.int:
        """End the frame if it has rows, and begin the next with a restart point if one is due."""
        if self.frame_rows > 0:
            if self.is_restart_near():
                self.leave_graph()
            self.flush_frame(b"")
        if self.restart_due and self.may_restart():
            self.restart()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def may_restart(self) -> cython.bint:
        """Return whether the frame that begins here may be a restart point."""
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_restart_near(self) -> cython.bint:
        """Return whether the current frame may be the last one before a restart point."""
        # The frame will grow by at most the end of a graph and the length in front of it.
        finished: cython.longlong = self.bytes_taken + self.out_size + self.frame_size + FRAME_OVERHEAD
        return self.restart_every > 0 and finished - self.restart_offset >= self.restart_every

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def restart(self) -> cython.int:
        """Begin a frame at a restart point: write the options, and forget all that rows could refer back to."""
        n: cython.Py_ssize_t = len(self.options)
        self.reserve_frame(n + 32)
        self.names.clear()
        self.prefixes.clear()
        self.datatypes.clear()
        self.last_prefix = 0
        self.last_name = 0
        self.previous = int_column(4)
        self.restart_offset = self.bytes_taken + self.out_size
        self.restarts.append((self.restart_offset, self.statements))
        self.restart_due = False
        self.has_options_row = True
        self.write_number(0x0A)
        self.write_number(1 + varint_size(n) + n)
        self.write_number(ROW_OPTIONS << 3 | 2)
        self.write_number(n)
        move_bytes(self.frame, self.frame_size, memoryview(self.options), 0, n)
        self.frame_size += n
        self.frame_rows += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def flush_frame(self, metadata: bytes) -> cython.int:
        """Move the frame to the output."""
        n: cython.Py_ssize_t = self.frame_size + len(metadata)
        length: cython.Py_ssize_t = n
        if n > LARGEST_MESSAGE:
            raise EncodeError(f"a frame of {n} bytes, but protobuf messages end at {LARGEST_MESSAGE}")
        if self.out_size + n + 10 > self.out.shape[0]:
            self.out = grown_bytes(self.out, self.out_size, max(2 * self.out.shape[0], self.out_size + n + 10))
        if self.delimited:
            while length > 0x7F:
                self.out[self.out_size] = length & 0x7F | 0x80
                self.out_size += 1
                length >>= 7
            self.out[self.out_size] = length
            self.out_size += 1
        if self.has_options_row:
            self.option_offsets.append(self.bytes_taken + self.out_size + self.options_header())
            self.has_options_row = False
        move_bytes(self.out, self.out_size, self.frame, 0, self.frame_size)
        self.out_size += self.frame_size
        if metadata:
            move_bytes(self.out, self.out_size, memoryview(metadata), 0, len(metadata))
            self.out_size += len(metadata)
        self.frame_size = 0
        self.frame_rows = 0
        self.has_content = False
        self.frames += 1
        if self.restart_every > 0 and self.bytes_taken + self.out_size - self.restart_offset >= self.restart_every:
            self.restart_due = True
        return 0

    def end_frame(self, metadata: bytes = b"") -> None:
        """End the frame, even if it is empty. `metadata` is the encoded metadata. An open graph ends with it."""
        self.end_frame_with(metadata)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end_frame_with(self, metadata: bytes) -> cython.int:
        self.require_open()
        if self.restart_due and self.frame_rows == 0 and self.may_restart():
            self.restart()
        self.leave_graph()
        return self.flush_frame(metadata)

    def finish(self) -> None:
        """End the stream and its last frame. An empty stream is one frame with the options."""
        self.leave_graph()
        if self.has_content or self.frames == 0:
            self.end_frame_with(b"")
        elif self.has_options_row:
            # The frame was begun for a statement that was refused, and is left out.
            self.restarts.pop()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def leave_graph(self) -> cython.int:
        """End the open graph. Does nothing in streams without graphs."""
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def withdraw_graph(self) -> cython.int:
        """Remove the start of a graph that is still empty, as its first row was refused."""
        return 0

    # ---- batches ----

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_rows(self, terms: TermTable, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Prepare for rows of a batch with these terms."""
        self.row_at = start
        if start < stop:
            self.require_open()
        if (
            self.terms is not terms
            or 4 * cython.cast(cython.Py_ssize_t, terms.count) > self.memo.shape[0]
            or 2 * terms.datatypes.count > self.memo_datatype.shape[0]
        ):
            self.use_terms(terms)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def undo_row(self) -> cython.bint:
        """Undo the current row, which was refused, and return whether it can be tried again with whole IRIs."""
        can_try_again: cython.bint = self.is_prefix_table_too_small and not self.whole_iris
        self.undo_statement()
        if can_try_again:
            self.whole_iris = True
        else:
            self.withdraw_graph()
        return can_try_again

    # ---- output ----

    def offset(self) -> int:
        """Return the number of finished bytes of the stream, taken or not."""
        return self.bytes_taken + self.out_size

    def take_output(self) -> bytes:
        """Return the finished bytes and forget them."""
        taken = bytes(memoryview(self.out)[: self.out_size])
        self.bytes_taken += self.out_size
        self.out_size = 0
        if self.out.shape[0] > LARGEST_KEPT_OUTPUT:
            self.out = byte_column(4096)
        return taken

    def output_size(self) -> int:
        """Return the number of finished bytes that have not been taken."""
        return self.out_size

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def options_header(self) -> cython.Py_ssize_t:
        """Return the offset of the options message in a frame that begins with it: after two tags and two lengths."""
        n: cython.Py_ssize_t = len(self.options)
        return 2 + varint_size(1 + varint_size(n) + n) + varint_size(n)

    def change_options(self, options: bytes) -> list[int]:
        """Replace the options message by one of the same length, also in options rows that have not been taken.

        Returns the offsets of those in bytes that have been taken, which the caller has to replace.
        """
        n: cython.Py_ssize_t = len(options)
        taken: list[int] = []
        if n != len(self.options):
            raise EncodeError("options of another length cannot replace those of the stream")
        self.options = options
        if self.has_options_row:
            move_bytes(self.frame, self.options_header(), memoryview(options), 0, n)
        for offset in self.option_offsets:
            if offset < self.bytes_taken:
                taken.append(offset)
            else:
                move_bytes(self.out, offset - self.bytes_taken, memoryview(options), 0, n)
        return taken
