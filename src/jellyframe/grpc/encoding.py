"""Re-encode frames for subscribers and for stores, with the options of each."""

from __future__ import annotations

from jellyframe.grpc.protocol import offset_metadata
from jellyframe.grpc.publications import CheckedFrame
from jellyframe.options import VERSION_1_1, DialectName, StreamOptions
from jellyframe.stream.encoder import StreamEncoder


class FrameEncoder:
    """Encodes frames one by one. The first one is self-contained.

    Args:
        options: the options of the stream; namespaces and metadata are left out if `version` does not allow them
        restart_every: distance of restart points in bytes; 1 for self-contained frames
        delimited: whether frames are delimited
        dialect: the dialect of the frames
    """

    def __init__(
        self,
        options: StreamOptions,
        *,
        restart_every: int | None = None,
        delimited: bool = False,
        dialect: DialectName = "released",
    ) -> None:
        self.options = options
        self._delimited = delimited
        self._encoder = StreamEncoder(
            options, frame_rows=None, frame_bytes=None, restart_every=restart_every, dialect=dialect
        )

    def encode(self, frame: CheckedFrame, offset: int | None = None) -> bytes:
        """Return an encoded frame, with its offset in its metadata if one is passed.

        Raises an EncodeError if a statement cannot be written with the options; the encoder cannot be used after that.
        """
        encoder, content = self._encoder, frame.content
        has_extras = self.options.version >= VERSION_1_1
        if has_extras:
            for name, iri in content.namespaces:
                encoder.declare_namespace(name, iri)
        for batch in content.batches:
            fitting = batch if self.options.has_graph else batch.without_graph()
            row = 0
            while row < len(fitting):
                row = encoder.encode(fitting, row)
        metadata = dict(content.metadata) if has_extras else {}
        if offset is not None:
            metadata.update(offset_metadata(offset))
        encoder.end_frame(metadata)
        if self._delimited:
            return encoder.take()
        (data,) = encoder.take_frames()
        return data

    @property
    def restarts(self) -> list[tuple[int, int]]:
        """The restart points so far: for each its offset in bytes, and the number of statements before it."""
        return self._encoder.restarts
