"""Batches of text: bounded by the bytes of their terms, whatever these are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.formats import text_reading
from jellyframe.formats.patches import open_patch_input
from jellyframe.formats.settings import ReadSettings

BATCH_BYTES = 1000
# More than any test here needs: who makes no progress is stopped.
MOST_BATCHES = 400


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reading, "BATCH_BYTES", BATCH_BYTES)


def batches(text: bytes, found: formats.Format) -> Iterator[Batch]:
    with formats.open_input(text, found, ReadSettings()) as source:
        yield from islice(source.batches(), MOST_BATCHES)


@pytest.mark.parametrize("size", [BATCH_BYTES - 100, BATCH_BYTES, 3 * BATCH_BYTES])
def test_a_subject_that_fills_a_batch_by_itself(size: int) -> None:
    """It is taken along from batch to batch, and none of them may stay without a row for that."""
    subject = "http://a/" + "s" * size
    objects = ", ".join(f'"{number}"' for number in range(100))
    text = f"<{subject}> <http://a/p> {objects} ; <http://a/q> [ <http://a/r> {objects} ] .".encode()
    found = [statement for batch in batches(text, formats.TURTLE) for statement in batch.statements()]
    assert len(found) == 201
    assert {str(statement.s) for statement in found if str(statement.p) != "<http://a/r>"} == {f"<{subject}>"}


def test_datatypes_count_as_text() -> None:
    """Each one is stored beside the values of the terms, and written with each of its literals."""
    lines = [f'<http://a/s> <http://a/p> "{n}"^^<http://a/{"d" * 90}{n // 50}> .\n' for n in range(500)]
    text = "".join(lines).encode()
    patch = "".join(f"A {line}" for line in lines).encode()
    with open_patch_input(patch, formats.RDF_PATCH) as reader:
        found = [list(batches(text, formats.NTRIPLES)), list(batches(text, formats.TURTLE)), list(reader.batches())]
    for some in found:
        assert sum(map(len, some)) == 500
        assert all(batch.terms.text_bytes() < 2 * BATCH_BYTES for batch in some)


CAPPED = """\
import sys
import pyoxigraph
import jellyframe
from support.capped import limit_memory

jellyframe.convert(sys.argv[1], sys.argv[2])
limit_memory(500 << 20)
print(jellyframe.convert(sys.argv[3], sys.argv[4]).statements)
"""
# The system's allocator gives back what is free.
SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parents[1]),
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "131072",
}
PREFIX = "http://a/" + "x" * 200_000 + "/"
ROWS = range(2000)
SMALL_TEXTS = {
    "datatypes.ttl": f"@prefix x: <{PREFIX}> . <a:s> <a:p> {', '.join(f'1^^x:{n}' for n in ROWS)} .".replace(
        "1^^", '"1"^^'
    ),
    "predicates.ttl": f"@prefix x: <{PREFIX}> . <a:s> {'; '.join(f'x:{n} 1' for n in ROWS)} .",
    "predicates.rdf": (
        f'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="{PREFIX}"><r:Description r:about="a:s">'
        f"{''.join(f'<x:p{n}>1</x:p{n}>' for n in ROWS)}</r:Description></r:RDF>"
    ),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a limit for memory as Linux has it")
@pytest.mark.parametrize("name", SMALL_TEXTS)
def test_small_text_that_stands_for_much_fits_in_little_memory(tmp_path: Path, name: str) -> None:
    """A long prefix makes hundreds of megabytes of it."""
    path = tmp_path / name
    path.write_text(SMALL_TEXTS[name])
    warm = path.with_stem("warm")
    warm.write_text(SMALL_TEXTS[name].replace("x" * 200_000, "x"))
    done = subprocess.run(
        [sys.executable, "-c", CAPPED, warm, tmp_path / "warm.jelly", path, tmp_path / "out.jelly"],
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == len(ROWS)
