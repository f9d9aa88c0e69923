"""Jelly streams: reader, writer, messages, and the index of restart points.

from jellyframe.stream import open_reader, restart_points
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.stream.decoder import StreamDecoder
    from jellyframe.stream.encoder import StreamEncoder
    from jellyframe.stream.index import Index, read_index, restart_points
    from jellyframe.stream.messages import dumps, loads
    from jellyframe.stream.reader import JellyReader, open_reader
    from jellyframe.stream.recovery import Damage
    from jellyframe.stream.tables import read_table, write_table
    from jellyframe.stream.writer import JellyWriter, WriterSettings, open_writer

__all__ = [
    "Damage",
    "Index",
    "JellyReader",
    "JellyWriter",
    "StreamDecoder",
    "StreamEncoder",
    "WriterSettings",
    "dumps",
    "loads",
    "open_reader",
    "open_writer",
    "read_index",
    "read_table",
    "restart_points",
    "write_table",
]

_HOMES = {
    "Damage": "recovery",
    "Index": "index",
    "JellyReader": "reader",
    "JellyWriter": "writer",
    "StreamDecoder": "decoder",
    "StreamEncoder": "encoder",
    "WriterSettings": "writer",
    "dumps": "messages",
    "loads": "messages",
    "open_reader": "reader",
    "open_writer": "writer",
    "read_index": "index",
    "read_table": "tables",
    "restart_points": "index",
    "write_table": "tables",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
