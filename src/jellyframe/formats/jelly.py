"""Jelly itself as an entry of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jellyframe.formats.settings import BatchInput, BatchOutput, ReadSettings, WriteSettings

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.types import Source


def open_input(source: Source, _found: Format, settings: ReadSettings) -> BatchInput:
    """Open a Jelly stream as batches: an entry of the registry."""
    return JellyInput(source, settings)


class JellyInput(BatchInput):
    """The statements of a Jelly stream."""

    def __init__(self, source: Source, settings: ReadSettings, *, delimited: bool | None = None) -> None:
        # Imported here and not above: most programs either read Jelly or write it.
        from jellyframe.stream.reader import open_reader

        self._reader = open_reader(
            source,
            limits=settings.limits,
            concatenated=settings.concatenated,
            batch_rows=settings.batch_rows,
            delimited=delimited,
            on_damage=settings.on_damage,
            dialect=settings.dialect,
        )
        self.options = self._reader.options

    def batches(self) -> Iterator[Batch]:
        return self._reader.batches()

    def namespaces(self) -> dict[str, str]:
        return dict(self._reader.namespaces)

    def close(self) -> None:
        self._reader.close()


def open_output(sink: ByteSink, _found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for a Jelly stream: an entry of the registry."""
    return JellyOutput(sink, settings)


class JellyOutput(BatchOutput):
    """An output that writes a Jelly stream."""

    def __init__(self, sink: ByteSink, settings: WriteSettings) -> None:
        from jellyframe.stream.writer import open_writer

        self.writer = open_writer(sink, settings.options, **settings.jelly)
        is_grouped = settings.options is not None and settings.options.logical_type.is_grouped
        # In grouped streams writers do not cut frames, as each is an element; here it was requested.
        self._cut = settings.jelly.get("frame_rows") if is_grouped and settings.jelly.get("delimited", True) else None
        self._frame_rows = 0

    def write(self, batch: Batch) -> None:
        if self._cut is None:
            self.writer.write_batch(batch)
            return
        start = 0
        while start < len(batch):
            stop = min(start + self._cut - self._frame_rows, len(batch))
            self.writer.write_batch(batch, start, stop)
            self._frame_rows += stop - start
            start = stop
            if self._frame_rows == self._cut:
                self.writer.end_frame()
                self._frame_rows = 0

    def declare(self, name: str, iri: str) -> None:
        self.writer.declare_namespace(name, iri)

    def close(self) -> None:
        self.writer.close()

    def discard(self) -> None:
        self.writer.discard()
