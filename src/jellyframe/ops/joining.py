"""Rewrite pieces in worker processes, and join their results in order."""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, NamedTuple

from jellyframe.ops.pieces import Output, Rewriting, Rewritten, Span
from jellyframe.ops.regroup import write_frames
from jellyframe.ops.workers import WorkerPool, process_context, result_of
from jellyframe.storage.closing import Closeable
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import InputFile
from jellyframe.stream.index import encode_index_frame
from jellyframe.stream.reader import open_reader

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from jellyframe.batch import Batch
    from jellyframe.ops.progress import ProgressMeter
    from jellyframe.options import StreamOptions

# Results per worker that may wait to be joined; they are in files.
_RESULTS_PER_WORKER = 3
_COPIED_BYTES = 1 << 18


class _CannotJoinError(Exception):
    """The pieces make streams that cannot be concatenated."""


def join_pieces(
    pieces: Iterator[list[Span]],
    output: Output,
    rewriting: Rewriting,
    jobs: int,
    meter: ProgressMeter,
    context: BaseContext | None = None,
) -> Rewritten | None:
    """Rewrite pieces and write the result. Return None, without output, if their streams cannot be joined."""
    folder = os.path.dirname(os.path.realpath(output.path))
    try:
        with (
            ByteSink(output.path, output.compression) as sink,
            _Results(context or process_context(), jobs, folder) as results,
        ):
            join = _Join(rewriting, sink, results, jobs, meter)
            join.run(pieces)
            if output.has_index:
                join.write_index()
    except _CannotJoinError:
        return None
    return join.rewritten()


class _Join:
    """Pieces in progress, and the stream to which finished ones have been joined."""

    def __init__(
        self, rewriting: Rewriting, sink: ByteSink, results: _Results, jobs: int, meter: ProgressMeter
    ) -> None:
        self._rewriting = rewriting
        self._sink = sink
        self._results = results
        self._jobs = jobs
        self._meter = meter
        self._under_way: deque[_Piece] = deque()
        # The namespaces, options, options of input files, restart points and size of the joined part.
        self._declared: dict[str, str] = {}
        self._options: StreamOptions | None = None
        self._options_of_files: dict[str, StreamOptions] = {}
        self._restarts: list[tuple[int, int]] = []
        # Whether the disk may lack a part of the output.
        self._is_behind = False
        self._statements = 0
        self._bytes_written = 0
        self._bytes_read = 0

    def run(self, pieces: Iterator[list[Span]]) -> None:
        """Rewrite the pieces and join them."""
        with WorkerPool(self._results.context, self._jobs, _prepare, *self._results.for_workers()) as pool:
            upcoming = next(pieces, None)
            while upcoming is not None or self._under_way:
                while upcoming is not None and self._has_room():
                    piece = _Piece(upcoming, self._results.take_free())
                    self._under_way.append(piece)
                    piece.begin(pool, self._rewriting, self._declared)
                    # Finding the next piece takes a while, so it is done while the workers are busy.
                    upcoming = next(pieces, None)
                self._sync_meanwhile()
                wait(self._running(), self._meter.report_seconds, FIRST_COMPLETED)
                self._join_finished(pool)
                self._report()

    def rewritten(self) -> Rewritten:
        return Rewritten(self._statements, self._options)

    def write_index(self) -> None:
        self._sink.write(encode_index_frame(self._restarts, self._statements, self._bytes_written))

    def _has_room(self) -> bool:
        """Return whether another piece may begin. One is queued, so that a worker that is done need not wait for it.

        Not before the first piece is joined: the namespaces that it declares are not known yet.
        """
        queued = 0 if self._options is None else 1
        return len(self._running()) < self._jobs + queued and self._results.has_free()

    def _sync_meanwhile(self) -> None:
        """Wait for the disk while the workers are busy, so that there is less to wait for at the end."""
        if self._is_behind and self._running():
            self._sink.sync()
            self._is_behind = False

    def _running(self) -> list[Future[_Result]]:
        return [piece.future for piece in self._under_way if not piece.future.done()]

    def _join_finished(self, pool: WorkerPool) -> None:
        for piece in self._under_way:
            if piece.future.done():
                # An error ends the work at once, wherever the piece is in the order.
                result_of(piece.future)
        while self._under_way and self._under_way[0].future.done():
            piece = self._under_way[0]
            if not piece.was_right_about(self._declared):
                piece.begin(pool, self._rewriting, self._declared)
                return
            self._append(self._under_way.popleft())

    def _append(self, piece: _Piece) -> None:
        result = piece.future.result()
        if self._options not in (None, result.options):
            raise _CannotJoinError
        for path, options in result.read.options.items():
            # The options of a file must not change, which a piece in its middle cannot notice.
            if self._options_of_files.setdefault(path, options) != options:
                raise _CannotJoinError
        self._options = result.options
        self._declared.update(result.read.namespaces)
        self._restarts += [
            (self._bytes_written + offset, self._statements + before) for offset, before in result.restarts
        ]
        self._statements += result.statements
        self._bytes_written += result.size
        self._bytes_read += piece.size
        for data in self._results.take(piece.slot, result.size):
            self._sink.write(data)
        self._is_behind = True

    def _report(self) -> None:
        counts = [piece.counts(self._results) for piece in self._under_way]
        bytes_read = self._bytes_read + sum(read for read, _statements in counts)
        self._meter.report(bytes_read, self._statements + sum(statements for _read, statements in counts))


class _Result(NamedTuple):
    """The result of a worker for a piece; `read` is what it has read of the inputs besides statements."""

    size: int
    statements: int
    restarts: list[tuple[int, int]]
    options: StreamOptions | None
    read: _Read


class _Read(NamedTuple):
    """The namespaces that a piece declares, and the options that each of its files has there."""

    namespaces: dict[str, str]
    options: dict[str, StreamOptions]


class _Piece:
    """A piece that is rewritten. `slot` is the place of its result.

    A namespace that is already declared is not declared again. When a piece is started, the namespaces declared before
    it are a guess: pieces before it may still be in progress.
    """

    future: Future[_Result]

    def __init__(self, spans: list[Span], slot: int) -> None:
        self.spans = spans
        self.size = sum(span.size for span in spans)
        self.slot = slot
        self._declared: dict[str, str] = {}

    def begin(self, pool: WorkerPool, rewriting: Rewriting, declared: dict[str, str]) -> None:
        self._declared = dict(declared)
        self.future = pool.submit(_rewrite_to_slot, self.spans, rewriting, self._declared, self.slot)

    def was_right_about(self, declared: dict[str, str]) -> bool:
        """Return whether the guess was right, for the namespaces that the piece declares."""
        return all(self._declared.get(name) == declared.get(name) for name in self.future.result().read.namespaces)

    def counts(self, results: _Results) -> tuple[int, int]:
        """Return the numbers of bytes and statements read so far."""
        if self.future.done():
            return self.size, self.future.result().statements
        return results.counts(self.slot)


# ---- results ----

# The output of a worker: an inherited file, or the name of a file.
_Output = IO[bytes] | str


class _Results(Closeable):
    """Temporary files beside the output for the results of workers, and the progress of each.

    If processes are forked, the files have no names, so that they never remain on disk.
    """

    def __init__(self, context: BaseContext, jobs: int, folder: str) -> None:
        self.context = context
        count = jobs * _RESULTS_PER_WORKER
        self._closing = ExitStack()
        self._files: list[IO[bytes]] = []
        self._names: list[str] = []
        self._free = list(range(count))
        try:
            if context.get_start_method() == "fork":
                # Unbuffered, so that no process has outdated data.
                files = [tempfile.TemporaryFile(buffering=0, dir=folder) for _ in self._free]  # noqa: SIM115
                self._tallies = _Tallies(count)
            else:
                private = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder)
                named = self._closing.enter_context(private)
                self._names = [os.path.join(named, str(slot)) for slot in self._free]
                files = [open(name, "w+b", buffering=0) for name in self._names]  # noqa: SIM115
                self._tallies = _Tallies(count, os.path.join(named, "tallies"))
            self._files = [self._closing.enter_context(file) for file in files]
            self._closing.callback(self._tallies.close)
        except BaseException:
            self._closing.close()
            raise

    def for_workers(self) -> tuple[list[IO[bytes]] | list[str], _Tallies]:
        """Return the arguments of `_prepare`."""
        return self._names or self._files, self._tallies

    def has_free(self) -> bool:
        return bool(self._free)

    def take_free(self) -> int:
        slot = self._free.pop()
        self._tallies.set(slot, 0, 0)
        return slot

    def take(self, slot: int, size: int) -> Iterator[bytes]:
        """Yield the first bytes of a result; after that its slot is free."""
        file = self._files[slot]
        file.seek(0)
        while size:
            data = file.read(min(_COPIED_BYTES, size))
            if not data:
                raise OSError(0, "the result of a worker process is shorter than it said")
            yield data
            size -= len(data)
        self._free.append(slot)

    def counts(self, slot: int) -> tuple[int, int]:
        return self._tallies.get(slot)

    def close(self) -> None:
        """Close the files."""
        self._closing.close()


class _Tallies:
    """The numbers of bytes and statements that workers have read of their pieces, in memory that the processes share.

    Forked processes inherit the memory. Others map the file at `path`, as only the arguments are pickled.
    """

    _COUNTS = struct.Struct("=QQ")

    def __init__(self, slots: int, path: str | None = None) -> None:
        self._arguments = slots, path
        size = slots * self._COUNTS.size
        if path is None:
            self._memory = mmap.mmap(-1, size)
        else:
            with open(path, "a+b") as file:
                file.truncate(size)
                self._memory = mmap.mmap(file.fileno(), size)

    def __reduce__(self) -> tuple[type[_Tallies], tuple[int, str | None]]:
        return _Tallies, self._arguments

    def get(self, slot: int) -> tuple[int, int]:
        bytes_read, statements = self._COUNTS.unpack_from(self._memory, slot * self._COUNTS.size)
        return bytes_read, statements

    def set(self, slot: int, bytes_read: int, statements: int) -> None:
        self._COUNTS.pack_into(self._memory, slot * self._COUNTS.size, bytes_read, statements)

    def over(self, slot: int, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """Yield the batches of an input, and count them."""
        bytes_before, statements = self.get(slot)
        for batch in batches:
            yield batch
            statements += len(batch)
            self.set(slot, bytes_before + source.bytes_read, statements)

    def close(self) -> None:
        self._memory.close()


# ---- in the workers ----


class _Worker:
    """The state of a worker process."""

    outputs: list[IO[bytes]] | list[str]
    tallies: _Tallies


def _prepare(outputs: list[IO[bytes]] | list[str], tallies: _Tallies) -> None:
    _Worker.outputs = outputs
    _Worker.tallies = tallies


def _rewrite_to_slot(spans: list[Span], rewriting: Rewriting, declared: dict[str, str], slot: int) -> _Result:
    output = _Worker.outputs[slot]
    _Worker.tallies.set(slot, 0, 0)
    if isinstance(output, str):
        with open(output, "r+b") as file:
            return _rewrite(spans, rewriting, declared, file, slot)
    with open(output.fileno(), "wb", closefd=False) as file:
        file.seek(0)
        return _rewrite(spans, rewriting, declared, file, slot)


def _rewrite(
    spans: list[Span], rewriting: Rewriting, declared: dict[str, str], output: IO[bytes], slot: int
) -> _Result:
    read = _Read({}, {})
    inputs = (_batches(span, rewriting, read, slot) for span in spans)
    writer = write_frames(inputs, output, rewriting.options, rewriting.settings, rewriting.framing, declared)
    return _Result(output.tell(), writer.statements_written, writer.restarts, writer.options, read)


def _batches(span: Span, rewriting: Rewriting, read: _Read, slot: int) -> Iterator[Batch]:
    with (
        InputFile(span.path) as source,
        open_reader(
            source,
            limits=rewriting.limits,
            concatenated=rewriting.concatenated,
            byte_range=span.byte_range,
            dialect=rewriting.dialect,
        ) as reader,
    ):
        yield from rewriting.fitting.apply(_Worker.tallies.over(slot, reader.batches(), source), source.name)
        read.namespaces.update(reader.namespaces)
        if not rewriting.concatenated:
            read.options[span.path] = reader.options
