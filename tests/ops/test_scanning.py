"""Many files as one stream of record batches."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import partial

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet
import pytest

import jellyframe
from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    JellyError,
    Literal,
    OptionsError,
    Progress,
    TableError,
    Triple,
    ntriples,
    scan,
)
from jellyframe.errors import StorageError
from support.spark_data import SPECIAL, STATEMENTS, XSD, quads, texts, write_jelly


def rows(reader, *names):
    table = reader.read_all()
    return Counter(zip(*(table[name].to_pylist() for name in names or table.column_names), strict=True))


@pytest.fixture
def folder(tmp_path):
    """The same statements in several formats, one file each."""
    write_jelly(tmp_path / "a.jelly", STATEMENTS, restart_every=4000, frame_rows=40)
    (tmp_path / "b.nq.gz").write_bytes(gzip.compress(ntriples.write(jellyframe.Batch.from_statements(STATEMENTS))))
    pyarrow.parquet.write_table(jellyframe.read_table(tmp_path / "a.jelly"), tmp_path / "c.parquet")
    (tmp_path / "README").write_text("not read")
    (tmp_path / "_hidden.jelly").write_text("not read")
    return tmp_path


def test_files_of_several_formats_are_read_as_one_table(folder):
    assert rows(scan(folder, "ntriples")) == texts(STATEMENTS * 3)
    assert rows(scan([folder / "a.jelly", f"{folder}/*.parquet"], "ntriples")) == texts(STATEMENTS * 2)
    assert isinstance(scan(folder), pa.RecordBatchReader)
    # The stream of one file is the table of that file.
    assert scan(folder / "a.jelly").read_all().equals(jellyframe.read_table(folder / "a.jelly").combine_chunks())


def test_scanned_rows_can_be_written_in_every_layout(folder):
    for layout in ("struct", "ntriples", "flat"):
        jellyframe.write_table(scan(folder, layout), folder / "_copy")
        assert rows(scan(folder / "_copy", "ntriples", in_format="jelly")) == texts(STATEMENTS * 3)


def test_columns_are_selected_in_the_order_given(folder):
    reader = scan(folder / "a.jelly", "flat", columns=["file", "o_kind", "frame"])
    assert reader.schema.names == ["file", "o_kind", "frame"]
    table = reader.read_all()
    assert set(table["file"].to_pylist()) == {str(folder / "a.jelly")}
    assert table["frame"].equals(jellyframe.read_table(folder / "a.jelly", frame_column=True)["frame"])
    for columns, message in ((["x"], "no column 'x'"), ([], "no columns"), (["s", "s"], "named twice")):
        with pytest.raises(TableError, match=message):
            scan(folder, columns=columns)


P1, SEVEN = IRI("http://example.org/p1"), Literal("7", f"{XSD}integer")
FILTERS = {
    "one IRI": ({"predicates": "http://example.org/p1"}, lambda q: q.p == P1),
    "a term and a label": ({"predicates": [P1, "_:predicate"]}, lambda q: str(q.p) in (str(P1), "_:predicate")),
    "the default graph": ({"graphs": "default"}, lambda q: q.g is DEFAULT_GRAPH),
    "graphs": ({"graphs": [DEFAULT_GRAPH, "_:graph"]}, lambda q: str(q.g) in (str(DEFAULT_GRAPH), "_:graph")),
    "two positions": ({"objects": SEVEN, "subjects": str(STATEMENTS[14].s)}, lambda q: q[::2] == STATEMENTS[14][::2]),
    "a quoted triple": ({"objects": [SPECIAL[2].o]}, lambda q: isinstance(q.o, Triple)),
    "nothing": ({"objects": []}, lambda q: False),
}


@pytest.mark.parametrize(("filters", "is_wanted"), FILTERS.values(), ids=FILTERS)
def test_filters_select_statements_by_their_terms(folder, filters, is_wanted):
    wanted = [quad for quad in STATEMENTS if is_wanted(quad)]
    assert rows(scan(folder, "ntriples", **filters)) == texts(wanted * 3)


def test_a_filesystem_can_be_passed(folder):
    inside = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    assert rows(scan("", "ntriples", filesystem=inside)) == texts(STATEMENTS * 3)
    assert rows(scan(["a.jelly", "*.nq.gz"], "ntriples", filesystem=inside)) == texts(STATEMENTS * 2)
    local = pyarrow.fs.LocalFileSystem()
    assert rows(scan(str(folder / "a.jelly"), "ntriples", filesystem=local)) == texts(STATEMENTS)
    with pytest.raises(StorageError, match=r"other\.jelly: there is no such file or folder"):
        scan("other.jelly", filesystem=inside)


def test_files_are_read_as_batches_are_drawn(tmp_path):
    write_jelly(tmp_path / "a.jelly", quads(10_000))
    (tmp_path / "b.jelly").write_bytes(b"bad")
    reader = scan(tmp_path, batch_rows=5000)
    assert len(reader.read_next_batch()) == 5000
    assert len(reader.read_next_batch()) == 5000
    with pytest.raises(JellyError, match=r"b\.jelly"):
        reader.read_next_batch()


def test_record_batches_of_long_strings_stay_small(tmp_path):
    # A short file: the literal is in it once, and in each row of the result.
    long = Literal("x" * 1_000_000)
    write_jelly(
        tmp_path / "a.jelly", [Triple(IRI(f"http://x.org/{n}"), IRI("http://x.org/p"), long) for n in range(100)]
    )
    sizes = [batch.nbytes for batch in scan(tmp_path)]
    assert len(sizes) > 1
    assert max(sizes) < 40 << 20


def test_modes_raise_drop_or_report_bad_input(folder):
    (folder / "bad.nt").write_bytes(b"<http://a/s> <http://a/p> .\n")
    (folder / "empty.jelly").touch()
    for name in ("bad.nt", "empty.jelly"):
        with pytest.raises(JellyError, match=name):
            scan(folder / name).read_all()
    assert rows(scan(folder, "ntriples", mode="DROPMALFORMED")) == texts(STATEMENTS * 3)
    table = scan(folder, "ntriples", mode="PERMISSIVE").read_all()
    reports = table["_corrupt_record"].drop_null().to_pylist()
    assert sorted(report.partition(":")[0] for report in reports) == [
        str(folder / "bad.nt"),
        str(folder / "empty.jelly"),
    ]
    assert table.num_rows == 3 * len(STATEMENTS) + 2


def test_invalid_arguments_are_refused(folder):
    with pytest.raises(OptionsError, match="mode is 'permissive', and must be one of"):
        scan(folder, mode="permissive")  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="blank_nodes is 'x'"):
        scan(folder, blank_nodes="x")  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="not a term in N-Triples syntax"):
        scan(folder, objects='"open')
    with pytest.raises(TableError, match="no layout 'wide'"):
        scan(folder, "wide")  # type: ignore[arg-type]


def test_a_folder_rewritten_during_a_scan_is_an_error(tmp_path):
    write_jelly(tmp_path / "a.jelly", STATEMENTS)
    reader = scan(tmp_path, "ntriples")
    (tmp_path / "a.jelly").unlink()
    with pytest.raises(StorageError, match=r"a\.jelly: the file was found when .* its folder was rewritten"):
        reader.read_all()


def test_blank_nodes_of_each_file_can_be_kept_apart(tmp_path):
    for name in ("a.nt", "b.nt"):
        (tmp_path / name).write_bytes(b"_:x <http://a/p> _:x .\n")
    assert len(rows(scan(tmp_path, "ntriples"))) == 1
    apart = rows(scan(tmp_path, "ntriples", blank_nodes="per-file"))
    assert len(apart) == 2
    assert all(s == o for s, _p, o, _g in apart)


def test_progress(folder):
    total = sum((folder / name).stat().st_size for name in ("a.jelly", "b.nq.gz", "c.parquet"))
    for read in (
        lambda progress: scan(folder, batch_rows=100, progress=progress).read_all(),
        lambda progress: jellyframe.statistics(folder, progress=progress),
    ):
        reports: list[Progress] = []
        read(reports.append)
        assert {report.total_bytes for report in reports} == {total}
        assert reports == sorted(reports)
        assert len(reports) >= 3
        # What is behind the last row of the last file, such as the footer of Parquet, is not awaited.
        assert total - (folder / "c.parquet").stat().st_size <= reports[-1].bytes_read <= total
        assert reports[-1].statements == 3 * len(STATEMENTS)
    filtered: list[Progress] = []
    path = folder / "a.jelly"
    assert not scan(path, subjects="http://example.org/none", progress=filtered.append).read_all().num_rows
    assert filtered[-1] == (path.stat().st_size, path.stat().st_size, len(STATEMENTS))


def test_progress_in_another_file_system(folder):
    filesystem = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    for name in ("a.jelly", "b.nq.gz"):
        reports: list[Progress] = []
        table = scan(name, "ntriples", filesystem=filesystem, batch_rows=50, progress=reports.append).read_all()
        assert table.num_rows == len(STATEMENTS)
        assert reports[-1].bytes_read == reports[-1].total_bytes == (folder / name).stat().st_size


def test_lenient_text(tmp_path):
    (tmp_path / "a.nt").write_bytes(b"<s> <http://a/p> <http://a/o> .\n")
    for read in (lambda **given: scan(tmp_path, **given).read_all(), partial(jellyframe.statistics, tmp_path)):
        with pytest.raises(JellyError, match="absolute"):
            read()
        assert read(lenient=True) is not None


def test_statistics_of_files(folder):
    counted = jellyframe.statistics(folder)
    one = jellyframe.statistics(folder / "a.jelly")
    assert counted.statements == 3 * len(STATEMENTS)
    assert counted.distinct == one.distinct
    assert one.distinct["subjects"] == len({quad.s for quad in STATEMENTS})
    assert one.distinct["graphs"] == len({quad.g for quad in STATEMENTS} - {DEFAULT_GRAPH})
    assert counted.predicates["http://example.org/p1"].uses == 3 * one.predicates["http://example.org/p1"].uses
    (folder / "bad.nt").write_bytes(b"<http://a/s> <http://a/p> .\n" * 20)
    with pytest.raises(JellyError, match=r"bad\.nt: line 1"):
        jellyframe.statistics(folder)
    tolerant = jellyframe.statistics(folder, mode="PERMISSIVE")
    assert (tolerant.bad_records, len(tolerant.problems)) == (20, 10)
    assert json.loads(tolerant.as_json())["statements"] == counted.statements
