"""The compiled part of the package: modules named `*_cy`, each a Python source file.

The compiled modules and their sources are installed next to each other. By default, Python imports
the compiled ones. The environment variable JELLYFRAME_KERNEL, read when this package is first
imported, forces a choice: `compiled` or `pure`.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from typing import TYPE_CHECKING, Literal

from jellyframe.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["kernel_name"]

_VARIABLE = "JELLYFRAME_KERNEL"
_FOLDER = os.path.dirname(__file__)


class _SourcesOnly:
    """Finds the Python sources of the kernel's modules, even where compiled modules lie beside them."""

    @staticmethod
    def find_spec(
        fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = fullname.rpartition(".")
        if package != __name__ or not module.endswith("_cy"):
            return None
        source = os.path.join(_FOLDER, f"{module}.py")
        if not os.path.isfile(source):
            return None
        return spec_from_file_location(fullname, source, loader=SourceFileLoader(fullname, source))


def _modules() -> dict[str, bool]:
    """Return the names of the kernel's modules, and whether each is compiled for this Python."""
    found = set(os.listdir(_FOLDER))
    sources = [name.removesuffix(".py") for name in sorted(found) if name.endswith("_cy.py")]
    return {name: any(name + suffix in found for suffix in EXTENSION_SUFFIXES) for name in sources}


def _choose() -> Literal["compiled", "pure"]:
    wanted = os.environ.get(_VARIABLE, "")
    if wanted not in ("", "compiled", "pure"):
        raise KernelError(f"{_VARIABLE}={wanted!r}: the kernels are 'compiled' and 'pure'")
    if wanted == "pure":
        return "pure"
    modules = _modules()
    uncompiled = [name for name, compiled in modules.items() if not compiled]
    if modules and not uncompiled:
        return "compiled"
    if wanted == "compiled":
        raise KernelError(
            f"{_VARIABLE}=compiled, but there is no compiled kernel here (not compiled: "
            f"{', '.join(uncompiled)}); install again with Cython and a C compiler, or unset the variable"
        )
    if len(uncompiled) < len(modules):
        # Compiled modules use each other's C types, so an incomplete set cannot be used.
        warnings.warn(
            f"the compiled kernel lacks {', '.join(uncompiled)}; the pure one is in use until it is rebuilt",
            RuntimeWarning,
            stacklevel=2,
        )
    return "pure"


_CHOSEN = _choose()
if _CHOSEN == "pure":
    sys.meta_path.insert(0, _SourcesOnly)


def kernel_name() -> Literal["compiled", "pure"]:
    """Return the name of the kernel in use: `compiled`, or `pure` where the same modules run as Python."""
    return _CHOSEN
