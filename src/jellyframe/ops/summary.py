"""What a job says when it is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

# How many bad records a summary quotes; all of them are counted.
MAX_PROBLEMS = 10


@dataclass(frozen=True)
class Summary:
    """What a job has read and written, and how long it took. `problems` quotes the first bad records."""

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
        rate = self.statements / self.seconds if self.seconds else 0.0
        bad = f", {self.bad_records:,} bad records left out" if self.bad_records else ""
        return (
            f"{self.job}: {self.statements:,} statements in {self.files:,} files, {self.bytes:,} bytes "
            f"(from {self.input_files:,} files, {self.input_bytes:,} bytes) to {self.output}, "
            f"{self.seconds:.1f} s, {rate:,.0f} a second{bad}"
        )

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"
