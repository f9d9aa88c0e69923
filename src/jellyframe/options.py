"""Stream options: what a Jelly stream says about itself in its first row, and what a reader accepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypedDict, TypeVar, Unpack

from jellyframe.defaults import (
    DATATYPE_TABLE_SIZE,
    NAME_TABLE_SIZE,
    PREFIX_TABLE_SIZE,
    SMALL_DATATYPE_TABLE_SIZE,
    SMALL_NAME_TABLE_SIZE,
    SMALL_PREFIX_TABLE_SIZE,
)
from jellyframe.defaults import DialectName as DialectName
from jellyframe.defaults import LayoutName as LayoutName
from jellyframe.errors import Advice, EncodeError, LimitError, OptionsError, SettingError, StreamKindError, shortened
from jellyframe.wire import BYTES, VARINT, decode_fields, encode_bytes_field, encode_string, encode_varint

_E = TypeVar("_E", bound=IntEnum)

MIN_NAME_TABLE_SIZE: Final = 8
# More entries than any table of use has: the ids alone would take four bytes each.
MAX_TABLE_SIZE: Final = 1 << 24
# The most that protobuf allows for a message.
MAX_FRAME_BYTES: Final = 0x7FFFFFFF
# Rows are numbered in four bytes.
MAX_BATCH_ROWS: Final = 0x7FFFFFFF
# Deeper nesting than protobuf readers, N-Triples or Python objects can stand.
MAX_NESTING_DEPTH: Final = 1000
# The number of the logical type in the options of statements, which neither patches nor the draft have.
LOGICAL_TYPE_FIELD: Final = 14
VERSION_1_0: Final = 1
VERSION_1_1: Final = 2
# Longer options have a long stream name, which is not worth its memory.
_MOST_REMEMBERED_BYTES: Final = 500


class PhysicalType(IntEnum):
    """The representation of statements in rows."""

    UNSPECIFIED = 0
    TRIPLES = 1
    QUADS = 2
    GRAPHS = 3


class LogicalType(IntEnum):
    """The meaning of the frames of a stream. The last digit is the base type."""

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
        """The base type, of which this one is a special case."""
        return LogicalType(self.value % 10)

    @property
    def is_grouped(self) -> bool:
        """Whether each frame is a separate graph or dataset."""
        return self.base in (LogicalType.GRAPHS, LogicalType.DATASETS)


# The fields of an options message: number to (name of the option, wire type).
OptionFields: TypeAlias = Mapping[int, tuple[str, int]]
# RdfStreamOptions.
_OPTION_FIELDS: Final[OptionFields] = {
    1: ("stream_name", BYTES),
    2: ("physical_type", VARINT),
    3: ("generalized_statements", VARINT),
    4: ("rdf_star", VARINT),
    9: ("max_name_table_size", VARINT),
    10: ("max_prefix_table_size", VARINT),
    11: ("max_datatype_table_size", VARINT),
    LOGICAL_TYPE_FIELD: ("logical_type", VARINT),
    15: ("version", VARINT),
}

_TRIPLE_LOGICAL_TYPES: Final = (LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS)


# Options that are true or false.
_FLAGS: Final = ("generalized_statements", "rdf_star", "use_repeat")
# Table in StreamOptions and Limits.
_TABLES: Final = ("max_name_table_size", "max_prefix_table_size", "max_datatype_table_size")
_MOST: Final = {
    **dict.fromkeys(_TABLES, MAX_TABLE_SIZE),
    "max_frame_bytes": MAX_FRAME_BYTES,
    "max_nesting_depth": MAX_NESTING_DEPTH,
}


class TableOptions(Protocol):
    """The options that streams of all kinds have: which terms may occur, and the sizes of the lookup tables."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    @property
    def generalized_statements(self) -> bool: ...

    @property
    def rdf_star(self) -> bool: ...

    @property
    def max_name_table_size(self) -> int: ...

    @property
    def max_prefix_table_size(self) -> int: ...

    @property
    def max_datatype_table_size(self) -> int: ...


def check_number(what: str, value: int, least: int, most: int | None = None) -> None:
    """Raise a SettingError unless a value is an integer from `least` to `most`, or without an end if that is None."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingError(f"{what} is {shortened(str(value))}, and must be a whole number", what)
    if value < least:
        raise SettingError(f"{what} is {value}, and must be at least {least}", what)
    if most is not None and value > most:
        raise SettingError(f"{what} is {value}, and must be at most {most}", what)


def check_batch_rows(batch_rows: int) -> None:
    """Raise a SettingError unless a number of rows in a batch is valid."""
    check_number("batch_rows", batch_rows, 1, MAX_BATCH_ROWS)


def check_word(what: str, value: str, known: Iterable[str]) -> None:
    """Raise a SettingError unless a value is one of the `known` words."""
    if value not in known:
        raise SettingError(f"{what} is {shortened(str(value))}, and must be one of {', '.join(known)}", what)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for untrusted input. A size in a header is checked before memory is allocated.

    Attributes:
        max_name_table_size: entries in the table of names
        max_prefix_table_size: entries in the table of prefixes
        max_datatype_table_size: entries in the table of datatypes
        max_frame_bytes: bytes of one frame
        max_nesting_depth: quoted triples inside each other
        max_inflated_bytes: bytes that compressed input may inflate to
        max_inflation_ratio: how many times as large compressed input may become
    """

    max_name_table_size: int = 4096
    max_prefix_table_size: int = 4096
    max_datatype_table_size: int = 4096
    max_frame_bytes: int = 256 * 1024 * 1024
    max_nesting_depth: int = 96
    max_inflated_bytes: int = 64 << 30
    max_inflation_ratio: int = 250

    def __post_init__(self) -> None:
        for name in self.__slots__:
            check_number(f"the limit {name}", getattr(self, name), 0, _MOST.get(name))


# Made once: readers of messages are made by the thousand.
DEFAULT_LIMITS: Final = Limits()


class OptionChanges(TypedDict, total=False):
    """Stream options that change when a stream is rewritten; the others stay as they are."""

    physical_type: PhysicalType
    logical_type: LogicalType
    stream_name: str
    generalized_statements: bool
    rdf_star: bool
    max_name_table_size: int
    max_prefix_table_size: int
    max_datatype_table_size: int
    use_repeat: bool


class StreamOptionChanges(OptionChanges, total=False):
    """The fields of `StreamOptions`, as keyword arguments that change some of them."""

    version: int


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options row of a stream.

    As they are, they let a writer take any statement: the first one decides between triples and quads (`physical_type`
    UNSPECIFIED), and every kind of term is allowed. `version` is the lowest tag to write: a writer raises it where the
    stream uses what came later, such as namespaces, and 0 leaves the choice to it.

    Attributes:
        physical_type: how statements lie in the rows; UNSPECIFIED, when writing, as the data or `logical_type` asks for
        logical_type: what frames mean; UNSPECIFIED together with `physical_type`, when writing, for a flat stream
        stream_name: a name for the stream, for its readers
        generalized_statements: whether any term may stand at any position
        rdf_star: whether quoted triples may occur
        max_name_table_size: entries in the table of names, at least 8
        max_prefix_table_size: entries in the table of prefixes; 0 to write IRIs whole
        max_datatype_table_size: entries in the table of datatypes; 0 if there are none but xsd:string
        version: 1 for version 1.0 of the format, 2 for 1.1, 0 (when writing) for the lowest that will do
        use_repeat: whether terms may be repeated, in the draft dialect; streams in the released format always do that,
            whatever it says
    """

    physical_type: PhysicalType = PhysicalType.UNSPECIFIED
    logical_type: LogicalType = LogicalType.UNSPECIFIED
    stream_name: str = ""
    generalized_statements: bool = True
    rdf_star: bool = True
    max_name_table_size: int = NAME_TABLE_SIZE
    max_prefix_table_size: int = PREFIX_TABLE_SIZE
    max_datatype_table_size: int = DATATYPE_TABLE_SIZE
    version: int = 0
    use_repeat: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "physical_type", enum_member(PhysicalType, self.physical_type, "physical type"))
        object.__setattr__(self, "logical_type", enum_member(LogicalType, self.logical_type, "logical type"))

    @classmethod
    def big(cls, **changes: Unpack[StreamOptionChanges]) -> StreamOptions:
        """Return the usual preset for files, 4000 names, 150 prefixes and 32 datatypes, with some `changes`."""
        return cls(**changes)

    @classmethod
    def small(cls, **changes: Unpack[StreamOptionChanges]) -> StreamOptions:
        """Return the preset for messages, 128 names, 16 prefixes and 16 datatypes, with some `changes`."""
        small = cls(
            max_name_table_size=SMALL_NAME_TABLE_SIZE,
            max_prefix_table_size=SMALL_PREFIX_TABLE_SIZE,
            max_datatype_table_size=SMALL_DATATYPE_TABLE_SIZE,
        )
        return small.replace(**changes)

    def replace(self, **changes: Unpack[StreamOptionChanges]) -> StreamOptions:
        """Return these options with some `changes`."""
        return dataclasses.replace(self, **changes)

    @property
    def has_graph(self) -> bool:
        """Whether the statements are quads. False as long as that is left open."""
        return self.physical_type in (PhysicalType.QUADS, PhysicalType.GRAPHS)

    @property
    def is_open(self) -> bool:
        """Whether the first statement is to decide between triples and quads."""
        return self.physical_type is PhysicalType.UNSPECIFIED and self.logical_type is LogicalType.UNSPECIFIED

    def resolved(self, *, has_graph: bool) -> StreamOptions:
        """Return these options with a definite physical type: the one they have, or else the one that is needed.

        A logical type asks for triples or quads; without one `has_graph` decides, and the stream is flat.
        """
        if self.physical_type is not PhysicalType.UNSPECIFIED:
            return self
        logical = self.logical_type
        if logical is LogicalType.UNSPECIFIED:
            logical = LogicalType.FLAT_QUADS if has_graph else LogicalType.FLAT_TRIPLES
        is_triples = logical.base in _TRIPLE_LOGICAL_TYPES
        return self.replace(
            physical_type=PhysicalType.TRIPLES if is_triples else PhysicalType.QUADS, logical_type=logical
        )

    def check(self) -> None:
        """Raise an OptionsError unless these options can stand at the start of a stream."""
        if self.physical_type is PhysicalType.UNSPECIFIED:
            raise OptionsError("the physical type is unspecified: it must be TRIPLES, QUADS or GRAPHS")
        check_table_sizes(self)
        self.check_types()

    def check_types(self) -> None:
        """Raise an OptionsError unless the logical type goes with the physical type."""
        if self.logical_type is not LogicalType.UNSPECIFIED:
            wants_triples = self.logical_type.base in _TRIPLE_LOGICAL_TYPES
            if wants_triples is self.has_graph:
                raise OptionsError(
                    f"logical type {self.logical_type.name} does not go with physical type {self.physical_type.name}"
                )

    def check_writable(self) -> None:
        """Raise an OptionsError unless a stream can be written with these options, depending on the first statement."""
        check_table_sizes(self, MAX_TABLE_SIZE)
        if self.physical_type is not PhysicalType.UNSPECIFIED:
            self.check_types()
        self._check_version()
        _encoded_name(self.stream_name)

    def check_readable(self, limits: Limits) -> None:
        """Raise an OptionsError or a LimitError unless a stream with these options may be read under `limits`."""
        if not VERSION_1_0 <= self.version <= VERSION_1_1:
            raise OptionsError(
                f"version tag {self.version} is not supported: this reader knows {VERSION_1_0} to {VERSION_1_1}"
            )
        self.check()
        check_table_limits(self, limits)

    def with_version(self, *, uses_1_1: bool) -> StreamOptions:
        """Return these options with the version tag to write: theirs, or a higher one that the stream needs.

        Args:
            uses_1_1: whether the stream uses what came with version 1.1
        """
        self._check_version()
        return self.replace(version=max(self.version, VERSION_1_1 if uses_1_1 else VERSION_1_0))

    def _check_version(self) -> None:
        if self.version not in (0, VERSION_1_0, VERSION_1_1):
            raise OptionsError(
                f"version tag {self.version} cannot be written: it must be {VERSION_1_0} or {VERSION_1_1}"
            )

    def to_bytes(self) -> bytes:
        """Return the RdfStreamOptions message."""
        return encode_options(self, _OPTION_FIELDS)

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamOptions:
        """Read an RdfStreamOptions message from `data`. Whether the options make sense is for `check` to say."""
        return _parsed(data) if len(data) > _MOST_REMEMBERED_BYTES else _remembered(data)


def _parsed(data: bytes) -> StreamOptions:
    refuse_patch_options(data)
    return StreamOptions(**decode_options(data, _OPTION_FIELDS))  # type: ignore[arg-type]


# Streams of one source, messages above all, mostly begin with the same options.
_remembered = lru_cache(maxsize=64)(_parsed)


def refuse_patch_options(data: bytes) -> None:
    """Raise a StreamKindError if an options message is that of a patch stream, which begins with a number."""
    if any(field == 1 and wire_type == VARINT for field, wire_type, _value in decode_fields(data)):
        raise StreamKindError(
            "this is a Jelly-Patch stream, not one of RDF statements",
            advice=Advice("function", "open_patch_reader", "jellyframe patch"),
        )


def term_settings(options: TableOptions) -> tuple[bool, bool, int, int, int]:
    """Return the options of terms in the order in which the kernel's decoders and encoders take them."""
    return (
        options.generalized_statements,
        options.rdf_star,
        options.max_name_table_size,
        options.max_prefix_table_size,
        options.max_datatype_table_size,
    )


def check_table_sizes(
    options: TableOptions, most: int | None = None, *, least_names: int = MIN_NAME_TABLE_SIZE
) -> None:
    """Raise an OptionsError unless the lookup tables of a stream have sizes that the format allows, up to `most`."""
    for table in _TABLES:
        check_number(table, getattr(options, table), least_names if table == _TABLES[0] else 0, most)


def check_table_limits(options: TableOptions, limits: Limits) -> None:
    """Raise a LimitError unless the lookup tables of a stream are within the limits."""
    for table in _TABLES:
        asked, allowed = getattr(options, table), getattr(limits, table)
        if asked > allowed:
            raise LimitError(f"{table} is {asked}, above the limit of {allowed}", advice=Advice("limit", table))


def encode_options(options: TableOptions, option_fields: OptionFields) -> bytes:
    """Return the message of options whose fields are given by their numbers."""
    out = bytearray()
    for field, (name, wire_type) in option_fields.items():
        value = getattr(options, name)
        if not value:
            continue
        if wire_type == BYTES:
            out += encode_bytes_field(field, _encoded_name(value))
        else:
            out += encode_varint(field << 3) + encode_varint(int(value))
    return bytes(out)


def decode_options(data: bytes, option_fields: OptionFields) -> dict[str, object]:
    """Read the message of options whose fields are given by their numbers, and return their values by name."""
    values: dict[str, object] = {
        "generalized_statements": False,
        "rdf_star": False,
        "max_name_table_size": 0,
        "max_prefix_table_size": 0,
        "max_datatype_table_size": 0,
    }
    for field, wire_type, value in decode_fields(data):
        if field not in option_fields:
            continue
        name, expected = option_fields[field]
        if wire_type != expected:
            raise OptionsError(f"the option {name} has the wire type {wire_type}, and must have {expected}")
        if isinstance(value, bytes):
            try:
                values[name] = value.decode()
            except UnicodeDecodeError:
                raise OptionsError(f"the option {name} is not valid UTF-8") from None
        elif name in _FLAGS:
            values[name] = value != 0
        else:
            values[name] = value
    return values


def _encoded_name(name: str) -> bytes:
    try:
        return encode_string(name, "the stream name")
    except EncodeError as error:
        raise OptionsError(error.message) from None


def enum_member(kind: type[_E], value: int, what: str) -> _E:
    """Return a member of an enumeration, or raise an OptionsError that says `what` the value is not."""
    try:
        return kind(value)
    except ValueError:
        raise OptionsError(f"{shortened(str(value))} is not a {what}") from None
