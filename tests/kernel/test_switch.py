"""JELLYFRAME_KERNEL and `kernel_name()`, each in a process of its own: the choice is made once, on import."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NamedTuple

import pytest

import jellyframe.kernel
from jellyframe.kernel import kernel_name

KERNEL_FOLDER = Path(jellyframe.kernel.__file__).parent
MODULES = sorted(source.stem for source in KERNEL_FOLDER.glob("*_cy.py"))

REPORT = """
import importlib, jellyframe.kernel
print(jellyframe.kernel.kernel_name())
for name in {modules!r}:
    print(name, importlib.import_module("jellyframe.kernel." + name).__file__)
"""

needs_compiled = pytest.mark.skipif(kernel_name() == "pure", reason="no compiled kernel in use")


def run(code: str, kernel: str | None, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "JELLYFRAME_KERNEL"}
    if kernel is not None:
        environment["JELLYFRAME_KERNEL"] = kernel
    return subprocess.run(
        [sys.executable, *options, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def loaded_files(kernel: str | None) -> tuple[str, dict[str, str]]:
    done = run(REPORT.format(modules=MODULES), kernel)
    assert done.returncode == 0, done.stderr
    name, *lines = done.stdout.splitlines()
    return name, dict(line.split(maxsplit=1) for line in lines)


def test_there_are_kernel_modules():
    assert MODULES


def test_pure_loads_the_sources_though_compiled_modules_lie_beside_them():
    name, files = loaded_files("pure")
    assert name == "pure"
    assert files == {module: str(KERNEL_FOLDER / f"{module}.py") for module in MODULES}


def test_pure_runs_the_same_whether_or_not_cython_is_installed():
    code = REPORT.format(modules=MODULES) + "import sys; assert 'Cython' not in sys.modules"
    done = run(code, "pure")
    assert done.returncode == 0, "a kernel source imports cython before its stand-in: " + done.stderr


@needs_compiled
@pytest.mark.parametrize("kernel", ["compiled", "", None])
def test_compiled_modules_are_loaded_unless_told_otherwise(kernel):
    name, files = loaded_files(kernel)
    assert name == "compiled"
    assert not [file for file in files.values() if file.endswith(".py")]


def test_an_unknown_kernel_is_an_error_that_names_the_known_ones():
    code = """
from jellyframe.errors import JellyError, KernelError
try:
    import jellyframe.kernel
except KernelError as error:
    assert isinstance(error, JellyError)
    print(error)
"""
    done = run(code, "fast")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "JELLYFRAME_KERNEL='fast': the kernels are 'compiled' and 'pure'\n"


WHICH = "from jellyframe.kernel import kernel_name, one_cy; print(kernel_name(), one_cy.FROM)"


# The rest needs a package without some or all of its compiled modules, so it makes one.
class Package(NamedTuple):
    """A package that is not installed: the folder that holds it, and the folder of its kernel."""

    folder: Path
    kernel: Path

    def __call__(self, code: str, wanted: str | None) -> subprocess.CompletedProcess[str]:
        """Run code that imports the package."""
        # -S leaves out site-packages, and with it the package under test.
        return run(f"import sys; sys.path.insert(0, {str(self.folder)!r})\n{code}", wanted, "-S")


@pytest.fixture
def package(tmp_path):
    """A package of two kernel modules, none of them compiled."""
    kernel = tmp_path / "jellyframe" / "kernel"
    kernel.mkdir(parents=True)
    (tmp_path / "jellyframe" / "__init__.py").touch()
    (tmp_path / "jellyframe" / "errors.py").write_text((KERNEL_FOLDER.parent / "errors.py").read_text())
    (kernel / "__init__.py").write_text((KERNEL_FOLDER / "__init__.py").read_text())
    for name in ("one_cy", "two_cy"):
        (kernel / f"{name}.py").write_text("FROM = 'source'\n")

    return Package(tmp_path, kernel)


def test_compiled_is_an_error_where_nothing_is_compiled(package):
    done = package("import jellyframe.kernel", "compiled")
    assert done.returncode != 0
    assert "KernelError" in done.stderr
    assert "no compiled kernel here (not compiled: one_cy, two_cy)" in done.stderr


def test_without_compiled_modules_the_pure_kernel_is_taken_in_silence(package):
    done = package(WHICH, None)
    assert (done.stdout, done.stderr) == ("pure source\n", "")


def test_a_half_compiled_kernel_is_not_used(package):
    (package.kernel / f"one_cy{EXTENSION_SUFFIXES[0]}").write_bytes(b"not a library: loading it would fail")
    done = package(WHICH, None)
    assert done.stdout == "pure source\n"
    assert "RuntimeWarning: the compiled kernel lacks two_cy" in done.stderr


def test_only_kernel_modules_are_redirected(package):
    (package.kernel / "helper.py").write_text("")
    done = package("import jellyframe.kernel.helper as h; print(type(h.__loader__).__name__)", "pure")
    assert done.stdout == "SourceFileLoader\n", done.stderr
    done = package("import jellyframe.kernel.missing_cy", "pure")
    assert "ModuleNotFoundError: No module named 'jellyframe.kernel.missing_cy'" in done.stderr
