"""Where bytes come from and go to: paths, bytes and file objects, plain or compressed."""

from __future__ import annotations

import os
import stat
import tempfile
import zlib
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Zstandard files may also begin with a frame that decoders skip: its magic is 0x184D2A50 to 0x184D2A5F.
ZSTD_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"
CHUNK_BYTES = 1 << 20
# A small input may well inflate a thousandfold; only above this size does the ratio tell a bomb.
RATIO_COUNTS_FROM = 64 << 20

COMPRESSIONS = ("gzip", "zstd")


def zstd_module() -> Any:
    """The standard library's zstd module, or its backport."""
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        from backports import zstd
    return zstd


# ---- reading ----------------------------------------------------------------------------------------------


class ByteSource:
    """Bytes from a path, from bytes, or from a file object; gzip and Zstandard are inflated on the way.

    `name` is how errors call it. A file object that was passed in is left open.
    """

    def __init__(self, source: Any, limits: Limits | None = None, *, start: int = 0, stop: int | None = None) -> None:
        self._limits = limits or Limits()
        self._owned: IO[bytes] | None = None
        self.name: str | None = None
        self.compression: str | None = None
        self._memory = self._whole = memoryview(b"")
        self._left = None if stop is None else stop - start
        if isinstance(source, str | os.PathLike):
            self.name = os.fspath(source)
            self._owned = open(source, "rb", buffering=0)  # noqa: SIM115
            self._read_raw: Any = self._owned.read
            if start:
                self._owned.seek(start)
        elif isinstance(source, bytes | bytearray | memoryview):
            self._memory = self._whole = memoryview(source).cast("B")[start:stop]
            self._read_raw = self._read_memory
        elif hasattr(source, "read"):
            name = getattr(source, "name", None)
            self.name = name if isinstance(name, str) else None
            # read1 gives what has arrived; read would wait until all that was asked for is there.
            self._read_raw = getattr(source, "read1", source.read)
            if start:
                source.seek(start)
        else:
            raise TypeError(f"a source is a path, bytes or a binary file object, not {type(source).__name__}")
        self._head = b""
        self._inflater: _Inflater | None = None
        if start == 0 and stop is None:
            self._detect_compression()

    def _detect_compression(self) -> None:
        while len(self._head) < 4:
            data = self._read_some(4 - len(self._head))
            if not data:
                break
            self._head += data
        if self._head.startswith(GZIP_MAGIC):
            self.compression = "gzip"
        elif self._head == ZSTD_MAGIC or (self._head[1:] == ZSTD_SKIPPABLE_MAGIC and self._head[0] & 0xF0 == 0x50):
            self.compression = "zstd"
        if self.compression is not None:
            self._inflater = _Inflater(self.compression, self._limits)

    def _read_memory(self, size: int) -> bytes:
        piece, self._memory = self._memory[:size], self._memory[size:]
        return bytes(piece)

    def take_memory(self) -> memoryview:
        """All that is left, without a copy, where the source is bytes that are not compressed; otherwise nothing."""
        if self._inflater is not None or not self._memory:
            return memoryview(b"")
        memory, self._memory = self._memory, memoryview(b"")
        if self._head:
            # The head was read off the front of the same memory.
            memory = self._whole
            self._head = b""
        return memory

    def _read_some(self, size: int) -> bytes:
        if self._left is not None:
            size = min(size, self._left)
        data = self._read_raw(size) if size else b""
        if data is None:
            raise JellyError("the file object has no data now and does not wait for any: make it blocking")
        if isinstance(data, str):
            raise TypeError("the file object gives text: open it in binary mode")
        if self._left is not None:
            self._left -= len(data)
        return bytes(data)

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """Some bytes, about `size` of them; none only at the end."""
        if self._inflater is None:
            head, self._head = self._head, b""
            return head or self._read_some(size)
        while True:
            if self._inflater.wants_input():
                head, self._head = self._head, b""
                data = head or self._read_some(size)
                if not data:
                    # The decompressor may have taken in all of the input and still hold back output.
                    out = self._inflater.inflate(size)
                    if not out:
                        self._inflater.end()
                    return out
                self._inflater.feed(data)
            out = self._inflater.inflate(size)
            if out:
                return out

    def close(self) -> None:
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class _Inflater:
    """Streams of gzip members or Zstandard frames, one after the other, with a cap on what comes out."""

    def __init__(self, kind: str, limits: Limits) -> None:
        self._kind = kind
        self._limits = limits
        self._bytes_in = 0
        self._bytes_out = 0
        self._waiting = b""
        if kind == "gzip":
            self._new: Any = lambda: zlib.decompressobj(wbits=31)
            self._errors: tuple[type[Exception], ...] = (zlib.error,)
        else:
            zstd = zstd_module()
            self._new = zstd.ZstdDecompressor
            self._errors = (zstd.ZstdError,)
        self._stream: Any = None

    def wants_input(self) -> bool:
        if self._stream is None:
            return not self._waiting
        if self._kind == "gzip":
            return not self._waiting
        return bool(self._stream.needs_input) and not self._waiting

    def feed(self, data: bytes) -> None:
        self._bytes_in += len(data)
        self._waiting += data

    def inflate(self, size: int) -> bytes:
        if self._stream is None:
            if not self._waiting:
                return b""
            self._stream = self._new()
        data, self._waiting = self._waiting, b""
        try:
            out: bytes = self._stream.decompress(data, size)
        except self._errors as error:
            raise ParseError(f"the {self._kind} data is damaged: {error}") from None
        if self._kind == "gzip":
            self._waiting = self._stream.unconsumed_tail
        if self._stream.eof:
            # Whatever follows is another member; gzip files may end in padding.
            self._waiting = self._stream.unused_data
            if self._kind == "gzip":
                self._waiting = self._waiting.lstrip(b"\0")
            self._stream = None
        self._count(len(out))
        return out

    def _count(self, size: int) -> None:
        self._bytes_out += size
        limits = self._limits
        if self._bytes_out > limits.max_inflated_bytes:
            raise LimitError(
                f"the {self._kind} data inflates to more than {limits.max_inflated_bytes} bytes; "
                "raise Limits.max_inflated_bytes if you trust the input"
            )
        if self._bytes_out > RATIO_COUNTS_FROM and self._bytes_out > limits.max_inflation_ratio * self._bytes_in:
            raise LimitError(
                f"the {self._kind} data inflates more than {limits.max_inflation_ratio} times; "
                "raise Limits.max_inflation_ratio if you trust the input"
            )

    def end(self) -> None:
        if self._stream is not None:
            raise ParseError(f"the {self._kind} data is cut off")


# ---- writing ----------------------------------------------------------------------------------------------


class ByteSink:
    """Bytes to a path or a file object, plain or compressed.

    What goes to a path appears there when `close` is called, whole, and never after `discard`. A file object that was
    passed in is left open, but flushed.
    """

    def __init__(self, sink: Any, compression: str | None = None) -> None:
        if compression not in (None, *COMPRESSIONS):
            raise OptionsError(f"compression is {compression!r}, and must be one of {', '.join(COMPRESSIONS)} or None")
        self._target: str | None = None
        self._temporary: str | None = None
        self.name: str | None = None
        self._owned: IO[bytes] | None = None
        if isinstance(sink, str | os.PathLike):
            self.name = os.fspath(sink)
            self._open_path(os.path.realpath(sink))
        elif hasattr(sink, "write"):
            self._raw: Any = sink
        else:
            raise TypeError(f"a sink is a path or a binary file object, not {type(sink).__name__}")
        self._deflater: Any = None
        if compression == "gzip":
            self._deflater = zlib.compressobj(level=6, wbits=31)
        elif compression == "zstd":
            zstd = zstd_module()
            self._deflater = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})

    def _open_path(self, path: str) -> None:
        try:
            mode: int | None = os.stat(path).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            # A device or a named pipe cannot be replaced, only written to.
            self._raw = self._owned = open(path, "wb")  # noqa: SIM115
            return
        folder, name = os.path.split(path)
        handle, self._temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
        os.chmod(self._temporary, _new_file_mode() if mode is None else stat.S_IMODE(mode))
        self._target = path
        self._raw = self._owned = os.fdopen(handle, "wb")

    def write(self, data: bytes) -> None:
        if self._deflater is not None:
            data = self._deflater.compress(data)
        if data:
            self._raw.write(data)

    def flush(self) -> None:
        """Hand on what has been written, as far as compression allows."""
        flush = getattr(self._raw, "flush", None)
        if flush is not None:
            flush()

    def close(self) -> None:
        """Finish, and put the file in its place."""
        if self._deflater is not None:
            self._raw.write(self._deflater.flush())
            self._deflater = None
        self.flush()
        if self._owned is None:
            return
        if self._temporary is not None and self._target is not None:
            os.fsync(self._owned.fileno())
            self._owned.close()
            os.replace(self._temporary, self._target)
            self._temporary = None
        self._owned.close()

    def discard(self) -> None:
        """Give up: nothing appears at the path."""
        if self._owned is not None:
            with suppress(OSError):
                self._owned.close()
        if self._temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._temporary)
            self._temporary = None

    def __enter__(self) -> ByteSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


def _new_file_mode() -> int:
    """The permissions that a file made in the plain way would get."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
