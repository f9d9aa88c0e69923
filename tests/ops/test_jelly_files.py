"""Jelly files in a folder, written as one of many tasks writes them."""

from __future__ import annotations

from uuid import uuid4

import pyarrow as pa
import pytest

import jellyframe
from jellyframe import IRI, Batch, LogicalType, OptionsError, PhysicalType, Quad, read_table
from jellyframe.arrow.tables import batch_to_arrow
from jellyframe.ops.jelly_files import FilePlan, JellyFileOptions
from jellyframe.ops.stream_files import write_files
from jellyframe.storage.commit import APPEND, Target

QUADS = [
    Quad(IRI(f"http://a/s{i % 7}"), IRI("http://a/p"), IRI(f"http://a/o{i}"), IRI("http://a/g")) for i in range(50)
]
TABLE = pa.Table.from_batches([batch_to_arrow(Batch.from_statements(QUADS), "ntriples")])


def write(folder, options):
    target = Target.of(str(folder), uuid4().hex)
    plan = FilePlan.of(options, TABLE.schema)
    staged = write_files(TABLE.to_batches(10), plan, target, target.file_prefix(0, 0))
    target.publish(staged, APPEND)
    return target, sorted(folder.iterdir())


def test_typed_options(tmp_path):
    target, files = write(tmp_path, JellyFileOptions(sort=("s", "o"), max_records_per_file=20, compression="gzip"))
    assert [path.name for path in files] == [f"{target.part_name(0)}-00{i}.jelly.gz" for i in range(3)]
    assert sorted(read_table(files, layout="ntriples")["o"].to_pylist()) == sorted(TABLE["o"].to_pylist())
    first = read_table(files[0], layout="ntriples")
    assert first.equals(first.sort_by([("s", "ascending"), ("o", "ascending")]))


def test_options_of_streams_are_those_that_were_named(tmp_path):
    stream = JellyFileOptions(stream={"physical_type": PhysicalType.GRAPHS, "max_name_table_size": 64})
    _target, (file,) = write(tmp_path, stream)
    with jellyframe.open_reader(file) as reader:
        assert reader.options.physical_type is PhysicalType.GRAPHS
        assert reader.options.logical_type is LogicalType.FLAT_QUADS
        assert reader.options.max_name_table_size == 64


def test_options_are_checked_against_the_columns():
    with pytest.raises(OptionsError, match="no column 'x'"):
        FilePlan.of(JellyFileOptions(group_by="x"), TABLE.schema)
    with pytest.raises(OptionsError, match="group_by"):
        FilePlan.of(JellyFileOptions(stream={"logical_type": LogicalType.DATASETS}), TABLE.schema)
