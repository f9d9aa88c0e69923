"""Read protobuf fields: numbers, lengths, fields to skip, and the lengths in front of frames."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import Advice, LimitError, ParseError

if cython.compiled:
    from cython.cimports.jellyframe.kernel.utf8_cy import valid_utf8
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.utf8_cy import valid_utf8
    from jellyframe.kernel.varints import read_length, read_varint

LARGEST_VALUE = cython.declare(cython.longlong, 0x7FFFFFFFFFFFFFFF)
# Bytes of the longest varint.
VARINT_BYTES = cython.declare(cython.Py_ssize_t, 10)
NOT_WHOLE = cython.declare(cython.Py_ssize_t, -2)


@cython.cclass
class FieldDecoder:
    """The bytes being read, their position in the stream, and errors with that position."""

    def __init__(self, max_frame_bytes: cython.longlong):
        self.buf = memoryview(b"")
        self.pos = 0
        self.max_frame_bytes = max_frame_bytes
        self.base_offset = 0
        self.source_name: str | None = None
        self.frame_number = 0
        self.frame_offset = 0
        self.row_number = 0
        self.needed = 0
        self.reference_hint = ""
        self.reference_advice: Advice | None = None

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail(self, message: str, pos: cython.Py_ssize_t) -> cython.int:
        raise ParseError(
            message,
            source=self.source_name,
            frame=self.frame_number,
            row=self.row_number,
            offset=self.base_offset + pos,
        )

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_reference(self, message: str, pos: cython.Py_ssize_t) -> cython.int:
        """Raise an error that an earlier options row may explain, such as a reference to an entry never set."""
        raise ParseError(
            message + self.reference_hint,
            source=self.source_name,
            frame=self.frame_number,
            row=self.row_number,
            offset=self.base_offset + pos,
            advice=self.reference_advice,
        )

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_length(self, n: cython.longlong, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        return self.fail(f"a field of {n} bytes, where only {stop - self.pos} are left in its message", pos)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def long_varint(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.longlong:
        value: cython.ulonglong = 0
        shift: cython.int = 0
        at: cython.Py_ssize_t = pos
        byte: cython.ulonglong
        while at < stop:
            byte = self.buf[at]
            at += 1
            # Bits above the 64th are dropped, as in protobuf; values above 63 bits are clamped, as no field needs them.
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.pos = at
                if not cython.compiled:
                    value &= 0xFFFFFFFFFFFFFFFF
                if value > cython.cast(cython.ulonglong, LARGEST_VALUE):
                    return LARGEST_VALUE
                return cython.cast(cython.longlong, value)
            shift += 7
            if shift >= 70:
                return self.fail("a number runs over ten bytes: this is not a varint", pos)
        return self.fail("the message ends inside a number", pos)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def skip(self, tag: cython.longlong, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position after a field that this version of the format does not know."""
        wire_type: cython.int = tag & 7
        n: cython.Py_ssize_t
        if tag < 8:
            self.fail("a field with the number 0", pos)
        if wire_type == 0:
            read_varint(self, pos, stop)
            return self.pos
        if wire_type == 2:
            n = read_length(self, pos, stop)
            return self.pos + n
        if wire_type == 1:
            n = 8
        elif wire_type == 5:
            n = 4
        else:
            return self.fail(f"a field with the wire type {wire_type}, which Jelly does not use", pos)
        if n > stop - pos:
            self.fail("the message ends inside a field", pos)
        return pos + n

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_utf8(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, what: object) -> cython.int:
        if not valid_utf8(self.buf, start, stop - start):
            self.fail(f"{what} is not valid UTF-8", start)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def entry_id(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.longlong:
        """Return the id of a lookup entry, 0 if it is left out, without reading the string."""
        entry_id: cython.longlong = 0
        tag: cython.longlong
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x08:
                entry_id = read_varint(self, self.pos, stop)
                pos = self.pos
            else:
                pos = self.skip(tag, self.pos, stop)
        return entry_id

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def frame_length(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the length of the frame at `pos`, which begins at `self.pos`; NOT_WHOLE if it does not end by `stop`.

        In that case at least `needed` bytes from `pos` on are required.
        """
        i: cython.Py_ssize_t
        length: cython.longlong
        for i in range(pos, min(stop, pos + VARINT_BYTES)):
            if self.buf[i] < 0x80:
                break
        else:
            if stop - pos < VARINT_BYTES:
                self.needed = stop - pos + 1
                return NOT_WHOLE
        length = read_varint(self, pos, stop)
        self.check_frame_length(length, pos)
        if length > stop - self.pos:
            self.needed = cython.cast(cython.Py_ssize_t, self.pos - pos + length)
            return NOT_WHOLE
        return cython.cast(cython.Py_ssize_t, length)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def check_frame_length(self, length: cython.longlong, pos: cython.Py_ssize_t) -> cython.int:
        if length > self.max_frame_bytes:
            raise LimitError(
                f"a frame of {length} bytes, above the limit of {self.max_frame_bytes}, if the input is Jelly at all",
                advice=Advice("limit", "max_frame_bytes"),
                source=self.source_name,
                frame=self.frame_number,
                offset=self.base_offset + pos,
            )
        return 0
