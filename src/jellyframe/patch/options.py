"""The options of patch streams, which are their first row."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypedDict, Unpack

from jellyframe.defaults import (
    DATATYPE_TABLE_SIZE,
    NAME_TABLE_SIZE,
    PREFIX_TABLE_SIZE,
    SMALL_DATATYPE_TABLE_SIZE,
    SMALL_NAME_TABLE_SIZE,
    SMALL_PREFIX_TABLE_SIZE,
)
from jellyframe.errors import Advice, OptionsError, StreamKindError
from jellyframe.options import (
    LOGICAL_TYPE_FIELD,
    MAX_TABLE_SIZE,
    Limits,
    OptionFields,
    check_table_limits,
    check_table_sizes,
    decode_options,
    encode_options,
    enum_member,
)
from jellyframe.wire import BYTES, VARINT, decode_fields

PATCH_VERSION: Final = 1


class PatchStatementType(IntEnum):
    """Whether the statements of a patch stream have a graph."""

    UNSPECIFIED = 0
    TRIPLES = 1
    QUADS = 2


class PatchStreamType(IntEnum):
    """The end of a patch: the end of the frame, the end of the stream, or a punctuation mark."""

    UNSPECIFIED = 0
    FRAME = 1
    FLAT = 2
    PUNCTUATED = 3


# RdfPatchOptions.
_OPTION_FIELDS: Final[OptionFields] = {
    1: ("statement_type", VARINT),
    2: ("stream_type", VARINT),
    3: ("generalized_statements", VARINT),
    4: ("rdf_star", VARINT),
    9: ("max_name_table_size", VARINT),
    10: ("max_prefix_table_size", VARINT),
    11: ("max_datatype_table_size", VARINT),
    15: ("version", VARINT),
}
# The field of RdfStreamOptions that RdfPatchOptions do not have.


class PatchOptionChanges(TypedDict, total=False):
    """The fields of `PatchOptions`, as keyword arguments that change some of them."""

    statement_type: PatchStatementType
    stream_type: PatchStreamType
    generalized_statements: bool
    rdf_star: bool
    max_name_table_size: int
    max_prefix_table_size: int
    max_datatype_table_size: int
    version: int


@dataclass(frozen=True, slots=True)
class PatchOptions:
    """The options row of a patch stream. By default a writer accepts any row.

    Attributes:
        statement_type: whether statements and namespaces have a graph
        stream_type: what ends a patch
        generalized_statements: whether any term may be at any position
        rdf_star: whether quoted triples may occur
        max_name_table_size: entries in the table of names, at least 8
        max_prefix_table_size: entries in the table of prefixes; 0 to write IRIs whole
        max_datatype_table_size: entries in the table of datatypes; 0 if there is only xsd:string
        version: the version of Jelly-Patch, 1
    """

    statement_type: PatchStatementType = PatchStatementType.QUADS
    stream_type: PatchStreamType = PatchStreamType.PUNCTUATED
    generalized_statements: bool = True
    rdf_star: bool = True
    max_name_table_size: int = NAME_TABLE_SIZE
    max_prefix_table_size: int = PREFIX_TABLE_SIZE
    max_datatype_table_size: int = DATATYPE_TABLE_SIZE
    version: int = PATCH_VERSION

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "statement_type", enum_member(PatchStatementType, self.statement_type, "patch statement type")
        )
        object.__setattr__(self, "stream_type", enum_member(PatchStreamType, self.stream_type, "patch stream type"))

    @classmethod
    def big(cls, **changes: Unpack[PatchOptionChanges]) -> PatchOptions:
        """Return the usual preset for files, 4000 names, 150 prefixes and 32 datatypes, with some `changes`."""
        return cls(**changes)

    @classmethod
    def small(cls, **changes: Unpack[PatchOptionChanges]) -> PatchOptions:
        """Return the preset for messages, 128 names, 16 prefixes and 16 datatypes, with some `changes`."""
        small = cls(
            max_name_table_size=SMALL_NAME_TABLE_SIZE,
            max_prefix_table_size=SMALL_PREFIX_TABLE_SIZE,
            max_datatype_table_size=SMALL_DATATYPE_TABLE_SIZE,
        )
        return small.replace(**changes)

    def replace(self, **changes: Unpack[PatchOptionChanges]) -> PatchOptions:
        """Return these options with some `changes`."""
        return dataclasses.replace(self, **changes)

    @property
    def has_graph(self) -> bool:
        """Whether the statements are quads."""
        return self.statement_type is PatchStatementType.QUADS

    def check(self) -> None:
        """Raise an OptionsError unless a stream can start with these options."""
        if self.statement_type is PatchStatementType.UNSPECIFIED:
            raise OptionsError("the statement type is unspecified: it must be TRIPLES or QUADS")
        if self.stream_type is PatchStreamType.UNSPECIFIED:
            raise OptionsError("the patch stream type is unspecified: it must be FRAME, FLAT or PUNCTUATED")
        check_table_sizes(self)

    def check_writable(self) -> None:
        """Raise an OptionsError unless a stream can be written with these options."""
        self.check()
        check_table_sizes(self, MAX_TABLE_SIZE)
        if self.version != PATCH_VERSION:
            raise OptionsError(f"version tag {self.version} cannot be written: it must be {PATCH_VERSION}")

    def check_readable(self, limits: Limits) -> None:
        """Raise an OptionsError or a LimitError unless a stream with these options may be read under `limits`."""
        if self.version != PATCH_VERSION:
            raise OptionsError(f"version tag {self.version} is not supported: this reader knows {PATCH_VERSION}")
        self.check()
        check_table_limits(self, limits)

    def to_bytes(self) -> bytes:
        """Return the RdfPatchOptions message."""
        return encode_options(self, _OPTION_FIELDS)

    @classmethod
    def from_bytes(cls, data: bytes) -> PatchOptions:
        """Read an RdfPatchOptions message from `data`. `check` checks whether the options are valid."""
        if _are_stream_options(data):
            raise StreamKindError(
                "this is a stream of RDF statements, not a Jelly-Patch stream",
                advice=Advice("function", "open_reader", "jellyframe rdf"),
            )
        values = {"statement_type": 0, "stream_type": 0, "version": 0, **decode_options(data, _OPTION_FIELDS)}
        return cls(**values)  # type: ignore[arg-type]


def _are_stream_options(data: bytes) -> bool:
    """Return whether a message holds RdfStreamOptions: a stream name, a logical type, or only a physical type."""
    kinds = {field: wire_type for field, wire_type, _value in decode_fields(data)}
    return kinds.get(1) == BYTES or kinds.get(LOGICAL_TYPE_FIELD) == VARINT or (1 not in kinds and 2 in kinds)
