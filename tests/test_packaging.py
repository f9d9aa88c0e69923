"""Building and installing the package, with and without what is needed to compile its kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("setuptools", reason="setuptools is not installed")

PROJECT = Path(__file__).resolve().parents[1]
PURE = "the pure Python kernel is in use"

has_compiler = pytest.mark.skipif(
    shutil.which(os.environ.get("CC", "cc").split()[0]) is None, reason="no C compiler here"
)
has_cython = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import Cython"], capture_output=True).returncode != 0,
    reason="Cython is not installed",
)

# Two modules that share a C type and use a memoryview: all that the build has to cope with, quick to compile.
COUNTER = """
from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:
    import cython

@cython.cclass
class Counter:
    def __init__(self) -> None:
        self.total = 0

    @cython.ccall
    def add(self, data: cython.const[cython.uchar][::1]) -> cython.longlong:
        i: cython.Py_ssize_t
        for i in range(len(data)):
            self.total += data[i]
        return self.total
"""
COUNTER_DECLARATIONS = """
cdef class Counter:
    cdef long long total
    cpdef long long add(self, const unsigned char[::1] data)
"""
USER = """
from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.counter_cy import Counter
else:
    from jellyframe.kernel.counter_cy import Counter

def total(data: bytes) -> int:
    counter: Counter = Counter()
    return counter.add(data)
"""
ASK = """
from jellyframe.kernel import kernel_name, user_cy
print(kernel_name(), user_cy.total(bytes([1, 2])))
"""


def run(*command: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = ("JELLYFRAME_REQUIRE_COMPILED", "JELLYFRAME_KERNEL")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


class Checkout:
    """A copy of the project to build in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kernel = folder / "src" / "jellyframe" / "kernel"

    def build(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """Rebuild the kernel as `make venv` does."""
        return run(sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", cwd=self.folder, **environment)

    def install(self, target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--verbose", "--target", target)
        return run(sys.executable, "-m", "pip", "install", *options, self.folder, cwd=None, **environment)

    def compiled(self) -> dict[str, int]:
        """The compiled modules in place, and when each was made."""
        found = [*self.kernel.glob("*.so"), *self.kernel.glob("*.pyd")]
        return {file.name.partition(".")[0]: file.stat().st_mtime_ns for file in found}

    def ask(self) -> str:
        return run(sys.executable, "-c", ASK, PYTHONPATH=str(self.folder / "src")).stdout.strip()


def copied(folder: Path, *, ignore: tuple[str, ...] = ()) -> Checkout:
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, folder / name)
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.egg-info", *ignore)
    shutil.copytree(PROJECT / "src", folder / "src", ignore=ignored)
    return Checkout(folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """The project with another, smaller kernel."""
    return with_small_kernel(tmp_path)


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = with_small_kernel(tmp_path_factory.mktemp("built"))
    done = made.build()
    assert done.returncode == 0, done.stdout
    return made


@pytest.fixture
def built(built_once: Checkout, tmp_path: Path) -> Checkout:
    """The same, compiled already; a copy that keeps the times of the files, so that nothing looks changed."""
    return Checkout(shutil.copytree(built_once.folder, tmp_path / "built"))


def with_small_kernel(folder: Path) -> Checkout:
    made = copied(folder, ignore=("*_cy.py", "*.pxd"))
    (made.kernel / "counter_cy.py").write_text(COUNTER)
    (made.kernel / "counter_cy.pxd").write_text(COUNTER_DECLARATIONS)
    (made.kernel / "user_cy.py").write_text(USER)
    return made


def lines_with(text: str, part: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if part in line]


def test_without_a_compiler_the_whole_package_installs_and_works(tmp_path: Path) -> None:
    checkout = copied(tmp_path)
    target = tmp_path / "installed"
    done = checkout.install(target, CC="/bin/false")
    assert done.returncode == 0, done.stdout
    assert lines_with(done.stdout, PURE) == [
        "jellyframe: no C compiler works here; the pure Python kernel is in use (same results, slower)"
    ]
    code = f"""
import jellyframe.kernel
assert jellyframe.kernel.__file__.startswith({str(target)!r})
print(jellyframe.kernel.kernel_name())
"""
    assert run(sys.executable, "-c", code, PYTHONPATH=str(target)).stdout == "pure\n"


@has_compiler
@has_cython
def test_with_a_compiler_the_kernel_is_installed_compiled_and_as_source(checkout: Checkout, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    done = checkout.install(target)
    assert done.returncode == 0, done.stdout
    assert not lines_with(done.stdout, PURE)
    assert run(sys.executable, "-c", ASK, PYTHONPATH=str(target)).stdout == "compiled 3\n"
    for kernel in ("pure", "compiled"):
        done = run(sys.executable, "-c", ASK, PYTHONPATH=str(target), JELLYFRAME_KERNEL=kernel)
        assert done.stdout == f"{kernel} 3\n"
    assert (target / "jellyframe" / "py.typed").exists()
    assert (target / "jellyframe" / "kernel" / "counter_cy.pxd").exists()


@pytest.mark.parametrize("compiler", ["/bin/false", "no-such-compiler"])
def test_a_build_without_a_compiler_says_so_in_one_line(checkout: Checkout, compiler: str) -> None:
    done = checkout.build(CC=compiler)
    assert done.returncode == 0
    assert len(lines_with(done.stdout, PURE)) == 1
    assert checkout.ask() == "pure 3"


@pytest.mark.parametrize(("required", "status"), [("1", 1), ("if-compiler", 0), ("0", 0)])
def test_a_missing_compiler_fails_the_build_only_on_request(checkout: Checkout, required: str, status: int) -> None:
    done = checkout.build(CC="/bin/false", JELLYFRAME_REQUIRE_COMPILED=required)
    assert done.returncode == status
    assert "no C compiler works here" in done.stdout
    assert "Traceback" not in done.stdout


@has_compiler
def test_without_cython_the_pure_kernel_is_used(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "Cython").mkdir(parents=True)
    (tmp_path / "hidden" / "Cython" / "__init__.py").write_text("raise ModuleNotFoundError('hidden')")
    done = checkout.build(PYTHONPATH=str(tmp_path / "hidden"))
    assert done.returncode == 0
    assert lines_with(done.stdout, PURE) == [
        "jellyframe: Cython is not installed; the pure Python kernel is in use (same results, slower)"
    ]


def wrong_for_cython(checkout: Checkout) -> str:
    with (checkout.kernel / "user_cy.py").open("a") as source:
        source.write("\n\ndef wrong() -> None:\n    number: cython.int = [1]\n")
    return "Cython refuses src/jellyframe/kernel/user_cy.py"


def wrong_for_the_c_compiler(checkout: Checkout) -> str:
    with (checkout.kernel / "counter_cy.pxd").open("a") as declarations:
        declarations.write('\ncdef extern from *:\n    """\n    #error "a mistake"\n    """\n')
    return "its C code fails: "


@has_compiler
@has_cython
@pytest.mark.parametrize("make_mistake", [wrong_for_cython, wrong_for_the_c_compiler])
def test_a_mistake_in_the_kernel_fails_the_build_where_it_is_asked_to(
    built: Checkout, make_mistake: Callable[[Checkout], str]
) -> None:
    reason = make_mistake(built)
    for required in ("1", "if-compiler"):
        done = built.build(JELLYFRAME_REQUIRE_COMPILED=required)
        assert done.returncode == 1
        assert lines_with(done.stdout, f"jellyframe: the kernel cannot be compiled: {reason}")
    # To Python it is no mistake, so the pure kernel works.
    done = built.build()
    assert done.returncode == 0
    assert len(lines_with(done.stdout, PURE)) == 1
    assert not built.compiled()
    assert built.ask() == "pure 3"


@has_compiler
@has_cython
def test_the_kernel_is_rebuilt_as_far_as_it_changed(built: Checkout) -> None:
    first = built.compiled()
    assert set(first) == {"_cyutility", "counter_cy", "user_cy"}
    assert built.ask() == "compiled 3"

    assert built.build().returncode == 0
    assert built.compiled() == first

    os.utime(built.kernel / "user_cy.py")
    assert built.build().returncode == 0
    second = built.compiled()
    assert {name for name in first if first[name] != second[name]} == {"user_cy"}

    # The declarations are part of both.
    os.utime(built.kernel / "counter_cy.pxd")
    assert built.build().returncode == 0
    third = built.compiled()
    assert {name for name in first if second[name] != third[name]} == {"counter_cy", "user_cy"}


@has_compiler
@has_cython
def test_a_compiled_kernel_is_removed_when_it_can_no_longer_be_built(built: Checkout) -> None:
    assert built.build(CC="/bin/false").returncode == 0
    assert not built.compiled()
    assert built.ask() == "pure 3"


def _beside(names: list[str], known: str) -> set[str]:
    """The first parts of what is installed into the folder where a known file goes."""
    (place,) = (name.removesuffix(known) for name in names if name.endswith(known))
    return {name.removeprefix(place).partition("/")[0] for name in names if name.startswith(place)}


def test_the_archives_hold_sources_kernel_and_licence(checkout: Checkout) -> None:
    command = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
    done = run(sys.executable, "-c", command, cwd=checkout.folder, CC="/bin/false")
    assert done.returncode == 0, done.stdout
    (wheel,) = checkout.folder.glob("dist/*.whl")
    (archive,) = checkout.folder.glob("dist/*.tar.gz")
    kernel = {"__init__.py", "_uncompiled.py", "counter_cy.py", "counter_cy.pxd", "user_cy.py"}
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    assert kernel <= {name.rpartition("/")[2] for name in names if "jellyframe/kernel/" in name}
    assert [name for name in names if name.endswith("jellyframe/py.typed")]
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    # Beside the packages, where Python reads it when it starts.
    assert {"jellyframe-rdflib.pth", "jellyframe_rdflib.py", "jellyframe"} <= _beside(names, "jellyframe/py.typed")
    with tarfile.open(archive) as opened:
        names = opened.getnames()
    assert kernel <= {name.rpartition("/")[2] for name in names if "src/jellyframe/kernel/" in name}
    assert [name for name in names if name.endswith("/setup.py")]
