"""Deduplication of statements in buckets by subject: the first of equal statements is kept.

Needs numpy.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints
from jellyframe.ops.fingerprints import random_fingerprints
from jellyframe.ops.hashing import term_texts

Hashes: TypeAlias = npt.NDArray[np.uint64]


def by_bucket(batch: Batch, count: int) -> tuple[Batch, list[int]]:
    """Return the statements sorted by the bucket of the subject, and the end of each bucket.

    Within a bucket the order is kept. The bucket is the CRC-32 of the subject in N-Triples syntax, modulo `count`.
    """
    subjects, rows = np.unique(np.asarray(batch.s), return_inverse=True)
    texts = term_texts(batch).take(pa.array(subjects)).cast(pa.binary()).to_pylist()
    buckets = np.fromiter((zlib.crc32(text) % count for text in texts), np.int32, len(texts))[rows]
    order = np.argsort(buckets, kind="stable").astype(np.int32)
    ends = np.searchsorted(buckets[order], np.arange(count), side="right")
    return batch.take(order.data), ends.tolist()


def distinct_batches(streams: Sequence[Callable[[], Iterator[Batch]]]) -> Iterator[Batch]:
    """Yield the statements of streams without repetitions, in their order.

    Each stream is read twice, which uses less memory than keeping its batches: once for the fingerprints of
    statements, once for the statements.
    """
    fingerprints = random_fingerprints()
    hashes = [batch_hashes(batch, fingerprints) for stream in streams for batch in stream()]
    if not hashes:
        return
    is_first = first_of_each(np.concatenate(hashes))
    start = 0
    for stream in streams:
        for batch in stream():
            yield batch.filter(is_first[start : start + len(batch)].data)
            start += len(batch)


def batch_hashes(batch: Batch, fingerprints: Fingerprints) -> Hashes:
    """Return the fingerprint of each statement as a row of two numbers."""
    numbers = np.frombuffer(fingerprints.of_statements(batch.columns, batch.terms), np.uint64)
    return numbers[: 2 * len(batch)].reshape(-1, 2)


def first_of_each(hashes: Hashes) -> npt.NDArray[np.bool_]:
    """Return for each pair of numbers whether it is the first of its kind."""
    high, low = hashes[:, 0], hashes[:, 1]
    order = np.argsort(high, kind="stable")
    same_high = high[order[1:]] == high[order[:-1]]
    same = same_high & (low[order[1:]] == low[order[:-1]])
    if (same != same_high).any():
        # Extremely unlikely: equal statements may then not be adjacent.
        order = np.lexsort((low, high))
        same = (high[order[1:]] == high[order[:-1]]) & (low[order[1:]] == low[order[:-1]])
    is_first = np.ones(len(hashes), bool)
    is_first[order[1:]] = ~same
    return is_first
