"""From columns of terms to columns of strings, as Arrow lays them out.

Each string of a column is looked up in a table of strings, by its row there. That is done in two steps: the offsets,
which tell how much memory the bytes need, and then the bytes.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
    from cython.cimports.jellyframe.kernel.runs import append_bytes
else:
    from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
    from jellyframe.kernel.runs import append_bytes

# Offsets are 32-bit in plain string columns.
MAX_STRING_BYTES = cython.declare(cython.longlong, 0x7FFFFFFF)


def gather_offsets(
    rows: cython.const[cython.int][::1], offsets: cython.const[cython.int][::1], out: cython.int[::1]
) -> int:
    """Where each string of a column begins, and how many bytes they all take."""
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
    """The bytes of a column, one string behind the other."""
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t
    n: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    for i in range(rows.shape[0]):
        start = offsets[rows[i]]
        n = offsets[rows[i] + 1] - start
        append_bytes(out, at, data, start, n)
        at += n


def pick_kinds(
    terms: cython.const[cython.int][::1], kinds: cython.const[cython.uchar][::1], out: cython.int[::1]
) -> None:
    """The kind of each term of a column."""
    i: cython.Py_ssize_t
    for i in range(terms.shape[0]):
        out[i] = kinds[terms[i]]


def pick_details(
    terms: cython.const[cython.int][::1],
    kinds: cython.const[cython.uchar][::1],
    details: cython.const[cython.int][::1],
    kind: cython.int,
    absent: cython.int,
    out: cython.int[::1],
    valid: cython.uchar[::1],
) -> int:
    """The detail of each term that is of a kind, and `absent` for others; the answer is how many those are.

    In `valid` the bits of the others are cleared, which all have to be set.
    """
    i: cython.Py_ssize_t
    term: cython.int
    nulls: cython.Py_ssize_t = 0
    for i in range(terms.shape[0]):
        term = terms[i]
        if kinds[term] == kind:
            out[i] = details[term]
        else:
            out[i] = absent
            valid[i >> 3] ^= 1 << (i & 7)
            nulls += 1
    return nulls


def clear_default_graphs(
    terms: cython.const[cython.int][::1], kinds: cython.const[cython.uchar][::1], valid: cython.uchar[::1]
) -> int:
    """Clear the bit of each row that has the default graph; the answer is how many those are."""
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
        raise LimitError("the strings of one column of a batch exceed 2 GiB; read with fewer rows a batch")
    return 0
