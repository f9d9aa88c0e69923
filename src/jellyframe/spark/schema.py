"""The columns of the data sources, as Spark types and as Arrow types."""

from __future__ import annotations

from inspect import signature

import pyarrow as pa
from pyspark.sql.types import BinaryType, DataType, LongType, MapType, StringType, StructField, StructType

from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN, POSITIONS, TERM_STRUCT, get_layout
from jellyframe.arrow.operations import OP_COLUMN
from jellyframe.errors import OptionsError
from jellyframe.ops.bad_input import PERMISSIVE
from jellyframe.ops.rows import FILE_COLUMN, Columns
from jellyframe.options import LayoutName
from jellyframe.spark.options import ReadOptions

DEFAULT_LAYOUT: LayoutName = "struct"

_STRING = StringType()
_TERM = StructType([StructField(field.name, _STRING) for field in TERM_STRUCT])
_EXTRA_COLUMNS: dict[str, DataType] = {
    FRAME_COLUMN: LongType(),
    FILE_COLUMN: _STRING,
    METADATA_COLUMN: MapType(_STRING, BinaryType()),
}


def layout_columns(layout: str) -> dict[str, DataType]:
    """Return the columns of statements in a layout."""
    return {
        field.name: _TERM if pa.types.is_struct(field.type) else _STRING
        for position in POSITIONS
        for field in get_layout(layout).fields(position)
    }


def _row_columns(layout: str, options: ReadOptions) -> dict[str, DataType]:
    """Return the columns of a format in a layout: those of statements, and for patches the operation in front."""
    terms = layout_columns(layout)
    return {OP_COLUMN: _STRING, **terms} if options.format.is_patch else terms


def default_schema(options: ReadOptions) -> StructType:
    """Return the schema of a read for which the user gives none."""
    statement = _row_columns(options.layout or DEFAULT_LAYOUT, options)
    known = {**statement, **_EXTRA_COLUMNS}
    names: list[str] = []
    for name in options.columns or ("*",):
        if name == "*":
            names += statement
        elif name in known:
            names.append(name)
        else:
            raise OptionsError(f"option columns: there is no column {name!r}; there are {', '.join(known)}")
    if len(set(names)) < len(names):
        raise OptionsError(f"option columns: a column is named twice in {', '.join(names)}")
    schema = StructType([StructField(name, known[name]) for name in names])
    if options.mode == PERMISSIVE:
        schema = schema.add(options.corrupt_column, _STRING)
    return schema


def columns_of(schema: StructType, options: ReadOptions) -> Columns:
    """Return the columns to read for a schema, which the user may have given."""
    layout = options.layout or _guess_layout(schema)
    known = _row_columns(layout, options)
    corrupt = None
    has: DataType
    for field in schema.fields:
        wanted = field.dataType
        if field.name == options.corrupt_column:
            corrupt, has = field.name, _STRING
        elif field.name in known:
            has = known[field.name]
        elif field.name in _EXTRA_COLUMNS:
            has = _EXTRA_COLUMNS[field.name]
        else:
            names = ", ".join([*known, *_EXTRA_COLUMNS, options.corrupt_column])
            raise OptionsError(f"schema: the layout {layout} has no column {field.name!r}; there are {names}")
        if not _is_part(wanted, has):
            raise OptionsError(
                f"schema: column {field.name!r} is {wanted.simpleString()}; in the layout {layout} "
                f"it is {has.simpleString()}"
            )
    if not schema.fields:
        raise OptionsError("schema: it has no columns")
    statement = tuple(name for name in schema.names if name in known)
    return Columns(layout, exact_arrow_schema(schema), statement, corrupt)


def _is_part(wanted: DataType, has: DataType) -> bool:
    """Return whether a column can be read as the wanted type: the same type, or some fields of a struct."""
    if isinstance(wanted, StructType) and isinstance(has, StructType):
        types = {field.name: field.dataType for field in has.fields}
        return bool(wanted.fields) and all(types.get(field.name) == field.dataType for field in wanted.fields)
    if isinstance(wanted, MapType) and isinstance(has, MapType):
        return wanted.keyType == has.keyType and wanted.valueType == has.valueType
    return wanted == has


def _guess_layout(schema: StructType) -> str:
    """Return the layout of a user's schema: structs, or strings with or without columns beside `o`."""
    if any(name.startswith("o_") for name in schema.names):
        return "flat"
    types = [field.dataType for field in schema.fields if field.name in POSITIONS]
    return "ntriples" if types and all(isinstance(kind, StringType) for kind in types) else DEFAULT_LAYOUT


def exact_arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema that Spark expects of batches."""
    from pyspark.sql.pandas.types import to_arrow_schema

    # From Spark 4.2 on the time zone of timestamps is a required argument; before, it was always UTC.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **zone)  # type: ignore[arg-type]
