"""The program of `make demo`, with fewer statements."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="needs jellyframe[spark]")


def test_the_demo_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo", "--statements", "8000", "--directory", str(tmp_path / "demo")],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    sizes = {line.split("  ")[0]: line.split()[-4:-1] for line in lines if line.endswith("%")}
    assert sizes["N-Quads"][:2] == ["8", "8,000"]
    assert sizes["Jelly, converted"][1] == "8,000"
    # One of the eight files is there twice.
    assert sizes["Jelly, merged and distinct"][1] == "7,000"
    assert ["statements", "7,000"] in [line.split() for line in lines]
    page = tmp_path / "demo" / "statistics.html"
    assert page.as_uri() in lines[-1]
    assert "Nanopublications" in page.read_text()
