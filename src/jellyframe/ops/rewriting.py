"""Transcode with several processes: each rewrites pieces of the input, and the results are joined in order.

A piece begins at a restart point, and what becomes of it is a stream of its own. Such streams make one when they come
one after the other, as long as their options are the same. Where the data has an error, or its pieces cannot be
joined, there is no output: then one process does it all, which gives the right result, or says what is wrong and where.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from ctypes import Array, c_uint64
from itertools import chain, pairwise
from typing import IO, TYPE_CHECKING, NamedTuple

from jellyframe.errors import JellyError, OptionsError
from jellyframe.ops.fitting import Fitting
from jellyframe.ops.regroup import FramePerInput, Framing, WriterSettings, write_frames
from jellyframe.ops.workers import WorkerPool, process_context, result_of
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import InputFile, total_size
from jellyframe.stream.cutting import cut_offsets
from jellyframe.stream.encoding import DEFAULT_RESTART_EVERY
from jellyframe.stream.index import encode_index_frame
from jellyframe.stream.reader import open_reader

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from jellyframe.batch import Batch
    from jellyframe.ops.progress import ProgressMeter
    from jellyframe.options import DialectName, Limits, StreamOptions

# Results per worker that may wait for their turn; they are in the file system.
_RESULTS_PER_WORKER = 3
_COPIED_BYTES = 1 << 18
# Small reads: blocks large enough to be allocated by the system each time cost more than reading does.
_READ_BYTES = 1 << 16


class Span(NamedTuple):
    """A part of a file, from a restart point to another; all of it, where there is no `byte_range`."""

    path: str
    size: int
    byte_range: tuple[int, int] | None = None


class Rewriting(NamedTuple):
    """How batches are rewritten: the arguments of `write_frames`, and how the input is read."""

    options: StreamOptions
    settings: WriterSettings
    framing: Framing
    limits: Limits
    concatenated: bool
    fitting: Fitting
    dialect: DialectName = "released"


class Rewritten(NamedTuple):
    """What a rewritten stream holds."""

    statements: int
    options: StreamOptions | None


class _CannotJoinError(Exception):
    """The pieces make streams that cannot be concatenated."""


def rewrite_in_pieces(
    paths: list[str],
    target: str,
    rewriting: Rewriting,
    jobs: int,
    meter: ProgressMeter,
    piece_bytes: int = DEFAULT_RESTART_EVERY,
    context: BaseContext | None = None,
) -> Rewritten | None:
    """Rewrite files as one, with several processes. None if one process has to do it; then there is no output.

    Errors in the data are left to that one process, which finds the first of them. All other errors are raised.
    """
    settings = rewriting.settings.copy()
    compression = settings.pop("compression", None)
    has_index = settings.pop("index", False)
    restart_every = settings.setdefault("restart_every", DEFAULT_RESTART_EVERY)
    if (
        jobs < 2
        or restart_every is None
        or not settings.get("delimited", True)
        or isinstance(rewriting.framing, FramePerInput)
        or rewriting.options.logical_type.is_grouped
        or (has_index and compression is not None)
        or (os.path.exists(target) and not os.path.isfile(target))
    ):
        return None
    if restart_every > DEFAULT_RESTART_EVERY:
        # Each piece begins with a restart point, and these are to be rare.
        piece_bytes = max(piece_bytes, restart_every)
    pieces = _pieces(paths, piece_bytes)
    try:
        first = next(pieces)
        total = total_size(paths) or 0
        if sum(span.size for span in first) == total:
            return None
        options = rewriting.options.with_version(uses_1_1=has_index)
        rewriting = rewriting._replace(options=options, settings=settings)
        jobs = min(jobs, total // piece_bytes + 1)
        folder = os.path.dirname(os.path.realpath(target))
        with ByteSink(target, compression) as sink, _Results(context or process_context(), jobs, folder) as results:
            join = _Join(rewriting, sink, results, jobs, meter)
            join.run(chain([first], pieces))
            if has_index:
                join.write_index()
    except (JellyError, _CannotJoinError):
        return None
    return join.rewritten()


def _pieces(paths: Iterable[str], piece_bytes: int) -> Iterator[list[Span]]:
    """Yield the files in pieces of at least `piece_bytes`, in order; they are gone through as pieces are asked for."""
    piece: list[Span] = []
    for path in paths:
        for span in _spans(path, piece_bytes):
            piece.append(span)
            if sum(span.size for span in piece) >= piece_bytes:
                yield piece
                piece = []
    if piece:
        yield piece


def _spans(path: str, at_least: int) -> Iterator[Span]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        offsets = chain(cut_offsets(file, size, at_least, _READ_BYTES), [size])
        for start, stop in pairwise(offsets):
            yield Span(path, stop - start, None if (start, stop) == (0, size) else (start, stop))


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
        # Of what has been joined: what it declares, its options, its restart points, its size.
        self._declared: dict[str, str] = {}
        self._options: StreamOptions | None = None
        self._restarts: list[tuple[int, int]] = []
        self._statements = 0
        self._bytes_written = 0
        self._bytes_read = 0

    def run(self, pieces: Iterator[list[Span]]) -> None:
        """Rewrite the pieces and join them."""
        with WorkerPool(self._results.context, self._jobs, _prepare, *self._results.for_workers()) as pool:
            upcoming = next(pieces, None)
            while upcoming is not None or self._under_way:
                while upcoming is not None and len(self._running()) < self._jobs and self._results.has_free():
                    piece = _Piece(upcoming, self._results.take_free())
                    self._under_way.append(piece)
                    piece.begin(pool, self._rewriting, self._declared)
                    # Finding the next piece takes a while, so it is done while the workers are busy.
                    upcoming = next(pieces, None)
                wait(self._running(), self._meter.report_seconds, FIRST_COMPLETED)
                self._join_finished(pool)
                self._report()

    def rewritten(self) -> Rewritten:
        return Rewritten(self._statements, self._options)

    def write_index(self) -> None:
        self._sink.write(encode_index_frame(self._restarts, self._statements, self._bytes_written))

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
        self._options = result.options
        self._declared.update(result.namespaces)
        self._restarts += [
            (self._bytes_written + offset, self._statements + before) for offset, before in result.restarts
        ]
        self._statements += result.statements
        self._bytes_written += result.size
        self._bytes_read += piece.size
        for data in self._results.take(piece.slot, result.size):
            self._sink.write(data)

    def _report(self) -> None:
        counts = [piece.counts(self._results) for piece in self._under_way]
        bytes_read = self._bytes_read + sum(read for read, _statements in counts)
        self._meter.report(bytes_read, self._statements + sum(statements for _read, statements in counts))


class _Result(NamedTuple):
    """A worker's report about the stream that it made of a piece; `namespaces` are those that the piece declares."""

    size: int
    statements: int
    restarts: list[tuple[int, int]]
    options: StreamOptions | None
    namespaces: dict[str, str]


class _Piece:
    """A piece that is being rewritten, or has been. `slot` is where its result goes.

    A namespace that is declared already is not declared again. When a piece is begun, what has been declared before it
    is a guess: pieces before it may still be in progress.
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
        return all(self._declared.get(name) == declared.get(name) for name in self.future.result().namespaces)

    def counts(self, results: _Results) -> tuple[int, int]:
        """Return how many bytes of it have been read, and how many statements."""
        if self.future.done():
            return self.size, self.future.result().statements
        return results.tally(self.slot)


# ---- where results lie ----

_Tallies = Array[c_uint64]
# What a worker writes a result to: a file that it has inherited, or the name of one.
_Output = IO[bytes] | str


class _Results:
    """Files beside the output for the streams that workers make, and how far they are with each.

    Where processes fork, the files have no names, so that nothing is left of them in any case.
    """

    def __init__(self, context: BaseContext, jobs: int, folder: str) -> None:
        self.context = context
        count = jobs * _RESULTS_PER_WORKER
        self._closing = ExitStack()
        self._files: list[IO[bytes]] = []
        self._names: list[str] = []
        self._tallies: _Tallies = context.RawArray(c_uint64, 2 * count)
        self._free = list(range(count))
        try:
            if context.get_start_method() == "fork":
                # Unbuffered: neither process keeps what the other has changed.
                files = [tempfile.TemporaryFile(buffering=0, dir=folder) for _ in self._free]  # noqa: SIM115
            else:
                private = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder)
                named = self._closing.enter_context(private)
                self._names = [os.path.join(named, str(slot)) for slot in self._free]
                files = [open(name, "w+b", buffering=0) for name in self._names]  # noqa: SIM115
            self._files = [self._closing.enter_context(file) for file in files]
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
        self._tallies[2 * slot] = self._tallies[2 * slot + 1] = 0
        return slot

    def take(self, slot: int, size: int) -> Iterator[bytes]:
        """Yield the first bytes of a result; after that its place is free."""
        file = self._files[slot]
        file.seek(0)
        while size:
            data = file.read(min(_COPIED_BYTES, size))
            if not data:
                raise OSError(0, "the result of a worker process is shorter than it said")
            yield data
            size -= len(data)
        self._free.append(slot)

    def tally(self, slot: int) -> tuple[int, int]:
        return self._tallies[2 * slot], self._tallies[2 * slot + 1]

    def __enter__(self) -> _Results:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._closing.close()


# ---- what the workers do ----


class _Worker:
    """What a worker process knows."""

    outputs: list[IO[bytes]] | list[str]
    tallies: _Tallies


def _prepare(outputs: list[IO[bytes]] | list[str], tallies: _Tallies) -> None:
    _Worker.outputs = outputs
    _Worker.tallies = tallies


def _rewrite_to_slot(spans: list[Span], rewriting: Rewriting, declared: dict[str, str], slot: int) -> _Result:
    output = _Worker.outputs[slot]
    tally = _Tally(_Worker.tallies, slot)
    if isinstance(output, str):
        with open(output, "r+b") as file:
            return _rewrite(spans, rewriting, declared, file, tally)
    with open(output.fileno(), "wb", closefd=False) as file:
        file.seek(0)
        return _rewrite(spans, rewriting, declared, file, tally)


def _rewrite(
    spans: list[Span], rewriting: Rewriting, declared: dict[str, str], output: IO[bytes], tally: _Tally
) -> _Result:
    namespaces: dict[str, str] = {}
    inputs = (_batches(span, rewriting, namespaces, tally) for span in spans)
    writer = write_frames(inputs, output, rewriting.options, rewriting.settings, rewriting.framing, declared)
    return _Result(output.tell(), writer.statements_written, writer.restarts, writer.options, namespaces)


def _batches(span: Span, rewriting: Rewriting, namespaces: dict[str, str], tally: _Tally) -> Iterator[Batch]:
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
        if not rewriting.concatenated and span.byte_range is not None and span.byte_range[0] > 0:
            _require_options_of_file(span.path, reader.options, rewriting)
        yield from rewriting.fitting.apply(tally.over(reader.batches(), source), source.name)
        namespaces.update(reader.namespaces)


def _require_options_of_file(path: str, options: StreamOptions, rewriting: Rewriting) -> None:
    """Raise unless a file begins with these options: a piece in its middle cannot tell that they have changed."""
    with open_reader(path, limits=rewriting.limits, dialect=rewriting.dialect) as reader:
        if reader.options != options:
            raise OptionsError("the options change inside the stream", source=path)


class _Tally:
    """Bytes and statements that a worker has read of its piece, in shared memory."""

    def __init__(self, tallies: _Tallies, slot: int) -> None:
        self._tallies = tallies
        self._slot = slot
        tallies[2 * slot] = tallies[2 * slot + 1] = 0

    def over(self, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """Yield the batches of an input, counted as they pass."""
        at = 2 * self._slot
        bytes_before, statements = self._tallies[at], self._tallies[at + 1]
        for batch in batches:
            yield batch
            statements += len(batch)
            self._tallies[at] = bytes_before + source.bytes_read
            self._tallies[at + 1] = statements
