"""Hashes of terms and statements as Arrow columns: the same for equal terms of all files and batches."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints
from jellyframe.kernel.ntriples_write_cy import term_strings


def statement_hashes(batch: Batch, fingerprints: Fingerprints) -> tuple[pa.Array, pa.Array]:
    """Return the two halves of a 128-bit hash of each statement, as unsigned integers.

    A triple has the hash of the quad in the default graph.
    """
    return _halves(fingerprints.of_statements(batch.columns, batch.terms), len(batch))


def term_hashes(batch: Batch, fingerprints: Fingerprints) -> tuple[pa.Array, pa.Array]:
    """Return the two halves of a 128-bit hash of each term of a batch, as unsigned integers."""
    return _halves(fingerprints.of_terms(batch.terms), batch.terms.count)


def _halves(words: memoryview, count: int) -> tuple[pa.Array, pa.Array]:
    numbers = pa.Array.from_buffers(pa.uint64(), 2 * count, [None, pa.py_buffer(words)])
    every = pa.array(range(0, 2 * count, 2), pa.int64())
    return numbers.take(every), numbers.take(pc.add(every, 1))


def term_texts(batch: Batch) -> pa.Array:
    """Return the terms of a batch in N-Triples syntax."""
    return string_array(term_strings(batch.terms, columns=batch.columns))


def term_column(column: memoryview) -> pa.Array:
    """Return a column of a batch as an Arrow array over the same memory."""
    return pa.Array.from_buffers(pa.int32(), len(column), [None, pa.py_buffer(column)])
