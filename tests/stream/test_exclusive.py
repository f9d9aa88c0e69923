"""One thread at a time: a second one gets an error, and does no harm."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import jellyframe
from jellyframe import PhysicalType, StreamOptions, UsageError
from jellyframe.stream.exclusive import Exclusive, ExclusiveIterator
from support.spark_data import quads

STATEMENTS = quads(300)
BATCH = jellyframe.Batch.from_statements(STATEMENTS)


class SlowFile:
    """A source whose second read waits until it is let go on."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)
        self.is_reading = threading.Event()
        self.may_go_on = threading.Event()

    def read(self, size: int) -> bytes:
        if self._file.tell() > 4:
            self.is_reading.set()
            assert self.may_go_on.wait(30)
        return self._file.read(min(size, 2000))


VIEWS: dict[str, Callable[[jellyframe.JellyReader], Iterator[object]]] = {
    "batches": lambda reader: reader.batches(),
    "frames": lambda reader: reader.frames(),
    "statements": lambda reader: reader.statements(),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shared", [True, False], ids=["one_view", "two_views"])
def test_two_threads_on_one_reader(view: str, shared: bool) -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, StreamOptions(PhysicalType.QUADS), frame_rows=10) as writer:
        writer.write(STATEMENTS)
    file = SlowFile(sink.getvalue())
    with jellyframe.open_reader(file) as reader:
        items = VIEWS[view](reader)
        taken: list[Any] = []
        thread = threading.Thread(target=lambda: taken.extend(items))
        thread.start()
        assert file.is_reading.wait(30)
        # Of a generator that two threads share, Python itself says that it is in use.
        with pytest.raises(
            ValueError, match=r"the reader is in use: it was used by two threads|generator already executing"
        ):
            next(items if shared else VIEWS[view](reader))
        file.may_go_on.set()
        thread.join()
    assert len(STATEMENTS) == (len(taken) if view == "statements" else sum(map(len, taken)))


def test_the_guard_is_released_after_an_error() -> None:
    guard = Exclusive("the thing")
    items = ExclusiveIterator(guard, map(int, ["1", "x", "2"]))
    assert next(items) == 1
    with pytest.raises(ValueError, match="x"):
        next(items)
    assert list(items) == [2]
    with guard, pytest.raises(UsageError, match="the thing is in use"):
        next(items)


def test_a_callback_may_not_use_its_reader() -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, StreamOptions(PhysicalType.QUADS), frame_rows=10, restart_every=500) as writer:
        writer.write(STATEMENTS)
    data = sink.getvalue()

    def read_more(_damage: object) -> None:
        next(reader.batches())

    with (
        jellyframe.open_reader(data[:1000] + data[1010:], on_damage=read_more) as reader,
        pytest.raises(UsageError, match="by its own callback"),
    ):
        list(reader.statements())


USES: dict[str, Callable[[jellyframe.JellyWriter], object]] = {
    "write": lambda writer: writer.write(STATEMENTS),
    "write_batch": lambda writer: writer.write_batch(BATCH),
    "write_batch_in_frames": lambda writer: writer.write_batch_in_frames(BATCH),
    "write_table": lambda writer: writer.write_table(BATCH.to_arrow()),
    "write_frame": lambda writer: writer.write_frame(STATEMENTS),
    "declare_namespace": lambda writer: writer.declare_namespace("a", "http://a/"),
    "end_frame": lambda writer: writer.end_frame(),
    "flush": lambda writer: writer.flush(),
    "close": lambda writer: writer.close(),
}


@pytest.mark.parametrize("use", USES)
def test_two_threads_on_one_writer(use: str) -> None:
    is_drawn, may_go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[Any]:
        yield from STATEMENTS[:100]
        is_drawn.set()
        assert may_go_on.wait(30)
        yield from STATEMENTS[100:]

    sink = io.BytesIO()
    with jellyframe.open_writer(sink, StreamOptions(PhysicalType.QUADS)) as writer:
        thread = threading.Thread(target=lambda: writer.write(slow()))
        thread.start()
        assert is_drawn.wait(30)
        with pytest.raises(UsageError, match="the writer is in use: it was used by two threads"):
            USES[use](writer)
        may_go_on.set()
        thread.join()
    assert jellyframe.loads(sink.getvalue()) == STATEMENTS


def test_an_iterable_may_not_use_its_writer() -> None:
    sink = io.BytesIO()

    def statements() -> Iterator[Any]:
        yield STATEMENTS[0]
        writer.end_frame()

    with jellyframe.open_writer(sink) as writer:
        with pytest.raises(UsageError, match="by its own callback"):
            writer.write(statements())
        writer.write(STATEMENTS[1:])
    assert jellyframe.loads(sink.getvalue()) == STATEMENTS
