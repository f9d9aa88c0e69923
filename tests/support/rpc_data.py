"""Statements for the tests of gRPC."""

from __future__ import annotations

from jellyframe import IRI, Literal, Quad, Triple


def triples(count: int, start: int = 0) -> list[Triple]:
    return [Triple(IRI(f"http://e/s{i}"), IRI("http://e/p"), Literal(f"{i}")) for i in range(start, start + count)]


def quads(count: int, start: int = 0) -> list[Quad]:
    return [Quad(one.s, one.p, one.o, IRI("http://e/g")) for one in triples(count, start)]
