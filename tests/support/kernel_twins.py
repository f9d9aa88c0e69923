"""Both kernels in one process: the package as it is, and a second copy of it that runs on the pure kernel.

A compiled module can only be loaded under its own name, so it is the pure twin that gets another: the
package `jellyframe_pure`, made from the same source files. On loading them, every import of jellyframe is
turned into one of jellyframe_pure, inside functions too, so the copy never reaches back. Only what does not
depend on the kernel is shared: the errors (`pytest.raises(jellyframe.JellyError)` holds for both twins), the
options. Terms, batches and readers of one twin are of other classes than those of the other: compare what
they print or contain.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from unittest import mock

import jellyframe
import jellyframe.kernel

ORIGINAL = "jellyframe"
COPY = "jellyframe_pure"
SHARED = ("jellyframe.errors", "jellyframe.options", "jellyframe.proto")
KERNELS = ("compiled", "pure")


class NoTwinError(Exception):
    """This process cannot have that kernel."""


def load_twin(name: str) -> ModuleType:
    """The package on the kernel of that name, `compiled` or `pure`."""
    if name not in KERNELS:
        raise ValueError(f"no such kernel: {name!r}")
    if name == jellyframe.kernel.kernel_name():
        return jellyframe
    if name == "compiled":
        raise NoTwinError("there is no compiled kernel here, or JELLYFRAME_KERNEL=pure rules it out")
    return _pure_copy()


def load_twin_module(name: str, module: str) -> ModuleType:
    """One module of that twin, by its path in the package: `load_twin_module("pure", "kernel.utf8_cy")`."""
    return importlib.import_module(f"{load_twin(name).__name__}.{module}")


def _pure_copy() -> ModuleType:
    if COPY in sys.modules:
        return sys.modules[COPY]
    with mock.patch.dict(os.environ, JELLYFRAME_KERNEL="pure"):
        sys.meta_path.insert(0, _CopyFinder)
        kernel = importlib.import_module(f"{COPY}.kernel")
        # The kernel package has put its own finder, which would load its modules unchanged, before this one.
        sys.meta_path.remove(_CopyFinder)
        sys.meta_path.insert(0, _CopyFinder)
    assert kernel.kernel_name() == "pure"
    return sys.modules[COPY]


class _CopyFinder(MetaPathFinder):
    @staticmethod
    def find_spec(fullname: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if not _is_in(COPY, fullname):
            return None
        place = Path(jellyframe.__file__).parent.joinpath(*fullname.split(".")[1:])
        folder = place / "__init__.py"
        source = str(folder if folder.exists() else place.with_suffix(".py"))
        if not os.path.exists(source):
            return None
        return spec_from_file_location(fullname, source, loader=_CopyLoader(fullname, source))


class _CopyLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        # Not the inherited way, which would keep the changed code in the originals' __pycache__.
        path = self.get_filename(fullname)
        tree = _ImportsOfTheCopy().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _ImportsOfTheCopy(ast.NodeTransformer):
    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        if node.level or node.module is None:
            raise SyntaxError("a relative import: the twins need absolute ones")
        if not _is_in(ORIGINAL, node.module):
            return [node]
        # `from jellyframe import errors, reader` takes one from the original and one from the copy.
        copied = [alias for alias in node.names if not _is_shared(f"{node.module}.{alias.name}")]
        shared = [alias for alias in node.names if alias not in copied]
        parts = (ast.ImportFrom(node.module, shared, 0), ast.ImportFrom(_renamed(node.module), copied, 0))
        return [ast.copy_location(part, node) for part in parts if part.names]

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for alias in node.names:
            new = _renamed(alias.name)
            if new != alias.name and alias.asname is None:
                # It binds the name jellyframe, which the code goes on to use.
                raise SyntaxError(f"import {alias.name}: the twins need `from … import` or `import … as`")
            alias.name = new
        return node


def _renamed(module: str) -> str:
    if _is_in(ORIGINAL, module) and not _is_shared(module):
        return COPY + module.removeprefix(ORIGINAL)
    return module


def _is_shared(module: str) -> bool:
    return any(_is_in(shared, module) for shared in SHARED)


def _is_in(package: str, module: str) -> bool:
    return module == package or module.startswith(f"{package}.")
