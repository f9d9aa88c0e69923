"""`validate`: every file read to its end, and a report of what was found."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe import formats
from jellyframe.errors import JellyError
from jellyframe.spark.jobs.batches import piece_batches
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import LINE_FORMATS, Inputs, Paths, map_pieces
from jellyframe.spark.jobs.running import RESULT_SCHEMA, collected
from jellyframe.spark.options import PERMISSIVE
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jellyframe.batch import Batch

MAX_FILE_PROBLEMS = 10


@dataclass
class FileReport:
    """What was found in a file. `frames` is None for formats that have none."""

    file: str
    format: str
    bytes: int
    ok: bool = True
    statements: int = 0
    frames: int | None = None
    bad_records: int = 0
    errors: Sequence[str] = ()


@dataclass(frozen=True)
class ValidationReport:
    """What was found in all files, in the order of their names."""

    files: list[FileReport]
    seconds: float

    @property
    def ok(self) -> bool:
        return all(file.ok for file in self.files)

    @property
    def bad_files(self) -> int:
        return sum(not file.ok for file in self.files)

    @property
    def statements(self) -> int:
        return sum(file.statements for file in self.files)

    def as_json(self) -> str:
        counts = {"ok": self.ok, "file_count": len(self.files), "bad_file_count": self.bad_files}
        document = {
            **counts,
            "statements": self.statements,
            "seconds": self.seconds,
            "files": [asdict(file) for file in self.files],
        }
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def as_table(self) -> str:
        """A line for each file, and below the bad ones what is wrong with them."""
        heads = ("", "statements", "frames", "bytes", "file")
        rows = [
            ("ok" if one.ok else "BAD", f"{one.statements:,}", _count(one.frames), f"{one.bytes:,}", one.file)
            for one in self.files
        ]
        widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(4)]
        lines = [_line(heads, widths)]
        for row, one in zip(rows, self.files, strict=True):
            lines.append(_line(row, widths))
            lines += [f"     {error}" for error in one.errors]
            if one.bad_records > len(one.errors):
                lines.append(f"     {one.bad_records - len(one.errors):,} more bad records")
        return "\n".join(lines) + "\n"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    numbers = "  ".join(cell.rjust(width) for cell, width in zip(row[1:4], widths[1:], strict=True))
    return f"{row[0]:<{widths[0]}}  {numbers}  {row[4]}"


def validate(
    spark: SparkSession,
    paths: Paths,
    *,
    in_format: str | None = None,
    partition_bytes: int | None = None,
    read_options: Mapping[str, Any] | None = None,
) -> ValidationReport:
    """Read every file to its end and say which are in order.

    A Jelly file is read by one task from its start, as any reader would; text of lines is checked in parallel.
    """
    start = time.monotonic()
    inputs = Inputs.find(
        paths, in_format=in_format, mode=PERMISSIVE, partition_bytes=partition_bytes, **(read_options or {})
    )
    lines = [file for file in inputs.files if inputs.formats[file] in LINE_FORMATS]
    whole = [file for file in inputs.files if inputs.formats[file] not in LINE_FORMATS]
    partitions = [(Piece(file),) for file in whole] + (inputs.among(lines).pieces() if lines else [])
    with plain_errors():
        found = collected(map_pieces(spark, partitions, lambda pieces: _check(pieces, inputs), RESULT_SCHEMA))
    reports = {
        file.name: FileReport(file.name, inputs.formats[file].name, file.size, frames=_frames(inputs.formats[file]))
        for file in inputs.files
    }
    for row in found:
        _add(reports, FileReport(**json.loads(row[0])))
    return ValidationReport(sorted(reports.values(), key=lambda one: one.file), round(time.monotonic() - start, 3))


def _frames(known: formats.Format) -> int | None:
    return 0 if known == formats.JELLY else None


def _add(reports: dict[str, FileReport], part: FileReport) -> None:
    report = reports[part.file]
    report.ok = report.ok and part.ok
    report.statements += part.statements
    report.frames = None if report.frames is None else report.frames + (part.frames or 0)
    report.bad_records += part.bad_records
    report.errors = [*report.errors, *part.errors][:MAX_FILE_PROBLEMS]


def _check(pieces: tuple[Piece, ...], inputs: Inputs) -> Iterator[pa.RecordBatch]:
    for piece in pieces:
        known = inputs.formats[piece.file]
        report = FileReport(piece.file.name, known.name, piece.file.size, frames=_frames(known))
        errors: list[str] = []

        def bad(error: JellyError, report: FileReport = report, errors: list[str] = errors) -> None:
            report.ok = False
            report.bad_records += 1
            if len(errors) < MAX_FILE_PROBLEMS:
                errors.append(_place_and_message(error))

        try:
            for batch in piece_batches(piece, inputs, bad):
                report.statements += len(batch)
                if report.frames is not None:
                    report.frames = max(report.frames, _frames_so_far(batch))
        except OSError as error:
            bad(JellyError(str(error)))
        report.errors = errors
        yield pa.RecordBatch.from_pydict({"result": pa.array([json.dumps(asdict(report))], pa.string())})


def _place_and_message(error: JellyError) -> str:
    """An error without the name of its file, which the report has anyway."""
    error.source = None
    return str(error)


def _frames_so_far(batch: Batch) -> int:
    return batch.first_frame + len(batch.frame_ends or ()) - batch.last_frame_open
