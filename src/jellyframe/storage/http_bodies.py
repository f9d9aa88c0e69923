"""The body of an HTTP response, from an offset; a broken connection is resumed where it broke."""

from __future__ import annotations

import hashlib
import http.client
import re
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from jellyframe.errors import StorageError, display_name
from jellyframe.storage.http_requests import CONNECTION_ERRORS, HttpError, HttpSettings, PassingError, send, send_once

_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_SKIP_BYTES = 1 << 20
# A date of last change identifies a version only if it is not recent; RFC 9110 requires a minute.
_SAFE_AGE_SECONDS = 60


class Version(NamedTuple):
    """The validators that identify a version of a file; None if the server does not send them."""

    etag: str | None
    modified: str | None
    size: int | None

    @classmethod
    def of(cls, headers: http.client.HTTPMessage, size: int | None) -> Version:
        """Return the version from the headers of a response."""
        return cls(headers.get("ETag"), headers.get("Last-Modified"), size)

    def differs(self, other: Version) -> bool:
        """Return whether two responses certainly have different versions of a file."""
        if self.etag is not None and other.etag is not None:
            return self.etag != other.etag
        return any(one is not None and two is not None and one != two for one, two in zip(self, other, strict=True))


class Body:
    """Bytes of a file on a server, as they arrive. `size` is that of the whole file, as it is sent."""

    def __init__(
        self,
        url: str,
        headers: dict[str, str],
        settings: HttpSettings,
        start: int = 0,
        version: Version | None = None,
    ) -> None:
        self._url = url
        self._headers = headers
        self._settings = settings
        self._position = start
        self.version = version
        self._failures = 0
        ranged = {"Range": f"bytes={start}-"} if start else {}
        if start and version is not None and _is_strong(version.etag):
            ranged["If-Range"] = version.etag or ""
        self._response = send("GET", url, {**headers, **ranged}, settings)
        answer = self._response.headers
        self.media_type = answer.get_content_type() if "Content-Type" in answer else None
        encoding = (answer.get("Content-Encoding") or "identity").strip().lower()
        self.encoding = None if encoding == "identity" else encoding
        self.accepts_ranges = self._response.status in (206, 416) or answer.get("Accept-Ranges", "").strip() == "bytes"
        self._validator = _validator(answer)
        # Without a validator, only the bytes show whether the version is the same.
        self._digest = None if self._validator or start else hashlib.blake2b()
        self._begin(start)

    @property
    def size(self) -> int | None:
        """The size of the whole file; None if the server does not announce it."""
        return None if self.version is None else self.version.size

    def read(self, size: int) -> bytes:
        """Return the bytes that have arrived, at most `size`; none only at the end."""
        while True:
            try:
                data = self._response.read1(size)
                if not data and self._is_short():
                    raise ConnectionError("the server closed the connection before the end")
            except CONNECTION_ERRORS as error:
                self._resume(error)
                continue
            self._position += len(data)
            if data:
                self._failures = 0
                if self._digest is not None:
                    self._digest.update(data)
            return data

    def close(self) -> None:
        self._response.close()

    def _is_short(self) -> bool:
        """Return whether bytes are missing. Chunked bodies have an end mark, which http.client checks."""
        return self.size is not None and self._position < self.size

    # ---- one response ----

    def _begin(self, start: int) -> None:
        """Check that a response is of the same version, and skip to the offset to read from."""
        status, headers = self._response.status, self._response.headers
        first, size = 0, self._response.length
        if status in (206, 416):
            found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range") or "")
            if found is None:
                raise self._error(f"the server answers {status} without a valid range of bytes")
            size = None if found[3] == "*" else int(found[3])
            first = start if found[1] is None else int(found[1])
        version = Version.of(headers, size)
        if self.version is not None and version.differs(self.version):
            raise self._error(f"the file on the server changed while it was read, at byte {start}: read it again")
        self.version = version
        if status == 416 and size is not None and start < size:
            raise self._error(f"the server does not send the bytes from {start}, of {size}")
        if status == 206 and first != start:
            raise self._error(f"the server answers with the bytes from {first}, and was asked for {start}")
        if status not in (206, 416) and start:
            self.accepts_ranges = False
            self._skip(start)
        if status == 416:
            self._response.close()

    def _skip(self, count: int) -> None:
        """Skip the bytes that have been read before; without a validator, compare them."""
        digest = hashlib.blake2b() if self._digest is not None else None
        while count:
            data = self._response.read1(min(count, _SKIP_BYTES))
            if not data:
                raise ConnectionError("the server closed the connection before the end")
            count -= len(data)
            if digest is not None:
                digest.update(data)
        if digest is not None and self._digest is not None and digest.digest() != self._digest.digest():
            raise self._error(f"the file on the server changed while it was read, before byte {self._position}")

    # ---- resuming ----

    def _resume(self, cause: Exception) -> None:
        """Request the rest: as a range if the server supports that, otherwise by skipping the first bytes."""
        if self._validator is None and self._digest is None:
            raise self._error(
                f"the connection broke at byte {self._position}, and the server sends no ETag to resume by"
            ) from cause
        reason: object = cause
        while True:
            self._response.close()
            self._failures += 1
            if self._failures >= self._settings.attempts:
                raise self._error(
                    f"the connection broke at byte {self._position}: {reason}; gave up after {self._failures} attempts"
                ) from cause
            self._settings.wait(self._failures)
            try:
                self._response = send_once("GET", self._url, {**self._headers, **self._rest()}, self._settings)
                self._begin(self._position)
                return
            except HttpError as error:
                if error.status is not None:
                    raise
                # No connection: the server may be restarting.
                reason = "the server cannot be reached any more"
            except StorageError:
                raise
            except (PassingError, *CONNECTION_ERRORS) as error:
                reason = error

    def _rest(self) -> dict[str, str]:
        """Return the headers that request the rest."""
        if self._validator is None or not self._position:
            return {}
        return {"Range": f"bytes={self._position}-", "If-Range": self._validator}

    def _error(self, message: str) -> StorageError:
        return StorageError(f"{display_name(self._url)}: {message}")


def _is_strong(etag: str | None) -> bool:
    return etag is not None and etag.startswith('"')


def _validator(headers: http.client.HTTPMessage) -> str | None:
    """Return the validator for `If-Range`: a strong ETag, or a date of last change that is not recent."""
    etag, modified = headers.get("ETag"), headers.get("Last-Modified")
    if _is_strong(etag):
        return etag
    if modified is None:
        return None
    try:
        age = parsedate_to_datetime(headers.get("Date") or "") - parsedate_to_datetime(modified)
    except (TypeError, ValueError):
        return None
    return modified if age.total_seconds() >= _SAFE_AGE_SECONDS else None
