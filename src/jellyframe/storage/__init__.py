"""Input and output of bytes: local files, object stores, web servers, compression, atomic output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.storage.finding import find_files
    from jellyframe.storage.http import HttpFile
    from jellyframe.storage.http_requests import HttpSettings
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.sources import ByteSource
    from jellyframe.storage.stores import DataFile, Storage
    from jellyframe.storage.types import BinarySink, BinarySource, Buffer, Compression, FileSystem, Path, Sink, Source

__all__ = [
    "BinarySink",
    "BinarySource",
    "Buffer",
    "ByteSink",
    "ByteSource",
    "Compression",
    "DataFile",
    "FileSystem",
    "HttpFile",
    "HttpSettings",
    "Path",
    "Sink",
    "Source",
    "Storage",
    "find_files",
]

_HOMES = {
    "BinarySink": "types",
    "BinarySource": "types",
    "Buffer": "types",
    "ByteSink": "sinks",
    "ByteSource": "sources",
    "Compression": "types",
    "DataFile": "stores",
    "FileSystem": "types",
    "HttpFile": "http",
    "HttpSettings": "http_requests",
    "Path": "types",
    "Sink": "types",
    "Source": "types",
    "Storage": "stores",
    "find_files": "finding",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
