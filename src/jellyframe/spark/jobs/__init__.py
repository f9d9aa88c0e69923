"""Spark jobs: functions that take a session, which the commands `jellyframe spark …` call.

    from jellyframe.spark import jobs, session

    spark = session()
    summary = jobs.convert(spark, "dump/*.nt.gz", "people", compression="zstd")

Inputs are files, folders and patterns, in any mixture of Jelly, N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD and
Parquet. `read_statements` returns their statements as a DataFrame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.ops.summary import Summary
    from jellyframe.spark.jobs.converting import convert
    from jellyframe.spark.jobs.graph_frames import graph_frames
    from jellyframe.spark.jobs.inputs import read_statements
    from jellyframe.spark.jobs.inverting import invert
    from jellyframe.spark.jobs.merging import merge
    from jellyframe.spark.jobs.neo4j import neo4j
    from jellyframe.spark.jobs.partitioning import partition
    from jellyframe.spark.jobs.patching import apply, compact, diff
    from jellyframe.spark.jobs.replicating import Replication, replicate
    from jellyframe.spark.jobs.sampling import sample
    from jellyframe.spark.jobs.statistics import stats
    from jellyframe.spark.jobs.tables import tables
    from jellyframe.spark.jobs.validating import validate

__all__ = [
    "Replication",
    "Summary",
    "apply",
    "compact",
    "convert",
    "diff",
    "graph_frames",
    "invert",
    "merge",
    "neo4j",
    "partition",
    "read_statements",
    "replicate",
    "sample",
    "stats",
    "tables",
    "validate",
]

_HOMES = {
    "Replication": "replicating",
    "Summary": "running",
    "apply": "patching",
    "compact": "patching",
    "convert": "converting",
    "diff": "patching",
    "graph_frames": "graph_frames",
    "invert": "inverting",
    "merge": "merging",
    "neo4j": "neo4j",
    "partition": "partitioning",
    "read_statements": "inputs",
    "replicate": "replicating",
    "sample": "sampling",
    "stats": "statistics",
    "tables": "tables",
    "validate": "validating",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
