"""The interface of a dialect: between streams, which are the same in all dialects, and the bytes of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from jellyframe.options import DialectName, Limits, StreamOptions

if TYPE_CHECKING:
    from jellyframe.kernel.decode_cy import Decoder
    from jellyframe.kernel.encode_cy import Encoder


class FrameSettings(NamedTuple):
    """Limits of frames and the distance of restart points; 0 means no limit, or no restart points."""

    frame_rows: int
    frame_bytes: int
    delimited: bool
    restart_every: int
    output_bytes: int


class Dialect(ABC):
    """One way to lay out rows in bytes. Its kernels are imported when they are needed: few programs need all of them.

    Attributes:
        name: the name of the dialect in arguments and options
        has_version_1_1: whether it has the features of version 1.1: namespaces, and metadata of frames
    """

    name: ClassVar[DialectName]
    has_version_1_1: ClassVar[bool]

    @abstractmethod
    def parse_options(self, message: bytes) -> StreamOptions:
        """Read an options message. Whether the options make sense is for `check_readable` to say."""

    @abstractmethod
    def options_message(self, options: StreamOptions) -> bytes:
        """Return the options message."""

    @abstractmethod
    def check_readable(self, options: StreamOptions, limits: Limits) -> None:
        """Raise an OptionsError or a LimitError unless a stream with these options may be read under the limits."""

    @abstractmethod
    def check_writable(self, options: StreamOptions) -> None:
        """Raise an OptionsError unless a stream can be written with these options, depending on the first statement."""

    @abstractmethod
    def written_options(self, options: StreamOptions, *, has_graph: bool, uses_1_1: bool) -> StreamOptions:
        """Return what a reader finds in a stream that is written with these options."""

    @abstractmethod
    def kernel_settings(self, options: StreamOptions) -> tuple[int, ...]:
        """Return the settings that the kernel of this dialect takes from the options."""

    @property
    @abstractmethod
    def decoder(self) -> type[Decoder]:
        """The kernel that reads it."""

    @abstractmethod
    def encoder(self, options: StreamOptions, frames: FrameSettings) -> Encoder:
        """Return a kernel that writes a stream with these options."""
