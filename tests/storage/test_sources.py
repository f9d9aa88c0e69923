"""Sources of every kind, plain and compressed."""

import gc
import gzip
import io
import os
import threading
import weakref
from pathlib import Path

import pyarrow.fs
import pytest

from jellyframe.errors import JellyError, LimitError, ParseError
from jellyframe.options import Limits
from jellyframe.storage.compression import zstd_module
from jellyframe.storage.sources import ByteSource, InputFile, open_input, total_size

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
def test_concatenated_compressed_pieces_are_one_input(compress) -> None:
    assert read_all(ByteSource(compress(CONTENT) + compress(b"more"))) == CONTENT + b"more"


def test_gzip_may_end_in_padding() -> None:
    assert read_all(ByteSource(gzip.compress(CONTENT) + bytes(100))) == CONTENT


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_truncated_compressed_data_is_an_error(compress) -> None:
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


def test_the_inflation_ratio_detects_a_bomb() -> None:
    bomb = zstd(bytes(80 << 20))
    with pytest.raises(LimitError, match="max_inflation_ratio"):
        read_all(ByteSource(bomb), 1 << 20)


def test_an_error_of_compressed_data_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "twice"
    for data in (gzip.compress(gzip.compress(CONTENT)), gzip.compress(CONTENT)[:-20]):
        path.write_bytes(data)
        with ByteSource(path) as source, pytest.raises(JellyError) as caught:
            read_all(source)
        assert caught.value.source == str(path)


def test_bytes_in_memory_are_free_when_nobody_holds_the_source() -> None:
    """Without waiting for the garbage collector: there are thousands of sources of messages and blocks."""
    gc.disable()
    try:
        source = ByteSource(CONTENT)
        assert read_all(source) == CONTENT
        held = weakref.ref(source)
        del source
        assert held() is None
    finally:
        gc.enable()


def test_a_range_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(CONTENT)
    with ByteSource(path, start=100, stop=5000) as source:
        assert read_all(source) == CONTENT[100:5000]
    assert read_all(ByteSource(io.BytesIO(CONTENT), start=100)) == CONTENT[100:]


def test_reading_a_pipe_returns_data_as_it_arrives() -> None:
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


def test_invalid_sources_are_refused() -> None:
    with pytest.raises(TypeError, match="binary file object, not int"):
        ByteSource(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="binary mode"):
        ByteSource(io.StringIO("text"))  # type: ignore[arg-type]

    class HasNothing:
        def read(self, _size: int) -> None:
            return None

    with pytest.raises(JellyError, match="blocking"):
        ByteSource(HasNothing())


def test_uris_and_file_systems(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "50%.jelly").write_bytes(CONTENT)
    uri = (folder / "50%.jelly").as_uri()
    assert "%20" in uri
    with ByteSource(uri) as source:
        assert read_all(source) == CONTENT
    with open_input(uri) as file:
        assert file.read(3) == CONTENT[:3]
    inside = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    with ByteSource("50%.jelly", filesystem=inside) as source:
        assert read_all(source) == CONTENT
    with ByteSource("50%.jelly", filesystem=inside, start=100, stop=300) as source:
        assert read_all(source) == CONTENT[100:300]


def test_file_systems_of_fsspec() -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/jellyframe/data", CONTENT)
    with ByteSource("/jellyframe/data", filesystem=memory) as source:
        assert read_all(source) == CONTENT
    with ByteSource("memory://jellyframe/data") as source:
        assert read_all(source) == CONTENT
    memory.rm("/jellyframe", recursive=True)


def test_a_missing_object_is_an_oserror() -> None:
    store = pyarrow.fs._MockFileSystem()
    with pytest.raises(OSError, match="nothing") as caught:
        ByteSource("nothing", filesystem=store)
    assert isinstance(caught.value, JellyError)


def test_a_name_that_is_not_utf8_is_shown_escaped(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"\xff.jelly")
    Path(os.fsdecode(path)).write_bytes(CONTENT)
    with ByteSource(os.fsdecode(path)) as source, InputFile(os.fsdecode(path)) as file:
        assert source.name == file.name == f"{tmp_path}/\\xff.jelly"
        assert source.read(4) == file.read(4) == CONTENT[:4]


def test_sizes_of_inputs(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"12345")
    (tmp_path / "empty").touch()
    assert total_size([str(tmp_path / "one"), (tmp_path / "one").as_uri()]) == 10
    assert total_size([str(tmp_path / "empty")]) is None
    assert total_size([str(tmp_path / "nothing")]) is None
