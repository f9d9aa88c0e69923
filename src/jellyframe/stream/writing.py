"""The common part of writers of all kinds of streams: an encoder, and the sink for its bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_RESTART_EVERY
from jellyframe.errors import EncodeError, OptionsError
from jellyframe.storage.closing import DiscardableOutput
from jellyframe.storage.sinks import ByteSink
from jellyframe.stream.encoding import OUTPUT_BYTES
from jellyframe.stream.exclusive import Exclusive

if TYPE_CHECKING:
    from jellyframe.storage.types import Sink


class WriterEncoder(Protocol):
    """The part of an encoder that a writer uses."""

    @property
    def ready_bytes(self) -> int: ...

    @property
    def restarts(self) -> list[tuple[int, int]]: ...

    def encode(self, batch: Batch, start: int = 0, stop: int | None = None) -> int: ...

    def take(self) -> bytes: ...

    def flush(self) -> None: ...

    def finish(self) -> None: ...


_EncoderT = TypeVar("_EncoderT", bound=WriterEncoder)


def restart_distance(restart_every: int | Literal["auto"] | None, sink: Sink, *, may_restart: bool) -> int | None:
    """Return the distance of restart points. `auto` is the default for paths if the stream `may_restart`, else none."""
    if restart_every != "auto":
        return restart_every
    return DEFAULT_RESTART_EVERY if may_restart and isinstance(sink, str | os.PathLike) else None


def check_index(index: bool, compression: str | None) -> None:
    """Raise if a compressed file is to have an index, as its restart points are of no use."""
    if index and compression is not None:
        raise OptionsError("an index needs a file without compression")


class SinkWriter(DiscardableOutput):
    """A writer to a sink. A file at a path appears when the writer is closed."""

    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink
        self._is_closed = False
        self._exclusive = Exclusive("the writer")

    def close(self) -> None:
        """End the stream. A file at a path appears now."""
        with self._exclusive:
            if self._is_closed:
                return
            try:
                self._finish()
            except BaseException:
                self.discard()
                raise
            self._is_closed = True
            self._sink.close()

    def discard(self) -> None:
        """Discard what was written: no file appears at the path."""
        self._is_closed = True
        self._sink.discard()

    def _require_open(self) -> None:
        if self._is_closed:
            raise EncodeError("the writer is closed")

    def _finish(self) -> None:
        """Write the remaining bytes to the sink, before it is closed."""


class AnyWriter(SinkWriter, Generic[_EncoderT]):
    """A stream that is being written. A file at a path appears when the writer is closed."""

    def __init__(self, encoder: _EncoderT, sink: ByteSink) -> None:
        super().__init__(sink)
        self._encoder = encoder

    @property
    def restarts(self) -> list[tuple[int, int]]:
        """The restart points so far: for each its offset in the stream, and how many statements come before it."""
        return self._encoder.restarts

    def write_batch(self, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Write the rows of a batch; the batch's own frames are ignored.

        Args:
            batch: the rows; triples become quads of the default graph where the stream has quads
            start: the first row to write
            stop: the row after the last one, by default all that follow

        Raises:
            EncodeError: if a row cannot be written; `row` is its row, and those before it are written
        """
        with self._exclusive:
            self._write_batch(batch, start, stop)

    def flush(self) -> None:
        """End the frame if it has rows, and flush all bytes to the sink, for streams that are read while written."""
        with self._exclusive:
            self._open_encoder().flush()
            self._pass_on(0)
            self._sink.flush()

    # ---- the mechanism ----

    def _open_encoder(self) -> _EncoderT:
        self._require_open()
        return self._encoder

    def _finish(self) -> None:
        self._encoder.finish()
        self._pass_on(0)

    def _write_batch(self, batch: Batch, start: int, stop: int | None) -> None:
        encoder = self._open_encoder()
        end = len(batch) if stop is None else stop
        row = start
        try:
            while row < end:
                row = encoder.encode(batch, row, end)
                self._pass_on(OUTPUT_BYTES)
        finally:
            self._pass_on(OUTPUT_BYTES)

    def _pass_on(self, at_least: int) -> None:
        """Write finished bytes to the sink if there are `at_least` as many; with 0, if there are any."""
        if self._encoder.ready_bytes >= max(at_least, 1):
            self._sink.write(self._encoder.take())
