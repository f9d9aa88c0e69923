"""Streams written by this package, in all the ways the interop and fuzz tests want them."""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

import jellyframe
from support.strategies import StreamCase


def written(case: StreamCase, package: ModuleType = jellyframe, **arguments: Any) -> bytes:
    """The stream as our writer makes it, a frame for each frame of the case."""
    sink = io.BytesIO()
    with package.open_writer(sink, case.options, **arguments) as writer:
        for frame in case.frames:
            for name, iri in frame.namespaces:
                writer.declare_namespace(name, iri)
            writer.write(frame.statements)
            writer.end_frame(frame.metadata or None)
    return sink.getvalue()


def written_flat(case: StreamCase, package: ModuleType = jellyframe, **arguments: Any) -> bytes:
    """The statements of the stream, in frames that the writer cuts."""
    sink = io.BytesIO()
    with package.open_writer(sink, case.options, **arguments) as writer:
        writer.write(case.statements)
    return sink.getvalue()
