"""The released format, versions 1.0 and 1.1, which all current tools use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.dialects.dialect import Dialect, FrameSettings
from jellyframe.options import Limits, StreamOptions, term_settings

if TYPE_CHECKING:
    from jellyframe.kernel.decode_cy import Decoder
    from jellyframe.kernel.encode_cy import Encoder


class ReleasedDialect(Dialect):
    """The released format."""

    name = "released"
    has_version_1_1 = True

    def parse_options(self, message: bytes) -> StreamOptions:
        return StreamOptions.from_bytes(message)

    def options_message(self, options: StreamOptions) -> bytes:
        return options.to_bytes()

    def check_readable(self, options: StreamOptions, limits: Limits) -> None:
        options.check_readable(limits)

    def check_writable(self, options: StreamOptions) -> None:
        options.check_writable()

    def written_options(self, options: StreamOptions, *, has_graph: bool, uses_1_1: bool) -> StreamOptions:
        return options.resolved(has_graph=has_graph).with_version(uses_1_1=uses_1_1)

    def kernel_settings(self, options: StreamOptions) -> tuple[int, ...]:
        return (options.physical_type,)

    @property
    def decoder(self) -> type[Decoder]:
        from jellyframe.kernel.decode_cy import Decoder

        return Decoder

    def encoder(self, options: StreamOptions, frames: FrameSettings) -> Encoder:
        from jellyframe.kernel.encode_cy import Encoder

        return Encoder(
            self.options_message(options),
            options.physical_type,
            *term_settings(options),
            *frames,
        )
