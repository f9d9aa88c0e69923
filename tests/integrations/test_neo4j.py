"""CSV files for Neo4j's importer."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, BlankNode, EncodeError, Literal, Triple

EX, XSD = "http://example.org/", "http://www.w3.org/2001/XMLSchema#"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


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
