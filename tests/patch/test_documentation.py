"""The page on Jelly-Patch: its programs run, and the tests that it names are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.examples import ROOT, make_files, page_programs

PAGE = "docs/patch.md"
TESTS = ROOT / "tests" / "patch"
RULES = "".join((TESTS / name).read_text("utf-8") for name in ("test_rules.py", "test_row_rules.py"))


def test_programs_run(tmp_path: Path) -> None:
    make_files(tmp_path)
    source = "\n\n".join(page_programs(PAGE))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'A <http://example.org/alice> <http://xmlns.com/foaf/0.1/name> "Alice Liddell" .\n' in done.stdout


def test_every_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"(?:`(test_\w+\.py)`: )?`(test_\w+)`", (ROOT / PAGE).read_text(encoding="utf-8"))
    assert len(named) > 50
    for file, name in named:
        source = TESTS.joinpath(file).read_text("utf-8") if file else RULES
        assert f"def {name}(" in source, name


def test_every_test_of_a_rule_is_named_on_the_page() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    tests = re.findall(r"^def (test_\w+)\(", RULES, re.MULTILINE)
    assert [name for name in tests if f"`{name}`" not in page] == []
