"""Sources and sinks: what can be read from and written to, compression, and files that appear whole or not at all."""

import gzip
import io
import os
import stat
import threading
from pathlib import Path

import pytest

from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits
from jellyframe.storage.compression import zstd_module
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import ByteSource

CONTENT = bytes(range(256)) * 4000


def read_all(source: ByteSource, size: int = 1000) -> bytes:
    return b"".join(iter(lambda: source.read(size), b""))


def zstd(data: bytes) -> bytes:
    return bytes(zstd_module().compress(data))


class OnlyRead:
    """A file object that cannot do more than read, and gives less than is asked for."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int) -> bytes:
        return self._file.read(min(size, 7))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize("kind", ["path", "bytes", "file", "only_read"])
def test_all_sources_give_the_same_bytes(tmp_path: Path, compress, kind: str) -> None:
    data = compress(CONTENT[:3000])
    path = tmp_path / "input"
    path.write_bytes(data)
    given = {"path": path, "bytes": data, "file": io.BytesIO(data), "only_read": OnlyRead(data)}[kind]
    with ByteSource(given) as source:
        assert read_all(source) == CONTENT[:3000]


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_compressed_pieces_end_to_end_are_one_input(compress) -> None:
    assert read_all(ByteSource(compress(CONTENT) + compress(b"more"))) == CONTENT + b"more"


def test_gzip_may_end_in_padding() -> None:
    assert read_all(ByteSource(gzip.compress(CONTENT) + bytes(100))) == CONTENT


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_compressed_data_that_is_cut_off_is_an_error(compress) -> None:
    with pytest.raises(ParseError, match="cut off"):
        read_all(ByteSource(compress(CONTENT)[:-5]))


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_damaged_compressed_data_is_an_error(compress) -> None:
    data = bytearray(compress(b" ".join(b"%d" % (number * number) for number in range(5000))))
    data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
    with pytest.raises(ParseError, match="damaged"):
        read_all(ByteSource(bytes(data)))


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_inflating_is_capped(compress) -> None:
    bomb = compress(bytes(1_000_000))
    with pytest.raises(LimitError, match="max_inflated_bytes"):
        read_all(ByteSource(bomb, Limits(max_inflated_bytes=999_999)))
    assert len(read_all(ByteSource(bomb, Limits(max_inflated_bytes=1_000_000)))) == 1_000_000


def test_the_ratio_tells_a_bomb() -> None:
    bomb = zstd(bytes(80 << 20))
    with pytest.raises(LimitError, match="max_inflation_ratio"):
        read_all(ByteSource(bomb), 1 << 20)


def test_a_range_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(CONTENT)
    with ByteSource(path, start=100, stop=5000) as source:
        assert read_all(source) == CONTENT[100:5000]
    assert read_all(ByteSource(io.BytesIO(CONTENT), start=100)) == CONTENT[100:]


def test_a_pipe_gives_what_has_arrived() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as reading, os.fdopen(write_end, "wb", buffering=0) as writing:
        source_read = threading.Event()

        def send() -> None:
            writing.write(b"first part")
            source_read.wait(10)
            writing.write(b", second part")
            writing.close()

        sender = threading.Thread(target=send)
        sender.start()
        source = ByteSource(reading)
        got = source.read()
        while got != b"first part":
            got += source.read(len(b"first part") - len(got))
        source_read.set()
        assert read_all(source) == b", second part"
        sender.join()


def test_what_cannot_be_read_from() -> None:
    with pytest.raises(TypeError, match="binary file object, not int"):
        ByteSource(5)
    with pytest.raises(TypeError, match="binary mode"):
        ByteSource(io.StringIO("text"))

    class HasNothing:
        def read(self, _size: int) -> None:
            return None

    with pytest.raises(JellyError, match="blocking"):
        ByteSource(HasNothing())


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
