"""Transcoding by several processes: each rewrites pieces of the input, and what they make is joined in order.

A piece begins at a restart point, and what becomes of it is a stream of its own. Such streams make one when they stand
one behind the other, as long as their options are the same. Where anything is wrong, or not as it has to be, there is
no output: then one process does it all, which gives what is right, or says what is wrong and where.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from jellyframe.errors import JellyError
from jellyframe.ops.pieces import Span, cut
from jellyframe.ops.regroup import FramePerInput, Framing, write_frames
from jellyframe.ops.workers import Worker, WorkerGaveUpError, Workers, can_fork, exit_if_orphaned
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import InputFile, total_size
from jellyframe.stream.index import encode_index_frame
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import DEFAULT_RESTART_EVERY

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.ops.progress import InputProgress
    from jellyframe.options import Limits, StreamOptions

# So many pieces for each worker may be begun while the first of them is not done; their results lie in the file system.
_PIECES_AHEAD = 3
_COPIED_BYTES = 1 << 18


class Rewriting(NamedTuple):
    """What is to become of batches: the arguments of `write_frames`, and what makes batches fit the output."""

    options: StreamOptions
    settings: dict[str, Any]
    framing: Framing
    limits: Limits
    fitting: Callable[[Iterable[Batch], str], Iterable[Batch]]


def rewrite_in_pieces(
    paths: list[str],
    target: str,
    rewriting: Rewriting,
    jobs: int,
    progress: InputProgress,
    piece_bytes: int = DEFAULT_RESTART_EVERY,
) -> bool:
    """Rewrite files as one, with so many processes. False if that is not possible; then there is no output."""
    settings = dict(rewriting.settings)
    compression = settings.pop("compression")
    has_index = settings.pop("index")
    restart_every = settings.setdefault("restart_every", DEFAULT_RESTART_EVERY)
    if (
        jobs < 2
        or not can_fork()
        or restart_every is None
        or not settings["delimited"]
        or isinstance(rewriting.framing, FramePerInput)
        or rewriting.options.logical_type.is_grouped
        or (has_index and compression is not None)
        or (os.path.exists(target) and not os.path.isfile(target))
    ):
        return False
    if restart_every > DEFAULT_RESTART_EVERY:
        # Each piece begins with a restart point, and these are to be rare.
        piece_bytes = max(piece_bytes, restart_every)
    pieces = cut(paths, piece_bytes)
    try:
        first = next(pieces)
        if sum(span.size for span in first) == total_size(paths):
            return False
        options = rewriting.options.with_version(uses_1_1=bool(has_index))
        rewriting = rewriting._replace(options=options, settings=settings)
        with ByteSink(target, compression) as sink, Workers() as workers:
            join = _Join(rewriting, sink, os.path.dirname(os.path.realpath(target)), workers, progress)
            with closing(join):
                join.run(chain([first], pieces), jobs)
            if has_index:
                join.write_index()
    except (JellyError, WorkerGaveUpError):
        return False
    return True


class _Join:
    """Pieces that are under way, and the stream that those which are done have been joined to."""

    def __init__(
        self, rewriting: Rewriting, sink: ByteSink, folder: str, workers: Workers, progress: InputProgress
    ) -> None:
        self._rewriting = rewriting
        self._sink = sink
        self._folder = folder
        self._workers = workers
        self._progress = progress
        self._rewriters: dict[Worker, _Rewriter] = {}
        self._under_way: deque[_Piece] = deque()
        # Of what has been joined: what it declares, its options, its restart points, its size.
        self._declared: dict[str, str] = {}
        self._options: StreamOptions | None = None
        self._restarts: list[tuple[int, int]] = []
        self._statements = 0
        self._bytes_written = 0
        self._bytes_read = 0

    def run(self, pieces: Iterator[list[Span]], jobs: int) -> None:
        upcoming = next(pieces, None)
        while upcoming is not None or self._under_way:
            while upcoming is not None and (rewriter := self._free_rewriter(jobs)) is not None:
                self._under_way.append(rewriter.begin(upcoming, self._declared))
                # To find the next piece takes a while, so this is for when the workers are at work.
                upcoming = next(pieces, None)
            for worker in self._workers.finished(self._progress.refresh_seconds):
                self._rewriters[worker].end()
            self._join_finished()
            self._show_progress()

    def close(self) -> None:
        for rewriter in self._rewriters.values():
            rewriter.close()

    def write_index(self) -> None:
        self._sink.write(encode_index_frame(self._restarts, self._statements, self._bytes_written))

    def _free_rewriter(self, jobs: int) -> _Rewriter | None:
        for rewriter in self._rewriters.values():
            if rewriter.is_free:
                return rewriter
        if len(self._rewriters) == jobs:
            return None
        rewriter = _Rewriter(self._rewriting, self._folder, self._workers)
        self._rewriters[rewriter.worker] = rewriter
        return rewriter

    def _join_finished(self) -> None:
        while self._under_way and (rewritten := self._under_way[0].rewritten) is not None:
            piece = self._under_way[0]
            if piece.knew(self._declared):
                self._append(self._under_way.popleft(), rewritten)
            elif piece.rewriter.worker.is_idle:
                self._under_way[0] = piece.rewriter.begin(piece.spans, self._declared, piece.output)
            else:
                # Its worker is at another piece now, and has to end that first.
                return

    def _append(self, piece: _Piece, rewritten: _Rewritten) -> None:
        if self._options not in (None, rewritten.options):
            raise WorkerGaveUpError
        self._options = rewritten.options
        self._declared.update(rewritten.namespaces)
        self._restarts += [
            (self._bytes_written + offset, self._statements + before) for offset, before in rewritten.restarts
        ]
        self._statements += rewritten.statements
        self._bytes_written += rewritten.size
        self._bytes_read += piece.size
        for data in piece.rewriter.take(piece.output, rewritten.size):
            self._sink.write(data)

    def _show_progress(self) -> None:
        counts = [piece.counts() for piece in self._under_way]
        bytes_read = self._bytes_read + sum(read for read, _statements in counts)
        self._progress.show(bytes_read, self._statements + sum(statements for _read, statements in counts))


class _Rewritten(NamedTuple):
    """What a worker says about the stream that it made of a piece; `namespaces` are those that the piece declares."""

    size: int
    statements: int
    restarts: list[tuple[int, int]]
    options: StreamOptions | None
    namespaces: dict[str, str]


class _Piece:
    """A piece that is under way, or rewritten.

    What is declared already is not declared again. At the time when a piece is begun that is a guess.
    """

    def __init__(self, spans: list[Span], declared: dict[str, str], rewriter: _Rewriter, output: int) -> None:
        self.spans = spans
        self.size = sum(span.size for span in spans)
        self.rewriter = rewriter
        self.output = output
        self.rewritten: _Rewritten | None = None
        self._declared = dict(declared)

    def knew(self, declared: dict[str, str]) -> bool:
        """Whether this has been declared before the piece, as far as it matters, and the guess was right."""
        assert self.rewritten is not None
        return all(self._declared.get(name) == declared.get(name) for name in self.rewritten.namespaces)

    def counts(self) -> tuple[int, int]:
        """How many bytes of it have been read, and how many statements."""
        return self.rewriter.tally.get() if self.rewritten is None else (self.size, self.rewritten.statements)


class _Rewriter:
    """A worker that rewrites pieces, and files for what it makes, which stays there until its turn comes.

    The files have no names, so that nothing is left of them in any case.
    """

    def __init__(self, rewriting: Rewriting, folder: str, workers: Workers) -> None:
        # Each process has its own place to read or write at, and none keeps what the other might have changed.
        self._outputs = [tempfile.TemporaryFile(buffering=0, dir=folder) for _ in range(_PIECES_AHEAD)]  # noqa: SIM115
        self._free_outputs = list(range(_PIECES_AHEAD))
        self._piece: _Piece | None = None
        self.tally = _Tally()
        self.worker = workers.start(self._work_with(rewriting))

    @property
    def is_free(self) -> bool:
        return self.worker.is_idle and bool(self._free_outputs)

    def begin(self, spans: list[Span], declared: dict[str, str], output: int | None = None) -> _Piece:
        """Have the worker rewrite a piece, to the file that an earlier try has gone to, or to a free one."""
        if output is None:
            output = self._free_outputs.pop()
        self._piece = _Piece(spans, declared, self, output)
        self.tally.set(0, 0)
        self.worker.give((spans, declared, output))
        return self._piece

    def end(self) -> None:
        """Take the result of the piece that was begun."""
        result = self.worker.take_result()
        assert self._piece is not None
        self._piece.rewritten = result

    def take(self, output: int, size: int) -> Iterator[bytes]:
        """What was made of a piece; after that the file is free."""
        file = self._outputs[output].fileno()
        for start in range(0, size, _COPIED_BYTES):
            yield os.pread(file, min(_COPIED_BYTES, size - start), start)
        self._free_outputs.append(output)

    def close(self) -> None:
        for file in self._outputs:
            file.close()

    def _work_with(self, rewriting: Rewriting) -> Callable[[tuple[list[Span], dict[str, str], int]], _Rewritten]:
        def work(task: tuple[list[Span], dict[str, str], int]) -> _Rewritten:
            spans, declared, output = task
            with open(self._outputs[output].fileno(), "wb", closefd=False) as file:
                file.seek(0)
                return _rewrite(spans, rewriting, declared, file, self.tally)

        return work


def _rewrite(
    spans: list[Span], rewriting: Rewriting, declared: dict[str, str], output: IO[bytes], tally: _Tally
) -> _Rewritten:
    """What a worker does."""
    options, settings, framing, _limits, _fitting = rewriting
    namespaces: dict[str, str] = {}
    inputs = (_batches(span, rewriting, namespaces, tally) for span in spans)
    writer = write_frames(inputs, output, options, settings, framing, declared)
    return _Rewritten(output.tell(), writer.statements_written, writer.restarts, writer.options, namespaces)


def _batches(span: Span, rewriting: Rewriting, namespaces: dict[str, str], tally: _Tally) -> Iterator[Batch]:
    with (
        InputFile(span.path) as source,
        open_reader(source, limits=rewriting.limits, concatenated=True, byte_range=span.byte_range) as reader,
    ):
        yield from rewriting.fitting(tally.over(reader.batches(), source), source.name)
        namespaces.update(reader.namespaces)


class _Tally:
    """What a worker has read of its piece, bytes and statements, in memory that the process it works for sees."""

    _COUNTS = struct.Struct("=QQ")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._COUNTS.size)
        self._owner = os.getpid()

    def get(self) -> tuple[int, int]:
        bytes_read, statements = self._COUNTS.unpack_from(self._memory)
        return bytes_read, statements

    def set(self, bytes_read: int, statements: int) -> None:
        self._COUNTS.pack_into(self._memory, 0, bytes_read, statements)

    def over(self, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """The same batches of an input, counted as they pass."""
        bytes_before, statements = self.get()
        for batch in batches:
            yield batch
            exit_if_orphaned(self._owner)
            statements += len(batch)
            self.set(bytes_before + source.bytes_read, statements)
