"""Statements of files of any format as a DataFrame."""

from __future__ import annotations

import gzip
from collections import Counter

import pyarrow.parquet
import pytest

import jellyframe
from jellyframe.errors import OptionsError, StorageError, TextError
from jellyframe.ops.inputs import Inputs
from jellyframe.spark.jobs import read_statements
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.storage.compression import zstd_module
from support.spark_data import STATEMENTS, texts, write_jelly

BAD = b"<http://a/s> <http://a/p> .\n"


def rows(frame, *columns):
    return Counter(tuple(row) for row in frame.select(*(columns or ("s", "p", "o", "g"))).collect())


@pytest.mark.parametrize("partition_bytes", [None, 5000, 20_000])
def test_n_quads_in_pieces(spark, tmp_path, nquads, partition_bytes):
    (tmp_path / "one.nq").write_bytes(nquads.replace(b"\n", b"\r\n"))
    (tmp_path / "two.nq").write_bytes(nquads[:-1])
    (tmp_path / "_hidden.nq").write_bytes(b"not read")
    (tmp_path / "README").write_bytes(b"not read")
    frame = read_statements(spark, tmp_path, partition_bytes=partition_bytes)
    assert frame.columns == ["s", "p", "o", "g"]
    assert rows(frame) == texts([*STATEMENTS, *STATEMENTS])


def test_all_formats_are_read_together(spark, tmp_path, nquads):
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress(nquads))
    (tmp_path / "b.nq.zst").write_bytes(zstd_module().compress(nquads))
    write_jelly(tmp_path / "c.jelly", STATEMENTS)
    for layout in ("struct", "ntriples", "flat"):
        table = jellyframe.read_table(tmp_path / "c.jelly", layout=layout)
        pyarrow.parquet.write_table(table, tmp_path / f"d-{layout}.parquet", row_group_size=100)
    (tmp_path / "e.ttl").write_text("@prefix : <http://e/> . :s :p 1, <other> .")
    frame = read_statements(spark, str(tmp_path / "*"), partition_bytes=4000)
    integer = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    other = f"<{(tmp_path / 'other').as_uri()}>"
    turtle = {("<http://e/s>", "<http://e/p>", o, None): 1 for o in (integer, other)}
    assert rows(frame) == Counter(turtle) + texts(STATEMENTS * 6)


def test_options_of_the_source(spark, tmp_path, nquads):
    (tmp_path / "data").write_bytes(nquads)
    frame = read_statements(
        spark, tmp_path, in_format="nq", layout="flat", columns=["p", "o_kind"], predicates=["http://example.org/p0"]
    )
    assert frame.columns == ["p", "o_kind"]
    expected = [quad for quad in STATEMENTS if str(quad.p) == "<http://example.org/p0>"]
    assert frame.count() == len(expected)
    with pytest.raises(OptionsError, match="has no option 'predicate' here; did you mean predicates"):
        read_statements(spark, tmp_path, in_format="nq", predicate="x")  # type: ignore[call-arg]


def test_blank_nodes_of_a_file_are_its_own_on_request(spark, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.nt").write_bytes(b"_:a <http://a/p> << _:a <http://a/p> _:b >> .\n" * 100)
    a, b = jellyframe.BlankNode("a"), jellyframe.BlankNode("b")
    write_jelly(tmp_path / "three.jelly", [jellyframe.Triple(a, jellyframe.IRI("http://a/p"), b)])
    kept = read_statements(spark, tmp_path, partition_bytes=1000)
    assert rows(kept, "s") == Counter({("_:a",): 201})
    apart = read_statements(spark, tmp_path, partition_bytes=1000, blank_nodes="per-file")
    assert sorted(rows(apart, "s").values()) == [1, 100, 100]
    for s, o in rows(apart, "s", "o"):
        assert s in o or o.removesuffix("-b") == s.removesuffix("-a")


@pytest.mark.parametrize("partition_bytes", [None, 8000])
def test_modes_raise_drop_or_report_bad_input(spark, tmp_path, nquads, partition_bytes):
    path = tmp_path / "bad.nq"
    first, second = nquads.splitlines(keepends=True)[:300], nquads.splitlines(keepends=True)[300:]
    path.write_bytes(b"".join([*first, BAD, *second]))

    def read(mode):
        return read_statements(spark, path, mode=mode, partition_bytes=partition_bytes)

    assert rows(read("DROPMALFORMED")) == texts(STATEMENTS)
    reported = read("PERMISSIVE")
    assert rows(reported.where("_corrupt_record is null")) == texts(STATEMENTS)
    (row,) = reported.where("_corrupt_record is not null").collect()
    assert row._corrupt_record.startswith(f"{path}: line 301, column 27: ")
    assert row.s is None
    with pytest.raises(TextError, match=r"bad\.nq: line 301, column 27: "), plain_errors():
        read("FAILFAST").collect()


def test_damaged_compression_and_documents(spark, tmp_path, nquads):
    (tmp_path / "cut.nq.gz").write_bytes(gzip.compress(nquads)[:-20])
    (tmp_path / "bad.ttl").write_bytes(b"<http://a/s> <http://a/p> ")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but no more")
    frame = read_statements(spark, tmp_path, mode="PERMISSIVE")
    messages = sorted(row[0] for row in frame.select("_corrupt_record").dropna().collect())
    assert ["bad.parquet" in messages[0], "bad.ttl" in messages[1], "cut off" in messages[2]] == [True] * 3


def test_missing_files(tmp_path):
    with pytest.raises(StorageError, match="no file of a format that we know"):
        Inputs.find(tmp_path)
    (tmp_path / "data").touch()
    with pytest.raises(OptionsError, match=r"the format cannot be recognised by the name .*in_format"):
        Inputs.find(tmp_path / "data")


def test_inputs_know_whether_they_have_graphs(tmp_path):
    triple = [jellyframe.Triple(*[jellyframe.IRI("http://a/x")] * 3)]
    write_jelly(tmp_path / "triples.jelly", triple)
    (tmp_path / "triples.nt").touch()
    pyarrow.parquet.write_table(jellyframe.read_table(tmp_path / "triples.jelly"), tmp_path / "triples.parquet")
    assert not Inputs.find(tmp_path).has_graphs()
    write_jelly(tmp_path / "quads.jelly", STATEMENTS)
    assert Inputs.find(tmp_path).has_graphs()
