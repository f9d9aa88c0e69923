"""Jelly-Patch: changes to RDF data sets as streams of operations, on the terms, lookups and frames of Jelly.

from jellyframe.patch import open_patch_reader, open_patch_writer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.patch.batches import row_batches, rows_of
    from jellyframe.patch.decoder import PatchStreamDecoder
    from jellyframe.patch.encoder import PatchStreamEncoder
    from jellyframe.patch.groups import Patch, Transaction
    from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType
    from jellyframe.patch.reader import PatchReader, open_patch_reader
    from jellyframe.patch.rows import (
        Add,
        Delete,
        Header,
        NamespaceAdd,
        NamespaceDelete,
        PatchRow,
        Punctuation,
        TransactionAbort,
        TransactionCommit,
        TransactionStart,
    )
    from jellyframe.patch.writer import PatchWriter, PatchWriterSettings, open_patch_writer

__all__ = [
    "Add",
    "Delete",
    "Header",
    "NamespaceAdd",
    "NamespaceDelete",
    "Patch",
    "PatchOptions",
    "PatchReader",
    "PatchRow",
    "PatchStatementType",
    "PatchStreamDecoder",
    "PatchStreamEncoder",
    "PatchStreamType",
    "PatchWriter",
    "PatchWriterSettings",
    "Punctuation",
    "Transaction",
    "TransactionAbort",
    "TransactionCommit",
    "TransactionStart",
    "open_patch_reader",
    "open_patch_writer",
    "row_batches",
    "rows_of",
]

_HOMES = {
    "Add": "rows",
    "Delete": "rows",
    "Header": "rows",
    "NamespaceAdd": "rows",
    "NamespaceDelete": "rows",
    "Patch": "groups",
    "PatchOptions": "options",
    "PatchReader": "reader",
    "PatchRow": "rows",
    "PatchStatementType": "options",
    "PatchStreamDecoder": "decoder",
    "PatchStreamEncoder": "encoder",
    "PatchStreamType": "options",
    "PatchWriter": "writer",
    "PatchWriterSettings": "writer",
    "Punctuation": "rows",
    "Transaction": "groups",
    "TransactionAbort": "rows",
    "TransactionCommit": "rows",
    "TransactionStart": "rows",
    "open_patch_reader": "reader",
    "open_patch_writer": "writer",
    "row_batches": "batches",
    "rows_of": "batches",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
