"""Every example of the help texts, the README and the documentation runs, in a folder with the files that it names.

Those that need Spark are for the tests of Spark, and those that need a server for the tests of gRPC and of `web`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.examples import Example, help_examples, make_files, page_commands, page_programs, run_command

PAGES = (
    "README.md",
    "docs/python.md",
    "docs/limits.md",
    "docs/design.md",
    "docs/spark.md",
    "docs/formats.md",
    "docs/draft.md",
    "docs/patch.md",
    "docs/view.md",
)
COMMANDS = [
    example
    for example in (*help_examples(), *(example for page in PAGES for example in page_commands(page)))
    if not example.needs_spark and not example.needs_server and not example.is_server
]


@pytest.mark.parametrize("example", COMMANDS, ids=lambda example: f"{example.place}: {example.command}")
def test_every_example_of_help_and_pages_runs(example: Example, tmp_path: Path) -> None:
    make_files(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    run_command(example.command, tmp_path)
    words = example.command.split()
    made = {path.name for path in tmp_path.iterdir()} - before
    for option in ("--to", ">", "--html"):
        if option in words:
            target = tmp_path / words[words.index(option) + 1].replace("~", ".")
            assert target.stat().st_size > 0
            made.discard(target.name)
    assert made == set()


def test_there_are_examples_in_every_help() -> None:
    places = {example.place for example in help_examples()}
    for command in ("to-jelly", "from-jelly", "transcode", "inspect", "validate"):
        assert f"jellyframe rdf {command}" in places


# What the programs take for granted.
_GIVEN = "graphs = []\nwith open('data.jelly', 'rb') as file: chunks = [file.read(100), file.read()]"


@pytest.mark.parametrize(
    "page", ["README.md", "docs/python.md", "docs/limits.md", "docs/formats.md", "docs/integrations.md"]
)
def test_programs_of_a_page_run(page: str, tmp_path: Path) -> None:
    """They run one after the other, as a reader would type them."""
    make_files(tmp_path)
    programs = [program for program in page_programs(page) if "spark" not in program]
    assert programs
    source = f"{_GIVEN}\n" + "\n\n".join(programs)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr}\n{source}"
