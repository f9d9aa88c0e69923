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
    """A dialect of the format. Its kernel modules are imported when they are needed: few programs need all of them.

    Attributes:
        name: the name of the dialect in arguments and options
        has_version_1_1: whether it has the features of version 1.1: namespaces, and metadata of frames
    """

    name: ClassVar[DialectName]
    has_version_1_1: ClassVar[bool]

    @abstractmethod
    def parse_options(self, message: bytes) -> StreamOptions:
        """Read an options message. `check_readable` checks whether the options are valid."""

    @abstractmethod
    def options_message(self, options: StreamOptions) -> bytes:
        """Return the options message."""

    @abstractmethod
    def check_readable(self, options: StreamOptions, limits: Limits) -> None:
        """Raise an OptionsError or a LimitError unless a stream with these options may be read under the limits."""

    @abstractmethod
    def check_writable(self, options: StreamOptions) -> None:
        """Raise an OptionsError unless a stream can be written with these options, with some first statement."""

    @abstractmethod
    def written_options(self, options: StreamOptions, *, has_graph: bool, uses_1_1: bool) -> StreamOptions:
        """Return the options that a reader finds in a stream that is written with these options."""

    @abstractmethod
    def kernel_settings(self, options: StreamOptions) -> tuple[int, ...]:
        """Return the settings of the kernel for these options."""

    @property
    @abstractmethod
    def decoder(self) -> type[Decoder]:
        """The kernel class that reads the dialect."""

    @abstractmethod
    def encoder(self, options: StreamOptions, frames: FrameSettings) -> Encoder:
        """Return a kernel object that writes a stream with these options."""
