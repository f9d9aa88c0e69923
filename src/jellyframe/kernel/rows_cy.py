"""Select rows of columns, and add the terms of one table to another: the basis of the algebra of batches."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.memory_cy import byte_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH, KIND_QUOTED_TRIPLE
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH, KIND_QUOTED_TRIPLE
    from jellyframe.kernel.table_cy import TermTable


def _ints(count: int) -> memoryview:
    """Return a column of 32-bit integers whose contents are not set yet."""
    return byte_column(4 * count)[: 4 * count].cast("i")


def take_ints(column: cython.const[cython.int][::1], rows: cython.const[cython.int][::1]) -> memoryview:
    """Return the values at the given rows, in their order. Raises IndexError if there is no such row."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    size: cython.Py_ssize_t = column.shape[0]
    result = _ints(rows.shape[0])
    out: cython.int[::1] = result
    for i in range(rows.shape[0]):
        row = rows[i]
        if row < 0 or row >= size:
            raise IndexError(f"row {row} of a column of {size} rows")
        out[i] = column[row]
    return result


def count_rows(mask: cython.const[cython.uchar][::1]) -> int:
    """Count the rows that a mask selects: those that are not 0."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    for i in range(mask.shape[0]):
        count += mask[i] != 0
    return count


def filter_ints(
    column: cython.const[cython.int][::1], mask: cython.const[cython.uchar][::1], count: cython.Py_ssize_t
) -> memoryview:
    """Return the values of the `count` rows that a mask of the same length selects."""
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    result = _ints(count)
    out: cython.int[::1] = result
    for i in range(mask.shape[0]):
        if mask[i] != 0:
            out[at] = column[i]
            at += 1
    return result


def filter_ends(ends: cython.const[cython.int][::1], mask: cython.const[cython.uchar][::1]) -> memoryview:
    """Return the ends of runs of rows, given as `ends`, after all rows that a mask does not select are removed."""
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    kept: cython.int = 0
    result = _ints(ends.shape[0])
    out: cython.int[::1] = result
    for i in range(ends.shape[0]):
        while row < ends[i]:
            kept += mask[row] != 0
            row += 1
        out[i] = kept
    return result


def first_named_graph(graphs: cython.const[cython.int][::1], terms: TermTable) -> int:
    """Return the first row whose graph is not the default graph, or -1."""
    i: cython.Py_ssize_t
    last: cython.int = -1
    for i in range(graphs.shape[0]):
        # Statements of one graph mostly follow each other.
        if graphs[i] != last:
            last = graphs[i]
            if terms.kinds[last] != KIND_DEFAULT_GRAPH:
                return i
    return -1


def add_terms(target: TermTable, source: TermTable) -> memoryview:
    """Add all terms of a table to another one, and return for each of them its term there."""
    term: cython.int
    at: cython.Py_ssize_t
    result = _ints(source.count)
    out: cython.int[::1] = result
    for term in range(source.count):
        if source.kinds[term] == KIND_QUOTED_TRIPLE:
            # The terms that it quotes come before it in the table.
            at = 3 * source.details[term]
            out[term] = target.add_quoted(
                out[source.quoted[at]], out[source.quoted[at + 1]], out[source.quoted[at + 2]]
            )
        else:
            out[term] = target._adopt_plain(source, term)
    return result
