"""A Parquet data set for each class."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import jellyframe
from jellyframe import IRI, EncodeError, Literal, OptionsError, Triple
from jellyframe.spark import jobs

EX = "http://example.org/"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def test_tables_are_those_of_pivot(spark, tmp_path: Path) -> None:
    triples = []
    for number in range(300):
        subject = IRI(f"{EX}s{number}")
        if number % 3:
            triples.append(Triple(subject, TYPE, IRI(EX + ("Odd" if number % 2 else "Even"))))
        triples.append(Triple(subject, IRI(EX + "number"), Literal(str(number), datatype=INTEGER)))
    triples.append(Triple(IRI(f"{EX}s1"), IRI(EX + "number"), Literal("1.5", datatype=INTEGER[:-7] + "decimal")))
    # In two files, so that statements of a subject have to be brought together.
    for name, part in (("a", triples[::2]), ("b", triples[1::2])):
        with jellyframe.open_writer(tmp_path / f"{name}.jelly") as writer:
            writer.write(part)
    paths = [tmp_path / "a.jelly", tmp_path / "b.jelly"]
    summary = jobs.tables(spark, paths, tmp_path / "out")
    assert summary.statements == len(triples)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert {table["folder"]: table["class"] for table in manifest["tables"]} == {
        "Odd": EX + "Odd",
        "Even": EX + "Even",
        "untyped": None,
    }
    for name in ("Odd", "Even"):
        ours = pq.read_table(tmp_path / "out" / name).sort_by("subject")
        expected = jellyframe.pivot(paths, EX + name).sort_by("subject").select(ours.column_names)
        assert ours.to_pydict() == expected.to_pydict()
        assert ours.schema.types == expected.schema.types
        assert spark.read.parquet(str(tmp_path / "out" / name)).count() == expected.num_rows
    assert pq.read_table(tmp_path / "out" / "untyped").num_rows == 100
    with pytest.raises(OSError, match="there is something already"):
        jobs.tables(spark, paths, tmp_path / "out")
    with pytest.raises(OptionsError, match="appended"):
        jobs.tables(spark, paths, tmp_path / "out", save="append")
    assert jobs.tables(spark, paths[:1], tmp_path / "out", save="overwrite").files > 0
    assert not list((tmp_path / "out").glob("_jelly*"))


def test_graphs_for_neo4j_are_those_of_one_process(spark, tmp_path: Path) -> None:
    triples = [
        triple
        for number in range(200)
        for triple in (
            Triple(IRI(f"{EX}s{number}"), IRI(EX + "next"), IRI(f"{EX}s{number + 1}")),
            Triple(IRI(f"{EX}s{number}"), IRI(EX + "number"), Literal(f"0{number}", datatype=INTEGER)),
        )
    ]
    triples.append(Triple(IRI(f"{EX}s7"), IRI(EX + "number"), Literal("seven")))
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write(triples)
    here = jellyframe.write_neo4j(tmp_path / "x.jelly", tmp_path / "here")
    summary = jobs.neo4j(spark, tmp_path / "x.jelly", tmp_path / "there")
    assert summary.statements == len(triples)
    for kind in ("nodes", "relationships"):
        header, *parts = sorted((tmp_path / "there").glob(f"{kind}-*.csv"), reverse=True)
        expected = [Path(path).read_text() for path in getattr(here, kind)]
        assert header.read_text() == expected[0]
        lines = sorted(line for part in parts for line in part.read_text().splitlines())
        assert lines == sorted("".join(expected[1:]).splitlines())
    with pytest.raises(OptionsError, match="appended"):
        jobs.neo4j(spark, tmp_path / "x.jelly", tmp_path / "there", save="append")
    inner = Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))
    with jellyframe.open_writer(tmp_path / "q.jelly") as writer:
        writer.write([Triple(inner, IRI("a:p"), IRI("a:o"))])
    with pytest.raises(EncodeError, match="quoted"):
        jobs.neo4j(spark, tmp_path / "q.jelly", tmp_path / "quoted")
    assert not (tmp_path / "quoted").exists()


def test_vertices_and_edges(spark, tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write([Triple(IRI("a:s"), IRI("a:p"), IRI("a:o")), Triple(IRI("a:s"), IRI("a:q"), Literal("x"))])
    vertices, edges = jobs.graph_frames(spark, tmp_path / "x.jelly")
    assert {tuple(row) for row in vertices.collect()} == {("<a:s>", "iri"), ("<a:o>", "iri"), ('"x"', "literal")}
    assert {tuple(row) for row in edges.collect()} == {
        ("<a:s>", "<a:o>", "a:p", None),
        ("<a:s>", '"x"', "a:q", None),
    }
    vertices, edges = jobs.graph_frames(spark, tmp_path / "x.jelly", literals=False)
    assert (vertices.count(), edges.count()) == (2, 1)
