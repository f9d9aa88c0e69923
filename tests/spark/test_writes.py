"""Writing in tasks, without a running Spark: options, files, groups, order."""

from __future__ import annotations

import pyarrow as pa
import pytest

import jellyframe
import jellyframe.stream.index
from jellyframe import DEFAULT_GRAPH, JellyError, LogicalType, OptionsError, PhysicalType, Quad, TableError, Triple
from jellyframe.arrow.tables import batch_to_arrow
from jellyframe.ops.jelly_files import FilePlan
from jellyframe.ops.stream_files import write_files
from jellyframe.spark.options import WriteOptions
from jellyframe.storage.commit import OVERWRITE, Target
from support.spark_data import SPECIAL, Read, iri, quads, texts

STATEMENTS = quads(1000) + SPECIAL


def table_of(statements, layout="struct", **columns):
    table = pa.Table.from_batches([batch_to_arrow(jellyframe.Batch.from_statements(statements), layout)])
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values) if isinstance(values, list) else values)
    return table


def write(folder, table, *, rows=100, **options):
    """Write a table as one task does. Gives the files."""
    given = WriteOptions.read({"path": str(folder), **{name.lower(): str(value) for name, value in options.items()}})
    plan = FilePlan.of(given, table.schema)
    target = Target.of(str(folder), "job")
    staged = write_files(iter(table.to_batches(rows)), plan, target, f"{target.attempt_folder(7)}/part-0")
    target.publish(staged, OVERWRITE)
    return sorted(folder.iterdir())


def statements_of(file):
    with jellyframe.open_reader(file) as reader:
        return list(reader.statements())


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_each_layout_is_written(tmp_path, layout):
    (file,) = write(tmp_path, table_of(STATEMENTS, layout))
    assert statements_of(file) == STATEMENTS


def test_the_layout_can_be_set(tmp_path):
    (file,) = write(tmp_path, table_of(STATEMENTS, "flat"), layout="Flat")
    assert statements_of(file) == STATEMENTS
    with pytest.raises(TableError, match="layout"):
        write(tmp_path, table_of(STATEMENTS, "ntriples"), layout="struct")


def test_additional_columns_are_left_out(tmp_path):
    (first,) = write(tmp_path / "1", table_of(STATEMENTS))
    read = Read(first, columns="file,*,frame,metadata")
    (second,) = write(tmp_path / "2", read.table)
    assert statements_of(second) == STATEMENTS


def test_stream_options_are_set_by_name(tmp_path):
    (file,) = write(
        tmp_path,
        table_of(STATEMENTS),
        physical_type="graphs",
        streamName="ours",
        preset="small",
        max_prefix_table_size=20,
    )
    with jellyframe.open_reader(file) as reader:
        options = reader.options
    assert (options.physical_type, options.stream_name) == (PhysicalType.GRAPHS, "ours")
    assert (options.max_name_table_size, options.max_prefix_table_size) == (128, 20)
    assert texts(statements_of(file)) == texts(STATEMENTS)


def test_files_can_be_split_and_have_an_index(tmp_path):
    (file,) = write(tmp_path, table_of(STATEMENTS), restart_every="2k", frame_rows=30)
    with file.open("rb") as source:
        index = jellyframe.stream.index.read_index(source)
    assert index is not None
    assert index.statements == len(STATEMENTS)
    assert len(index.restarts) > 3
    assert len(Read(file, partition_bytes=1).partitions) == len(index.restarts)


@pytest.mark.parametrize("options", [{"index": "false"}, {"version": "1"}, {"restart_every": "off"}])
def test_the_index_can_be_left_out(tmp_path, options):
    (file,) = write(tmp_path, table_of(STATEMENTS), **options)
    with file.open("rb") as source:
        assert jellyframe.stream.index.read_index(source) is None
    with jellyframe.open_reader(file) as reader:
        assert reader.options.version == 1


@pytest.mark.parametrize(("compression", "suffix"), [("gzip", ".gz"), ("ZSTD", ".zst"), ("none", ".jelly")])
def test_compression(tmp_path, compression, suffix):
    (file,) = write(tmp_path, table_of(STATEMENTS), compression=compression)
    assert file.suffix == suffix
    assert statements_of(file) == STATEMENTS


@pytest.mark.parametrize("most", [1, 99, 100, 101, 5000])
def test_no_file_has_more_records_than_allowed(tmp_path, most):
    statements = STATEMENTS[:250]
    files = write(tmp_path, table_of(statements), maxRecordsPerFile=most)
    counts = [len(statements_of(file)) for file in files]
    assert counts == [most] * (250 // most) + [250 % most] * (250 % most > 0)
    assert [statement for file in files for statement in statements_of(file)] == statements


def test_no_file_is_written_without_rows(tmp_path):
    table = table_of(STATEMENTS)
    assert write(tmp_path, table.slice(0, 0)) == []
    assert write(tmp_path, pa.Table.from_batches([*table.slice(0, 0).to_batches()], table.schema)) == []


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_sorting_makes_smaller_files(tmp_path, layout):
    mixed = [STATEMENTS[i * 271 % 1000] for i in range(1000)]
    (plain,) = write(tmp_path / "plain", table_of(mixed, layout))
    (sorted_,) = write(tmp_path / "sorted", table_of(mixed, layout), sort="true")
    (runs,) = write(tmp_path / "runs", table_of(mixed, layout), sort="s,p", sort_rows=200)
    assert sorted_.stat().st_size < runs.stat().st_size < plain.stat().st_size
    assert texts(statements_of(sorted_)) == texts(statements_of(runs)) == texts(mixed)
    keys = [(s, p) for s, p, _, _ in statements_of(runs)]
    shown = str if layout == "ntriples" else lambda term: term.value
    assert keys[:200] == sorted(keys[:200], key=lambda key: [shown(term) for term in key])


# ---- groups ----


def groups(sizes):
    return [
        Quad(iri(f"s{i}"), iri("p"), iri(f"o{j}"), iri(f"g{i}")) for i, size in enumerate(sizes) for j in range(size)
    ]


def frames_of(file):
    with jellyframe.open_reader(file) as reader:
        return [(frame.statements(), frame.metadata) for frame in reader.frames()]


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("restart_every", ["8m", "1"])
@pytest.mark.parametrize("layout", ["struct", "ntriples"])
def test_a_group_is_a_frame(tmp_path, rows, restart_every, layout):
    sizes = [1, 5, 2, 2, 9]
    statements = groups(sizes)
    table = table_of(statements, layout)
    (file,) = write(tmp_path, table, rows=rows, group_by="g", restart_every=restart_every)
    with jellyframe.open_reader(file) as reader:
        assert reader.options.logical_type is LogicalType.DATASETS
    assert [len(frame) for frame, _ in frames_of(file)] == sizes
    assert statements_of(file) == statements
    assert len(Read(file, partition_bytes=1).partitions) == (len(sizes) if restart_every == "1" else 1)


def test_groups_by_a_column_of_their_own_with_metadata(tmp_path):
    statements = [Triple(*statement[:3]) for statement in groups([3, 4])]
    kind = pa.map_(pa.string(), pa.binary())
    metadata = pa.array([[("n", b"1")]] * 3 + [[]] * 4, kind)
    table = table_of(statements, graph=[None] * 3 + [7] * 4, metadata=metadata)
    (file,) = write(tmp_path, table, rows=2, group_by="graph", logical_type="SUBJECT_GRAPHS")
    assert frames_of(file) == [(statements[:3], {"n": b"1"}), (statements[3:], {})]


def test_groups_are_not_cut_by_the_end_of_a_file(tmp_path):
    files = write(tmp_path, table_of(groups([3, 4, 2, 1])), rows=2, group_by="g", maxRecordsPerFile=5)
    assert [[len(frame) for frame, _ in frames_of(file)] for file in files] == [[3, 4], [2, 1]]


def test_a_group_that_occurs_again_is_refused(tmp_path):
    statements = groups([2, 2])
    with pytest.raises(TableError, match="occurs again after another group"):
        write(tmp_path, table_of(statements + statements), rows=3, group_by="g")


# ---- refusals ----


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda table: table.drop(["p"]), {}, "no column 'p'"),
        (lambda table: table.append_column("x", table["s"]), {}, "column 'x' has no place"),
        (lambda table: table, {"layout": "strings"}, "it must be one of struct, ntriples, flat"),
        (lambda table: table, {"group_by": "x"}, "no column 'x'"),
        (lambda table: table, {"group_by": "g", "sort": "true"}, "sort cannot be combined with group_by"),
        (lambda table: table, {"group_by": "g", "index": "true"}, "an empty graph"),
        (lambda table: table, {"group_by": "g", "logical_type": "FLAT_QUADS"}, "is not grouped"),
        (lambda table: table, {"logical_type": "DATASETS"}, "the option group_by"),
        (lambda table: table, {"logical_type": "flat_triples", "physical_type": "quads"}, "does not go with"),
        (lambda table: table, {"logical_type": "flat"}, "it must be one of UNSPECIFIED, FLAT_TRIPLES"),
        (lambda table: table, {"sort": "x"}, "some of s, p, o, g"),
        (lambda table: table, {"max_name_table_size": "3"}, "must be at least 8"),
        (lambda table: table, {"frame_row": "3"}, "did you mean frame_rows?"),
        (lambda table: table, {"physical_type": "TRIPLES"}, "the column 'g' names graphs"),
        (lambda table: table, {"rdf_star": "false"}, "rdf_star"),
    ],
)
def test_invalid_tables_and_options_are_refused(tmp_path, change, options, message):
    with pytest.raises(JellyError) as caught:
        write(tmp_path, change(table_of(STATEMENTS)), **options)
    assert message in str(caught.value)
    assert not list(tmp_path.glob("*.jelly"))


def test_a_column_of_another_layout_is_named_with_it(tmp_path):
    table = table_of(STATEMENTS, "flat").drop(["o_kind", "o_lang"])
    with pytest.raises(TableError, match="'o_datatype' belongs to the layout flat, and without o_kind"):
        write(tmp_path, table)


def test_quads_of_the_default_graph_are_written_as_triples_if_asked(tmp_path):
    statements = [Quad(*statement[:3], DEFAULT_GRAPH) for statement in STATEMENTS]
    (file,) = write(tmp_path, table_of(statements), physical_type="TRIPLES")
    assert statements_of(file) == [Triple(*statement[:3]) for statement in statements]


def test_a_path_is_needed():
    with pytest.raises(OptionsError, match="no path is given"):
        WriteOptions.read({})
