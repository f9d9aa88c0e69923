"""Self-contained frames as bytes: for retention in memory and in messages of a broker."""

from __future__ import annotations

from dataclasses import replace

from jellyframe.grpc.encoding import FrameEncoder
from jellyframe.grpc.publications import CheckedFrame, FrameContent
from jellyframe.options import MAX_FRAME_BYTES, VERSION_1_1, Limits, PhysicalType, StreamOptions
from jellyframe.stream.decoder import StreamDecoder


def kept_options(options: StreamOptions) -> StreamOptions:
    """Return the options with which frames of a stream are kept without loss."""
    physical = PhysicalType.QUADS if options.has_graph else options.physical_type
    return options.replace(physical_type=physical, version=VERSION_1_1)


def limits_of_kept(limits: Limits) -> Limits:
    """Return the limits for re-encoded frames, which may be larger than those that arrived."""
    return replace(limits, max_frame_bytes=MAX_FRAME_BYTES)


class StandaloneEncoder:
    """Encodes frames of any streams as self-contained frames."""

    def __init__(self) -> None:
        self._encoder: FrameEncoder | None = None

    def encode(self, frame: CheckedFrame) -> bytes:
        """Return a frame as a self-contained message."""
        options = kept_options(frame.options)
        if self._encoder is None or self._encoder.options != options:
            self._encoder = FrameEncoder(options, restart_every=1)
        return self._encoder.encode(frame)


def decode_standalone(data: bytes, limits: Limits | None = None) -> CheckedFrame:
    """Return the frame of a self-contained message.

    Raises a JellyError if it breaks a rule of the format.
    """
    decoder = StreamDecoder(limits=limits_of_kept(limits or Limits()))
    decoder.push_frame(data)
    decoder.finish()
    batches = list(decoder.batches())
    options = decoder.options or StreamOptions()
    return CheckedFrame(options, FrameContent.of_batches(batches))
