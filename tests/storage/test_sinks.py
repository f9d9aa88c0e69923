"""Sinks: files that appear whole or not at all, devices, file objects, compression, and what fails in the middle."""

import errno
import gzip
import io
import mmap
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest

from jellyframe.errors import OptionsError, StorageError
from jellyframe.storage.compression import zstd_module
from jellyframe.storage.sinks import ByteSink, descriptor_of
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Buffer

CONTENT = bytes(range(256)) * 4000


def read_all(source: ByteSource, size: int = 1000) -> bytes:
    return b"".join(iter(lambda: source.read(size), b""))


def test_the_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"old")
    sink = ByteSink(path)
    sink.write(b"new")
    assert path.read_bytes() == b"old"
    sink.close()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["output"]


def test_nothing_appears_after_an_error(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with ByteSink(tmp_path / "output") as sink:
            sink.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert os.listdir(tmp_path) == []


def test_permissions_are_those_of_any_new_file_or_of_the_one_replaced(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    with ByteSink(tmp_path / "new") as sink:
        sink.write(b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    plain.chmod(0o640)
    with ByteSink(plain) as sink:
        sink.write(b"x")
    assert stat.S_IMODE(plain.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with ByteSink(tmp_path / "link") as sink:
        sink.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_device_is_written_to() -> None:
    with ByteSink(os.devnull) as sink:
        sink.write(b"gone")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_sinks(tmp_path: Path, compression: str) -> None:
    with ByteSink(tmp_path / "output", compression) as sink:
        for start in range(0, len(CONTENT), 1000):
            sink.write(CONTENT[start : start + 1000])
    with ByteSource(tmp_path / "output") as source:
        assert source.compression == compression
        assert read_all(source) == CONTENT


def test_a_file_object_is_left_open() -> None:
    file = io.BytesIO()
    with ByteSink(file) as sink:
        sink.write(b"data")
    assert file.getvalue() == b"data"


def test_an_unknown_compression_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="gzip, zstd"):
        ByteSink(tmp_path / "output", "lzma")
    assert os.listdir(tmp_path) == []


class RawSink(io.RawIOBase):
    """A raw file that takes a few bytes at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        piece = bytes(data[: self.most])
        self.taken += piece
        return len(piece)


@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_a_raw_file_gets_every_byte(most: int, compression: str | None) -> None:
    raw = RawSink(most)
    with ByteSink(raw, compression) as sink:
        sink.write(CONTENT[:50_000])
        sink.write(b"")
        sink.write(CONTENT[:10])
    expand = {None: bytes, "gzip": gzip.decompress, "zstd": zstd_module().decompress}[compression]
    assert expand(bytes(raw.taken)) == CONTENT[:50_000] + CONTENT[:10]


class CountingNull(io.FileIO):
    """The null device, which takes 2,147,479,552 bytes of one write at most, as every file on Linux does."""

    def __init__(self) -> None:
        super().__init__(os.devnull, "wb")
        self.counts: list[int] = []

    def write(self, data: Any) -> int:
        self.counts.append(super().write(data))
        return self.counts[-1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is that of Linux")
def test_more_than_2_gib_in_one_write() -> None:
    size = (2 << 30) + 5
    with CountingNull() as device, mmap.mmap(-1, size) as memory, memoryview(memory) as zeros:
        ByteSink(device).write(zeros)
        assert len(device.counts) > 1
        assert sum(device.counts) == size


def test_a_nonblocking_pipe_gets_every_byte() -> None:
    for buffering in (0, 8192):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        got = bytearray()

        def drain(reading: int = reading, got: bytearray = got) -> None:
            while piece := os.read(reading, 3000):
                got.extend(piece)

        with open(writing, "wb", buffering=buffering) as file:
            # More than fits into a pipe, before anyone reads.
            drainer = threading.Thread(target=drain)
            with ByteSink(file) as sink:
                drainer.start()
                for _ in range(3):
                    sink.write(CONTENT)
        drainer.join()
        os.close(reading)
        assert got == CONTENT * 3


def test_a_write_that_returns_none_counts_as_complete() -> None:
    class Collector:
        def __init__(self) -> None:
            self.pieces: list[bytes] = []

        def write(self, data: Buffer) -> None:
            self.pieces.append(bytes(data))

    collector = Collector()
    with ByteSink(collector) as sink:
        sink.write(b"one")
        sink.write(b"two")
    assert collector.pieces == [b"one", b"two"]


@pytest.mark.parametrize("answer", [None, 0, -1, 5000, "many"])
def test_a_raw_file_that_takes_nothing_is_an_error(answer) -> None:
    class Stuck(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _data):
            return answer

    with pytest.raises(OSError, match=r"takes no data now|took .* of 1000 bytes"):
        ByteSink(Stuck()).write(bytes(1000))


def test_streams_of_pyarrow(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "plain"), "wb") as file, ByteSink(file) as sink:
        sink.write(CONTENT)
    assert (tmp_path / "plain").read_bytes() == CONTENT
    buffer = pa.BufferOutputStream()
    with ByteSink(buffer, "zstd") as sink:
        sink.write(CONTENT)
    assert zstd_module().decompress(buffer.getvalue().to_pybytes()) == CONTENT


def write_to_full_device(compression: str | None) -> None:
    with ByteSink("/dev/full", compression) as sink:
        for _ in range(3):
            sink.write(os.urandom(100_000))


def test_a_full_device_is_an_error_that_names_it() -> None:
    for compression in (None, "gzip", "zstd"):
        with pytest.raises(OSError, match="No space left on device: '/dev/full'") as caught:
            write_to_full_device(compression)
        assert caught.value.errno == errno.ENOSPC


def test_after_a_failed_write_nothing_appears(tmp_path: Path) -> None:
    """With a limit to the size of files, as on a full disk: the error is caught, and the sink closed all the same."""
    code = (
        "import resource, sys\n"
        "from jellyframe.storage.sinks import ByteSink\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sink = ByteSink(sys.argv[1], sys.argv[2] or None)\n"
        "import random\n"
        "data = random.Random(1).randbytes(300_000)\n"
        "failures = []\n"
        "for do in (lambda: sink.write(data), lambda: sink.write(data), sink.close, sink.close, sink.discard):\n"
        "    try:\n"
        "        do()\n"
        "    except OSError as error:\n"
        "        failures.append(str(error))\n"
        "print(*failures, sep=chr(10))\n"
    )
    (tmp_path / "out").write_bytes(b"old")
    for compression in ("", "gzip", "zstd"):
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "out", compression], capture_output=True, text=True, check=True
        )
        lines = done.stdout.splitlines()
        assert "File too large" in lines[0]
        assert lines[1:] == [f"{tmp_path}/out: an earlier write has failed"] * 2
        assert ".part" not in done.stdout
        assert os.listdir(tmp_path) == ["out"]
        assert (tmp_path / "out").read_bytes() == b"old"


def test_descriptors_by_name(tmp_path: Path) -> None:
    assert descriptor_of("/dev/stdout") == 1
    assert descriptor_of("/dev/fd/7") == 7
    assert descriptor_of(f"/proc/{os.getpid()}/fd/3") == 3
    assert descriptor_of("/proc/self/fd/3") == 3
    assert descriptor_of("/proc/1/fd/3") is None
    assert descriptor_of(str(tmp_path / "file")) is None
    (tmp_path / "loop").symlink_to("loop")
    assert descriptor_of(str(tmp_path / "loop")) is None
    (tmp_path / "link").symlink_to("/dev/stderr")
    assert descriptor_of(str(tmp_path / "link")) == 2


def test_a_file_behind_a_descriptor_is_continued(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file:
        file.write(b"before ")
        file.flush()
        with ByteSink(f"/dev/fd/{file.fileno()}") as sink:
            sink.write(b"between ")
        file.write(b"after")
    assert (tmp_path / "file").read_bytes() == b"before between after"
    with pytest.raises(OSError, match="/dev/fd/987"):
        ByteSink("/dev/fd/987")


def test_files_in_an_object_store_appear_when_complete() -> None:
    store = pyarrow.fs._MockFileSystem()

    def names() -> list[str]:
        return [info.path for info in store.get_file_info(pyarrow.fs.FileSelector("", recursive=True))]

    with ByteSink("one", filesystem=store) as sink:
        sink.write(CONTENT)
        assert "one" not in names()
    assert names() == ["one"]
    sink = ByteSink("one", "gzip", filesystem=store)
    sink.write(b"other")
    sink.discard()
    assert names() == ["one"]
    with ByteSource("one", filesystem=store) as source:
        assert read_all(source) == CONTENT
    with pytest.raises(StorageError, match="no/such/folder/x") as caught:
        ByteSink("no/such/folder/x", filesystem=store)
    assert ".part" not in str(caught.value)


def test_a_file_uri(tmp_path: Path) -> None:
    with ByteSink((tmp_path / "a b").as_uri()) as sink:
        sink.write(b"x")
    assert (tmp_path / "a b").read_bytes() == b"x"


def test_text_with_lone_surrogates_is_written_with_escapes() -> None:
    file = io.BytesIO()
    with ByteSink(file) as sink:
        sink.write_text("é \udcff \ud800")
    assert file.getvalue() == "é \\udcff \\ud800".encode()


def test_sync_brings_the_data_to_the_disk_before_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    with ByteSink(path) as sink:
        sink.write(b"some")
        sink.sync()
        (part,) = tmp_path.iterdir()
        assert part.read_bytes() == b"some"
        sink.write(b" data")
    assert path.read_bytes() == b"some data"

    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output") as caught, ByteSink(path) as sink:
        sink.sync()
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"some data"
    memory = io.BytesIO()
    with ByteSink(memory) as sink:
        sink.sync()
