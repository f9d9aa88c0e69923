"""The options of a subscription: those of the data, within the request of the client.

The server chooses an option that the client leaves out (0 in the message). In a request with any option, a flag that is
not set forbids the feature, as the protocol specifies. If the size of the name table is set, a size of 0 of the other
tables means no table.

A subscription in the draft dialect repeats terms if the client sets `use_repeat`. It has neither a logical type nor
version 1.1.
"""

from __future__ import annotations

from jellyframe.errors import OptionsError
from jellyframe.ops.transcoding import counterpart_logical_type
from jellyframe.options import (
    MIN_NAME_TABLE_SIZE,
    VERSION_1_0,
    VERSION_1_1,
    DialectName,
    Limits,
    LogicalType,
    PhysicalType,
    StreamOptions,
)


def check_offsets(dialect: DialectName, *, with_offsets: bool) -> None:
    """Raise an OptionsError if offsets are requested in a dialect whose frames have no metadata."""
    if with_offsets and dialect == "draft":
        raise OptionsError("frames of the draft dialect have no metadata, and therefore no offsets")


def check_request(
    requested: StreamOptions, limits: Limits, *, with_offsets: bool = False, dialect: DialectName = "released"
) -> None:
    """Raise an OptionsError if no stream can meet the requested options."""
    if dialect == "draft":
        return
    if with_offsets and requested.version == VERSION_1_0:
        raise OptionsError("frames of version 1 have no metadata, and therefore no offsets; request version 2")
    names = requested.max_name_table_size
    if 0 < names < MIN_NAME_TABLE_SIZE:
        raise OptionsError(f"max_name_table_size {names} is requested, but the format needs at least 8")
    if limits.max_name_table_size < MIN_NAME_TABLE_SIZE:
        raise OptionsError(f"this server allows {limits.max_name_table_size} names, and the format needs at least 8")
    if requested.logical_type and requested.physical_type:
        # The logical type must match the requested physical type.
        requested.replace(max_name_table_size=MIN_NAME_TABLE_SIZE).check()


def effective_options(
    requested: StreamOptions | None,
    offered: StreamOptions,
    limits: Limits | None = None,
    dialect: DialectName = "released",
) -> StreamOptions:
    """Return the options of a subscription, given the requested ones and those of the data.

    Raises OptionsError if the request cannot be met.
    """
    limits = limits or Limits()
    if dialect == "draft":
        # Options that the dialect does not have must not distinguish subscriptions.
        offered = offered.replace(logical_type=LogicalType.UNSPECIFIED, version=VERSION_1_0)
    if requested is None:
        return offered if dialect == "draft" else offered.replace(version=VERSION_1_1)
    check_request(requested, limits, dialect=dialect)
    physical = requested.physical_type
    if physical is PhysicalType.UNSPECIFIED:
        physical = _physical_type(requested.logical_type, offered.physical_type)
    names, prefixes, datatypes = _table_sizes(requested, offered, limits)
    options = StreamOptions(
        physical_type=physical,
        stream_name=requested.stream_name or offered.stream_name,
        generalized_statements=requested.generalized_statements,
        rdf_star=requested.rdf_star,
        max_name_table_size=names,
        max_prefix_table_size=prefixes,
        max_datatype_table_size=datatypes,
        version=min(requested.version or VERSION_1_1, VERSION_1_1 if dialect == "released" else VERSION_1_0),
        use_repeat=requested.use_repeat,
    )
    return options.replace(logical_type=_logical_type(requested, offered, options))


def _physical_type(logical: LogicalType, offered: PhysicalType) -> PhysicalType:
    """Return the physical type of the data, or one that is compatible with the requested logical type."""
    if logical is LogicalType.UNSPECIFIED:
        return offered
    wanted = StreamOptions(logical_type=logical).resolved(has_graph=False).physical_type
    is_graph_offered = offered is not PhysicalType.TRIPLES
    return offered if (wanted is not PhysicalType.TRIPLES) == is_graph_offered else wanted


def _table_sizes(requested: StreamOptions, offered: StreamOptions, limits: Limits) -> tuple[int, int, int]:
    has_names = requested.max_name_table_size > 0

    def size(table: str) -> int:
        asked, own, most = (getattr(options, table) for options in (requested, offered, limits))
        # Clients usually request the presets, which cost the server little.
        own = min(max(own, getattr(_USUAL, table)), most)
        return int(min(asked, own) if asked or has_names else own)

    return size("max_name_table_size"), size("max_prefix_table_size"), size("max_datatype_table_size")


_USUAL = StreamOptions.big()


def _logical_type(requested: StreamOptions, offered: StreamOptions, options: StreamOptions) -> LogicalType:
    """Return the logical type of a subscription.

    It is the type of the data, if that is the requested type or a subtype of it. A request for a flat type is always
    met, since a flat type says nothing about frames. Other requests get the type of the data.
    """
    own = counterpart_logical_type(options.replace(logical_type=offered.logical_type))
    asked = requested.logical_type
    if asked is LogicalType.UNSPECIFIED or is_special_case(own, asked) or asked.is_grouped:
        return own
    return asked


def is_special_case(kind: LogicalType, of: LogicalType) -> bool:
    """Return whether a logical type equals another one or is a subtype of it: its number ends in that of the other."""
    return str(kind.value).endswith(str(of.value)) if of is not LogicalType.UNSPECIFIED else True


def misfit(options: StreamOptions, offered: StreamOptions) -> str | None:
    """Return why no frame of a stream can be sent to a subscription; None if frames can.

    The encoder checks whether the statements fit.
    """
    if not options.logical_type.is_grouped:
        return None
    own = counterpart_logical_type(options.replace(logical_type=offered.logical_type))
    if is_special_case(own, options.logical_type):
        return None
    return (
        f"a publisher sends frames of the logical type {offered.logical_type.name} to a subscription of "
        f"{options.logical_type.name}; subscribe again with logical_type "
        f"{'FLAT_QUADS' if options.has_graph else 'FLAT_TRIPLES'}"
    )


def can_forward(options: StreamOptions, offered: StreamOptions) -> bool:
    """Return whether the frames of a stream, except for its options rows, are valid in a subscription unchanged."""
    return (
        options.physical_type is offered.physical_type
        # A graph may span frames, so that no other frame can come in between.
        and options.physical_type is not PhysicalType.GRAPHS
        and options.generalized_statements >= offered.generalized_statements
        and options.rdf_star >= offered.rdf_star
        and options.max_name_table_size >= offered.max_name_table_size
        and options.max_prefix_table_size >= offered.max_prefix_table_size
        and options.max_datatype_table_size >= offered.max_datatype_table_size
        # Without a table of prefixes, a prefix id of 0 has another meaning.
        and (options.max_prefix_table_size > 0) == (offered.max_prefix_table_size > 0)
        and options.version >= offered.version
    )
