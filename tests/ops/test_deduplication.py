"""Statements without repetitions, and their buckets, whatever batches they come in."""

from __future__ import annotations

import random
import zlib
from functools import partial

import numpy as np

from jellyframe import Batch, Quad
from jellyframe.ops.deduplication import by_bucket, distinct_batches, first_of_each
from support.spark_data import SPECIAL, quads

STATEMENTS = [*quads(2000), *SPECIAL] * 2


def batches(statements: list[Quad], rows: int) -> list[Batch]:
    return [Batch.from_statements(statements[at : at + rows], quads=True) for at in range(0, len(statements), rows)]


def test_the_first_of_each_is_kept_in_order() -> None:
    shuffled = random.Random(1).sample(STATEMENTS, len(STATEMENTS))
    halves = batches(shuffled[:1500], 77), batches(shuffled[1500:], 1000)
    streams = [partial(iter, half) for half in halves]
    found = [statement for batch in distinct_batches(streams) for statement in batch.statements()]
    assert found == list(dict.fromkeys(shuffled))


def test_no_stream_and_empty_ones() -> None:
    assert list(distinct_batches([])) == []
    empty = Batch.from_statements([], quads=True)
    assert [len(batch) for batch in distinct_batches([partial(iter, [empty, empty])])] == [0, 0]


def test_pairs_that_share_a_half_differ() -> None:
    pairs = np.array([[1, 1], [1, 2], [1, 1], [2, 1], [1, 2]], np.uint64)
    assert first_of_each(pairs).tolist() == [True, True, False, True, False]


def test_a_bucket_follows_from_the_subject_alone() -> None:
    """As docs/spark.md says, so that other programs can find it."""
    (batch,) = batches(STATEMENTS, len(STATEMENTS))
    chosen, ends = by_bucket(batch, 7)
    assert ends[-1] == len(batch)
    start = 0
    for bucket, end in enumerate(ends):
        part = chosen.slice(start, end).statements()
        assert {zlib.crc32(str(statement.s).encode()) % 7 for statement in part} <= {bucket}
        expected = [one for one in batch.statements() if zlib.crc32(str(one.s).encode()) % 7 == bucket]
        assert part == expected
        start = end
