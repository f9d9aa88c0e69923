"""Stream options: what a Jelly stream says about itself in its first row, and what a reader accepts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeVar

from jellyframe.errors import LimitError, OptionsError
from jellyframe.wire import BYTES, VARINT, decode_fields, encode_bytes_field, encode_varint

_E = TypeVar("_E", bound=IntEnum)

MIN_NAME_TABLE_SIZE: Final = 8
VERSION_1_0: Final = 1
VERSION_1_1: Final = 2


class PhysicalType(IntEnum):
    """How statements lie in the rows."""

    UNSPECIFIED = 0
    TRIPLES = 1
    QUADS = 2
    GRAPHS = 3


class LogicalType(IntEnum):
    """What the frames of a stream mean. The last digit is the base type."""

    UNSPECIFIED = 0
    FLAT_TRIPLES = 1
    FLAT_QUADS = 2
    GRAPHS = 3
    DATASETS = 4
    SUBJECT_GRAPHS = 13
    NAMED_GRAPHS = 14
    TIMESTAMPED_NAMED_GRAPHS = 114

    @property
    def base(self) -> LogicalType:
        return LogicalType(self.value % 10)

    @property
    def is_grouped(self) -> bool:
        """Whether each frame is a graph or a dataset of its own."""
        return self.base in (LogicalType.GRAPHS, LogicalType.DATASETS)


# RdfStreamOptions: field number to (name in StreamOptions, wire type).
_OPTION_FIELDS = {
    1: ("stream_name", BYTES),
    2: ("physical_type", VARINT),
    3: ("generalized_statements", VARINT),
    4: ("rdf_star", VARINT),
    9: ("max_name_table_size", VARINT),
    10: ("max_prefix_table_size", VARINT),
    11: ("max_datatype_table_size", VARINT),
    14: ("logical_type", VARINT),
    15: ("version", VARINT),
}

_TRIPLE_LOGICAL_TYPES: Final = (LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS)


# What no input needs, and what would let it exhaust the memory or the stack.
_LARGEST_LIMITS: Final = {
    "max_name_table_size": 1 << 24,
    "max_prefix_table_size": 1 << 24,
    "max_datatype_table_size": 1 << 24,
    "max_nesting_depth": 10_000,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader accepts from input it does not trust. A size in a header is checked before memory is taken."""

    max_name_table_size: int = 4096
    max_prefix_table_size: int = 4096
    max_datatype_table_size: int = 4096
    max_frame_bytes: int = 256 * 1024 * 1024
    max_nesting_depth: int = 96
    max_inflated_bytes: int = 64 << 30
    max_inflation_ratio: int = 250

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 0:
                raise OptionsError(f"the limit {name} is negative")
            largest = _LARGEST_LIMITS.get(name)
            if largest is not None and getattr(self, name) > largest:
                raise OptionsError(f"the limit {name} is {getattr(self, name)}, and must be at most {largest}")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options row. `version` 0 stands for the lowest tag that covers what the stream uses, chosen when writing."""

    physical_type: PhysicalType = PhysicalType.TRIPLES
    logical_type: LogicalType = LogicalType.UNSPECIFIED
    stream_name: str = ""
    generalized_statements: bool = False
    rdf_star: bool = False
    max_name_table_size: int = 4000
    max_prefix_table_size: int = 150
    max_datatype_table_size: int = 32
    version: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "physical_type", _enum(PhysicalType, self.physical_type, "physical type"))
        object.__setattr__(self, "logical_type", _enum(LogicalType, self.logical_type, "logical type"))

    @classmethod
    def big(cls, **changes: Any) -> StreamOptions:
        """The usual preset for files: 4000 names, 150 prefixes, 32 datatypes."""
        return cls(**changes)

    @classmethod
    def small(cls, **changes: Any) -> StreamOptions:
        """The preset for small messages and small devices: 128 names, 16 prefixes, 16 datatypes."""
        sizes = {"max_name_table_size": 128, "max_prefix_table_size": 16, "max_datatype_table_size": 16}
        return cls(**{**sizes, **changes})

    def replace(self, **changes: Any) -> StreamOptions:
        return dataclasses.replace(self, **changes)

    @property
    def has_graph(self) -> bool:
        """Whether the statements are quads."""
        return self.physical_type is not PhysicalType.TRIPLES

    def check(self) -> None:
        """Raise unless these options can stand at the start of a stream."""
        if self.physical_type is PhysicalType.UNSPECIFIED:
            raise OptionsError("the physical type is unspecified: it must be TRIPLES, QUADS or GRAPHS")
        if self.max_name_table_size < MIN_NAME_TABLE_SIZE:
            raise OptionsError(
                f"max_name_table_size is {self.max_name_table_size}, and must be at least {MIN_NAME_TABLE_SIZE}"
            )
        if self.max_prefix_table_size < 0 or self.max_datatype_table_size < 0:
            raise OptionsError("a lookup table cannot have a negative size")
        if self.logical_type is not LogicalType.UNSPECIFIED:
            wants_triples = self.logical_type.base in _TRIPLE_LOGICAL_TYPES
            if wants_triples is self.has_graph:
                raise OptionsError(
                    f"logical type {self.logical_type.name} does not go with physical type {self.physical_type.name}"
                )

    def check_readable(self, limits: Limits) -> None:
        """Raise unless a stream with these options may be read under `limits`."""
        if not VERSION_1_0 <= self.version <= VERSION_1_1:
            raise OptionsError(
                f"version tag {self.version} is not supported: this reader knows {VERSION_1_0} to {VERSION_1_1}"
            )
        self.check()
        for table in ("max_name_table_size", "max_prefix_table_size", "max_datatype_table_size"):
            asked, allowed = getattr(self, table), getattr(limits, table)
            if asked > allowed:
                raise LimitError(
                    f"{table} is {asked}, above the limit of {allowed}; raise Limits.{table} if you trust the input"
                )

    def with_version(self, *, uses_1_1: bool) -> StreamOptions:
        """These options with a definite version tag."""
        if self.version == 0:
            return self.replace(version=VERSION_1_1 if uses_1_1 else VERSION_1_0)
        if not VERSION_1_0 <= self.version <= VERSION_1_1:
            raise OptionsError(
                f"version tag {self.version} cannot be written: it must be {VERSION_1_0} or {VERSION_1_1}"
            )
        if uses_1_1 and self.version < VERSION_1_1:
            raise OptionsError("namespaces, frame metadata and the index frame need version tag 2 (or 0 to choose)")
        return self

    def to_bytes(self) -> bytes:
        """The RdfStreamOptions message."""
        out = bytearray()
        for field, (name, wire_type) in _OPTION_FIELDS.items():
            value = getattr(self, name)
            if not value:
                continue
            if wire_type == BYTES:
                out += encode_bytes_field(field, value.encode())
            else:
                out += encode_varint(field << 3) + encode_varint(int(value))
        return bytes(out)

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamOptions:
        """Read an RdfStreamOptions message. Whether the options make sense is for `check` to say."""
        values: dict[str, object] = {
            "physical_type": 0,
            "max_name_table_size": 0,
            "max_prefix_table_size": 0,
            "max_datatype_table_size": 0,
        }
        for field, wire_type, value in decode_fields(data):
            if field not in _OPTION_FIELDS:
                continue
            name, expected = _OPTION_FIELDS[field]
            if wire_type != expected:
                raise OptionsError(f"the option {name} has the wire type {wire_type}, and must have {expected}")
            if isinstance(value, bytes):
                try:
                    values[name] = value.decode()
                except UnicodeDecodeError:
                    raise OptionsError(f"the option {name} is not valid UTF-8") from None
            elif name in ("generalized_statements", "rdf_star"):
                values[name] = value != 0
            else:
                values[name] = value
        return cls(**values)  # type: ignore[arg-type]


def _enum(kind: type[_E], value: int, what: str) -> _E:
    try:
        return kind(value)
    except ValueError:
        raise OptionsError(f"{value} is no {what}") from None
