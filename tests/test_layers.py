"""The layers of the package hold, and the contract that says so is strict enough to fail."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "jellyframe"
# What needs Spark: PySpark itself, a session, or the options of the data source.
_SPARK_WORDS = ("pyspark", "spark.types", "spark.options")
# These need none of it, but nothing else has a use for them: the Java that Spark runs on, and its option names.
_ABOUT_SPARK = ("spark/java.py", "spark/options.py")
# What only a command line needs: arguments, what is printed and to whom, exit codes.
_TERMINAL_WORDS = ("argparse", "cli.console", "cli.arguments", "sys.stdout", "sys.stderr", "terminal_size")


def check_contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with the project's contracts on the package in a folder."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", PROJECT / "pyproject.toml", "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that may be broken."""
    folder = tmp_path_factory.mktemp("layers")
    shutil.copytree(PACKAGE, folder / "jellyframe", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return folder


def test_the_contracts_are_kept(copy: Path) -> None:
    outcome = check_contracts(copy)
    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(
    ("module", "bad_import"),
    [
        ("batch/batch.py", "from jellyframe.arrow import tables"),
        ("ops/survey.py", "from jellyframe.cli import console"),
        ("spark/source.py", "def late():\n    from jellyframe.cli import console"),
        ("grpc/server.py", "import argparse"),
        ("web/serving.py", "def late():\n    import pyspark"),
        ("kernel/table_cy.py", "from jellyframe.batch import Batch"),
        ("stream/reader.py", "def late():\n    from jellyframe.formats import registry"),
        ("storage/sinks.py", "from jellyframe.arrow import layouts"),
        ("report/page.py", "def late():\n    import pyspark"),
        ("stream/index.py", "def late():\n    from jellyframe.stream import reader"),
    ],
)
def test_a_wrong_import_breaks_them(copy: Path, module: str, bad_import: str) -> None:
    path = copy / "jellyframe" / module
    before = path.read_text()
    path.write_text(f"{before}\n\n{bad_import}\n")
    try:
        assert check_contracts(copy).returncode == 1
    finally:
        path.write_text(before)


def modules_without(package: str, words: tuple[str, ...]) -> set[str]:
    """The modules of a package in whose code none of some words stands."""
    return {
        str(module.relative_to(PACKAGE))
        for module in (PACKAGE / package).rglob("*.py")
        if module.name != "__init__.py" and not any(word in _code(module) for word in words)
    }


def test_every_module_of_spark_uses_spark() -> None:
    assert modules_without("spark", _SPARK_WORDS) <= set(_ABOUT_SPARK)


def test_every_module_of_cli_uses_the_terminal() -> None:
    assert modules_without("cli", _TERMINAL_WORDS) == set()


def test_these_tests_find_a_module_in_the_wrong_place() -> None:
    assert "ops/scanning.py" in modules_without("ops", _SPARK_WORDS)
    assert "ops/scanning.py" in modules_without("ops", _TERMINAL_WORDS)


# Equal by chance, or names of every package and command.
_NOT_SHARED = {"BATCH_ROWS", "DESCRIPTION", "EXAMPLES", "HOMES", "NQUADS", "PIECE_BYTES", "READ_BYTES"}


def test_constants_have_one_home() -> None:
    homes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in PACKAGE.rglob("*.py"):
        # The kernel repeats what is compiled in, and protobuf is generated.
        if module.parent.name not in ("kernel", "proto"):
            for constant in _constants(module):
                homes[constant].append(str(module.relative_to(PACKAGE)))
    assert len(homes) > 500
    assert {name: places for (name, _value), places in homes.items() if len(places) > 1} == {}


def _constants(module: Path) -> Iterator[tuple[str, str]]:
    """Yield the names, without underscores in front, and the values of the constants of a module."""
    for node in ast.parse(module.read_text()).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id.isupper():
            name = target.id.lstrip("_")
            # Names of one letter are type variables.
            if len(name) > 1 and name not in _NOT_SHARED:
                yield name, ast.unparse(node.value)  # type: ignore[attr-defined]


def _code(module: Path) -> str:
    """The code of a module, without comments and docstrings."""
    tree = ast.parse(module.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
