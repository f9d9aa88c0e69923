"""Write terms as N-Triples text."""

from __future__ import annotations

import re
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError, TextError
from jellyframe.kernel.labels import HEX_LABEL, hex_label
from jellyframe.kernel.memory_cy import Memory
from jellyframe.kernel.scan_cy import Text
from jellyframe.kernel.table_cy import StringTable, TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.memory_cy import Memory
    from cython.cimports.jellyframe.kernel.runs import append_bytes, move_bytes
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import append_bytes, move_bytes

_LANGUAGE_TAG = re.compile(rb"[a-zA-Z]+(-[a-zA-Z0-9]+)*")
_LETTERS = cython.declare(
    cython.const[cython.uchar][::1],
    bytes({8: 0x62, 9: 0x74, 10: 0x6E, 12: 0x66, 13: 0x72, 0x22: 0x22, 0x5C: 0x5C}.get(c, 0) for c in range(128)),
)
_HEX_DIGITS = cython.declare(cython.const[cython.uchar][::1], b"0123456789ABCDEF")
# The text of a quoted triple may be far longer than its encoding, as it repeats all terms that it quotes.
MAX_QUOTED_BYTES = 64 << 20
MAX_STRING_BYTES = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)


def term_strings(
    table: TermTable,
    memory: Memory | None = None,
    plain_kinds: cython.int = 0,
    max_bytes: cython.Py_ssize_t = MAX_STRING_BYTES,
    columns: tuple[memoryview | None, ...] | None = None,
) -> StringTable:
    """Return the text of every term in canonical N-Triples.

    Quoted triples are `<< s p o >>`, and the default graph is empty. For terms whose kinds are bits of `plain_kinds` it
    is the value alone. A character that IRIs may not contain is written as an escape, and a blank node label that
    N-Triples do not allow in hexadecimal after `hex-`. A language tag that is not valid is an error, as it cannot be
    written.

    With `columns`, the texts of quoted triples that occur in none of them are left empty, as the texts of the triples
    that quote them contain them.

    Raises LimitError if the texts take more than `max_bytes`, or that of one quoted triple more than 64 MiB.
    """
    writer: TermWriter = TermWriter(table, memory, plain_kinds, max_bytes)
    term: cython.int
    if columns is not None and table.quoted_count > 0:
        writer.has_text = used_terms(columns, table.count)
    for term in range(table.count):
        writer._put_term(term)
    return writer.out


@cython.cfunc
def used_terms(columns: tuple[memoryview | None, ...], count: cython.Py_ssize_t) -> Any:
    """Return for each of `count` terms whether it occurs in a column, as bytes of 0 and 1."""
    result = memoryview(bytearray(count))
    used: cython.uchar[::1] = result
    column: cython.const[cython.int][::1]
    row: cython.Py_ssize_t
    for terms in columns:
        if terms is not None:
            column = terms
            for row in range(column.shape[0]):
                used[column[row]] = 1
    return result


def text_sizes(table: TermTable) -> memoryview:
    """Return the length of the text of every term, as 64-bit integers. Only one text is made at a time."""
    writer: TermWriter = TermWriter(table, None, 0, MAX_STRING_BYTES)
    result = memoryview(bytearray(8 * max(table.count, 1))).cast("q")
    sizes: cython.longlong[::1] = result
    term: cython.int
    at: cython.Py_ssize_t
    for term in range(table.count):
        if table.kinds[term] == KIND_QUOTED_TRIPLE:
            # Its terms come before it in the table; around them are `<<`, `>>` and four blanks.
            at = 3 * table.details[term]
            sizes[term] = 8 + sizes[table.quoted[at]] + sizes[table.quoted[at + 1]] + sizes[table.quoted[at + 2]]
        else:
            writer.out.data_size = 0
            writer._put_text(term)
            sizes[term] = writer.out.data_size
    return result[: table.count]


@cython.final
@cython.cclass
class TermWriter:
    """Appends the texts of terms to `out`."""

    __slots__ = ("_after_lang", "_after_typed", "_plain_kinds", "_table", "_text", "has_text", "out")

    out: StringTable
    has_text: cython.uchar[::1]
    _plain_kinds: cython.int
    _table: TermTable
    _text: Text
    _after_lang: StringTable
    _after_typed: StringTable

    def __init__(self, table: TermTable, memory: Memory | None, plain_kinds: cython.int, max_bytes: cython.Py_ssize_t):
        i: cython.Py_ssize_t
        self._plain_kinds = plain_kinds
        self._table = table
        self.has_text = memoryview(bytearray())
        # The text after the lexical form: the closing quotation mark, and the language or datatype.
        self._text = Text(table.languages.buffers()[1])
        self.out = StringTable(table.languages.count, 0)
        for i in range(table.languages.count):
            self._put_language(table.languages.offsets[i], table.languages.offsets[i + 1])
        self._after_lang = self.out
        self._text = Text(table.datatypes.buffers()[1])
        self.out = StringTable(table.datatypes.count, 0)
        for i in range(table.datatypes.count):
            self._put_bytes(b'"^^')
            self._put_iri(table.datatypes.offsets[i], table.datatypes.offsets[i + 1])
            self._end_string()
        self._after_typed = self.out
        self._text = Text(table.values.buffers()[1])
        # Most terms are IRIs, which need two bytes more.
        self.out = StringTable(table.count, table.values.data_size + 2 * table.count, memory, max_bytes)

    def begin(self, out: StringTable) -> None:
        """Append to another table from now on."""
        self.out = out

    def put_raw(self, piece: bytes) -> None:
        """Append bytes unchanged."""
        self._put_bytes(piece)

    def put_whole(self, term: cython.int) -> None:
        """Append the text of a term."""
        self._put_text(term)

    def put_slice(self, term: cython.int, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> bool:
        """Append `n` bytes of the text of an IRI or a literal, escapes not counted, and return false after its end.

        Only single bytes are escaped, so that a slice may end after any byte.
        """
        table: TermTable = self._table
        kind: cython.int = table.kinds[term]
        first: cython.Py_ssize_t = table.values.offsets[term]
        stop: cython.Py_ssize_t = table.values.offsets[term + 1]
        slice_stop: cython.Py_ssize_t = min(stop, first + start + n)
        if start == 0:
            self._put_byte(0x3C if kind == KIND_IRI else 0x22)
        self._put_escaped(first + start, slice_stop, kind == KIND_IRI)
        if slice_stop < stop:
            return True
        if kind == KIND_LANG_LITERAL:
            self._put_string(self._after_lang, table.details[term])
        elif kind == KIND_TYPED_LITERAL:
            self._put_string(self._after_typed, table.details[term])
        else:
            self._put_byte(0x3E if kind == KIND_IRI else 0x22)
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_term(self, term: cython.int) -> cython.int:
        if self._is_plain(term):
            self._put_string(self._table.values, term)
        elif self._table.kinds[term] != KIND_QUOTED_TRIPLE or self._has_text(term):
            self._put_text(term)
        return self._end_string()

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _has_text(self, term: cython.int) -> cython.bint:
        """Return whether a quoted triple gets a text of its own."""
        return self.has_text.shape[0] == 0 or self.has_text[term] != 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _is_plain(self, term: cython.int) -> cython.bint:
        return self._plain_kinds >> self._table.kinds[term] & 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_text(self, term: cython.int) -> cython.int:
        table: TermTable = self._table
        kind: cython.int = table.kinds[term]
        start: cython.Py_ssize_t = table.values.offsets[term]
        stop: cython.Py_ssize_t = table.values.offsets[term + 1]
        if kind == KIND_IRI:
            return self._put_iri(start, stop)
        if kind == KIND_BLANK_NODE:
            return self._put_label(start, stop)
        if kind == KIND_QUOTED_TRIPLE:
            if table.text_size(term) > MAX_QUOTED_BYTES:
                raise LimitError(
                    f"a quoted triple of {table.text_size(term)} bytes as text, more than {MAX_QUOTED_BYTES}: it "
                    "repeats long terms; write N-Triples or N-Quads, which are written piece by piece"
                )
            return self._put_quoted(3 * table.details[term])
        if kind == KIND_DEFAULT_GRAPH:
            return 0
        self._put_byte(0x22)
        self._put_escaped(start, stop, False)
        if kind == KIND_LANG_LITERAL:
            return self._put_string(self._after_lang, table.details[term])
        if kind == KIND_TYPED_LITERAL:
            return self._put_string(self._after_typed, table.details[term])
        return self._put_byte(0x22)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_iri(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        if self._text.iri_end(start, stop) == stop:
            return self._put_between(0x3C, start, stop, 0x3E)
        self._put_byte(0x3C)
        self._put_escaped(start, stop, True)
        return self._put_byte(0x3E)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_between(
        self, before: cython.uchar, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, after: cython.uchar
    ) -> cython.int:
        """Append a part of the text unchanged, between two bytes."""
        at: cython.Py_ssize_t = self.out.data_size
        n: cython.Py_ssize_t = stop - start
        self.out.reserve(n + 2)
        self.out.data[at] = before
        append_bytes(self.out.data, at + 1, self._text.data, start, n)
        self.out.data[at + 1 + n] = after
        self.out.data_size = at + n + 2
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_escaped(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, is_iri: cython.bint) -> cython.int:
        """Append a part of the text with the escapes that it needs."""
        end: cython.Py_ssize_t
        c: cython.uchar
        while True:
            end = self._text.iri_end(start, stop) if is_iri else self._text.canonical_end(start, stop)
            self.out.reserve(end - start)
            move_bytes(self.out.data, self.out.data_size, self._text.data, start, end - start)
            self.out.data_size += end - start
            if end == stop:
                return 0
            c = self._text.data[end]
            self._put_byte(0x5C)
            if _LETTERS[c] != 0 and not is_iri:
                self._put_byte(_LETTERS[c])
            else:
                self._put_bytes(b"u00")
                self._put_byte(_HEX_DIGITS[c >> 4])
                self._put_byte(_HEX_DIGITS[c & 15])
            start = end + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_label(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        label: bytes
        self._put_byte(0x5F)
        self._put_byte(0x3A)
        if stop > start and self._text.label_end(start, stop) == stop:
            if self._text.data[start] != 0x68:
                self.out.reserve(stop - start)
                move_bytes(self.out.data, self.out.data_size, self._text.data, start, stop - start)
                self.out.data_size += stop - start
                return 0
            label = bytes(self._text.data[start:stop])
            if not label.startswith(HEX_LABEL):
                return self._put_bytes(label)
        label = bytes(self._text.data[start:stop])
        return self._put_bytes(hex_label(label))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_language(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        tag: bytes = bytes(self._text.data[start:stop])
        if not _LANGUAGE_TAG.fullmatch(tag):
            raise TextError(f"{tag.decode(errors='replace')!r} is not a valid language tag and cannot be written")
        self._put_bytes(b'"@' + tag)
        return self._end_string()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_quoted(self, at: cython.Py_ssize_t) -> cython.int:
        """Append a quoted triple.

        Its terms come before it in the table, so that their texts are already in `out`, except those of plain terms and
        of quoted triples without a text.
        """
        term: cython.int
        # Where to continue in quoted triples: the next part of each, and where it ends; the innermost last.
        nested: list[int] | None = None
        place: cython.Py_ssize_t = at
        stop: cython.Py_ssize_t = at + 3
        self._put_bytes(b"<< ")
        while True:
            if place == stop:
                self._put_bytes(b">>")
                if not nested:
                    return 0
                stop = nested.pop()
                place = nested.pop()
                self._put_byte(0x20)
                continue
            term = self._table.quoted[place]
            place += 1
            if self._table.kinds[term] == KIND_QUOTED_TRIPLE and not self._has_text(term):
                if nested is None:
                    nested = []
                nested.append(place)
                nested.append(stop)
                place = 3 * self._table.details[term]
                stop = place + 3
                self._put_bytes(b"<< ")
                continue
            if self._is_plain(term):
                self._put_text(term)
            else:
                self._put_string(self.out, term)
            self._put_byte(0x20)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_string(self, strings: StringTable, i: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = strings.offsets[i]
        n: cython.Py_ssize_t = strings.offsets[i + 1] - start
        self.out.reserve(n)
        append_bytes(self.out.data, self.out.data_size, strings.data, start, n)
        self.out.data_size += n
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_bytes(self, piece: bytes) -> cython.int:
        c: cython.uchar
        for c in piece:
            self._put_byte(c)
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _put_byte(self, c: cython.uchar) -> cython.int:
        if self.out.data_size >= self.out.data.shape[0]:
            self.out.reserve(1)
        self.out.data[self.out.data_size] = c
        self.out.data_size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_string(self) -> cython.int:
        """End a string: all bytes appended since the last one ended."""
        self.out.reserve(0)
        self.out.count += 1
        self.out.offsets[self.out.count] = cython.cast(cython.int, self.out.data_size)
        return 0
