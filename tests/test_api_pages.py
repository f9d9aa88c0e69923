"""`make docs`, and what packages offer for import."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = ("arrow", "batch", "formats", "ops", "patch", "storage", "stream")


@pytest.mark.skipif(find_spec("pdoc") is None, reason="pdoc is not installed")
@pytest.mark.skipif(find_spec("pyspark") is None, reason="PySpark is not installed")
def test_pages_are_made_and_their_links_lead_somewhere() -> None:
    command = [sys.executable, str(PROJECT / "docs" / "make.py")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (PROJECT / "build" / "docs" / "jellyframe" / "stream.html").read_text()
    assert 'id="open_reader"' in page


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_offer_their_public_names(package: str) -> None:
    module = import_module(f"jellyframe.{package}")
    assert module.__all__
    for name in module.__all__:
        assert not isinstance(getattr(module, name), type(sys)), name
    with pytest.raises(AttributeError):
        _ = module.there_is_no_such_name


def test_importing_a_package_does_not_import_pyarrow() -> None:
    program = "import sys, jellyframe.stream, jellyframe.ops, jellyframe.arrow; sys.exit('pyarrow' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
