"""The draft dialect: draft 1.0.0 of the serialization format, with wrapped terms, `RdfRepeat` and `use_repeat`.

It has no logical types, no namespaces and no metadata. Other fields of `StreamOptions` are not written: a logical
type only decides where frames may be cut, and the version is always 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jellyframe.dialects.dialect import Dialect, FrameSettings
from jellyframe.errors import OptionsError
from jellyframe.options import (
    LOGICAL_TYPE_FIELD,
    MAX_TABLE_SIZE,
    VERSION_1_0,
    Limits,
    LogicalType,
    OptionFields,
    PhysicalType,
    StreamOptions,
    check_table_limits,
    check_table_sizes,
    decode_options,
    encode_options,
    refuse_patch_options,
    term_settings,
)
from jellyframe.wire import BYTES, VARINT, decode_fields

if TYPE_CHECKING:
    from jellyframe.kernel.decode_cy import Decoder
    from jellyframe.kernel.encode_cy import Encoder

# RdfStreamOptions of the draft. `stream_type` has the numbers of the released format's physical type.
_OPTION_FIELDS: Final[OptionFields] = {
    1: ("stream_name", BYTES),
    2: ("physical_type", VARINT),
    3: ("generalized_statements", VARINT),
    4: ("use_repeat", VARINT),
    5: ("rdf_star", VARINT),
    9: ("max_name_table_size", VARINT),
    10: ("max_prefix_table_size", VARINT),
    11: ("max_datatype_table_size", VARINT),
    15: ("version", VARINT),
}


class DraftDialect(Dialect):
    """Draft 1.0.0 of the format."""

    name = "draft"
    has_version_1_1 = False

    def parse_options(self, message: bytes) -> StreamOptions:
        refuse_patch_options(message)
        if any(field == LOGICAL_TYPE_FIELD for field, _wire_type, _value in decode_fields(message)):
            raise OptionsError("the options have a logical type, which the draft dialect does not have")
        values = {"use_repeat": False, **decode_options(message, _OPTION_FIELDS)}
        return StreamOptions(**values)  # type: ignore[arg-type]

    def options_message(self, options: StreamOptions) -> bytes:
        return encode_options(options, _OPTION_FIELDS)

    def check_readable(self, options: StreamOptions, limits: Limits) -> None:
        if options.version != VERSION_1_0:
            raise OptionsError(
                f"version tag {options.version} is not supported: the draft dialect has {VERSION_1_0} only"
            )
        if options.physical_type is PhysicalType.UNSPECIFIED:
            raise OptionsError("the stream type is unspecified: it must be TRIPLES, QUADS or GRAPHS")
        check_table_limits(options, limits)

    def check_writable(self, options: StreamOptions) -> None:
        # The logical type must be valid here too, since it decides between triples and quads.
        options.resolved(has_graph=False).check_types()
        check_table_sizes(options, MAX_TABLE_SIZE, least_names=0)
        options.with_version(uses_1_1=False)
        self.options_message(options)

    def written_options(self, options: StreamOptions, *, has_graph: bool, uses_1_1: bool) -> StreamOptions:
        return options.resolved(has_graph=has_graph).replace(logical_type=LogicalType.UNSPECIFIED, version=VERSION_1_0)

    def kernel_settings(self, options: StreamOptions) -> tuple[int, ...]:
        return (options.physical_type, options.use_repeat)

    @property
    def decoder(self) -> type[Decoder]:
        from jellyframe.kernel.draft_decode_cy import DraftDecoder

        return DraftDecoder

    def encoder(self, options: StreamOptions, frames: FrameSettings) -> Encoder:
        from jellyframe.kernel.draft_encode_cy import DraftEncoder

        return DraftEncoder(
            self.options_message(options),
            options.physical_type,
            *term_settings(options),
            *frames,
            options.use_repeat,
        )
