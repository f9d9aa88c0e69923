"""Patches as Arrow tables, and back. The layouts are described in `jellyframe.arrow.layouts`.

In a table a row with the operation `P` ends a patch, for all types of streams; a FLAT stream has none. So a
table holds the whole stream, except for frames where they have no meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.metadata import encoded_options
from jellyframe.arrow.tables import table_to_batches
from jellyframe.errors import OptionsError, TableError
from jellyframe.patch.marks import MarkedOutput, with_marks, write_marked
from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType

if TYPE_CHECKING:
    from jellyframe.arrow.types import ArrowTable
    from jellyframe.batch import Batch
    from jellyframe.options import LayoutName

OPTIONS_KEY: Final = b"jelly.patch.options"
PatchTable: TypeAlias = "ArrowTable"


def record_batches(
    batches: Iterable[Batch],
    options: PatchOptions,
    layout: LayoutName = "struct",
    *,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
) -> pa.RecordBatchReader:
    """Return the batches of a patch stream as Arrow record batches, made on demand."""
    view = ArrowView(layout, options.has_graph, op_column=True, columns=columns, dictionary=dictionary)
    schema = view.schema.with_metadata({OPTIONS_KEY: encoded_options(options)})
    return pa.RecordBatchReader.from_batches(schema, view.record_batches(with_marks(batches, options.stream_type)))


def table_options(table: PatchTable) -> PatchOptions:
    """Return the options in the metadata of a table's schema if they fit its columns, otherwise defaults."""
    schema = cast("pa.Schema", table.schema)  # type: ignore[union-attr]
    statement_type = PatchStatementType.QUADS if "g" in schema.names else PatchStatementType.TRIPLES
    entry = (schema.metadata or {}).get(OPTIONS_KEY)
    if entry is None:
        return PatchOptions(statement_type)
    try:
        values = json.loads(entry)
        values["statement_type"] = statement_type
        values["stream_type"] = PatchStreamType[values["stream_type"]]
        return PatchOptions(**values)
    except (ValueError, TypeError, KeyError, OptionsError) as error:
        raise TableError(
            f"the metadata {OPTIONS_KEY.decode()} of the schema holds no options of patches: {error}"
        ) from error


def write_rows(table: PatchTable, layout: LayoutName | None, output: MarkedOutput) -> None:
    """Write the rows of a table of patches to a writer."""
    for batch in table_to_batches(table, layout=layout, is_patch=True):
        write_marked(batch, output)
