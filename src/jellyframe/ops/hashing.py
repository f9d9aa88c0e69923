"""Hashes of terms and statements: the same for the same term, whatever file, format or batch it is in."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
from jellyframe.kernel.ntriples_write_cy import term_strings

_DIGEST_BYTES = 16
# One odd factor for each position. Hashes of terms are as good as random, so that their sums are, too.
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5)


def term_texts(batch: Batch) -> pa.Array:
    """Return the terms of a batch in N-Triples syntax."""
    return string_array(term_strings(batch.terms, columns=batch.columns))


def text_hashes(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the two halves of a 128-bit hash of each text, as unsigned integers."""
    offsets = memoryview(texts.buffers()[1]).cast("i")[texts.offset : texts.offset + len(texts) + 1]
    data = memoryview(texts.buffers()[2] or b"")
    digests = b"".join(
        [blake2b(data[start:end], digest_size=_DIGEST_BYTES).digest() for start, end in pairwise(offsets)]
    )
    halves = pa.Array.from_buffers(pa.uint64(), 2 * len(texts), [None, pa.py_buffer(digests)])
    every = pa.array(range(0, len(halves), 2), pa.int32())
    return halves.take(every), halves.take(pc.add(every, 1))


def statement_hashes(batch: Batch) -> tuple[pa.Array, pa.Array]:
    """Return the two halves of a 128-bit hash of each statement, as unsigned integers.

    A triple has the hash of the quad in the default graph.
    """
    high, low = text_hashes(term_texts(batch))
    kinds = pa.Array.from_buffers(pa.uint8(), batch.terms.count, [None, pa.py_buffer(batch.terms.buffers()[0])])
    is_default = pc.equal(kinds, pa.scalar(KIND_DEFAULT_GRAPH, pa.uint8()))
    zero = pa.scalar(0, pa.uint64())
    high, low = (pc.if_else(is_default, zero, half) for half in (high, low))
    return _sums(batch, high), _sums(batch, low)


def subject_hashes(batch: Batch) -> pa.Array:
    """Return a 64-bit hash of the subject of each statement, as unsigned integers."""
    return text_hashes(term_texts(batch))[1].take(term_column(batch.s))


def _sums(batch: Batch, hashes: pa.Array) -> pa.Array:
    total: pa.Array | None = None
    for column, factor in zip(batch.columns, _FACTORS, strict=True):
        if column is not None:
            # Overflow wraps around.
            part = pc.multiply(hashes.take(term_column(column)), pa.scalar(factor, pa.uint64()))
            total = part if total is None else pc.add(total, part)
    return total


def term_column(column: memoryview) -> pa.Array:
    """Return a column of a batch as an Arrow array over the same memory."""
    return pa.Array.from_buffers(pa.int32(), len(column), [None, pa.py_buffer(column)])


def scrambled(hashes: pa.Array, seed: int) -> pa.Array:
    """Return other hashes, which depend on a seed: evenly distributed, and independent of those of other seeds."""
    key = int.from_bytes(blake2b(str(seed).encode(), digest_size=8).digest(), "little")
    mixed = pc.bit_wise_xor(hashes, pa.scalar(key, pa.uint64()))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = pc.bit_wise_xor(mixed, pc.shift_right(mixed, pa.scalar(shift, pa.uint64())))
        mixed = pc.multiply(mixed, pa.scalar(factor, pa.uint64()))
    return mixed
