"""Memory of columns is returned, reused, and never used by two columns at once."""

import os
import signal
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from jellyframe import IRI, Literal, OptionsError, Triple, open_writer, read_table
from jellyframe.arrow import memory as column_memory
from jellyframe.arrow.memory import ColumnMemory, keep_column_memory

SIZE = 1 << 20


def filled(memory: ColumnMemory, byte: int, size: int = SIZE) -> pa.Buffer:
    column = memory.column(size)
    column.view[:size] = bytes([byte]) * size
    return column.buffer(size)


def test_memory_is_reused_when_its_buffer_is_released() -> None:
    memory = ColumnMemory()
    first = filled(memory, 1)
    address = first.address
    del first
    assert memory.kept >= SIZE
    second = filled(memory, 2)
    assert second.address == address
    assert memory.kept == 0


@pytest.mark.parametrize("size", [0, 1, 1000, 32 << 10, (32 << 10) + 1, SIZE - 1, SIZE + 1, 7 * SIZE])
def test_a_column_has_the_size_asked_for(size: int) -> None:
    column = ColumnMemory().column(size)
    assert size <= len(column.view) <= max(1, size + size // 8 + 1)
    assert column.buffer(size).size == size


def test_memory_is_not_reused_while_an_array_or_a_slice_of_it_lives() -> None:
    memory = ColumnMemory()
    array = pa.Array.from_buffers(pa.uint8(), SIZE, [None, filled(memory, 7)])
    end = array.slice(SIZE - 3)
    del array
    others = [filled(memory, 8) for _ in range(5)]
    assert end.to_pylist() == [7, 7, 7]
    del others, end
    assert memory.kept >= 6 * SIZE


def test_memory_above_the_limits_is_marked_and_then_freed() -> None:
    memory = ColumnMemory(most_kept=2 * SIZE, most_marked=3 * SIZE)
    buffers = [filled(memory, i) for i in range(8)]
    buffers.clear()
    assert memory.kept == 2 * SIZE
    assert memory.marked in (3 * SIZE, 0), "0 where memory cannot be marked"
    again = [filled(memory, i) for i in range(8)]
    assert (memory.kept, memory.marked) == (0, 0)
    assert [set(buffer.to_pybytes()) for buffer in again] == [{i} for i in range(8)]


def test_columns_of_many_threads_do_not_mix() -> None:
    memory = ColumnMemory(most_kept=4 * SIZE)
    mixed: list[int] = []

    def work(byte: int) -> None:
        for _ in range(50):
            buffer = filled(memory, byte, 1 << 16)
            if buffer.to_pybytes() != bytes([byte]) * (1 << 16):
                mixed.append(byte)

    threads = [threading.Thread(target=work, args=(byte,)) for byte in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mixed == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_another_thread_uses_the_memory_does_not_hang() -> None:
    memory = ColumnMemory()
    is_locked, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with memory._lock:
            is_locked.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_locked.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        filled(memory, 1)
        os._exit(0)
    may_end.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_table_keeps_its_strings_when_another_is_read(tmp_path: Path) -> None:
    def written(name: str) -> str:
        path = tmp_path / f"{name}.jelly"
        with open_writer(path) as writer:
            writer.write(Triple(IRI(f"http://a/{name}"), IRI("http://p"), Literal(f"{name}{i}")) for i in range(20_000))
        return str(path)

    first = read_table(written("first"), layout="ntriples")
    subjects = first["s"]
    objects = read_table(written("second"), layout="ntriples")["o"]
    again = read_table(written("third"), layout="ntriples")
    assert subjects.unique().to_pylist() == ["<http://a/first>"]
    assert objects.to_pylist() == [f'"second{i}"' for i in range(20_000)]
    assert again["s"].unique().to_pylist() == ["<http://a/third>"]


def test_the_limits_can_be_set() -> None:
    shared = column_memory.shared
    try:
        keep_column_memory(0, 0)
        buffer = filled(shared, 1)
        del buffer
        assert (shared.kept, shared.marked) == (0, 0)
        keep_column_memory(kept_bytes=SIZE, marked_bytes=0)
        buffers = [filled(shared, i) for i in range(3)]
        buffers.clear()
        assert (shared.kept, shared.marked) == (SIZE, 0)
        with pytest.raises(OptionsError, match="must be at least 0"):
            keep_column_memory(-1)
    finally:
        keep_column_memory()
