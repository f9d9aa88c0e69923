"""Files of statements divided into buckets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import IRI, Batch, Literal, Triple
from jellyframe.errors import StorageError
from jellyframe.ops import bucket_files
from jellyframe.ops.bucket_files import BucketFile, buckets_for, read_bucket
from jellyframe.storage.stores import locate
from support.strategies import Shape, statement_lists


@given(st.lists(statement_lists(Shape(), min_size=1), max_size=3), st.integers(1, 5))
def test_each_subject_is_in_one_bucket_and_nothing_is_lost(tmp_path_factory, streams, buckets: int) -> None:
    folder = tmp_path_factory.mktemp("buckets")
    storage, _path = locate(str(folder))
    paths = [f"{folder}/{number}" for number in range(len(streams))]
    for path, statements in zip(paths, streams, strict=True):
        with BucketFile(storage, path, buckets) as file:
            file.add(Batch.from_statements(statements))
            file.add(Batch.from_statements(statements[:1]), side=1)
    found = [
        [statement for batch in read_bucket(storage, paths, bucket) for statement in batch.statements()]
        for bucket in range(buckets)
    ]
    everything = [statement for statements in streams for statement in statements]
    assert sorted(map(str, everything)) == sorted(str(statement) for bucket in found for statement in bucket)
    homes = [{statement.s for statement in bucket} for bucket in found]
    assert sum(map(len, homes)) == len(set().union(*homes))
    aside = sum(len(batch) for bucket in range(buckets) for batch in read_bucket(storage, paths, bucket, 1))
    assert aside == len(streams)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    storage, _path = locate(str(tmp_path))
    path = tmp_path / "x"
    with BucketFile(storage, str(path), 2):
        pass
    assert list(read_bucket(storage, [str(path)], 0)) == []
    for content in (b"", b"abc", b"\xff" * 8, b"\x10" * 8):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="not a complete file"):
            list(read_bucket(storage, [str(path)], 0))


def test_the_number_of_buckets_follows_from_the_size() -> None:
    assert buckets_for(0) == 1
    assert buckets_for(0, 4) == 4
    assert buckets_for(10**12, 4) > 50_000


def test_buffers_of_open_buckets_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_files, "_OPEN_BYTES", 300_000)
    storage, _path = locate(str(tmp_path))
    statements = [Triple(IRI(f"a:{number}"), IRI("a:p"), Literal(f"{number}" * 20_000)) for number in range(200)]
    with BucketFile(storage, f"{tmp_path}/x", 50) as file:
        for start in range(0, len(statements), 3):
            file.add(Batch.from_statements(statements[start : start + 3]))
            # The buffers of writers count, too.
            assert sum(piece.memory.tell() for piece in file._open.values()) == file._open_bytes <= 300_000
    found = [
        statement
        for bucket in range(50)
        for batch in read_bucket(storage, [f"{tmp_path}/x"], bucket)
        for statement in batch.statements()
    ]
    assert sorted(map(str, found)) == sorted(map(str, statements))
