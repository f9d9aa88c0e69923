"""Return statements as vertices and edges for GraphFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from jellyframe.ops.inputs import Paths
from jellyframe.spark.jobs.inputs import read_statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session, StatementOptions


def graph_frames(
    spark: Session,
    paths: Paths,
    *,
    literals: bool = True,
    in_format: str | None = None,
    **options: Unpack[StatementOptions],
) -> tuple[DataFrame, DataFrame]:
    """Return DataFrames of the vertices and the edges of a graph, for `graphframes.GraphFrame`.

    Vertices have the columns `id`, the term in N-Triples syntax, and `kind`: `iri`, `bnode`, `literal` or `triple`.
    Edges have `src`, `dst`, `relationship` (the predicate's IRI) and `graph`, null for the default graph.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        literals: whether statements whose object is a literal are included, so that literals are vertices
        in_format: the format of the files; by default it is recognised by their names
        options: reading options of the data source, by name, as in `read_statements`
    """
    statements = read_statements(spark, paths, layout="ntriples", in_format=in_format, **options)
    if not literals:
        statements = statements.where("NOT startswith(o, '\"')")
    edges = statements.selectExpr("s AS src", "o AS dst", "trim(BOTH '<>' FROM p) AS relationship", "g AS graph")
    ids = edges.selectExpr("src AS id").union(edges.selectExpr("dst AS id")).distinct()
    kind = """CASE WHEN startswith(id, '<<') THEN 'triple' WHEN startswith(id, '<') THEN 'iri'
        WHEN startswith(id, '_:') THEN 'bnode' ELSE 'literal' END AS kind"""
    return ids.selectExpr("id", kind), edges
