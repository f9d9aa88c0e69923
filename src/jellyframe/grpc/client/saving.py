"""Write a subscription to one output of any format or to a series of files, and store its offset."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, OptionsError, StorageError, display_name, shortened
from jellyframe.formats import Format
from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.grpc.client.subscribing import offset_of
from jellyframe.options import LayoutName, StreamOptions
from jellyframe.storage.atomic import AtomicFile
from jellyframe.storage.names import compression_suffix
from jellyframe.storage.sinks import ByteSink

if TYPE_CHECKING:
    from jellyframe.grpc.client.subscription import Subscription
    from jellyframe.storage.types import Compression, Sink


@dataclass(frozen=True)
class Saving:
    """Settings for writing a subscription. A file of a series ends after a number of statements or seconds."""

    format: Format = formats.NQUADS
    compression: Compression | None = None
    layout: LayoutName | None = None
    roll_statements: int | None = None
    roll_seconds: float | None = None


class ResumeFile:
    """A file that stores the offset up to which a topic has been written."""

    def __init__(self, path: str, server: str, topic: str) -> None:
        self._path = path
        self._identity = {"topic": topic}
        self._server = server
        self.offset = self._read()

    def _read(self) -> int | None:
        try:
            with open(self._path, "rb") as file:
                content = json.loads(file.read())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise StorageError(f"it does not hold an offset: {error}", source=display_name(self._path)) from None
        offset = content.get("offset") if isinstance(content, dict) else None
        if not isinstance(offset, int) or content.get("topic") != self._identity["topic"]:
            raise StorageError(
                f"it does not hold an offset of the topic {shortened(self._identity['topic'])}; name another file",
                source=display_name(self._path),
            )
        return offset

    def write(self, offset: int) -> None:
        """Store that all frames before an offset have been written."""
        file = AtomicFile(self._path)
        file.file.write(json.dumps({**self._identity, "server": self._server, "offset": offset}).encode() + b"\n")
        file.commit()
        self.offset = offset


class SavedOutput:
    """One output of batches, which is complete when it is closed."""

    def __init__(self, sink: Sink, saving: Saving, options: StreamOptions, namespaces: dict[str, str]) -> None:
        self._sink = ByteSink(sink, saving.compression)
        has_graph = options.has_graph and saving.format.has_graphs
        is_stream = saving.format.is_stream
        settings = WriteSettings(
            has_graph=has_graph,
            namespaces={} if is_stream else namespaces,
            options=_output_options(options) if is_stream else None,
            layout=saving.layout,
        )
        self._needs_triples = not has_graph and not is_stream
        try:
            self._output: BatchOutput = formats.open_output(self._sink, saving.format, settings)
        except BaseException:
            self._sink.discard()
            raise

    def write(self, batch: Batch) -> None:
        """Write a batch. Raises NamedGraphError if the format cannot hold its graphs."""
        self._output.write(batch.without_graph() if self._needs_triples and batch.has_graph else batch)

    def flush(self) -> None:
        """Flush the output, for concurrent readers."""
        self._sink.flush()

    def close(self) -> None:
        """End the document. A file appears at its path now."""
        try:
            self._output.close()
            self._sink.close()
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Discard the output."""
        with suppress(Exception):
            self._output.discard()
        self._sink.discard()


def _output_options(options: StreamOptions) -> StreamOptions:
    """Return the options of a Jelly file for the statements of a stream: flat, in frames of the writer's size."""
    return StreamOptions().resolved(has_graph=options.has_graph).replace(stream_name=options.stream_name)


class Saver:
    """Writes the batches of a subscription, and stores in a resume file which of them have been written durably.

    A single output is durable when it is closed, or flushed if it is not a file; a file of a series when it is
    complete. The output is completed whatever ends the subscription, so that nothing received is lost.
    """

    def __init__(
        self,
        subscription: Subscription,
        target: Sink,
        saving: Saving,
        *,
        resume: ResumeFile | None = None,
    ) -> None:
        self._subscription = subscription
        self._target = target
        self._saving = saving
        self._resume = resume
        # A thread completes a file of a series on time, since there may be no batch for a long time.
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._failure: BaseException | None = None
        self._is_series = saving.roll_statements is not None or saving.roll_seconds is not None
        if self._is_series:
            if not isinstance(target, str | os.PathLike):
                raise OptionsError("a series of files needs a folder")
            os.makedirs(target, exist_ok=True)
        self._is_file = isinstance(target, str | os.PathLike)
        self._output: SavedOutput | None = None
        self._is_writing = False
        self._in_file = 0
        self._files = 0
        # The offset after the last frame that has been written completely.
        self._offset: int | None = None
        self.statements = 0
        self.frames = 0

    def save(self, take: int | None = None, on_batch: Callable[[Saver], object] | None = None) -> int:
        """Write statements until the topic ends or `take` have been written, and return their number."""
        if take == 0:
            return 0
        try:
            with self:
                self._save_all(take, on_batch)
        except JellyError:
            if self._failure is None:
                raise
        if self._failure is not None:
            raise self._failure
        return self.statements

    def _save_all(self, take: int | None, on_batch: Callable[[Saver], object] | None) -> None:
        for batch in self._subscription.batches():
            with self._lock:
                self._remember_start(batch)
                self._write(batch, take)
            if on_batch is not None:
                on_batch(self)
            if take is not None and self.statements >= take:
                return
        # A topic without statements is a document without statements, except in a series.
        if not self.statements and not self._is_series:
            self._open(None)

    def __enter__(self) -> Saver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._is_writing and self._output is not None:
                # An unknown part of a batch has been written.
                self._stop_timer()
                self._output.discard()
            else:
                self._finish()

    def _write(self, batch: Batch, take: int | None) -> None:
        is_cut = take is not None and self.statements + len(batch) > take
        offset = offset_of(batch)
        wanted = batch.slice(0, take - self.statements) if take is not None and is_cut else batch
        start = 0
        while start < len(wanted):
            if self._output is None:
                self._open(batch)
            stop = len(wanted)
            if self._saving.roll_statements is not None:
                stop = min(stop, start + self._saving.roll_statements - self._in_file)
            assert self._output is not None
            self._is_writing = True
            self._output.write(wanted if stop - start == len(wanted) else wanted.slice(start, stop))
            if not self._is_file:
                self._output.flush()
            self._is_writing = False
            self.statements += stop - start
            self._in_file += stop - start
            start = stop
            if start == len(wanted) and offset is not None and not is_cut:
                self._offset = offset + 1
            if self._is_full():
                self._finish()
        if not len(wanted) and offset is not None:
            self._offset = offset + 1
        self.frames += sum(span.is_complete for span in batch.frame_spans())
        if not self._is_file:
            self._remember()

    def _is_full(self) -> bool:
        rows = self._saving.roll_statements
        return rows is not None and self._in_file >= rows

    def _open(self, batch: Batch | None) -> None:
        target = self._file_name(batch) if self._is_series else self._target
        # A topic may end before its options.
        options = StreamOptions() if batch is None else self._subscription.options
        self._output = SavedOutput(target, self._saving, options, dict(self._subscription.namespaces))
        self._in_file = 0
        if self._saving.roll_seconds is not None:
            self._timer = threading.Timer(self._saving.roll_seconds, self._finish_on_time, (self._output,))
            self._timer.daemon = True
            self._timer.start()

    def _finish_on_time(self, output: SavedOutput) -> None:
        """Complete a file whose time is over, in the timer's thread. An error ends the subscription."""
        with self._lock:
            if self._output is not output or self._is_writing:
                return
            try:
                self._finish()
            except BaseException as error:
                self._failure = error
                self._subscription.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _file_name(self, batch: Batch | None) -> str:
        """Return the name of the next file: the offset of its first frame, so that names sort, or the time."""
        start = self._offset if self._offset is not None else self._first_offset(batch)
        self._files += 1
        name = f"{start:020d}-{self._files:06d}" if start is not None else f"{time.time_ns():020d}-{self._files:06d}"
        ending = compression_suffix(self._saving.compression)
        return os.path.join(
            os.fspath(self._target),  # type: ignore[arg-type]
            f"{name}.{self._saving.format.extensions[0]}{ending}",
        )

    def _first_offset(self, batch: Batch | None) -> int | None:
        offset = None if batch is None else offset_of(batch)
        if batch is None or offset is None:
            return None
        complete = sum(span.is_complete for span in batch.frame_spans())
        return max(0, offset - complete + 1)

    def _finish(self) -> None:
        """Close the output, and store the offset up to which it was written."""
        self._stop_timer()
        if self._output is not None:
            output, self._output = self._output, None
            output.close()
        self._remember()

    def _remember_start(self, batch: Batch) -> None:
        """Store where the first run starts: if it is killed, the next one must not start at the latest frame."""
        start = self._first_offset(batch)
        if self._resume is not None and self._resume.offset is None and start is not None:
            self._resume.write(start)

    def _remember(self) -> None:
        if self._resume is not None and self._offset is not None and self._offset != self._resume.offset:
            self._resume.write(self._offset)
