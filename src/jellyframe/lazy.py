"""Public names of a package whose modules are imported when a name is first used, so that importing it costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def attribute_loader(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A `__getattr__` for a package that knows for each name which of its modules has it."""

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
