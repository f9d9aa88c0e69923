"""Find where the parts of a text end.

Like the functions of `utf8_cy`, these check their whole range once and then index without a check at each step. They
are methods because an object is passed as one pointer, and a memoryview as some two hundred bytes, which is much for a
term of forty.

Literals are often long, so they are searched in blocks without a branch, which the C compiler vectorises; a block that
may contain the end is then searched byte by byte.
"""

from __future__ import annotations

import re
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.utf8_cy import valid_utf8
else:
    from jellyframe.kernel.utf8_cy import valid_utf8

_IRI_RUN = re.compile(rb'[^\x00-\x20<>"{}|^`\\]*')
_STRING_RUN = re.compile(rb'[^"\\\n\r]*')
_APOSTROPHE_RUN = re.compile(rb"[^'\\\n\r]*")
_CANONICAL_RUN = re.compile(rb'[^"\\\x00-\x1f\x7f]*')
_LINE_RUN = re.compile(rb"[^\n\r]*")

# What each byte ends, as bits.
_ENDS_IRI = cython.declare(cython.uchar, 1)
_ENDS_STRING = cython.declare(cython.uchar, 2)
_ENDS_LINE = cython.declare(cython.uchar, 4)
_ENDS_CANONICAL = cython.declare(cython.uchar, 8)
_NOT_ASCII = cython.declare(cython.uchar, 16)
_ENDS_APOSTROPHES = cython.declare(cython.uchar, 32)
# What may follow a backslash in a local name of Turtle.
_LOCAL_ESCAPES = cython.declare(
    cython.const[cython.uchar][::1], bytes(c in b"_~.-!$&'()*+,;=/?#@%" for c in range(256))
)
_ENDS = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(
        (1 if c <= 0x20 or c in b'<>"{}|^`\\' else 0)
        | (2 if c in b'"\\\n\r' else 0)
        | (4 if c in b"\n\r" else 0)
        | (8 if c < 0x20 or c in b'"\\\x7f' else 0)
        | (16 if c >= 0x80 else 0)
        | (32 if c in b"'\\\n\r" else 0)
        for c in range(256)
    ),
)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _in_label(c: cython.uint) -> cython.bint:
    """Return whether a blank node label may contain this character: PN_CHARS of the grammar."""
    if c < 0x80:
        return (
            0x61 <= (c | 0x20) <= 0x7A  # a letter
            or 0x30 <= c <= 0x39
            or c == 0x5F  # _
            or c == 0x2D  # -
        )
    if c < 0x2070:
        return (
            c == 0xB7
            or (0xC0 <= c <= 0x1FFF and c != 0xD7 and c != 0xF7 and c != 0x37E)
            or 0x200C <= c <= 0x200D
            or 0x203F <= c <= 0x2040
        )
    return (
        c <= 0x218F
        or 0x2C00 <= c <= 0x2FEF
        or 0x3001 <= c <= 0xD7FF
        or 0xF900 <= c <= 0xFDCF
        or 0xFDF0 <= c <= 0xFFFD
        or 0x10000 <= c <= 0xEFFFF
    )


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _starts_label(c: cython.uint) -> cython.bint:
    """Return whether a blank node label may begin with this character: PN_CHARS_U of the grammar, or a digit."""
    return _in_label(c) and c != 0x2D and c != 0xB7 and not 0x300 <= c <= 0x36F and not 0x203F <= c <= 0x2040


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_hex(c: cython.uint) -> cython.bint:
    return 0x30 <= c <= 0x39 or 0x61 <= (c | 0x20) <= 0x66


def _run_end(text: Text, run: re.Pattern[bytes], start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> int:
    """Return the end of a run of bytes and set `non_ascii`: the uncompiled form of the methods of `Text`."""
    found = run.match(text.data, start, stop)
    assert found is not None
    text.non_ascii = 0 if found[0].isascii() else 0x80
    return found.end()


@cython.final
@cython.cclass
class Text:
    """A text and searches in it. After one, `non_ascii` is below 0x80 if and only if it passed only ASCII."""

    __slots__ = ("data", "non_ascii", "reach", "width")

    def __init__(self, data: Any):
        self.data = memoryview(data)
        self.non_ascii = 0
        self.width = 0
        self.reach = 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _require(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        if start < 0 or stop < start or stop > self.data.shape[0]:
            raise IndexError(f"bytes {start} to {stop} of a text of {self.data.shape[0]}")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def iri_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position of the first byte that an IRI cannot hold, such as `>` or a backslash; or `stop`."""
        i: cython.Py_ssize_t = start
        j: cython.Py_ssize_t
        c: cython.uchar
        lowest: cython.uchar = 0xFF
        space: cython.uchar = 0x20
        brace: cython.uchar = 0x7B
        if not cython.compiled:
            return _run_end(self, _IRI_RUN, start, stop)
        self._require(start, stop)
        with cython.boundscheck(False):
            while stop - i >= 16:
                for j in range(16):
                    # Zero for bytes that end an IRI; also for ~ and bytes that are not ASCII, which `_first` passes.
                    c = self.data[i + j]
                    lowest = min(lowest, cython.cast(cython.uchar, max(c, space) - space))
                    lowest = min(lowest, cython.cast(cython.uchar, brace - min(c, brace)))
                    lowest = min(lowest, cython.cast(cython.uchar, c ^ 0x22))  # "
                    lowest = min(lowest, cython.cast(cython.uchar, (c | 0x02) ^ 0x3E))  # < >
                    lowest = min(lowest, cython.cast(cython.uchar, (c | 0x02) ^ 0x5E))  # \ ^
                    lowest = min(lowest, cython.cast(cython.uchar, c ^ 0x60))  # `
                if lowest == 0:
                    break
                i += 16
        self.non_ascii = 0
        return self._first(_ENDS_IRI, i, stop)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def string_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position of the first quotation mark, backslash or line end, or `stop`."""
        if not cython.compiled:
            return _run_end(self, _STRING_RUN, start, stop)
        return self._first_in_blocks(_ENDS_STRING, start, stop)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def quoted_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, quote: cython.int) -> cython.Py_ssize_t:
        """Return what `string_end` returns, for `quote`: a quotation mark or an apostrophe."""
        if quote == 0x22:
            return self.string_end(start, stop)
        if not cython.compiled:
            return _run_end(self, _APOSTROPHE_RUN, start, stop)
        self._require(start, stop)
        self.non_ascii = 0
        return self._first(_ENDS_APOSTROPHES, start, stop)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def canonical_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position of the first byte that canonical N-Triples escape in a literal, or `stop`."""
        if not cython.compiled:
            return _run_end(self, _CANONICAL_RUN, start, stop)
        return self._first_in_blocks(_ENDS_CANONICAL, start, stop)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _first_in_blocks(
        self, ending: cython.uchar, start: cython.Py_ssize_t, stop: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Return what `_first` returns, if only quotation marks, backslashes and control characters have the bits."""
        i: cython.Py_ssize_t = start
        j: cython.Py_ssize_t
        block_stop: cython.Py_ssize_t
        c: cython.uchar
        lowest: cython.uchar
        non_ascii: cython.uchar
        self._require(start, stop)
        self.non_ascii = 0
        while True:
            with cython.boundscheck(False):
                while stop - i >= 32:
                    lowest = 0xFF
                    non_ascii = 0
                    for j in range(32):
                        # Zero for a quotation mark, a backslash, and all control characters.
                        c = self.data[i + j]
                        lowest = min(lowest, cython.cast(cython.uchar, c ^ 0x22))
                        lowest = min(lowest, cython.cast(cython.uchar, c ^ 0x5C))
                        lowest = min(lowest, cython.cast(cython.uchar, c ^ 0x7F))
                        lowest = min(lowest, cython.cast(cython.uchar, c & 0xE0))
                        non_ascii |= c
                    if lowest == 0:
                        break
                    self.non_ascii |= non_ascii
                    i += 32
            block_stop = min(i + 32, stop)
            i = self._first(ending, i, block_stop)
            if i < block_stop or i == stop:
                return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def line_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position of the first line feed or carriage return, or `stop`."""
        if not cython.compiled:
            return _run_end(self, _LINE_RUN, start, stop)
        self._require(start, stop)
        self.non_ascii = 0
        return self._first(_ENDS_LINE, start, stop)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _first(self, ending: cython.uchar, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the position of the first byte with the bits `ending`, or `stop`. The range has been checked."""
        i: cython.Py_ssize_t = start
        with cython.boundscheck(False):
            while i < stop and not (_ENDS[self.data[i]] & (ending | _NOT_ASCII)):
                i += 1
            if i < stop and self.data[i] >= 0x80:
                self.non_ascii = 0x80
                while i < stop and not (_ENDS[self.data[i]] & ending):
                    i += 1
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def whole_lines_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the end of the last line that is certainly complete; `start` if there is none.

        A carriage return at the very end may be the first half of a line end.
        """
        i: cython.Py_ssize_t = stop
        self._require(start, stop)
        if i > start and self.data[i - 1] == 0x0D:
            i -= 1
        while i > start and self.data[i - 1] != 0x0A and self.data[i - 1] != 0x0D:
            i -= 1
        return i

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def label_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the end of the blank node label at `start`; `start` if there is none."""
        i: cython.Py_ssize_t = start
        end: cython.Py_ssize_t = start
        c: cython.uint
        self._require(start, stop)
        while i < stop:
            c = self.data[i]
            if c == 0x2E and i > start:
                # A dot belongs to the label if more of the label comes after it.
                i += 1
                continue
            if c < 0x80:
                i += 1
            else:
                c = self._character(i, stop)
                i += self.width
            if not (_in_label(c) if end > start else _starts_label(c)):
                break
            end = i
        return end

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def name_end(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, local: cython.bint) -> cython.Py_ssize_t:
        """Return the end of the Turtle prefix (if `local`, the local name) at `start`; `start` if there is none.

        `reach` is then the end of the search: near `stop` the name may continue in text that is not there yet.
        """
        i: cython.Py_ssize_t = start
        end: cython.Py_ssize_t = start
        c: cython.uint
        self._require(start, stop)
        while i < stop:
            c = self.data[i]
            self.width = 1
            if c == 0x2E and i > start:
                # A dot belongs to the name if more of the name comes after it.
                i += 1
                continue
            if local and c == 0x3A:
                pass
            elif local and c == 0x25:
                if stop - i < 3 or not _is_hex(self.data[i + 1]) or not _is_hex(self.data[i + 2]):
                    break
                self.width = 3
            elif local and c == 0x5C:
                if stop - i < 2 or not _LOCAL_ESCAPES[self.data[i + 1]]:
                    break
                self.width = 2
            else:
                if c >= 0x80:
                    c = self._character(i, stop)
                if not (_in_label(c) if end > start else _starts_label(c)):
                    break
                if not local and end == start and (c == 0x5F or 0x30 <= c <= 0x39):
                    break
            i += self.width
            end = i
        self.reach = i
        return end

    @cython.cfunc
    @cython.exceptval(0xFFFFFFFF, check=False)
    def _character(self, at: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.uint:
        """Return the character at `at`, which is not ASCII, or 0 if it is not UTF-8, and set `width` to its bytes."""
        lead: cython.uint = self.data[at]
        c: cython.uint
        i: cython.Py_ssize_t
        self.width = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
        if at + self.width > stop or not valid_utf8(self.data, at, self.width):
            return 0
        c = lead & (0xFF >> (self.width + 1))
        for i in range(1, self.width):
            c = (c << 6) | (self.data[at + i] & 0x3F)
        return c
