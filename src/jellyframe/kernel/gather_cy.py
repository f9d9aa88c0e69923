"""Convert columns of terms to Arrow string columns.

Each row of a column refers to a row of a table of strings. The offsets are written first, as they tell how much memory
the bytes need, and then the bytes.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
    from cython.cimports.jellyframe.kernel.runs import append_bytes, put_word
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
    from jellyframe.kernel.runs import append_bytes, put_word
    from jellyframe.kernel.table_cy import TermTable

# Offsets are 32-bit in plain string columns.
MAX_STRING_BYTES = cython.declare(cython.longlong, 0x7FFFFFFF)


def cut_rows(columns: list[memoryview], table: TermTable, max_bytes: cython.longlong) -> list[int]:
    """Return where to cut the rows of a batch so that the text of each part takes at most `max_bytes`.

    Terms count once for every row that has them. A row that exceeds the limit is a part of its own. The result has the
    end of each part, including the last.
    """
    rows: cython.Py_ssize_t = len(columns[0])
    if _is_within(columns, table, max_bytes):
        return [rows]
    sizes: cython.longlong[::1] = memoryview(bytearray(8 * max(rows, 1))).cast("q")
    column: cython.const[cython.int][::1]
    row: cython.Py_ssize_t
    size: cython.longlong = 0
    for terms in columns:
        column = terms
        for row in range(rows):
            sizes[row] += table.text_size(column[row])
    cuts: list[int] = []
    for row in range(rows):
        if size > 0 and size + sizes[row] > max_bytes:
            cuts.append(row)
            size = 0
        size += sizes[row]
    cuts.append(rows)
    return cuts


def _is_within(columns: list[memoryview], table: TermTable, max_bytes: cython.longlong) -> bool:
    """Return whether a cheap upper bound shows that all rows of a batch fit. There is none for quoted triples."""
    if table.quoted_count > 0:
        return False
    rows: cython.Py_ssize_t = len(columns[0])
    total: cython.longlong = rows * len(columns) * (table.longest_detail + 6)
    offsets: cython.int[::1] = table.values.offsets
    column: cython.const[cython.int][::1]
    row: cython.Py_ssize_t
    for terms in columns:
        column = terms
        for row in range(rows):
            total += offsets[column[row] + 1] - offsets[column[row]]
    return total <= max_bytes


def gather_offsets(
    rows: cython.const[cython.int][::1], offsets: cython.const[cython.int][::1], out: cython.int[::1]
) -> int:
    """Write the offsets of a column's strings and return how many bytes the strings take."""
    i: cython.Py_ssize_t
    at: cython.longlong = 0
    out[0] = 0
    for i in range(rows.shape[0]):
        at += offsets[rows[i] + 1] - offsets[rows[i]]
        _require_fit(at)
        out[i + 1] = cython.cast(cython.int, at)
    return at


def gather_bytes(
    rows: cython.const[cython.int][::1],
    offsets: cython.const[cython.int][::1],
    data: cython.const[cython.uchar][::1],
    out: cython.uchar[::1],
) -> None:
    """Copy the bytes of a column, one string after the other."""
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t
    n: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    for i in range(rows.shape[0]):
        start = offsets[rows[i]]
        n = offsets[rows[i] + 1] - start
        append_bytes(out, at, data, start, n)
        at += n


def gather_kinds(
    terms: cython.const[cython.int][::1],
    kinds: cython.const[cython.uchar][::1],
    names: cython.const[cython.ulonglong][::1],
    lengths: cython.const[cython.int][::1],
    offsets: cython.int[::1],
    out: cython.uchar[::1],
) -> int:
    """Write the names of the kinds of a column's terms, and their offsets, and return how many bytes the names take.

    A name has up to eight bytes, and is given as one number. `out` has room for eight bytes in every row.
    """
    i: cython.Py_ssize_t
    kind: cython.int
    at: cython.int = 0
    offsets[0] = 0
    for i in range(terms.shape[0]):
        kind = kinds[terms[i]]
        put_word(out, at, names[kind])
        at += lengths[kind]
        offsets[i + 1] = at
    return at


def detail_offsets(
    terms: cython.const[cython.int][::1],
    kinds: cython.const[cython.uchar][::1],
    details: cython.const[cython.int][::1],
    kind: cython.int,
    offsets: cython.const[cython.int][::1],
    out: cython.int[::1],
    valid: cython.uchar[::1],
) -> tuple[int, int]:
    """Write the offsets of the strings of details, and return how many bytes they take and how many are null.

    Only terms of the given kind have one. In `valid`, where all bits must be set, those of the others are cleared.
    """
    i: cython.Py_ssize_t
    term: cython.int
    detail: cython.int
    at: cython.longlong = 0
    nulls: cython.Py_ssize_t = 0
    out[0] = 0
    for i in range(terms.shape[0]):
        term = terms[i]
        if kinds[term] == kind:
            detail = details[term]
            at += offsets[detail + 1] - offsets[detail]
            _require_fit(at)
        else:
            valid[i >> 3] ^= 1 << (i & 7)
            nulls += 1
        out[i + 1] = cython.cast(cython.int, at)
    return at, nulls


def detail_bytes(
    terms: cython.const[cython.int][::1],
    details: cython.const[cython.int][::1],
    offsets: cython.const[cython.int][::1],
    data: cython.const[cython.uchar][::1],
    out_offsets: cython.const[cython.int][::1],
    out: cython.uchar[::1],
) -> None:
    """Copy the bytes of the strings whose offsets `detail_offsets` wrote."""
    i: cython.Py_ssize_t
    n: cython.int
    for i in range(terms.shape[0]):
        n = out_offsets[i + 1] - out_offsets[i]
        if n != 0:
            append_bytes(out, out_offsets[i], data, offsets[details[terms[i]]], n)


def clear_default_graphs(
    terms: cython.const[cython.int][::1], kinds: cython.const[cython.uchar][::1], valid: cython.uchar[::1]
) -> int:
    """Clear the bits of the rows that have the default graph, and return how many there are."""
    i: cython.Py_ssize_t
    nulls: cython.Py_ssize_t = 0
    for i in range(terms.shape[0]):
        if kinds[terms[i]] == KIND_DEFAULT_GRAPH:
            valid[i >> 3] ^= 1 << (i & 7)
            nulls += 1
    return nulls


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _require_fit(size: cython.longlong) -> cython.int:
    if size > MAX_STRING_BYTES:
        raise LimitError(
            "the strings of one column of a batch exceed 2 GiB; use record_batches, which cuts them, or dictionary=True"
        )
    return 0
