"""Parse and check the options of the data sources, which Spark passes as strings."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from jellyframe import formats
from jellyframe.arrow.operations import OP_NAMES
from jellyframe.defaults import DEFAULT_BATCH_ROWS, DIALECT_NAMES, LAYOUT_NAMES
from jellyframe.errors import OptionsError
from jellyframe.formats import Format
from jellyframe.ops.bad_input import CORRUPT_COLUMN, FAILFAST, MODES, Mode
from jellyframe.ops.filters import FILTERS
from jellyframe.ops.inputs import InputOptions
from jellyframe.ops.jelly_files import FilePlan, JellyFileOptions
from jellyframe.ops.patch_files import PatchFileOptions, PatchFilePlan
from jellyframe.ops.stream_files import StreamFileOptions
from jellyframe.options import (
    DialectName,
    Limits,
    LogicalType,
    PhysicalType,
    StreamOptionChanges,
    StreamOptions,
    TableOptions,
)
from jellyframe.patch.options import PatchOptionChanges, PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.sizes import parse_size
from jellyframe.storage.names import NameTest
from jellyframe.storage.types import COMPRESSIONS

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_D = TypeVar("_D")
_E = TypeVar("_E", bound=IntEnum)
_S = TypeVar("_S", bound=str)

OPERATIONS = {name: operation for operation, name in OP_NAMES.items()}
# `CREATE TABLE` passes the properties of the table instead of options; this property is always among them.
_TABLE_PROVIDER = "provider"
_OPTION_PREFIX = "option."
_QUERY_OPTIONS = ("checkpointlocation", "queryname")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class GivenOptions:
    """Options as PySpark passes them. Case and underscores in names do not matter."""

    def __init__(self, options: Mapping[str, str], found: Format, format_name: str | None = None) -> None:
        self.format = found
        self._format_name = format_name or found.name
        if _TABLE_PROVIDER in options:
            options = _table_options(options)
        # Keys that contain a dot are Spark's own.
        self._values = {_plain_name(key): value for key, value in options.items() if "." not in key}
        self._known: dict[str, str] = {}

    def take(self, name: str, read: Callable[[str], _T], default: _D) -> _T | _D:
        """Return the parsed value of an option, or the default. `read` raises ValueError for bad values."""
        self._known[_plain_name(name)] = name
        text = self._values.get(_plain_name(name))
        if text is None:
            return default
        try:
            return read(text)
        except ValueError as error:
            raise OptionsError(f"option {name} = {text!r}: {error}") from None

    def refuse_others(self) -> None:
        """Raise OptionsError if there are options that were not taken, which are most likely misspelled."""
        for name in self._values:
            if name not in self._known:
                close = difflib.get_close_matches(name, self._known, 1)
                hint = (
                    f"did you mean {self._known[close[0]]}?"
                    if close
                    else f"there are {', '.join(self._known.values())}"
                )
                raise OptionsError(f"the format {self._format_name} has no option {name!r} here; {hint}")


def without_query_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those of the streaming query, which Spark passes to sinks too."""
    return {name: value for name, value in options.items() if name.lower() not in _QUERY_OPTIONS}


def _plain_name(name: str) -> str:
    return name.lower().replace("_", "")


def _table_options(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the options among the properties of a table: its path, and those given in OPTIONS.

    The other properties are Spark's own (`location`, `owner`, `provider`, …), or come from TBLPROPERTIES.
    """
    named = {
        name.removeprefix(_OPTION_PREFIX): value
        for name, value in properties.items()
        if name.startswith(_OPTION_PREFIX)
    }
    return {**named, "path": properties["path"]} if "path" in properties else named


# ---- parsers of values ----


def boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError("it must be true or false")
    return _BOOLEANS[text.lower()]


def positive_size(text: str) -> int:
    size = parse_size(text)
    if size < 1:
        raise ValueError("it must be at least 1")
    return size


def _size_or_none(text: str) -> int | None:
    return None if text.lower() in ("none", "off", "false", "0") else parse_size(text)


def one_of(*choices: _S) -> Callable[[str], _S]:
    def read(text: str) -> _S:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"it must be one of {', '.join(choices)}")

    return read


def _member(kind: type[_E]) -> Callable[[str], _E]:
    names = one_of(*kind.__members__)
    return lambda text: kind[names(text)]


def names_with_commas(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ValueError("it must be names separated by commas")
    return names


def _strings(text: str) -> tuple[str, ...]:
    """Parse a JSON array of strings."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("it must be a JSON array of strings")
    return tuple(values)


def _terms(text: str) -> tuple[str, ...]:
    """Parse a JSON array, or terms separated by spaces, which IRIs cannot contain."""
    terms = _strings(text) if text.lstrip().startswith("[") else tuple(text.split())
    if not terms:
        raise ValueError("it contains no term")
    return terms


# ---- reading ----


@dataclass(frozen=True)
class StreamReadOptions:
    """The options that only `spark.readStream` has."""

    max_files: int | None = None
    max_bytes: int | None = None
    state_location: str | None = None
    ignore_missing_files: bool = False

    @classmethod
    def take(cls, given: GivenOptions) -> StreamReadOptions:
        taken = cls(
            max_files=given.take("maxFilesPerTrigger", positive_size, None),
            max_bytes=given.take("maxBytesPerTrigger", positive_size, None),
            state_location=given.take("stateLocation", str, None),
            ignore_missing_files=given.take("ignoreMissingFiles", boolean, False),
        )
        if taken.max_files is not None and taken.max_bytes is not None:
            raise OptionsError("maxFilesPerTrigger and maxBytesPerTrigger exclude each other: give only one of them")
        return taken


@dataclass(frozen=True)
class ReadOptions:
    """The options of `spark.read.format("jelly")` and `format("jelly-patch")`."""

    paths: tuple[str, ...]
    format: Format = formats.JELLY
    layout: str | None = None
    columns: tuple[str, ...] | None = None
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mode: Mode = FAILFAST
    corrupt_column: str = CORRUPT_COLUMN
    partition_bytes: int | None = None
    batch_rows: int = DEFAULT_BATCH_ROWS
    concatenated: bool = False
    lenient: bool = False
    dialect: DialectName = "released"
    limits: Limits = field(default_factory=Limits)
    stream: StreamReadOptions = field(default_factory=StreamReadOptions)
    strict: bool = True
    committed: bool = False
    operations: tuple[str, ...] = ()

    @classmethod
    def read(cls, options: Mapping[str, str], found: Format = formats.JELLY) -> ReadOptions:
        given = GivenOptions(options, found)
        filters: dict[str, tuple[str, ...]] = {}
        nothing: tuple[str, ...] = ()
        for name, position in FILTERS.items():
            terms = given.take(name, _terms, nothing)
            if terms:
                filters[position] = terms
        result = cls(
            paths=_paths(given),
            format=found,
            layout=given.take("layout", one_of(*LAYOUT_NAMES), None),
            columns=given.take("columns", names_with_commas, None),
            filters=filters,
            mode=given.take("mode", one_of(*MODES), FAILFAST),
            corrupt_column=given.take("columnNameOfCorruptRecord", str, CORRUPT_COLUMN),
            partition_bytes=given.take("partition_bytes", positive_size, None),
            batch_rows=given.take("batch_rows", positive_size, DEFAULT_BATCH_ROWS),
            concatenated=given.take("concatenated", boolean, False),
            lenient=given.take("lenient", boolean, False),
            dialect=given.take("dialect", _patch_dialect if found.is_patch else one_of(*DIALECT_NAMES), "released"),
            limits=Limits(**_limits(given)),
            stream=StreamReadOptions.take(given),
            **(_patch_reading(given) if found.is_patch else {}),
        )
        given.refuse_others()
        return result

    @property
    def is_data(self) -> NameTest:
        """Return a test that accepts the names of files in the format."""
        return formats.name_test((self.format,))

    @property
    def inputs(self) -> InputOptions:
        """Return the options that apply to reading files, independent of the resulting columns."""
        return InputOptions(
            filters=self.filters,
            mode=self.mode,
            batch_rows=self.batch_rows,
            concatenated=self.concatenated,
            lenient=self.lenient,
            dialect=self.dialect,
            limits=self.limits,
            strict=self.strict,
            committed=self.committed,
            operations=tuple(OPERATIONS[name] for name in self.operations),
        )


def _patch_reading(given: GivenOptions) -> dict[str, Any]:
    return {
        "strict": given.take("strict", boolean, True),
        "committed": given.take("committed", boolean, False),
        "operations": given.take("operations", _operations, ()),
    }


def _patch_dialect(text: str) -> DialectName:
    dialect = one_of(*DIALECT_NAMES)(text)
    if dialect != "released":
        raise ValueError("only data can be in it, as it has no patches; leave the option out")
    return dialect


def _operations(text: str) -> tuple[str, ...]:
    read = one_of(*OPERATIONS)
    return tuple(read(name) for name in names_with_commas(text))


def _limits(given: GivenOptions) -> dict[str, int]:
    named = {limit.name: given.take(limit.name, parse_size, None) for limit in fields(Limits)}
    return {name: value for name, value in named.items() if value is not None}


def _paths(given: GivenOptions) -> tuple[str, ...]:
    nothing: tuple[str, ...] = ()
    path = given.take("path", str, "")
    paths = given.take("paths", _strings, nothing)
    if not path and not paths:
        raise OptionsError(
            'no path is given: use load("…"), load(["…", …]) or save("…"); in SQL, where Spark does not pass on '
            "the location of a table, a temporary view with the option path, or: FROM table WITH (path = '…')"
        )
    return (path, *paths) if path else paths


# ---- writing ----


@dataclass(frozen=True, kw_only=True)
class WriteOptions(JellyFileOptions):
    """The options of `df.write.format("jelly")`."""

    path: str

    @classmethod
    def read(cls, options: Mapping[str, str]) -> WriteOptions:
        given = GivenOptions(options, formats.JELLY)
        result = cls(
            **_file_options(given),
            stream=cast("StreamOptionChanges", stream_options(given, StreamOptions, StreamOptions.small())),
            sort=given.take("sort", _sort_columns, ()),
            sort_rows=given.take("sort_rows", positive_size, cls.sort_rows),
            dialect=given.take("dialect", one_of(*DIALECT_NAMES), "released"),
        )
        given.refuse_others()
        return result

    @property
    def is_data(self) -> NameTest:
        """Which files an overwrite replaces."""
        return formats.name_test((formats.JELLY,))

    def plan(self, schema: pa.Schema) -> FilePlan:
        """Return how tables of a schema are written."""
        return FilePlan.of(self, schema)


@dataclass(frozen=True, kw_only=True)
class PatchWriteOptions(PatchFileOptions):
    """The options of `df.write.format("jelly-patch")`."""

    path: str

    @classmethod
    def read(cls, options: Mapping[str, str]) -> PatchWriteOptions:
        given = GivenOptions(options, formats.JELLY_PATCH)
        result = cls(
            **_file_options(given),
            stream=cast("PatchOptionChanges", stream_options(given, PatchOptions, PatchOptions.small())),
        )
        given.refuse_others()
        return result

    @property
    def is_data(self) -> NameTest:
        """Which files an overwrite replaces."""
        return formats.name_test((formats.JELLY_PATCH,))

    def plan(self, schema: pa.Schema) -> PatchFilePlan:
        """Return how tables of a schema are written."""
        return PatchFilePlan.of(self, schema)


AnyWriteOptions: TypeAlias = WriteOptions | PatchWriteOptions


def read_write_options(options: Mapping[str, str], found: Format) -> AnyWriteOptions:
    """Parse the writing options of a format."""
    return PatchWriteOptions.read(options) if found.is_patch else WriteOptions.read(options)


def _file_options(given: GivenOptions) -> dict[str, Any]:
    """Return the writing options that both formats have."""
    paths = _paths(given)
    if len(paths) != 1:
        raise OptionsError(f"{len(paths)} paths are given to write to; give one")
    usual = StreamFileOptions()
    compression = given.take("compression", one_of(*COMPRESSIONS, "none"), "none")
    return {
        "path": paths[0],
        "layout": given.take("layout", one_of(*LAYOUT_NAMES), None),
        "frame_rows": given.take("frame_rows", _size_or_none, usual.frame_rows),
        "frame_bytes": given.take("frame_bytes", _size_or_none, usual.frame_bytes),
        "restart_every": given.take("restart_every", _size_or_none, usual.restart_every),
        "index": given.take("index", boolean, None),
        "compression": None if compression == "none" else compression,
        "group_by": given.take("group_by", str, None),
        "max_records_per_file": given.take("maxRecordsPerFile", _size_or_none, None),
    }


def _sort_columns(text: str) -> tuple[str, ...]:
    if text.lower() in _BOOLEANS:
        return ("g", "s", "p") if boolean(text) else ()
    names = names_with_commas(text)
    if any(name not in ("s", "p", "o", "g") for name in names):
        raise ValueError("it must be true, or some of s, p, o, g separated by commas")
    return names


def stream_options(given: GivenOptions, kind: type[TableOptions], small: TableOptions) -> dict[str, Any]:
    """Return the stream options that are given, by name. `small` is the preset of that name."""
    readers: dict[str, Callable[[str], Any]] = {
        "physical_type": _member(PhysicalType),
        "logical_type": _member(LogicalType),
        "statement_type": _member(PatchStatementType),
        "stream_type": _member(PatchStreamType),
        "stream_name": str,
        "generalized_statements": boolean,
        "rdf_star": boolean,
        "use_repeat": boolean,
    }
    named: dict[str, Any] = {}
    names = [option.name for option in fields(cast("Any", kind))]
    preset = given.take("preset", one_of("big", "small"), "big")
    if preset == "small":
        named = {name: getattr(small, name) for name in names if name.endswith("_table_size")}
    for name in names:
        value = given.take(name, readers.get(name, parse_size), None)
        if value is not None:
            named[name] = value
    return named
