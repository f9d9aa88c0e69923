"""Compare terms, of one table or of two."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_LANG_LITERAL, KIND_QUOTED_TRIPLE, KIND_TYPED_LITERAL
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.kinds import KIND_LANG_LITERAL, KIND_QUOTED_TRIPLE, KIND_TYPED_LITERAL
    from jellyframe.kernel.runs import equal_bytes
    from jellyframe.kernel.table_cy import StringTable, TermTable


@cython.cfunc
@cython.exceptval(-1, check=False)
def same_term(a: TermTable, x: cython.int, b: TermTable, y: cython.int) -> cython.bint:
    """Return whether two terms, possibly of different tables, are the same RDF term."""
    if a.kinds[x] != b.kinds[y]:
        return False
    if a.kinds[x] != KIND_QUOTED_TRIPLE:
        return same_plain_term(a, x, b, y)
    waiting = [(x, y)]
    while waiting:
        x, y = waiting.pop()
        if a.kinds[x] != b.kinds[y]:
            return False
        if a.kinds[x] != KIND_QUOTED_TRIPLE:
            if not same_plain_term(a, x, b, y):
                return False
        elif a is not b or a.details[x] != b.details[y]:
            for i in range(3):
                waiting.append((a.quoted[3 * a.details[x] + i], b.quoted[3 * b.details[y] + i]))
    return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def same_plain_term(a: TermTable, x: cython.int, b: TermTable, y: cython.int) -> cython.bint:
    """Return whether two terms of the same kind, neither a quoted triple, are the same."""
    kind: cython.int = a.kinds[x]
    if kind == KIND_LANG_LITERAL and not (
        (a is b and a.details[x] == b.details[y]) or same_string(a.languages, a.details[x], b.languages, b.details[y])
    ):
        return False
    if kind == KIND_TYPED_LITERAL and not (
        (a is b and a.details[x] == b.details[y]) or same_string(a.datatypes, a.details[x], b.datatypes, b.details[y])
    ):
        return False
    return same_string(a.values, x, b.values, y)


@cython.cfunc
@cython.exceptval(-1, check=False)
def same_string(a: StringTable, x: cython.int, b: StringTable, y: cython.int) -> cython.bint:
    a_stop: cython.Py_ssize_t = a.offsets[x + 1]
    b_stop: cython.Py_ssize_t = b.offsets[y + 1]
    n: cython.Py_ssize_t = a_stop - a.offsets[x]
    if b_stop - b.offsets[y] != n:
        return False
    # Consecutive terms at a position nearly always differ in their last byte, if not in length.
    if n > 0 and a.data[a_stop - 1] != b.data[b_stop - 1]:
        return False
    return equal_bytes(a.data, a.offsets[x], b.data, b.offsets[y], n)
