"""Types of arguments: Spark sessions, and options by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, TypeVar

if TYPE_CHECKING:
    import pyspark.sql
    import pyspark.sql.connect.session

    from jellyframe.ops.inputs import BlankNodes
    from jellyframe.options import DialectName, LayoutName, LogicalType, PhysicalType
    from jellyframe.patch.options import PatchStatementType, PatchStreamType
    from jellyframe.storage.types import Compression

# A session in this process, or one that is connected to a server: Spark has no common type.
Session: TypeAlias = "pyspark.sql.SparkSession | pyspark.sql.connect.session.SparkSession"

# The type of a session that is returned as it was given.
AnySession = TypeVar("AnySession", bound=Session)

# A number, or text such as `64k`.
Size: TypeAlias = "int | str"
# Terms separated by spaces, a JSON array, or a list.
Terms: TypeAlias = "str | Sequence[str]"


class SourceOptions(TypedDict, total=False):
    """Reading options of the data source; `docs/spark.md` explains them."""

    columns: str | Sequence[str]
    subjects: Terms
    predicates: Terms
    objects: Terms
    graphs: Terms
    partition_bytes: Size | None
    batch_rows: Size
    concatenated: bool
    lenient: bool
    dialect: DialectName
    columnNameOfCorruptRecord: str
    max_name_table_size: Size
    max_prefix_table_size: Size
    max_datatype_table_size: Size
    max_frame_bytes: Size
    max_nesting_depth: Size
    max_inflated_bytes: Size
    max_inflation_ratio: Size


class StatementOptions(SourceOptions, total=False):
    """Further arguments of `read_statements`."""

    blank_nodes: BlankNodes


class FileOptions(TypedDict, total=False):
    """Writing options of the data source; `docs/spark.md` explains them."""

    layout: LayoutName | None
    frame_rows: Size | None
    frame_bytes: Size | None
    restart_every: Size | None
    index: bool
    compression: Compression | Literal["none"] | None
    sort_rows: Size
    maxRecordsPerFile: Size
    preset: Literal["big", "small"]
    physical_type: PhysicalType | str
    logical_type: LogicalType | str
    stream_name: str
    generalized_statements: bool
    rdf_star: bool
    max_name_table_size: Size
    max_prefix_table_size: Size
    max_datatype_table_size: Size
    version: int
    use_repeat: bool
    dialect: DialectName


class PatchFileOptions(TypedDict, total=False):
    """Writing options of the data source `jelly-patch`; `docs/spark.md` explains them."""

    frame_rows: Size | None
    frame_bytes: Size | None
    restart_every: Size | None
    index: bool
    compression: Compression | Literal["none"] | None
    maxRecordsPerFile: Size
    preset: Literal["big", "small"]
    statement_type: PatchStatementType | str
    stream_type: PatchStreamType | str
    generalized_statements: bool
    rdf_star: bool
    max_name_table_size: Size
    max_prefix_table_size: Size
    max_datatype_table_size: Size


class OutputOptions(FileOptions, total=False):
    """Writing options of the data source with `sort`: the columns by which rows are sorted in runs."""

    sort: bool | str | Sequence[str]
