"""CSV files for Neo4j's importer."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, BlankNode, EncodeError, Literal, OptionsError, Triple
from jellyframe.integrations import property_columns
from support.command import error_of, run

EX, XSD = "http://example.org/", "http://www.w3.org/2001/XMLSchema#"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def rows(paths: list[str]) -> list[dict[str, str]]:
    """The rows of all files, whose columns the first one names."""
    lines = []
    for path in paths:
        with Path(path).open(newline="") as file:
            lines += list(csv.reader(file))
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_nodes_and_relationships(tmp_path: Path) -> None:
    a, b = IRI(EX + "a"), IRI(EX + "b")
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write(
            [
                Triple(a, TYPE, IRI(EX + "Person")),
                Triple(a, TYPE, IRI(EX + "Author")),
                Triple(a, IRI(EX + "age"), Literal("36", datatype=XSD + "integer")),
                Triple(a, IRI(EX + "name"), Literal('Ada "x", y;z\nnew')),
                Triple(a, IRI(EX + "name"), Literal("Countess")),
                Triple(a, IRI(EX + "born"), Literal("1815-12-10T00:00:00Z", datatype=XSD + "dateTime")),
                Triple(a, IRI(EX + "knows"), b),
                Triple(a, IRI(EX + "has"), BlankNode("x")),
            ]
        )
    files = jellyframe.write_neo4j(tmp_path / "x.jelly", tmp_path / "neo4j")
    assert rows(files.nodes) == [
        {
            "uri:ID": EX + "a",
            ":LABEL": "Resource\x1fPerson\x1fAuthor",
            "age:long": "36",
            "name:string[]": 'Ada "x", y;z\nnew\x1fCountess',
            "born:datetime": "1815-12-10T00:00:00.000000Z",
        },
        {"uri:ID": EX + "b", ":LABEL": "Resource", "age:long": "", "name:string[]": "", "born:datetime": ""},
        {"uri:ID": "_:x", ":LABEL": "Resource", "age:long": "", "name:string[]": "", "born:datetime": ""},
    ]
    assert rows(files.relationships) == [
        {":START_ID": EX + "a", ":END_ID": EX + "b", ":TYPE": "knows", "uri": EX + "knows"},
        {":START_ID": EX + "a", ":END_ID": "_:x", ":TYPE": "has", "uri": EX + "has"},
    ]
    assert (files.node_count, files.relationship_count) == (3, 2)
    assert "--array-delimiter=U+001F" in files.command("people")


def test_quoted_triples_are_refused(tmp_path: Path) -> None:
    inner = Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))
    for statement in (Triple(inner, IRI("a:p"), IRI("a:o")), Triple(IRI("a:s"), IRI("a:p"), inner)):
        with pytest.raises(EncodeError, match="quoted"):
            jellyframe.write_neo4j(jellyframe.dumps([statement]), tmp_path)


def some_graph() -> list[Triple]:
    triples = []
    for number in range(200):
        node = IRI(f"{EX}n{number}")
        triples += [
            Triple(node, TYPE, IRI(EX + ("Odd" if number % 2 else "Even"))),
            Triple(node, IRI(EX + "next"), IRI(f"{EX}n{number + 1}")),
            Triple(node, IRI(EX + "seen"), BlankNode(f"b{number % 7}")),
            Triple(node, IRI(EX + "number"), Literal(f"0{number}", datatype=XSD + "integer")),
        ]
    # In one bucket only, so that the others are written again, with the lexical forms.
    triples.append(Triple(IRI(EX + "n3"), IRI(EX + "number"), Literal("three")))
    triples.append(Triple(IRI(EX + "n3"), IRI(EX + "rare"), Literal("x")))
    return triples


def test_the_delimiter_of_arrays_in_a_value_is_refused(tmp_path: Path) -> None:
    """Neo4j would read two values where there is one."""
    subject, predicate = IRI("http://a/s"), IRI("http://a/p")
    once = [Triple(subject, predicate, Literal("a\x1fb"))]
    jellyframe.write_neo4j(jellyframe.dumps(once), tmp_path / "once")
    with pytest.raises(EncodeError, match=r"U\+001F"):
        jellyframe.write_neo4j(jellyframe.dumps([*once, Triple(subject, predicate, Literal("c"))]), tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


def test_many_buckets_give_the_same_files_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = jellyframe.dumps(some_graph())
    one = jellyframe.write_neo4j(data, tmp_path / "one")
    monkeypatch.setattr("jellyframe.ops.bucket_files.BUCKET_BYTES", 500)
    monkeypatch.setattr("jellyframe.ops.bucket_files._PIECE_BYTES", 100)
    monkeypatch.setattr("jellyframe.ops.bucket_files._SMALL_PIECE_BYTES", 100)
    read: list[jellyframe.Progress] = []
    many = jellyframe.write_neo4j(data, tmp_path / "many", progress=read.append)
    assert read[-1] == (len(data), len(data), len(some_graph()))
    assert len(one.nodes) == 2 < len(many.nodes)
    assert (many.node_count, many.relationship_count) == (one.node_count, one.relationship_count) == (208, 400)

    def together(paths: list[str]) -> list[tuple[tuple[str, str], ...]]:
        return sorted(tuple(row.items()) for row in rows(paths))

    assert together(many.nodes) == together(one.nodes)
    assert together(many.relationships) == together(one.relationships)
    numbers = {row["uri:ID"]: row["number:string[]"] for row in rows(many.nodes)}
    assert numbers[EX + "n5"] == "05"
    assert numbers[EX + "n3"] == "03\x1fthree"


def test_an_overwrite_leaves_no_old_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = jellyframe.dumps(some_graph())
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OSError, match="there is something already"):
        jellyframe.write_neo4j(data, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("jellyframe.ops.bucket_files.BUCKET_BYTES", 500)
        jellyframe.write_neo4j(data, tmp_path, save="overwrite")
    jellyframe.write_neo4j(data, tmp_path, save="overwrite")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "nodes-00000.csv",
        "nodes-header.csv",
        "notes.txt",
        "relationships-00000.csv",
        "relationships-header.csv",
    ]
    with pytest.raises(OptionsError, match="appended"):
        jellyframe.write_neo4j(data, tmp_path, save="append")


def test_empty_data_has_headers(tmp_path: Path) -> None:
    files = jellyframe.write_neo4j(jellyframe.dumps([]), tmp_path / "x")
    assert rows(files.nodes) == rows(files.relationships) == []
    assert Path(files.nodes[0]).read_text() == '"uri:ID",":LABEL"\n'
    assert all(Path(path).exists() for path in files.nodes + files.relationships)


def test_the_command_writes_the_files(tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write(some_graph())
    done = run("rdf", "to-neo4j", tmp_path / "x.jelly", "--to", tmp_path / "out", "--json")
    told = json.loads(done.out)
    assert (told["node_count"], told["relationship_count"]) == (208, 400)
    assert "neo4j-admin database import full" in done.err
    refused = error_of("rdf", "to-neo4j", tmp_path / "x.jelly", "--to", tmp_path / "out")
    assert refused.rstrip().endswith("there is something already; use --overwrite")
    (tmp_path / "bad.jelly").write_bytes(jellyframe.dumps(some_graph())[:-20])
    error_of("rdf", "to-neo4j", tmp_path / "bad.jelly", "--to", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_many_properties_are_written_a_few_nodes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triples = [
        triple
        for number in range(40)
        for triple in (
            Triple(IRI(f"{EX}s{number}"), IRI(f"{EX}p{number % 7}"), Literal(str(number), datatype=XSD + "integer")),
            Triple(IRI(f"{EX}s{number}"), IRI(f"{EX}to"), IRI(f"{EX}o{number}")),
            Triple(IRI(f"{EX}s{number}"), TYPE, IRI(f"{EX}C{number % 3}")),
        )
    ]
    data = jellyframe.dumps(triples)
    whole = jellyframe.write_neo4j(data, tmp_path / "whole")
    monkeypatch.setattr(property_columns, "_MOST_CELLS", 25)
    sliced = jellyframe.write_neo4j(data, tmp_path / "sliced")
    assert rows(sliced.nodes) == rows(whole.nodes)
    assert rows(sliced.relationships) == rows(whole.relationships)
    assert sliced.node_count == whole.node_count == 80


def test_names_and_numbers_as_the_importer_reads_them(tmp_path: Path) -> None:
    a = IRI(EX + "a")
    triples = [
        # The column of ids is a property, too, and the importer refuses two of one name.
        Triple(a, IRI(EX + "uri"), Literal("x")),
        Triple(a, IRI(EX + "b{c"), Literal("1", datatype=XSD + "integer")),
        Triple(a, IRI("http://other.org/label"), Literal("")),
        Triple(a, IRI(EX + "label"), Literal("")),
    ]
    triples += [
        Triple(a, IRI(EX + "double"), Literal(text, datatype=XSD + "double"))
        for text in ("INF", "-INF", "NaN", "1.5E3", "0.1")
    ]
    files = jellyframe.write_neo4j(jellyframe.dumps(triples), tmp_path / "it's here")
    (node,) = rows(files.nodes)
    assert node == {
        "uri:ID": EX + "a",
        ":LABEL": "Resource",
        f"{EX}uri:string": "x",
        "b%7Bc:long": "1",
        "http://other.org/label:string": "",
        f"{EX}label:string": "",
        "double:double[]": "Infinity\x1f-Infinity\x1fNaN\x1f1500\x1f0.1",
    }
    # An empty string is quoted; what is not there is not.
    assert Path(files.nodes[1]).read_text().count('""') == 2
    nodes = shlex.split(files.command())[-2]
    assert nodes == f"--nodes={tmp_path}/it's here/nodes-header.csv,{tmp_path}/it's here/nodes-[0-9]+.csv"
