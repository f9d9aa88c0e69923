"""The cursor that all text parsers share: position, escapes and errors."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TextError
from jellyframe.kernel.memory_cy import byte_column, grown_bytes

if cython.compiled:
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.utf8_cy import valid_utf8
else:
    from jellyframe.kernel.runs import move_bytes
    from jellyframe.kernel.utf8_cy import valid_utf8

# The character for each letter after a backslash; 0 where there is none.
_ESCAPED = cython.declare(
    cython.const[cython.uchar][::1],
    bytes(
        {0x74: 9, 0x62: 8, 0x6E: 10, 0x72: 13, 0x66: 12, 0x22: 0x22, 0x27: 0x27, 0x5C: 0x5C}.get(c, 0)
        for c in range(256)
    ),
)


@cython.cclass
class TextCursor:
    """A position `pos` in a text. `limit` is the end of the last whole line, and counts as a line end itself.

    `line_start` is where the current line begins. If it began in an earlier part of the input, `line_start` is where
    this text begins, and `columns_before` is the number of characters of the line before it.

    A string found in the text is a span: `span_start` to `span_stop`, in the text itself or, where escapes had to be
    replaced, in `scratch` (`in_scratch`). With `strict_escapes`, as in Turtle but not in N-Triples, characters that an
    IRI may not contain are refused as escapes too.
    """

    __slots__ = (
        "any_iri",
        "base",
        "columns_before",
        "in_scratch",
        "limit",
        "line",
        "line_start",
        "pos",
        "scratch",
        "scratch_size",
        "span_start",
        "span_stop",
        "strict_escapes",
        "text",
    )

    def __init__(self, any_iri: cython.bint):
        self.any_iri = any_iri
        self.strict_escapes = False
        self.line = 0
        self.line_start = 0
        self.base = 0
        self.columns_before = 0
        self.scratch = byte_column(64)
        self.scratch_size = 0
        self.in_scratch = False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def byte_at(self, at: cython.Py_ssize_t) -> cython.int:
        return self.text.data[at] if at < self.limit else 0x0A

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def skip_blanks(self) -> cython.int:
        """Skip spaces and tabs, and return the next byte."""
        c: cython.int
        at: cython.Py_ssize_t = self.pos
        while at < self.limit:
            c = self.text.data[at]
            if c != 0x20 and c != 0x09:
                self.pos = at
                return c
            at += 1
        self.pos = at
        return 0x0A

    # ---- escapes --------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def unescape(self, end: cython.Py_ssize_t, is_iri: cython.bint) -> cython.int:
        """Copy the text from `span_start` to the scratch, with escapes replaced; the first of them is at `end`.

        The span is then in the scratch, and `pos` is after the text. The caller checks the delimiter there.
        """
        start: cython.Py_ssize_t = self.span_start
        non_ascii: cython.int = self.text.non_ascii
        self.in_scratch = True
        self.span_start = self.scratch_size
        while True:
            self._reserve(end - start)
            move_bytes(self.scratch, self.scratch_size, self.text.data, start, end - start)
            self.scratch_size += end - start
            if self.byte_at(end) != 0x5C:
                break
            start = self._escape(end, is_iri)
            end = self.text.iri_end(start, self.limit) if is_iri else self.text.string_end(start, self.limit)
            non_ascii |= self.text.non_ascii
        self.text.non_ascii = non_ascii
        self.span_stop = self.scratch_size
        self.pos = end
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _escape(self, at: cython.Py_ssize_t, is_iri: cython.bint) -> cython.Py_ssize_t:
        """Append the character of the escape at `at` to the scratch and return the end of the escape."""
        c: cython.int = self.byte_at(at + 1)
        if c == 0x75:
            return self._numeric_escape(at, 4, is_iri)
        if c == 0x55:
            return self._numeric_escape(at, 8, is_iri)
        if is_iri:
            return self.expected(at + 1, "u or U after a backslash in an IRI")
        if _ESCAPED[c] == 0:
            return self.expected(at + 1, "one of t b n r f u U \" ' \\ after a backslash")
        self._put(_ESCAPED[c])
        return at + 2

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _numeric_escape(self, at: cython.Py_ssize_t, digits: cython.int, is_iri: cython.bint) -> cython.Py_ssize_t:
        i: cython.Py_ssize_t
        c: cython.int
        value: cython.uint = 0
        for i in range(at + 2, at + 2 + digits):
            c = self.byte_at(i)
            if 0x30 <= c <= 0x39:
                c -= 0x30
            elif 0x61 <= (c | 0x20) <= 0x66:
                c = (c | 0x20) - 0x61 + 10
            else:
                return self.expected(i, "a hexadecimal digit")
            value = (value << 4) | c
        if 0xD800 <= value <= 0xDFFF or value > 0x10FFFF:
            return self.fail(at, f"expected an escape for a character, found one for U+{value:04X}, which is not one")
        if is_iri and self.strict_escapes and (value <= 0x20 or (value < 0x80 and chr(value) in '<>"{}|^`\\')):
            return self.fail(at, f"expected a character that IRIs may hold, found an escape for U+{value:04X}")
        self._put(value)
        return at + 2 + digits

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put(self, c: cython.uint) -> cython.int:
        """Append a character to the scratch, in UTF-8."""
        n: cython.Py_ssize_t = self.scratch_size
        self._reserve(4)
        if c < 0x80:
            self.scratch[n] = c
            self.scratch_size = n + 1
        elif c < 0x800:
            self.scratch[n] = 0xC0 | (c >> 6)
            self.scratch[n + 1] = 0x80 | (c & 0x3F)
            self.scratch_size = n + 2
        elif c < 0x10000:
            self.scratch[n] = 0xE0 | (c >> 12)
            self.scratch[n + 1] = 0x80 | ((c >> 6) & 0x3F)
            self.scratch[n + 2] = 0x80 | (c & 0x3F)
            self.scratch_size = n + 3
        else:
            self.scratch[n] = 0xF0 | (c >> 18)
            self.scratch[n + 1] = 0x80 | ((c >> 12) & 0x3F)
            self.scratch[n + 2] = 0x80 | ((c >> 6) & 0x3F)
            self.scratch[n + 3] = 0x80 | (c & 0x3F)
            self.scratch_size = n + 4
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reserve(self, n: cython.Py_ssize_t) -> cython.int:
        if self.scratch_size + n > self.scratch.shape[0]:
            self.scratch = grown_bytes(self.scratch, self.scratch_size, 2 * (self.scratch_size + n))
        return 0

    # ---- errors ---------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_utf8(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        if valid_utf8(self.text.data, start, stop - start):
            return 0
        try:
            bytes(self.text.data[start:stop]).decode()
        except UnicodeDecodeError as error:
            return self.expected(start + error.start, "UTF-8")
        raise AssertionError("valid_utf8 refused what Python decodes")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def expected(self, at: cython.Py_ssize_t, what: str) -> cython.int:
        return self.fail(at, f"expected {what}, found {self._found(at)}")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail(self, at: cython.Py_ssize_t, message: str) -> cython.int:
        before = bytes(self.text.data[self.line_start : at]).decode(errors="replace")
        raise TextError(
            message, line=self.line or None, column=self.columns_before + len(before) + 1, offset=self.base + at
        )

    def _found(self, at: cython.Py_ssize_t) -> str:
        """Return a description of the character at `at`."""
        if at >= self.limit:
            return "the end of the text"
        following = bytes(self.text.data[at : min(at + 4, self.limit)])
        if following[0] in (0x0A, 0x0D):
            return "the end of the line"
        for width in range(1, len(following) + 1):
            try:
                character = following[:width].decode()
            except UnicodeDecodeError:
                continue
            return f"{character!r}" if character.isprintable() else f"U+{ord(character):04X}"
        return f"the byte 0x{following[0]:02X}, which is not UTF-8"
