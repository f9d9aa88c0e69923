"""Batches as Arrow tables, and back.

`jellyframe.arrow.layouts` describes the layouts of columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.arrow.layouts import LAYOUTS, ArrowView
    from jellyframe.arrow.memory import keep_column_memory
    from jellyframe.arrow.tables import arrow_schema, batch_to_arrow, find_layout, table_to_batches

__all__ = [
    "LAYOUTS",
    "ArrowView",
    "arrow_schema",
    "batch_to_arrow",
    "find_layout",
    "keep_column_memory",
    "table_to_batches",
]

_HOMES = {
    "LAYOUTS": "layouts",
    "ArrowView": "layouts",
    "arrow_schema": "tables",
    "batch_to_arrow": "tables",
    "find_layout": "tables",
    "keep_column_memory": "memory",
    "table_to_batches": "tables",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
