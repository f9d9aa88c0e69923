"""Files on web servers: read as streams, resumed after a broken connection, from any offset if the server allows it."""

from __future__ import annotations

import os
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from jellyframe.errors import StorageError, display_name
from jellyframe.options import Limits
from jellyframe.storage.closing import Closeable
from jellyframe.storage.compression import Inflater
from jellyframe.storage.http_bodies import Body, Version
from jellyframe.storage.http_requests import HttpError, HttpSettings, send
from jellyframe.storage.names import JELLY_MEDIA_TYPE
from jellyframe.storage.types import COMPRESSIONS

# The media types that readers of Jelly accept. Servers that do not know Jelly send another type.
JELLY_ACCEPT = f"{JELLY_MEDIA_TYPE}, application/octet-stream;q=0.5, */*;q=0.1"
_ENCODINGS = ", ".join(COMPRESSIONS)
# Jelly is small without compression, and can then be resumed at any offset.
_JELLY_ENCODINGS = ", ".join(("identity", *(f"{kind};q=0.5" for kind in COMPRESSIONS)))
# A short distance forward is skipped by reading, which is faster than another request.
_NEAR_BYTES = 256 << 10
_READ_BYTES = 1 << 20
# Some servers answer only GET: signed URLs, and programs that do not implement HEAD.
_NO_HEAD = (400, 401, 403, 405, 501)


class HttpFile(Closeable):
    """A file on a web server, as a binary file object. The first use sends the first request.

    `seek` works if the server supports ranges and did not compress the response, as `seekable` returns. A response
    that is compressed for transport (`Content-Encoding`) is inflated.

    Args:
        url: an `http:` or `https:` URL; a user and a password in it are sent.
        accept: the header `Accept`: the accepted media types, by default Jelly.
        settings: time limits, retries, redirects and further headers.
        limits: the limits for inflating a compressed response.
        compressed: whether the response may be compressed for transport (true); false to seek in it.
    """

    def __init__(
        self,
        url: str,
        *,
        accept: str = JELLY_ACCEPT,
        settings: HttpSettings | None = None,
        limits: Limits | None = None,
        compressed: bool = True,
    ) -> None:
        self.name = display_name(url)
        self._url = url
        self._accept = accept
        self._settings = settings or HttpSettings()
        self._limits = limits or Limits()
        self._compressed = compressed
        self._position = 0
        self._body: Body | None = None
        self._body_position = 0
        self._inflater: Inflater | None = None
        self._version: Version | None = None
        self._is_closed = False

    @property
    def size(self) -> int | None:
        """The size of the file in bytes; None if it is unknown."""
        body = self._body or self._opened()
        return body.size if body.encoding is None else None

    @property
    def media_type(self) -> str | None:
        """The media type that the server announces, such as `application/n-quads`."""
        return (self._body or self._opened()).media_type

    def read(self, size: int = -1, /) -> bytes:
        """Return the bytes that have arrived, at most `size`; none only at the end. Without a size, return the rest.

        Args:
            size: the maximum number of bytes
        """
        if size < 0:
            return b"".join(iter(lambda: self.read(_READ_BYTES), b""))
        if not size:
            return b""
        data = self._read_body(self._opened(), size)
        self._position += len(data)
        self._body_position = self._position
        return data

    def seekable(self) -> bool:
        """Return whether the file can be read from any offset."""
        # The current response shows it, even if the next read needs another one.
        body = self._body or self._opened()
        return body.accepts_ranges and body.encoding is None

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to an offset and return it. The next read requests the bytes from there.

        Args:
            offset: the number of bytes
            whence: what they are relative to, as for other files
        """
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence == os.SEEK_END:
            size = self.size
            if size is None:
                raise self._error("the server does not send the size of the file, which is needed to seek from its end")
            offset += size
        if self._body is None:
            # The first request can start at this offset, and its response must not be compressed.
            self._compressed = self._compressed and offset == 0
        elif offset != self._body_position and not self.seekable():
            raise self._error("the server answers no requests for ranges, and a place in the file is needed")
        self._position = offset
        return offset

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def close(self) -> None:
        """Close the connection."""
        self._is_closed = True
        self._drop()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._is_closed

    # ---- implementation ----

    def _opened(self) -> Body:
        """Return the response that has the bytes at the position."""
        if self._is_closed:
            raise ValueError("the file is closed")
        ahead = self._position - self._body_position
        if self._body is not None and ahead:
            if 0 < ahead <= _NEAR_BYTES:
                while ahead and (data := self._body.read(ahead)):
                    ahead -= len(data)
            else:
                self._drop()
            self._body_position = self._position
        if self._body is None:
            self._body = self._request()
        return self._body

    def _request(self) -> Body:
        encodings = _JELLY_ENCODINGS if self._accept.startswith("application/x-jelly") else _ENCODINGS
        headers = {"Accept": self._accept, "Accept-Encoding": encodings if self._compressed else "identity"}
        body = Body(self._url, headers, self._settings, self._position, self._version)
        self._version = body.version
        self._body_position = self._position
        if body.encoding is not None:
            kind = {"x-gzip": "gzip"}.get(body.encoding, body.encoding)
            if kind not in COMPRESSIONS or self._position:
                body.close()
                raise self._error(f"the server sends the encoding {body.encoding!r}, which was not asked for")
            self._inflater = Inflater(kind, self._limits, is_transport=True)
        return body

    def _read_body(self, body: Body, size: int) -> bytes:
        inflater = self._inflater
        if inflater is None:
            return body.read(size)
        return inflater.read(size, lambda: body.read(_READ_BYTES))

    def _drop(self) -> None:
        if self._body is not None:
            self._body.close()
        self._body = None

    def _error(self, message: str) -> StorageError:
        return StorageError(f"{self.name}: {message}")


class HttpInfo(NamedTuple):
    """The properties of a file on a server: its size, modification time (in nanoseconds), and media type.

    `accepts_ranges` is whether it can be read from any offset.
    """

    size: int | None
    modified: int
    media_type: str | None
    accepts_ranges: bool


def http_info(url: str, accept: str = JELLY_ACCEPT, settings: HttpSettings | None = None) -> HttpInfo:
    """Return the properties of a file on a server, without reading it.

    Args:
        url: the URL
        accept: the header `Accept`
        settings: time limits, retries and redirects
    """
    settings = settings or HttpSettings()
    headers = {"Accept": accept, "Accept-Encoding": "identity"}
    try:
        response = send("HEAD", url, headers, settings)
    except HttpError as error:
        if error.status not in _NO_HEAD:
            raise
        response = send("GET", url, headers, settings)
    with response:
        found = response.headers
        size = found.get("Content-Length") or ""
        return HttpInfo(
            int(size) if size.isascii() and size.isdigit() else None,
            _nanoseconds(found.get("Last-Modified")),
            found.get_content_type() if "Content-Type" in found else None,
            found.get("Accept-Ranges", "").strip() == "bytes",
        )


def _nanoseconds(date: str | None) -> int:
    try:
        return int(parsedate_to_datetime(date or "").timestamp()) * 10**9
    except (TypeError, ValueError, OverflowError):
        return 0
