"""Fingerprints of statements: keyed hashes of 128 bits that tell statements apart, whatever batch they are in.

With a secret key, statements with equal fingerprints cannot be made on purpose. The probability that two of 10¹²
statements have the same one by chance is about 10⁻¹⁵.

A *record* is three 64-bit numbers: the halves of a fingerprint, and a number that identifies its row.
"""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.patch_fields import PATCH_DELETE
    from cython.cimports.jellyframe.kernel.runs import fingerprint_bytes
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.patch_fields import PATCH_DELETE
    from jellyframe.kernel.runs import fingerprint_bytes
    from jellyframe.kernel.table_cy import StringTable, TermTable

# Numbers in a record.
RECORD_WORDS = cython.declare(cython.Py_ssize_t, 3)
# One odd factor for each position. Hashes of terms are uniformly distributed, and so are their sums.
S_FACTOR = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
P_FACTOR = cython.declare(cython.ulonglong, 0xC2B2AE3D27D4EB4F)
O_FACTOR = cython.declare(cython.ulonglong, 0x165667B19E3779F9)
G_FACTOR = cython.declare(cython.ulonglong, 0x27D4EB2F165667C5)
FACTORS = (S_FACTOR, P_FACTOR, O_FACTOR, G_FACTOR)


def ulong_column(count: int) -> memoryview:
    """Return a zeroed, writable column of unsigned 64-bit integers."""
    return memoryview(bytearray(8 * max(count, 1))).cast("Q")


@cython.final
@cython.cclass
class Fingerprints:
    """Computes fingerprints with one key of 16 bytes."""

    __slots__ = ("_details", "_key", "_languages", "_other_key")

    def __init__(self, key: bytes) -> None:
        if len(key) != 16:
            raise ValueError(f"a key of {len(key)} bytes, and it must have 16")
        self._key = int.from_bytes(key[:8], "little")
        self._other_key = int.from_bytes(key[8:], "little")
        self._details = self._languages = ulong_column(0)

    def of_terms(self, terms: TermTable, nodes_are_equal: cython.bint = False) -> memoryview:
        """Return the hash of each term of a table, two numbers each: 0 for the default graph.

        With `nodes_are_equal`, they are 0 for blank nodes too.
        """
        term: cython.int
        kind: cython.int
        result = ulong_column(2 * terms.count)
        out: cython.ulonglong[::1] = result
        quoted = ulong_column(6)
        parts: cython.ulonglong[::1] = quoted
        part_bytes: cython.const[cython.uchar][::1] = quoted.cast("B")
        self._details = self._hash_strings(terms.datatypes)
        self._languages = self._hash_strings(terms.languages)
        for term in range(terms.count):
            kind = terms.kinds[term]
            if kind == KIND_DEFAULT_GRAPH or (nodes_are_equal and kind == KIND_BLANK_NODE):
                out[2 * term] = out[2 * term + 1] = 0
            elif kind == KIND_QUOTED_TRIPLE:
                # The terms that it quotes come before it in the table.
                self._collect_quoted(terms, term, out, parts)
                fingerprint_bytes(out, 2 * term, part_bytes, 0, 48, self._key, self._other_key ^ KIND_QUOTED_TRIPLE)
            else:
                self._hash_plain(terms, term, kind, out)
        return result

    def of_statements(self, columns: tuple[Any, Any, Any, Any], terms: TermTable) -> memoryview:
        """Return the fingerprint of each statement, two numbers each. A triple is a quad in the default graph.

        Unless the table has quoted triples, only the terms of these rows are hashed, so that a few rows over a large
        table cost little.
        """
        s: cython.const[cython.int][::1] = columns[0]
        p: cython.const[cython.int][::1] = columns[1]
        o: cython.const[cython.int][::1] = columns[2]
        has_graph: cython.bint = columns[3] is not None
        g: cython.const[cython.int][::1] = columns[3] if has_graph else columns[0]
        is_lazy: cython.bint = terms.quoted_count == 0
        hashes: cython.ulonglong[::1] = ulong_column(2 * terms.count) if is_lazy else self.of_terms(terms)
        known: cython.uchar[::1] = memoryview(bytearray(max(terms.count if is_lazy else 0, 1)))
        i: cython.Py_ssize_t
        term: cython.int
        high: cython.ulonglong
        low: cython.ulonglong
        rows: cython.Py_ssize_t = s.shape[0]
        result = ulong_column(2 * rows)
        out: cython.ulonglong[::1] = result
        if is_lazy:
            self._details = self._hash_strings(terms.datatypes)
            self._languages = self._hash_strings(terms.languages)
        for i in range(rows):
            term = s[i]
            if is_lazy and known[term] == 0:
                self._hash_new(terms, term, hashes, known)
            high = hashes[2 * term] * S_FACTOR
            low = hashes[2 * term + 1] * S_FACTOR
            term = p[i]
            if is_lazy and known[term] == 0:
                self._hash_new(terms, term, hashes, known)
            high += hashes[2 * term] * P_FACTOR
            low += hashes[2 * term + 1] * P_FACTOR
            term = o[i]
            if is_lazy and known[term] == 0:
                self._hash_new(terms, term, hashes, known)
            high += hashes[2 * term] * O_FACTOR
            low += hashes[2 * term + 1] * O_FACTOR
            if has_graph:
                term = g[i]
                if is_lazy and known[term] == 0:
                    self._hash_new(terms, term, hashes, known)
                high += hashes[2 * term] * G_FACTOR
                low += hashes[2 * term + 1] * G_FACTOR
            out[2 * i] = cython.cast(cython.ulonglong, high)
            out[2 * i + 1] = cython.cast(cython.ulonglong, low)
        return result[: 2 * rows]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hash_new(
        self, terms: TermTable, term: cython.int, hashes: cython.ulonglong[::1], known: cython.uchar[::1]
    ) -> cython.int:
        """Compute the hash of a term at its first use."""
        known[term] = 1
        if terms.kinds[term] != KIND_DEFAULT_GRAPH:
            self._hash_plain(terms, term, terms.kinds[term], hashes)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _hash_plain(
        self, terms: TermTable, term: cython.int, kind: cython.int, out: cython.ulonglong[::1]
    ) -> cython.int:
        values: StringTable = terms.values
        start: cython.Py_ssize_t = values.offsets[term]
        size: cython.Py_ssize_t = values.offsets[term + 1] - start
        at: cython.Py_ssize_t = 2 * terms.details[term]
        # A datatype or a language changes the key.
        key: cython.ulonglong = self._key
        other: cython.ulonglong = self._other_key ^ kind
        if kind == KIND_TYPED_LITERAL:
            key ^= self._details[at]
            other ^= self._details[at + 1]
        elif kind == KIND_LANG_LITERAL:
            key ^= self._languages[at]
            other ^= self._languages[at + 1]
        return fingerprint_bytes(out, 2 * term, values.data, start, size, key, other)

    @cython.cfunc
    def _hash_strings(self, strings: StringTable) -> Any:
        i: cython.Py_ssize_t
        result = ulong_column(2 * strings.count)
        out: cython.ulonglong[::1] = result
        for i in range(strings.count):
            fingerprint_bytes(
                out,
                2 * i,
                strings.data,
                strings.offsets[i],
                strings.offsets[i + 1] - strings.offsets[i],
                self._key,
                self._other_key,
            )
        return result

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _collect_quoted(
        self, terms: TermTable, term: cython.int, hashes: cython.ulonglong[::1], parts: cython.ulonglong[::1]
    ) -> cython.int:
        i: cython.Py_ssize_t
        inner: cython.Py_ssize_t
        for i in range(3):
            inner = terms.quoted[3 * terms.details[term] + i]
            parts[2 * i] = hashes[2 * inner]
            parts[2 * i + 1] = hashes[2 * inner + 1]
        return 0


def bucket_records(
    fingerprints: Any, operations: Any, first: cython.ulonglong, bits: cython.int
) -> tuple[Any, list[int]]:
    """Return a record for each fingerprint, stably sorted by bucket, and the end of each bucket, counted in records.

    The bucket is the number in the first `bits` of a fingerprint. Rows are numbered from `first`. With the `operations`
    of a patch, the number in a record is twice that of the row, plus one for a delete.
    """
    given: cython.const[cython.ulonglong][::1] = fingerprints
    has_ops: cython.bint = operations is not None
    ops: cython.const[cython.int][::1] = operations if has_ops else memoryview(bytearray(4)).cast("i")
    rows: cython.Py_ssize_t = given.shape[0] // 2
    buckets: cython.Py_ssize_t = 1 << bits
    shift: cython.int = 64 - bits
    starts: cython.longlong[::1] = memoryview(bytearray(8 * (buckets + 1))).cast("q")
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    bucket: cython.Py_ssize_t
    if bits > 0:
        for i in range(rows):
            starts[cython.cast(cython.Py_ssize_t, given[2 * i] >> shift) + 1] += 1
        for i in range(buckets):
            starts[i + 1] += starts[i]
    else:
        starts[1] = rows
    ends = [starts[i + 1] for i in range(buckets)]
    records = ulong_column(RECORD_WORDS * rows)[: RECORD_WORDS * rows]
    if rows == 0:
        return records, ends
    out: cython.ulonglong[::1] = records
    for i in range(rows):
        bucket = cython.cast(cython.Py_ssize_t, given[2 * i] >> shift) if bits > 0 else 0
        at = RECORD_WORDS * starts[bucket]
        starts[bucket] += 1
        out[at] = given[2 * i]
        out[at + 1] = given[2 * i + 1]
        if has_ops:
            out[at + 2] = 2 * (first + i) + (ops[i] == PATCH_DELETE)
        else:
            out[at + 2] = first + i
    return records, ends


def mask_of_bits(bits: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, rows: cython.Py_ssize_t) -> Any:
    """Return a mask of `rows` bytes, 1 for each bit that is set from bit `start` on; None if none is set."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    result = bytearray(rows)
    if rows == 0:
        return None
    out: cython.uchar[::1] = result
    for i in range(rows):
        if bits[(start + i) >> 3] & (1 << ((start + i) & 7)):
            out[i] = 1
            count += 1
    return result if count else None


def mask_of_operations(operations: cython.const[cython.int][::1], wanted: cython.uint) -> Any:
    """Return a mask: 1 for each row whose operation is a bit of `wanted`; None if there is none."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    result = bytearray(max(operations.shape[0], 1))
    out: cython.uchar[::1] = result
    for i in range(operations.shape[0]):
        if (wanted >> operations[i]) & 1:
            out[i] = 1
            count += 1
    return result if count else None


def mask_of_blank_nodes(columns: tuple[Any, Any, Any, Any], terms: TermTable) -> Any:
    """Return a mask: 1 for each row that has a blank node, in a quoted triple too; None if there is none."""
    term: cython.int
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    has_node = bytearray(max(terms.count, 1))
    nodes: cython.uchar[::1] = has_node
    for term in range(terms.count):
        if terms.kinds[term] == KIND_BLANK_NODE:
            nodes[term] = 1
        elif terms.kinds[term] == KIND_QUOTED_TRIPLE:
            at = 3 * terms.details[term]
            nodes[term] = nodes[terms.quoted[at]] | nodes[terms.quoted[at + 1]] | nodes[terms.quoted[at + 2]]
        count += nodes[term]
    if count == 0:
        return None
    count = 0
    result = bytearray(max(len(columns[0]), 1))
    out: cython.uchar[::1] = memoryview(result)
    column: cython.const[cython.int][::1]
    for given in columns:
        if given is not None:
            column = given
            for i in range(column.shape[0]):
                out[i] |= nodes[column[i]]
    for i in range(out.shape[0]):
        count += out[i]
    return result if count else None
