"""Every case of the suite's `from_jelly` manifest through the data source: all files in one read."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import Row

from jellyframe.arrow.terms import BatchMaker
from jellyframe.formats import ntriples
from support.conformance_manifest import Entry, read_entries, suite_folder
from support.plain import assert_same_frames, plain

_FOLDER = suite_folder()
ENTRIES = read_entries(_FOLDER / "from_jelly" / "manifest.ttl") if _FOLDER is not None else []

pytestmark = pytest.mark.skipif(not ENTRIES, reason="no conformance suite: set JELLY_CONFORMANCE to its folder")


@pytest.fixture(scope="module")
def rows(spark):
    """Return the rows of each file, by its path: statements with the number of their frame, or reports of bad input."""
    paths = sorted({str(path) for entry in ENTRIES for path in entry.action})
    frame = spark.read.format("jelly").options(mode="PERMISSIVE", layout="ntriples", columns="file,frame,*").load(paths)
    found = defaultdict(list)
    for row in frame.collect():
        found[row.file].append(row)
    return found


def statements(rows, has_graph):
    names = "spog" if has_graph else "spo"
    schema = pa.schema([(name, pa.string()) for name in names])
    record_batch = pa.RecordBatch.from_pylist([{name: row[name] for name in names} for row in rows], schema)
    return plain(BatchMaker(schema).make(record_batch).statements())


def expected_frames(paths: tuple[Path, ...]):
    frames = []
    for path in paths:
        batches = ntriples.read(path, quads=path.suffix == ".nq", generalized=True)
        frames.append([statement for batch in batches for statement in plain(batch.statements())])
    return frames


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_from_jelly(rows, entry: Entry):
    (source,) = entry.action
    found = rows[str(source)]
    reports = [row._corrupt_record for row in found if row._corrupt_record is not None]
    if not entry.positive:
        assert len(reports) == 1
        return
    assert reports == []
    frames: list[list[Row]] = [[] for _ in entry.result]
    for row in found:
        frames[row.frame].append(row)
    has_graph = any(path.suffix == ".nq" for path in entry.result)
    actual = [statements(frame, has_graph) if frame else [] for frame in frames]
    assert_same_frames(actual, expected_frames(entry.result), entry.name)
