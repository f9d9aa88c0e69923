"""Batches of a source: bytes are read as the decoder needs them."""

from __future__ import annotations

import time
from typing import Generic, TypeVar

from jellyframe.batch import Batch
from jellyframe.errors import JellyError
from jellyframe.options import TableOptions
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource
from jellyframe.stream.decoder import AnyStreamDecoder

# A source that blocks this long is live: rows that were read are returned before waiting again.
LIVE_SOURCE_SECONDS = 0.02
_OptionsT = TypeVar("_OptionsT", bound=TableOptions)


class SourceBatches(Generic[_OptionsT]):
    """A source and the decoder that its bytes are pushed through."""

    def __init__(self, source: ByteSource, decoder: AnyStreamDecoder[_OptionsT]) -> None:
        self.source = source
        self.decoder = decoder
        self._is_live = False
        memory = source.take_memory()
        if len(memory):
            decoder.push(memory)
            decoder.finish()

    @property
    def options(self) -> _OptionsT | None:
        """The options of the (first) stream, once they have been decoded."""
        return self.decoder.options

    @property
    def is_delimited(self) -> bool | None:
        """Whether the frames have their lengths in front; None until the first bytes have been read."""
        return self.decoder.is_delimited

    def next_batch(self) -> Batch | None:
        """Return the next batch, or None at the end. The batches before an error are returned before it is raised."""
        decoder = self.decoder
        while True:
            batch = decoder.next_batch(partial=self._is_live)
            self._is_live = False
            if batch is not None or decoder.is_finished:
                return batch
            self._read(decoder.needed)

    def _read(self, needed: int) -> None:
        asked = time.monotonic()
        try:
            data = self.source.read(max(CHUNK_BYTES, needed))
        except JellyError as error:
            self.decoder.abort(error.located(source=self.source.name))
            return
        self._is_live = time.monotonic() - asked > LIVE_SOURCE_SECONDS
        if data:
            self.decoder.push(data)
        else:
            self.decoder.finish()

    def close(self) -> None:
        self.source.close()
