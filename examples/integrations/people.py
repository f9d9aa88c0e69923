"""The data of the examples."""

from __future__ import annotations

from pathlib import Path

import jellyframe
from jellyframe import IRI, Literal, Triple

EX = "http://example.org/"
FOAF = "http://xmlns.com/foaf/0.1/"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def write_people(folder: str | Path) -> str:
    """Write a few people who know each other, and return the path of the file."""
    path = Path(folder, "people.jelly")
    with jellyframe.open_writer(path) as writer:
        for number, name in enumerate(("Ada", "Charles", "Mary")):
            person = IRI(EX + name.lower())
            writer.write(
                [
                    Triple(person, TYPE, IRI(FOAF + "Person")),
                    Triple(person, IRI(FOAF + "name"), Literal(name)),
                    Triple(person, IRI(FOAF + "age"), Literal(str(30 + number), datatype=INTEGER)),
                    Triple(person, IRI(FOAF + "knows"), IRI(EX + "ada")),
                ]
            )
    return str(path)
