"""Read files of any format to their end, and report the errors in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from jellyframe import formats
from jellyframe.errors import JellyError
from jellyframe.formats import Format
from jellyframe.ops.documents import json_document
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.storage.stores import DataFile

MAX_FILE_PROBLEMS = 10


@dataclass
class FileReport:
    """The report on a file. `frames` is None for formats that have none."""

    file: str
    format: str
    bytes: int
    ok: bool = True
    statements: int = 0
    frames: int | None = None
    bad_records: int = 0
    errors: Sequence[str] = ()

    @classmethod
    def empty(cls, file: DataFile, known: Format) -> FileReport:
        return cls(file.name, known.name, file.size, frames=0 if known == formats.JELLY else None)

    def add(self, part: FileReport) -> None:
        """Add the report on a part of the file."""
        self.ok = self.ok and part.ok
        self.statements += part.statements
        self.frames = None if self.frames is None else self.frames + (part.frames or 0)
        self.bad_records += part.bad_records
        self.errors = [*self.errors, *part.errors][:MAX_FILE_PROBLEMS]

    def add_error(self, error: JellyError) -> None:
        self.ok = False
        self.bad_records += 1
        if len(self.errors) < MAX_FILE_PROBLEMS:
            # The report already has the name of the file.
            self.errors = [*self.errors, str(error).removeprefix(f"{self.file}: ")]


@dataclass(frozen=True)
class ValidationReport:
    """The reports on all files, in the order of their names."""

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
        return json_document(document)

    def as_table(self) -> str:
        """Return a line for each file, and the problems below those with errors."""
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


def pieces_to_check(inputs: Inputs, target_bytes: int | None = None) -> list[tuple[Piece, ...]]:
    """Return the pieces that each task checks: text of lines in pieces, and other files as a whole."""
    lines = [file for file in inputs.files if inputs.formats[file].cut == "lines"]
    whole = [(Piece(file),) for file in inputs.files if inputs.formats[file].cut != "lines"]
    return whole + (inputs.among(lines).pieces(target_bytes) if lines else [])


def check_piece(piece: Piece, inputs: Inputs) -> FileReport:
    """Read a piece to its end and return a report."""
    report = FileReport.empty(piece.file, inputs.formats[piece.file])
    try:
        for batch in piece_batches(piece, inputs, report.add_error):
            report.statements += len(batch)
            if report.frames is not None:
                report.frames = max(report.frames, _frames_so_far(batch))
    except OSError as error:
        report.add_error(JellyError(str(error)))
    return report


def combine_reports(parts: Sequence[FileReport], inputs: Inputs, seconds: float) -> ValidationReport:
    """Return one report of all files from those of their parts."""
    reports = {file.name: FileReport.empty(file, inputs.formats[file]) for file in inputs.files}
    for part in parts:
        reports[part.file].add(part)
    return ValidationReport(sorted(reports.values(), key=lambda one: one.file), seconds)


def _frames_so_far(batch: Batch) -> int:
    return batch.first_frame + len(batch.frame_ends or ()) - batch.last_frame_open
