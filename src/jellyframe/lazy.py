"""Names that are imported when first used: public names of packages, and views that a higher layer provides."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_views: dict[str, tuple[str, str]] = {}


def attribute_loader(
    package: str, homes: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> Callable[[str], object]:
    """Return a `__getattr__` for a package.

    Args:
        package: the name of the package
        homes: for each public name, the module below the package that has it
        modules: for each module that is a public name itself, where it lies below the package
    """
    modules = modules or {}

    def load(name: str) -> object:
        value: object
        if name in modules:
            value = import_module(f"{package}.{modules[name]}")
        elif name in homes:
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return load


def provide_view(view: str, module: str, function: str) -> None:
    """Name the function that makes a view, such as a batch's Arrow form, for the lower layer that offers it.

    The lower layer must not import the higher one. The package `jellyframe`, which knows all layers, connects them.
    """
    _views[view] = (module, function)


def view_maker(view: str) -> Callable[..., Any]:
    """Return the function that makes a view; its module is imported now."""
    module, function = _views[view]
    made: Callable[..., Any] = getattr(import_module(module), function)
    return made
