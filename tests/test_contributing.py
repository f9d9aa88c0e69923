"""CONTRIBUTING and the configuration beside it: what they name exists, and the checks are the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "jellyframe"
TEXT = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
# Where a path in CONTRIBUTING may begin.
_ROOTS = (PACKAGE, PROJECT, PROJECT / "src", PROJECT / "tests", PACKAGE / "ops", PACKAGE / "web", PACKAGE / "kernel")
_PATH = re.compile(r"`([a-z_./]+(?:/|\.py|\.md|\.js|\.css|\.proto|\.toml))`")
# Names of classes, functions and constants.
_NAME = re.compile(r"`(_?[A-Za-z]+(?:_[A-Za-z]+)+|[A-Z]+[a-z]+[A-Za-z]*|[A-Z]{4,})`")


@pytest.mark.parametrize("path", sorted(set(_PATH.findall(TEXT))))
def test_paths_on_the_page_exist(path: str) -> None:
    folders = [*_ROOTS, *(folder for folder in PACKAGE.rglob("*") if folder.is_dir())]
    assert any((folder / path).exists() for folder in folders), path


def test_names_on_the_page_exist() -> None:
    names = set(_NAME.findall(TEXT))
    assert len(names) > 30
    source = "\n".join(path.read_text("utf-8") for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pxd")])
    words = set(re.findall(r"\w+", source)) | set(re.findall(r"\w+", (PROJECT / "Makefile").read_text("utf-8")))
    words |= {
        name
        for path in [*(PROJECT / "tests").rglob("*.py"), PROJECT / "docs" / "make.py"]
        for name in re.findall(r"\w+", path.read_text("utf-8"))
    }
    assert sorted(names - words) == []


def test_every_package_is_on_the_map() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert [name for name in sorted(packages) if f"`{name}/`" not in TEXT] == []


def test_folders_of_tests_hold_tests_only() -> None:
    """Helpers are in `support`, where others find them."""
    tests = PROJECT / "tests"
    modules = {path.relative_to(tests) for path in tests.rglob("*.py") if (tests / "support") not in path.parents}
    assert [path for path in sorted(modules) if path.name != "conftest.py" and not path.name.startswith("test_")] == []


def test_pre_commit_runs_the_checks_of_make_lint() -> None:
    lint = re.search(r"^lint: venv\n((?:\t.*\n)+)", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert lint is not None
    tools = {line.split()[0].removeprefix("$(BIN)/") for line in lint[1].splitlines()}
    config = yaml.safe_load((PROJECT / ".pre-commit-config.yaml").read_text("utf-8"))
    entries = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]]
    assert {entry.split()[0].removeprefix(".venv/bin/") for entry in entries} == tools
    assert len(entries) == len(lint[1].splitlines())
