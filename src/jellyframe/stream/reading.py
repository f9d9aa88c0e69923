"""The common part of readers of all kinds of streams: the batches of a source, its options, and closing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from jellyframe.batch import Batch
from jellyframe.errors import ParseError, UsageError
from jellyframe.storage.closing import Closeable
from jellyframe.stream.exclusive import Exclusive, ExclusiveIterator

_OptionsT = TypeVar("_OptionsT")
_OptionsT_co = TypeVar("_OptionsT_co", covariant=True)


class BatchSource(Protocol[_OptionsT_co]):
    """The source of the batches of a reader."""

    @property
    def options(self) -> _OptionsT_co | None: ...

    @property
    def is_delimited(self) -> bool | None: ...

    def next_batch(self) -> Batch | None: ...

    def close(self) -> None: ...


class AnyReader(Closeable, Generic[_OptionsT]):
    """A stream that is being read. Its views share one position, and raise once the reader is closed."""

    def __init__(self, batches: BatchSource[_OptionsT], source_name: str | None, stream_name: str) -> None:
        self._batches = batches
        self._name = source_name
        self._stream_name = stream_name
        self._waiting_batch: Batch | None = None
        self._is_closed = False
        self._exclusive = Exclusive("the reader")

    @property
    def options(self) -> _OptionsT:
        """The options of the (first) stream. Reads as far as is needed to see them."""
        if self._batches.options is None:
            with self._exclusive:
                self._waiting_batch = self._waiting_batch or self._next_batch()
        options = self._batches.options
        if options is None:
            raise ParseError(
                f"the input holds no options row, so it is not a {self._stream_name} stream", source=self._name
            )
        return options

    @property
    def is_delimited(self) -> bool | None:
        """Whether the frames have their lengths in front; None until the first bytes have been read."""
        return self._batches.is_delimited

    @property
    def source_name(self) -> str | None:
        """The name of the input in errors: its path, if it has one."""
        return self._name

    def batches(self) -> Iterator[Batch]:
        """Return the stream in batches of at most `batch_rows` statements.

        If the input is bad, all whole frames before that place are returned before the error is raised.
        """
        return ExclusiveIterator(self._exclusive, self._each_batch())

    def close(self) -> None:
        """Close the file, if it was opened here. Views that have not ended raise from now on."""
        self._batches.close()
        self._is_closed = True
        self._waiting_batch = None

    # ---- the mechanism ----

    def _each_batch(self) -> Iterator[Batch]:
        while True:
            batch, self._waiting_batch = self._waiting_batch, None
            if batch is None:
                batch = self._next_batch()
            if batch is None:
                return
            yield batch
            # The memory of a batch without references is reused for the next one.
            del batch

    def _next_batch(self) -> Batch | None:
        if self._is_closed:
            raise UsageError("the reader is closed: read before close(), or inside the with block", source=self._name)
        return self._batches.next_batch()
