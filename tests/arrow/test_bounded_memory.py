"""Small streams that expand to gigabytes of text are read in every way with little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import hostile

# Address space, not resident memory (docs/limits.md has those figures): what is kept for the next columns counts too,
# and how much that is depends on which blocks happen to be free.
MEGABYTES = 1100

CASES = {
    "repeated_literal": (hostile.repeated_literal(rows=2500), 2500),
    "repeated_prefix": (hostile.repeated_prefix(rows=800), 800),
    "repeated_datatype": (hostile.repeated_datatype(rows=2500), 2500),
    "quoted_repeats": (hostile.quoted_repeats(), 64),
    "one_wide_quoted": (hostile.one_wide_quoted(), 1),
}
# CSV is slow on long strings, so it is tried on some streams only.
FORMATS = dict.fromkeys(CASES, "nt,ttl,csv,parquet") | dict.fromkeys(
    ("repeated_prefix", "repeated_datatype"), "nt,ttl,parquet"
)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a limit for memory as Linux has it")
@pytest.mark.parametrize("name", CASES)
def test_every_way_of_reading_fits_in_little_memory(tmp_path: Path, name: str) -> None:
    data, rows = CASES[name]
    path = tmp_path / "small.jelly"
    path.write_bytes(data)
    assert len(data) < 600_000
    root = Path(__file__).parents[2]
    # The system's allocator reserves only what is requested; others reserve much address space.
    settings = {
        "PYTHONPATH": f"{root / 'tests'}:{root}",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_MMAP_THRESHOLD_": "131072",
    }
    done = subprocess.run(
        [sys.executable, "-m", "support.capped", str(MEGABYTES), str(path), FORMATS[name]],
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    results = dict(
        line.rsplit("=", 1)
        for line in done.stderr.decode().splitlines()
        if "=" in line and " " not in line.split("=")[1]
    )
    ways = {way for way in results if way.endswith(("plain", "dictionary")) or way == "statements"}
    assert len(ways) == 7
    assert {results[way] for way in ways} == {str(rows)}
    codes = {way: int(results[way]) for way in (*FORMATS[name].split(","), "validate", "inspect")}
    assert set(codes.values()) == {0}, codes
