"""Writing is bounded by bytes: in a process that may not take more than 500 MB beyond what it starts with."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits of memory are for POSIX systems")

_PROGRAM = """
import resource, sys
import jellyframe
from jellyframe import IRI, Batch, Literal, StreamEncoder, Triple, open_writer

class Sink:
    size = 0
    def write(self, data):
        self.size += len(data)

with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (500 << 20), resource.RLIM_INFINITY))
a = IRI("http://example.org/a")
"""

_CASES = {
    "many long literals": """
sink = Sink()
with open_writer(sink) as writer:
    writer.write(Triple(a, a, Literal(str(n) + "x" * 1_000_000)) for n in range(2200))
assert sink.size > 2_200_000_000
""",
    "a batch that repeats a long literal": """
long = Literal("x" * 400_000)
batch = Batch.from_statements([Triple(a, a, long if n % 2 else a) for n in range(8192)])
sink = Sink()
with open_writer(sink) as writer:
    writer.write_batch(batch)
    writer.write_batch_in_frames(batch)
assert sink.size > 3_200_000_000
""",
    "quoted triples": """
def quoted(n):
    terms = [IRI(f"x:{n}-{m}") for m in range(64)]
    while len(terms) > 1:
        terms = [Triple(s, a, o) for s, o in zip(terms[::2], terms[1::2])]
    return terms[0]
sink = Sink()
with open_writer(sink) as writer:
    writer.write(Triple(quoted(n), a, a) for n in range(20_000))
assert writer.statements_written == 20_000
""",
    "large tables": """
from jellyframe import Limits, StreamOptions, open_reader
tables = {f"max_{name}_table_size": 1 << 24 for name in ("name", "prefix", "datatype")}
message = jellyframe.dumps([Triple(a, a, a)], StreamOptions(**tables))
with open_reader(message, limits=Limits(max_nesting_depth=1000, **tables)) as reader:
    assert list(reader.statements()) == [Triple(a, a, a)]
""",
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does it")
@pytest.mark.parametrize("case", _CASES)
def test_memory_is_bounded(case: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM + _CASES[case]], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-2000:]
