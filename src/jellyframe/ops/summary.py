"""The summary of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from jellyframe.ops.documents import json_document

# The number of bad records that a summary quotes; all of them are counted.
MAX_PROBLEMS = 10


@dataclass(frozen=True)
class Summary:
    """The summary of a job: its input, its output and its duration.

    Attributes:
        job: the name of the job
        output: the folder that was written
        statements: the number of statements written
        files: the number of files written
        bytes: the size of these files
        seconds: the duration
        input_files: the number of files read
        input_bytes: the size of these files
        bad_records: the number of bad records left out
        problems: messages about the first of them
    """

    job: str
    output: str
    statements: int
    files: int
    bytes: int
    seconds: float
    input_files: int
    input_bytes: int
    bad_records: int = 0
    problems: Sequence[str] = ()

    def as_text(self) -> str:
        """Return the summary as a line of text."""
        rate = self.statements / self.seconds if self.seconds else 0.0
        bad = f", {self.bad_records:,} bad records left out" if self.bad_records else ""
        return (
            f"{self.job}: {self.statements:,} statements in {self.files:,} files, {self.bytes:,} bytes "
            f"(from {self.input_files:,} files, {self.input_bytes:,} bytes) to {self.output}, "
            f"{self.seconds:.1f} s, {rate:,.0f} a second{bad}"
        )

    def as_json(self) -> str:
        """Return the summary as a JSON object."""
        return json_document(asdict(self))
