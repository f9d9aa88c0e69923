"""The job `validate`: read every file to its end and report errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from jellyframe.ops.bad_input import PERMISSIVE
from jellyframe.ops.file_reports import FileReport, ValidationReport, check_piece, combine_reports, pieces_to_check
from jellyframe.ops.inputs import Inputs, Paths
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.spark.jobs.running import RESULT_SCHEMA, collected
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.spark.types import Session, SourceOptions


def validate(
    spark: Session,
    paths: Paths,
    *,
    in_format: str | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
) -> ValidationReport:
    """Read every file to its end, and return a report of which are valid.

    One task reads a Jelly file from its start to its end, as any reader would; N-Triples and N-Quads files are split.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        in_format: the format of the input; by default it is recognised by the file names
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
    """
    start = time.monotonic()
    inputs = JobInputs.find(
        paths, in_format=in_format, mode=PERMISSIVE, partition_bytes=partition_bytes, **(read_options or {})
    )
    files = inputs.files
    partitions = pieces_to_check(files, partition_bytes)
    with plain_errors():
        found = collected(map_pieces(spark, partitions, lambda pieces: _check(pieces, files), RESULT_SCHEMA))
    parts = [FileReport(**json.loads(row[0])) for row in found]
    return combine_reports(parts, files, round(time.monotonic() - start, 3))


def _check(pieces: tuple[Piece, ...], inputs: Inputs) -> Iterator[pa.RecordBatch]:
    for piece in pieces:
        report = json.dumps(asdict(check_piece(piece, inputs)))
        yield pa.RecordBatch.from_pydict({"result": pa.array([report], pa.string())})
