"""Every example in Python and SQL of docs/spark.md and of the README's part on Spark runs as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from jellyframe import IRI, Literal, Triple
from support.spark_data import KNOWS_OFFSETS, Read, quads, write_jelly

ROOT = Path(__file__).parents[2]
RDF_TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
TYPED = [
    Triple(IRI("http://example.org/s0"), RDF_TYPE, IRI("http://example.org/Person")),
    Triple(IRI("http://example.org/s0"), IRI("http://xmlns.com/foaf/0.1/name"), Literal("Ada")),
]
STATEMENTS = [*(Triple(*quad[:3]) for quad in quads(200)), *TYPED]
_EXAMPLE = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
_SQL = re.compile(r"(CREATE|SELECT|INSERT) ")
# There is no broker here; what it would bring is made of the statements.
_KAFKA = re.compile(r'spark\.readStream\.format\("kafka"\).*')
_MESSAGES = (
    "encode_payloads(df, rows_per_message=50).selectExpr('value', 'uuid() AS key', 'current_timestamp() AS timestamp')"
)
_WAIT = "for query in spark.streams.active: query.awaitTermination()"
_IMPORTS = "from pyspark.sql.functions import collect_list, inline, struct"


def examples(page: str, after: str = "", before: str | None = None) -> list[str]:
    """Return the indented blocks of a page, or of a part of it, without shell commands."""
    text = (ROOT / page).read_text()
    text = text[text.index(after) : None if before is None else text.index(before)]
    blocks = [re.sub(r"^\$.*$", "", dedent(block), flags=re.MULTILINE).strip() for block in _EXAMPLE.findall(text)]
    return [block for block in blocks if block]


def as_python(block: str) -> str:
    if not _SQL.match(block):
        code = _KAFKA.sub(_MESSAGES, block).replace("*.nt.gz", "*.nt")
        return f"{code}\n{_WAIT}" if "writeStream" in block else code
    statements = [statement.strip() for statement in block.split(";") if statement.strip()]
    return "\n".join(f"spark.sql({statement!r}).collect()" for statement in statements)


def run(folder: Path, blocks: list[str]) -> None:
    """Run examples in a process of its own: relative names are those of the folder that Spark was started in."""
    python_path = os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([_IMPORTS, *blocks])],
        env={**os.environ, "PYTHONPATH": python_path, "MASTER": "local[2]"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not KNOWS_OFFSETS, reason="limits of streams need Spark 4.2")
def test_every_example_runs(tmp_path):
    for name in ("data/a", "incoming/a", "people"):
        file = tmp_path / f"{name}.jelly"
        file.parent.mkdir(exist_ok=True)
        write_jelly(file, STATEMENTS)
    for folder in ("types", "more", "dump"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dump" / "a.nt").write_text('<http://example.org/s> <http://example.org/p> "o" .\n')
    (tmp_path / "more.ttl").write_text("<http://example.org/s> a <http://example.org/C> .\n")

    page = examples("docs/spark.md")
    readme = examples("README.md", "[On Spark]", "Whole folders")
    assert len(page) > 8
    assert len(readme) == 1
    look = f"assert statements.count() == {len(STATEMENTS)}\nmessages.collect()"
    run(tmp_path, [*map(as_python, page), look, *map(as_python, readme)])

    assert len(Read(tmp_path / "copies").rows()) == 2 * len(STATEMENTS)
    assert len(Read(tmp_path / "collected").rows()) == len(STATEMENTS)
    assert len(Read(tmp_path / "types").rows()) == 1
    assert len(Read(tmp_path / "more").rows()) == len(STATEMENTS)
    assert len(Read(tmp_path / "copy").rows()) == len(STATEMENTS)
