"""Requests over HTTP: redirects, proxies, time limits and retries; every failure is a `StorageError`."""

from __future__ import annotations

import http.client
import random
import re
import socket
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from jellyframe.errors import StorageError, display_name, one_line
from jellyframe.storage.uris import is_http_uri

# Errors that a connection may raise at any time.
CONNECTION_ERRORS = (OSError, http.client.HTTPException)
_REDIRECTS = (301, 302, 303, 307, 308)
# The server, or something between it and us, is busy: the same request may succeed later.
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_LONGEST_WAIT_SECONDS = 30.0
_REASON_BYTES = 1000


@dataclass(frozen=True)
class HttpSettings:
    """Settings of requests.

    Args:
        timeout: seconds to wait for a connection, and then for each piece of data.
        attempts: the number of attempts that may fail in a row without receiving data.
        back_off: seconds before the second attempt; twice as many before each further one, up to half a minute.
        max_redirects: the maximum number of redirects.
        headers: further headers of each request, such as `Authorization`; they are not sent to other hosts.
    """

    timeout: float = 60.0
    attempts: int = 5
    back_off: float = 0.25
    max_redirects: int = 10
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def wait(self, failures: int, response: urllib.error.HTTPError | None = None) -> None:
        """Wait before another attempt: exponentially longer with `failures`, or as long as a `response` requires."""
        seconds = self.back_off * 2.0 ** (failures - 1) * random.uniform(0.8, 1.2)
        if response is not None:
            seconds = max(seconds, _retry_after(response))
        time.sleep(min(seconds, _LONGEST_WAIT_SECONDS))


class HttpError(StorageError):
    """A response that is an error; `status` is None if there was no response."""

    status: int | None = None

    @classmethod
    def of(cls, url: str, message: str, status: int | None = None) -> HttpError:
        """Return the error of a request."""
        error = cls(f"{display_name(url)}: {message}")
        error.status = status
        return error


class PassingError(Exception):
    """A request that failed, but may succeed later."""

    def __init__(self, message: str, response: urllib.error.HTTPError | None = None) -> None:
        super().__init__(message)
        self.response = response


class _KeptRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves redirects to us: urllib would follow them anywhere."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def send(method: str, url: str, headers: Mapping[str, str], settings: HttpSettings) -> http.client.HTTPResponse:
    """Send a request, with retries, and return the response; its `read` returns the body.

    A status of 400 or more is an error, except 416, which says that a range begins after the end.
    """
    failures = 0
    while True:
        try:
            return send_once(method, url, headers, settings)
        except PassingError as error:
            failures += 1
            if failures >= settings.attempts:
                status = None if error.response is None else error.response.code
                raise HttpError.of(url, f"{error}; gave up after {failures} attempts", status) from None
            settings.wait(failures, error.response)


def send_once(method: str, url: str, headers: Mapping[str, str], settings: HttpSettings) -> http.client.HTTPResponse:
    """Send a request and return the response; raise a `PassingError` if another attempt may succeed."""
    opener = urllib.request.build_opener(_KeptRedirects)
    target = url
    for _ in range(settings.max_redirects + 1):
        request = _request(method, target, headers, settings.headers if _same_host(target, url) else {})
        try:
            answer: http.client.HTTPResponse = opener.open(request, timeout=settings.timeout)
            return answer
        except urllib.error.HTTPError as error:
            if error.code == 416:
                return error  # type: ignore[return-value]  # it has the headers, and a body to close
            with error:
                target = _redirect(error, target, url)
        except urllib.error.URLError as error:
            raise _failure(url, error.reason) from None
        except CONNECTION_ERRORS as error:
            raise _failure(url, error) from None
    raise StorageError(f"{display_name(url)}: more than {settings.max_redirects} redirects")


def _request(method: str, url: str, headers: Mapping[str, str], own: Mapping[str, str]) -> urllib.request.Request:
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError("it names no host")
        if re.search(r"[\x00-\x20]", parts.netloc):
            raise ValueError("there is a space in the name of its host")
        user, password = parts.username, parts.password
        host = parts.netloc.rpartition("@")[2]
        # Spaces and characters beyond ASCII are escaped; escapes are kept.
        path, query = (quote(part, safe="/%:=&?~#+!$,;'@()*[]") for part in (parts.path, parts.query))
        if not host.isascii():
            host = host.encode("idna").decode()
        plain = urlunsplit((parts.scheme, host, path, query, ""))
        request = urllib.request.Request(plain, method=method)
    except ValueError as error:
        raise StorageError(f"{display_name(url)}: this is not a valid URL: {error}") from None
    request.add_header("User-Agent", "jellyframe")
    for name, value in {**headers, **own}.items():
        request.add_header(name, value)
    if user is not None:
        pair = f"{unquote(user)}:{unquote(password or '')}"
        request.add_header("Authorization", f"Basic {b64encode(pair.encode()).decode()}")
    return request


def _same_host(one: str, other: str) -> bool:
    try:
        return urlsplit(one)[:2] == urlsplit(other)[:2]
    except ValueError:
        return False


def _redirect(error: urllib.error.HTTPError, target: str, url: str) -> str:
    """Return the target of a redirect; raise for every other status."""
    if error.code not in _REDIRECTS:
        message = f"the server answers {error.code} {one_line(error.reason)}{_reason(error)}"
        if error.code in _PASSING:
            raise PassingError(message, error)
        raise HttpError.of(url, message, error.code) from None
    place = error.headers.get("Location")
    if not place:
        raise HttpError.of(url, f"the server answers {error.code} without a Location header", error.code) from None
    try:
        found = urljoin(target, place)
    except ValueError:
        found = place
    if not is_http_uri(found):
        raise StorageError(f"{display_name(url)}: a redirect leads to {display_name(found)}, which is not HTTP")
    if target.lower().startswith("https:") and not found.lower().startswith("https:"):
        raise StorageError(f"{display_name(url)}: a redirect leads from https to {display_name(found)}, without TLS")
    return found


def _reason(error: urllib.error.HTTPError) -> str:
    """Return the first line of a body of plain text, with which servers explain the error."""
    if error.headers.get_content_type() != "text/plain":
        return ""
    try:
        lines = error.read(_REASON_BYTES).decode("utf-8", "replace").strip().splitlines()
    except CONNECTION_ERRORS:
        return ""
    return f": {one_line(lines[0])[:200]}" if lines else ""


def _failure(url: str, reason: object) -> HttpError | PassingError:
    """Return the error of a failed connection: a PassingError if another attempt may succeed."""
    if isinstance(reason, TimeoutError):
        return PassingError("the server did not answer in time")
    if isinstance(reason, http.client.RemoteDisconnected | ConnectionResetError | ConnectionAbortedError):
        return PassingError("the server closed the connection without an answer")
    if isinstance(reason, socket.gaierror) and reason.errno == socket.EAI_AGAIN:
        return PassingError("the name of the host cannot be resolved now")
    if isinstance(reason, http.client.HTTPException):
        raise StorageError(f"{display_name(url)}: the answer is not HTTP: {one_line(repr(reason))[:200]}")
    words = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return HttpError.of(url, f"no connection: {one_line(words)[:200]}")


def _retry_after(response: urllib.error.HTTPError) -> float:
    """Return the seconds of the Retry-After header."""
    said = response.headers.get("Retry-After") or ""
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        return max(parsedate_to_datetime(said).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return 0.0
