"""Data for the tests of the data source, and reading it as Spark's workers do, without a running Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from jellyframe.spark.source import JellyDataSource
from jellyframe.stream.cutting import restart_offsets

# From Spark 4.2 on, a stream source is told where its query stands. Before, users have to name a place for its log.
KNOWS_OFFSETS = find_spec("pyspark.sql.streaming.datasource") is not None

XSD = "http://www.w3.org/2001/XMLSchema#"


def iri(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


SPECIAL = [
    Quad(BlankNode("b0"), iri("p0"), Literal("chat", language="fr"), DEFAULT_GRAPH),
    Quad(iri("s"), iri("p0"), Literal('a "quote"\n', f"{XSD}token"), BlankNode("graph")),
    Quad(iri("s"), iri("p0"), Triple(iri("a"), iri("b"), Literal("c")), iri("g0")),
    Quad(Triple(BlankNode("x"), iri("b"), iri("c")), iri("p1"), Literal(""), iri("g0")),
    Quad(Literal("generalized"), BlankNode("predicate"), iri("o"), iri("g0")),
]


def quads(n: int) -> list[Quad]:
    """Statements with much in common, as real ones have; twice the same now and then."""
    return [
        Quad(
            iri(f"s{i // 6}"),
            iri(f"p{i % 5}"),
            Literal(str(i // 2), f"{XSD}integer") if i % 3 else iri(f"o{i % 100}"),
            iri(f"g{i // 40}") if i % 40 < 30 else DEFAULT_GRAPH,
        )
        for i in range(n)
    ]


# What the tests of jobs are about.
STATEMENTS = [*quads(600), *SPECIAL]


PathOrUri = TypeVar("PathOrUri", str, Path)


def write_jelly(path: PathOrUri, statements: Iterable[Triple | Quad], **options: Any) -> PathOrUri:
    with jellyframe.open_writer(path, **options) as writer:
        writer.write(statements)
    return path


def stream_options(state: Path, **options: Any) -> dict[str, Any]:
    """Options for a stream source in any version of Spark."""
    return options if KNOWS_OFFSETS else {"stateLocation": str(state), **options}


def texts(statements: Iterable[Any]) -> Counter[tuple[str | None, ...]]:
    """Statements as a multiset of what the layout `ntriples` shows."""
    return Counter(
        tuple(None if term is DEFAULT_GRAPH else str(term) for term in (*statement, DEFAULT_GRAPH)[:4])
        for statement in statements
    )


STRING, INT, LONG = StringType(), IntegerType(), LongType()


def schema(**columns: Any) -> StructType:
    """A schema of columns that are strings, numbers, or structs given as dictionaries."""
    kinds = {name: schema(**kind) if isinstance(kind, dict) else kind for name, kind in columns.items()}
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


def restarts(path: Path) -> list[int]:
    with path.open("rb") as source:
        return list(restart_offsets(source, path.stat().st_size))


class Read:
    """The result of a read: a table of rows, and the number of rows of each partition."""

    source = JellyDataSource

    def __init__(self, path: Any, schema: StructType | None = None, **options: Any) -> None:
        paths = {"path": str(path)} if not isinstance(path, list) else {"paths": json.dumps([str(one) for one in path])}
        source = self.source({**paths, **{name.lower(): str(value) for name, value in options.items()}})
        self.schema = source.schema() if schema is None else schema
        reader = source.reader(self.schema)
        self.partitions = [list(reader.read(partition)) for partition in reader.partitions()]
        batches = [batch for partition in self.partitions for batch in partition]
        self.table = pa.Table.from_batches(batches, reader.columns.arrow)

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        table = self.table.select(list(names)) if names else self.table
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def counted(self, *names: str) -> Counter[tuple[Any, ...]]:
        return Counter(self.rows(*names))
