"""Blank nodes in statements: where they are, colours that tell them apart, and new labels."""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.fingerprint_cy import FACTORS
from jellyframe.kernel.memory_cy import byte_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_QUOTED_TRIPLE
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_QUOTED_TRIPLE
    from jellyframe.kernel.table_cy import TermTable

ODD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FIRST_MIX = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
SECOND_MIX = cython.declare(cython.ulonglong, 0x94D049BB133111EB)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mixed(word: cython.ulonglong) -> cython.ulonglong:
    """Return a hash of a number: each of its bits depends on every bit of the number."""
    word = cython.cast(cython.ulonglong, (word ^ (word >> 30)) * FIRST_MIX)
    word = cython.cast(cython.ulonglong, (word ^ (word >> 27)) * SECOND_MIX)
    return word ^ (word >> 31)


def node_uses(
    columns: tuple[Any, Any, Any, Any], terms: TermTable, hashes: Any, nodes: Any, uses: Any, patterns: Any, ends: Any
) -> None:
    """Append the statements of some rows, all with blank nodes, to growing arrays.

    `hashes` are those of the terms, the same for all blank nodes; `nodes` has the number of each term that is a blank
    node. For each statement, `uses` gets a pair for each blank node: a number for its place, and the node; `patterns`
    gets a hash of the statement without its nodes; `ends` gets the end of its pairs in `uses`.
    """
    hash_words: cython.const[cython.ulonglong][::1] = hashes
    numbers: cython.const[cython.int][::1] = nodes
    s: cython.const[cython.int][::1] = columns[0]
    p: cython.const[cython.int][::1] = columns[1]
    o: cython.const[cython.int][::1] = columns[2]
    has_graph: cython.bint = columns[3] is not None
    g: cython.const[cython.int][::1] = columns[3] if has_graph else columns[0]
    i: cython.Py_ssize_t
    position: cython.int
    term: cython.int
    place: cython.ulonglong
    pattern: cython.ulonglong
    for i in range(s.shape[0]):
        pattern = 0
        for position in range(4 if has_graph else 3):
            term = s[i] if position == 0 else p[i] if position == 1 else o[i] if position == 2 else g[i]
            place = FACTORS[position]
            pattern = cython.cast(cython.ulonglong, pattern + hash_words[2 * term] * place)
            if terms.kinds[term] == KIND_BLANK_NODE:
                uses.append(place)
                uses.append(numbers[term])
            elif terms.kinds[term] == KIND_QUOTED_TRIPLE:
                _quoted_uses(terms, term, place, nodes, uses)
        patterns.append(mixed(pattern))
        ends.append(len(uses) // 2)


@cython.cfunc
def _quoted_uses(terms: TermTable, term: cython.int, place: cython.ulonglong, nodes: Any, uses: Any) -> None:
    """Append the blank nodes of a quoted triple, each with a number for its place in it."""
    part: cython.int
    inner: cython.int
    deeper: cython.ulonglong
    factor: cython.ulonglong
    waiting = [(term, place)]
    while waiting:
        term, place = waiting.pop()
        for inner in range(3):
            part = terms.quoted[3 * terms.details[term] + inner]
            factor = FACTORS[inner]
            deeper = mixed(cython.cast(cython.ulonglong, place + factor))
            if terms.kinds[part] == KIND_BLANK_NODE:
                uses.append(deeper)
                uses.append(nodes[part])
            elif terms.kinds[part] == KIND_QUOTED_TRIPLE:
                waiting.append((part, deeper))


def refined_colours(
    colours: cython.const[cython.ulonglong][::1],
    uses: cython.const[cython.ulonglong][::1],
    patterns: cython.const[cython.ulonglong][::1],
    ends: cython.const[cython.longlong][::1],
) -> memoryview:
    """Return new colours of nodes: hashes of the old ones and of the statements with their neighbours' colours."""
    result = memoryview(bytearray(8 * max(colours.shape[0], 1))).cast("Q")
    out: cython.ulonglong[::1] = result
    statement: cython.Py_ssize_t
    use: cython.Py_ssize_t
    node: cython.Py_ssize_t
    first: cython.Py_ssize_t = 0
    total: cython.ulonglong
    own: cython.ulonglong
    for statement in range(patterns.shape[0]):
        total = patterns[statement]
        for use in range(first, ends[statement]):
            node = cython.cast(cython.Py_ssize_t, uses[2 * use + 1])
            total = cython.cast(cython.ulonglong, total + mixed(colours[node] ^ uses[2 * use]))
        for use in range(first, ends[statement]):
            node = cython.cast(cython.Py_ssize_t, uses[2 * use + 1])
            own = mixed(colours[node] ^ uses[2 * use])
            own = mixed(cython.cast(cython.ulonglong, total - own) ^ cython.cast(cython.ulonglong, uses[2 * use] * ODD))
            out[node] = cython.cast(cython.ulonglong, out[node] + own)
        first = cython.cast(cython.Py_ssize_t, ends[statement])
    for node in range(colours.shape[0]):
        out[node] = mixed(cython.cast(cython.ulonglong, out[node] + colours[node] * ODD))
    return result[: colours.shape[0]]


def relabelled(terms: TermTable, labels: dict[int, bytes]) -> memoryview:
    """Give blank nodes of a table other labels, as new terms, and return for each term the one to use instead."""
    term: cython.int
    at: cython.Py_ssize_t
    count: cython.int = terms.count
    result = byte_column(4 * count)[: 4 * count].cast("i")
    out: cython.int[::1] = result
    for term in range(count):
        out[term] = term
        if terms.kinds[term] == KIND_BLANK_NODE:
            label = labels.get(term)
            if label is not None:
                out[term] = terms.intern(KIND_BLANK_NODE, 0, memoryview(label), 0, len(label))
        elif terms.kinds[term] == KIND_QUOTED_TRIPLE:
            # The terms that it quotes come before it in the table.
            at = 3 * terms.details[term]
            s, p, o = terms.quoted[at], terms.quoted[at + 1], terms.quoted[at + 2]
            if out[s] != s or out[p] != p or out[o] != o:
                out[term] = terms.add_quoted(out[s], out[p], out[o])
    return result
