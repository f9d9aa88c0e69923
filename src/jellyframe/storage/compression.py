"""gzip and Zstandard: detected by their first bytes, inflated with a limit on the output, deflated as a stream."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Protocol

from jellyframe.errors import Advice, LimitError, OptionsError, ParseError
from jellyframe.options import Limits
from jellyframe.storage.types import COMPRESSIONS, Compression

# The first bytes of each compression.
MAGIC_BYTES = 4
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Zstandard files may also begin with a frame that decoders skip: its magic is 0x184D2A50 to 0x184D2A5F.
ZSTD_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"
# A small input may well inflate a thousandfold; the ratio indicates a bomb only above this size.
RATIO_COUNTS_FROM = 64 << 20


def zstd_module() -> Any:
    """Return the standard library's zstd module, or its backport."""
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        from backports import zstd
    return zstd


def sniff_compression(head: bytes) -> Compression | None:
    """Return the compression of a file that begins with these bytes, at least `MAGIC_BYTES` if it has as many."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    head = head[:MAGIC_BYTES]
    if head == ZSTD_MAGIC or (head[1:] == ZSTD_SKIPPABLE_MAGIC and head[0] & 0xF0 == 0x50):
        return "zstd"
    return None


class Deflater(Protocol):
    """A compressor. Its results are to be written in order."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def new_deflater(compression: str | None) -> Deflater | None:
    """Return a compressor; None for no compression."""
    if compression is None:
        return None
    if compression not in COMPRESSIONS:
        raise OptionsError(f"compression is {compression!r}, and must be one of {', '.join(COMPRESSIONS)} or None")
    if compression == "gzip":
        return zlib.compressobj(level=6, wbits=31)
    zstd = zstd_module()
    deflater: Deflater = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
    return deflater


class Inflater:
    """Inflates concatenated gzip members or Zstandard frames, with a limit on the output.

    `is_transport` means that the compression is only for transport: the output may be a compressed file.
    """

    def __init__(self, kind: Compression, limits: Limits, *, is_transport: bool = False) -> None:
        self._kind = kind
        self._limits = limits
        self._bytes_in = 0
        self._bytes_out = 0
        self._waiting = b""
        # The first bytes of the output, until there are enough to recognise a second compression.
        self._head: bytes | None = None if is_transport else b""
        if kind == "gzip":
            self._new: Any = lambda: zlib.decompressobj(wbits=31)
            self._errors: tuple[type[Exception], ...] = (zlib.error,)
        else:
            zstd = zstd_module()
            self._new = zstd.ZstdDecompressor
            self._errors = (zstd.ZstdError,)
        self._stream: Any = None

    def read(self, size: int, read_input: Callable[[], bytes]) -> bytes:
        """Return some bytes, at most `size`; none only at the end. `read_input` returns compressed ones."""
        while True:
            if self.wants_input():
                data = read_input()
                if not data:
                    # The decompressor may have read all of the input and still have output.
                    out = self.inflate(size)
                    if not out:
                        self.end()
                    return out
                self.feed(data)
            out = self.inflate(size)
            if out:
                return out

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
        """Return at most `size` bytes of output for the input so far."""
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
            # Further data is another member; gzip files may end in padding.
            self._waiting = self._stream.unused_data
            if self._kind == "gzip":
                self._waiting = self._waiting.lstrip(b"\0")
            self._stream = None
        self._count(len(out))
        if self._head is not None:
            self._refuse_second_compression(out)
        return out

    def _refuse_second_compression(self, out: bytes) -> None:
        """Raise if the output is compressed again: data is inflated once."""
        head = (self._head or b"") + out[:MAGIC_BYTES]
        inner = sniff_compression(head)
        if inner is not None:
            raise ParseError(
                f"the input is compressed twice: there is {inner} data in the {self._kind} data; decompress it once"
            )
        self._head = head if len(head) < MAGIC_BYTES else None

    def _count(self, size: int) -> None:
        self._bytes_out += size
        limits = self._limits
        if self._bytes_out > limits.max_inflated_bytes:
            raise LimitError(
                f"the {self._kind} data inflates to more than {limits.max_inflated_bytes} bytes",
                advice=Advice("limit", "max_inflated_bytes"),
            )
        if self._bytes_out > RATIO_COUNTS_FROM and self._bytes_out > limits.max_inflation_ratio * self._bytes_in:
            raise LimitError(
                f"the {self._kind} data inflates more than {limits.max_inflation_ratio} times",
                advice=Advice("limit", "max_inflation_ratio"),
            )

    def end(self) -> None:
        """Raise if the data ends inside a member or a frame."""
        if self._stream is not None:
            raise ParseError(f"the {self._kind} data is cut off")
