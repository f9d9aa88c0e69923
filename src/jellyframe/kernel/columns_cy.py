"""Convert Arrow string columns to columns of terms.

A string column is given as its offsets and its bytes; the caller handles nulls. Strings that are not UTF-8 are
refused. The row of an error is the index of the string.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TableError
from jellyframe.kernel.memory_cy import int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
    from cython.cimports.jellyframe.kernel.utf8_cy import valid_utf8
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import equal_bytes
    from jellyframe.kernel.table_cy import StringTable, TermTable
    from jellyframe.kernel.utf8_cy import valid_utf8

# In a column of terms: a text that is still to be parsed.
UNPARSED = cython.declare(cython.int, -1)
# In a column of indices: a null.
NULL = cython.declare(cython.int, -1)
# In a column of datatype rows: xsd:string, whose literals are simple.
SIMPLE = cython.declare(cython.int, -1)

XSD_STRING = b"http://www.w3.org/2001/XMLSchema#string"

QUOTE = cython.declare(cython.int, 0x22)
COLON = cython.declare(cython.int, 0x3A)
LESS_THAN = cython.declare(cython.int, 0x3C)
LETTER_H = cython.declare(cython.int, 0x68)
UNDERSCORE = cython.declare(cython.int, 0x5F)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def require_utf8(
    data: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t, row: cython.Py_ssize_t
) -> cython.int:
    if not valid_utf8(data, start, n):
        raise TableError("the string is not UTF-8", row=row)
    return 0


def default_graph(table: TermTable) -> int:
    """Return the default graph as a term of the table."""
    return table.default_graph()


def prefix_labels(table: TermTable, prefix: bytes) -> None:
    """Put a prefix before the label of each blank node, those in quoted triples included.

    Call it for complete tables only: no term can be interned afterwards.
    """
    old: StringTable = table.values
    new: StringTable = StringTable(table.count, old.data_size + 64 * len(prefix))
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for i in range(table.count):
        start = old.offsets[i]
        stop = old.offsets[i + 1]
        if table.kinds[i] == KIND_BLANK_NODE:
            label = prefix + bytes(old.data[start:stop])
            new.append(memoryview(label), 0, len(label))
        else:
            new.append(old.data, start, stop - start)
    table.values = new
    table.forget_index()


def kinds_used(column: cython.const[cython.int][::1], table: TermTable) -> int:
    """Return the kinds of a column's terms as a bit set. Raises IndexError if a row refers to an unknown term."""
    i: cython.Py_ssize_t
    used: cython.uint = 0
    for i in range(column.shape[0]):
        if not 0 <= column[i] < table.count:
            raise IndexError(f"row {i} refers to term {column[i]} of {table.count}")
        used |= cython.cast(cython.uint, 1) << table.kinds[column[i]]
    return used


def pick(
    terms: cython.const[cython.int][::1], indices: cython.const[cython.int][::1], for_null: cython.int
) -> memoryview:
    """Return the column with `terms[index]` for each index, and `for_null` for nulls."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = indices.shape[0]
    column = int_column(n)
    out: cython.int[::1] = column
    for i in range(n):
        out[i] = for_null if indices[i] == NULL else terms[indices[i]]
    return column[:n]


def put_parsed(column: cython.int[::1], parsed: cython.const[cython.int][::1]) -> None:
    """Replace each UNPARSED in a column with the next of the parsed terms."""
    i: cython.Py_ssize_t
    taken: cython.Py_ssize_t = 0
    for i in range(column.shape[0]):
        if column[i] == UNPARSED:
            column[i] = parsed[taken]
            taken += 1


def intern_iris(
    offsets: cython.const[cython.int][::1], data: cython.const[cython.uchar][::1], table: TermTable
) -> memoryview:
    """Return a column of terms for strings that are IRIs."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = offsets.shape[0] - 1
    column = int_column(n)
    out: cython.int[::1] = column
    for i in range(n):
        out[i] = table.intern(KIND_IRI, 0, data, offsets[i], offsets[i + 1] - offsets[i])
        if table.non_ascii >= 0x80:
            require_utf8(data, offsets[i], offsets[i + 1] - offsets[i], i)
    return column[:n]


@cython.cfunc
@cython.exceptval(-1, check=False)
def flat_kind(data: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
    """Return the kind of term that a plain string stands for, told by how it begins. Literals are KIND_LITERAL."""
    if stop - start > 0 and data[start] == QUOTE:
        return KIND_LITERAL
    if stop - start > 1:
        if data[start] == UNDERSCORE and data[start + 1] == COLON:
            return KIND_BLANK_NODE
        if data[start] == LESS_THAN and data[start + 1] == LESS_THAN:
            return KIND_QUOTED_TRIPLE
    return KIND_IRI


def intern_flat(
    offsets: cython.const[cython.int][::1], data: cython.const[cython.uchar][::1], table: TermTable
) -> memoryview:
    """Return a column of terms for plain strings: IRIs, and `_:` with a label. UNPARSED for other N-Triples syntax."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = offsets.shape[0] - 1
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    kind: cython.int
    column = int_column(n)
    out: cython.int[::1] = column
    for i in range(n):
        start = offsets[i]
        stop = offsets[i + 1]
        kind = flat_kind(data, start, stop)
        if kind == KIND_IRI:
            out[i] = table.intern(KIND_IRI, 0, data, start, stop - start)
        elif kind == KIND_BLANK_NODE and not (stop - start > 2 and data[start + 2] == LETTER_H):
            out[i] = table.intern(KIND_BLANK_NODE, 0, data, start + 2, stop - start - 2)
        else:
            # Labels that begin with an h may be in hexadecimal.
            out[i] = UNPARSED
            continue
        if table.non_ascii >= 0x80:
            require_utf8(data, start, stop - start, i)
    return column[:n]


def first_ambiguous_iri(table: TermTable) -> int:
    """Return the first IRI that as a plain string would stand for another kind of term; -1 if there is none."""
    term: cython.int
    values: StringTable = table.values
    for term in range(table.count):
        if (
            table.kinds[term] == KIND_IRI
            and flat_kind(values.data, values.offsets[term], values.offsets[term + 1]) != KIND_IRI
        ):
            return term
    return -1


def datatype_rows(
    offsets: cython.const[cython.int][::1], data: cython.const[cython.uchar][::1], table: TermTable
) -> memoryview:
    """Return the row of each datatype in the table's datatypes, SIMPLE for xsd:string."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = offsets.shape[0] - 1
    length: cython.Py_ssize_t
    column = int_column(n)
    out: cython.int[::1] = column
    simple: cython.const[cython.uchar][::1] = memoryview(XSD_STRING)
    for i in range(n):
        length = offsets[i + 1] - offsets[i]
        require_utf8(data, offsets[i], length, i)
        if length == simple.shape[0] and equal_bytes(data, offsets[i], simple, 0, length):
            out[i] = SIMPLE
        else:
            out[i] = table.intern_small(table.datatypes, data, offsets[i], length)
    return column[:n]


def language_rows(
    offsets: cython.const[cython.int][::1], data: cython.const[cython.uchar][::1], table: TermTable
) -> memoryview:
    """Return the row of each language in the table's languages."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = offsets.shape[0] - 1
    column = int_column(n)
    out: cython.int[::1] = column
    for i in range(n):
        require_utf8(data, offsets[i], offsets[i + 1] - offsets[i], i)
        out[i] = table.intern_small(table.languages, data, offsets[i], offsets[i + 1] - offsets[i])
    return column[:n]


@cython.final
@cython.cclass
class LiteralParts:
    """The datatype and the language of each row, as indices of distinct values; NULL where there is none."""

    datatypes: cython.const[cython.int][::1]
    languages: cython.const[cython.int][::1]
    datatype_rows: cython.const[cython.int][::1]
    language_rows: cython.const[cython.int][::1]
    lang_string: cython.int
    detail: cython.int

    __slots__ = ("datatype_rows", "datatypes", "detail", "lang_string", "language_rows", "languages")

    def __init__(
        self,
        datatypes: memoryview,
        languages: memoryview,
        datatype_rows: memoryview,
        language_rows: memoryview,
        lang_string: cython.int,
    ):
        """`…_rows` map distinct values to rows of the term table; `lang_string` is the index of rdf:langString."""
        self.datatypes = datatypes
        self.languages = languages
        self.datatype_rows = datatype_rows
        self.language_rows = language_rows
        self.lang_string = lang_string
        self.detail = 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def kind_of(self, row: cython.Py_ssize_t, kind: cython.int) -> cython.int:
        """Return the kind of a row's term and set `detail`. The given kind is KIND_LITERAL for all literals."""
        datatype: cython.int = self.datatypes[row]
        language: cython.int = self.languages[row]
        self.detail = 0
        if kind != KIND_LITERAL:
            if datatype != NULL or language != NULL:
                raise TableError("a datatype or a language on a term that is not a literal", row=row)
            return kind
        if language != NULL:
            if datatype != NULL and datatype != self.lang_string:
                raise TableError("a literal with both a datatype and a language", row=row)
            self.detail = self.language_rows[language]
            return KIND_LANG_LITERAL
        if datatype != NULL and self.datatype_rows[datatype] != SIMPLE:
            self.detail = self.datatype_rows[datatype]
            return KIND_TYPED_LITERAL
        return kind


def intern_parts(
    kinds: cython.const[cython.int][::1],
    offsets: cython.const[cython.int][::1],
    data: cython.const[cython.uchar][::1],
    parts: LiteralParts,
    table: TermTable,
) -> memoryview:
    """Return a column of terms given in parts, UNPARSED for quoted triples. Literals are KIND_LITERAL in `kinds`."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = kinds.shape[0]
    kind: cython.int
    column = int_column(n)
    out: cython.int[::1] = column
    for i in range(n):
        kind = parts.kind_of(i, kinds[i])
        if kind == KIND_QUOTED_TRIPLE:
            out[i] = UNPARSED
        elif kind == KIND_DEFAULT_GRAPH:
            out[i] = table.default_graph()
        else:
            out[i] = table.intern(kind, parts.detail, data, offsets[i], offsets[i + 1] - offsets[i])
            if table.non_ascii >= 0x80:
                require_utf8(data, offsets[i], offsets[i + 1] - offsets[i], i)
    return column[:n]


def intern_indexed_parts(
    kinds: cython.const[cython.int][::1],
    values: cython.const[cython.int][::1],
    offsets: cython.const[cython.int][::1],
    data: cython.const[cython.uchar][::1],
    parts: LiteralParts,
    table: TermTable,
) -> memoryview:
    """Return what `intern_parts` returns, for values that are indices of strings.

    A string that is repeated as the same term is added once, however long it is.
    """
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    n: cython.Py_ssize_t = kinds.shape[0]
    kind: cython.int
    column = int_column(n)
    out: cython.int[::1] = column
    # For each string, the row that had it last.
    latest: cython.int[::1] = int_column(offsets.shape[0])
    last_kinds: cython.int[::1] = int_column(offsets.shape[0])
    last_details: cython.int[::1] = int_column(offsets.shape[0])
    for i in range(offsets.shape[0]):
        latest[i] = NULL
    for i in range(n):
        kind = parts.kind_of(i, kinds[i])
        if kind == KIND_QUOTED_TRIPLE:
            out[i] = UNPARSED
        elif kind == KIND_DEFAULT_GRAPH:
            out[i] = table.default_graph()
        else:
            at = values[i]
            if latest[at] != NULL and last_kinds[at] == kind and last_details[at] == parts.detail:
                out[i] = out[latest[at]]
                continue
            out[i] = table.intern(kind, parts.detail, data, offsets[at], offsets[at + 1] - offsets[at])
            if table.non_ascii >= 0x80:
                require_utf8(data, offsets[at], offsets[at + 1] - offsets[at], i)
            latest[at] = cython.cast(cython.int, i)
            last_kinds[at] = kind
            last_details[at] = parts.detail
    return column[:n]
