"""Types of objects that can be written as a table, without an import of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa


class SupportsArrowStream(Protocol):
    """A table with Arrow's stream interface, such as those of Polars, DuckDB and pandas."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with an ArrowArrayStream."""


ArrowTable: TypeAlias = "pa.Table | pa.RecordBatch | pa.RecordBatchReader | SupportsArrowStream"
