"""Data and logs of patches for the tests of jobs, and what a set would be after them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jellyframe
from jellyframe import (
    IRI,
    Add,
    Delete,
    Header,
    Literal,
    NamespaceAdd,
    Quad,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.patch import PatchOptions, PatchRow, PatchStreamType, open_patch_reader, open_patch_writer

P = IRI("http://example.org/p")
GRAPHS = [None, IRI("http://example.org/g")]


def statement(number: int) -> Quad:
    """One of many statements, of which some share subjects, and some are in a named graph."""
    graph = GRAPHS[number % 3 == 0]
    triple = (IRI(f"http://example.org/s{number % 97}"), P, Literal(f"value {number}"))
    return Quad(*triple, jellyframe.DEFAULT_GRAPH if graph is None else graph)


def write_patch(
    path: Path, rows: Iterable[PatchRow], stream_type: PatchStreamType = PatchStreamType.FLAT, **settings: Any
) -> None:
    """Write a stream of patches, by default one patch, and its folder."""
    path.parent.mkdir(exist_ok=True)
    options = PatchOptions(stream_type=stream_type)
    with open_patch_writer(path, options, **settings) as writer:
        writer.write(rows)


def read_patches(folder: Path) -> list[Any]:
    """The rows of the patches in a folder, in the order of their names."""
    rows: list[Any] = []
    for path in sorted(folder.rglob("*.jellyp")):
        with open_patch_reader(path) as reader:
            rows += reader.rows()
    return rows


def read_data(folder: Path) -> list[Quad]:
    """The statements of a Jelly file, or of those in a folder, as quads."""
    found: list[Quad] = []
    for path in sorted(folder.rglob("*.jelly")) if folder.is_dir() else [folder]:
        with jellyframe.open_reader(path) as reader:
            found += [
                one if isinstance(one, Quad) else Quad(*one, jellyframe.DEFAULT_GRAPH) for one in reader.statements()
            ]
    return found


def apply_to_set(statements: Iterable[Quad], rows: Iterable[PatchRow]) -> set[Any]:
    """An independent model of what patches do."""
    held: set[Any] = set(statements)
    waiting: list[Add | Delete] | None = None
    for row in rows:
        if isinstance(row, TransactionStart):
            waiting = []
        elif isinstance(row, TransactionAbort):
            waiting = None
        elif isinstance(row, TransactionCommit):
            assert waiting is not None
            for change in waiting:
                (held.add if isinstance(change, Add) else held.discard)(change.statement)
            waiting = None
        elif isinstance(row, Add | Delete):
            if waiting is not None:
                waiting.append(row)
            else:
                (held.add if isinstance(row, Add) else held.discard)(row.statement)
    return held


def random_rows(seed: int, count: int) -> list[PatchRow]:
    """Changes, some of them in transactions that hold or do not."""
    chance = random.Random(seed)
    rows: list[PatchRow] = [
        Header("id", Literal(str(seed))),
        Header("prev", Literal(f"before {seed}")),
        NamespaceAdd("ex", IRI(f"http://example.org/{seed}/"), jellyframe.DEFAULT_GRAPH),
    ]
    inside = False
    for _ in range(count):
        if chance.random() < 0.05:
            end = TransactionCommit() if chance.random() < 0.6 else TransactionAbort()
            rows.append(end if inside else TransactionStart())
            inside = not inside
        rows.append((Add if chance.random() < 0.5 else Delete)(*statement(chance.randrange(600))))
    if inside:
        rows.append(TransactionCommit())
    return rows
