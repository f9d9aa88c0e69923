"""Jelly for Python: RDF as columns, in and out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

__version__ = "0.1.0"

if TYPE_CHECKING:
    from jellyframe import ntriples
    from jellyframe.arrow import read_table, write_table
    from jellyframe.batch import Batch
    from jellyframe.errors import (
        EncodeError,
        JellyError,
        KernelError,
        LimitError,
        OptionsError,
        ParseError,
        TableError,
        TermError,
        TextError,
    )
    from jellyframe.frames import Frame
    from jellyframe.kernel import kernel_name
    from jellyframe.messages import dumps, loads
    from jellyframe.options import Limits, LogicalType, PhysicalType, StreamOptions
    from jellyframe.reader import JellyReader, open_reader
    from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, DefaultGraph, Literal, Quad, Triple
    from jellyframe.writer import JellyWriter, open_writer

# Where each public name lives. They are imported when first used, so that a program pays for what it uses only.
_HOMES = {
    "arrow": ("read_table", "write_table"),
    "batch": ("Batch",),
    "errors": (
        "EncodeError",
        "JellyError",
        "KernelError",
        "LimitError",
        "OptionsError",
        "ParseError",
        "TableError",
        "TermError",
        "TextError",
    ),
    "frames": ("Frame",),
    "kernel": ("kernel_name",),
    "messages": ("dumps", "loads"),
    "ntriples": (),
    "options": ("Limits", "LogicalType", "PhysicalType", "StreamOptions"),
    "reader": ("JellyReader", "open_reader"),
    "terms": ("DEFAULT_GRAPH", "IRI", "BlankNode", "DefaultGraph", "Literal", "Quad", "Triple"),
    "writer": ("JellyWriter", "open_writer"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "DEFAULT_GRAPH",
    "IRI",
    "Batch",
    "BlankNode",
    "DefaultGraph",
    "EncodeError",
    "Frame",
    "JellyError",
    "JellyReader",
    "JellyWriter",
    "KernelError",
    "LimitError",
    "Limits",
    "Literal",
    "LogicalType",
    "OptionsError",
    "ParseError",
    "PhysicalType",
    "Quad",
    "StreamOptions",
    "TableError",
    "TermError",
    "TextError",
    "Triple",
    "dumps",
    "kernel_name",
    "loads",
    "ntriples",
    "open_reader",
    "open_writer",
    "read_table",
    "write_table",
]


_load = attribute_loader(__name__, _MODULE_OF)


def __getattr__(name: str) -> object:
    if name in _HOMES and name not in _MODULE_OF:
        return import_module(f"{__name__}.{name}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
