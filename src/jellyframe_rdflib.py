"""Tells rdflib about Jelly as soon as it is imported, so that `Graph().parse("x.jelly")` needs no other import.

rdflib finds parsers and serializers by entry points, but guesses formats by a fixed table of its own, and where two
packages offer the same name it takes any. So `jellyframe-rdflib.pth` has this module imported when Python starts. It
waits for rdflib, and imports nothing that costs time. JELLYFRAME_RDFLIB=off leaves rdflib as it is.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_AWAITED = "rdflib.plugin"


class _Finder:
    """Finds rdflib's list of plugins, once, and has it read by a loader that adds ours."""

    def find_spec(self, name: str, path: Any, _target: object = None) -> ModuleSpec | None:
        if name != _AWAITED:
            return None
        from importlib.machinery import PathFinder

        # Another thread may have been quicker.
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """A loader that registers our plugins behind those of rdflib."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        register(module)

    def __getattr__(self, name: str) -> Any:
        # Tools ask loaders for sources and code.
        return getattr(self._loader, name)


def register(plugin: Any) -> None:
    """Have rdflib use jellyframe for Jelly, and take files that end in `.jelly` for it.

    Args:
        plugin: the module `rdflib.plugin`
    """
    for kind, names, module in (
        ("Jelly", ("jelly", "application/x-jelly-rdf"), "rdflib_plugin"),
        ("JellyPatch", ("jelly-patch", "application/x-jelly-rdf-patch"), "rdflib_patch"),
    ):
        for name in names:
            plugin.register(name, plugin.Parser, f"jellyframe.integrations.{module}", f"{kind}Parser")
            plugin.register(name, plugin.Serializer, f"jellyframe.integrations.{module}", f"{kind}Serializer")
    suffixes = sys.modules["rdflib.util"].SUFFIX_FORMAT_MAP  # type: ignore[attr-defined]
    suffixes.setdefault("jelly", "jelly")
    suffixes.setdefault("jellyp", "jelly-patch")


def install() -> None:
    """Wait for rdflib, or register at once where it has been imported."""
    if os.environ.get("JELLYFRAME_RDFLIB", "").lower() in ("off", "0", "no"):
        return
    loaded = sys.modules.get(_AWAITED)
    if loaded is None:
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    else:
        register(loaded)


install()
