"""Web servers that misbehave on purpose, each in a thread of the test."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Site:
    """A server that sends a file, with faults on request. `requests` has the method, path and headers of each request.

    `cuts` has, for each response with a body in turn, after how many bytes of the body the connection is closed; None
    sends all. `statuses` are sent first, in turn, in place of any content.
    """

    content: bytes = b""
    media_type: str | None = None
    etag: str | None = "strong"
    ranges: bool = True
    encoding: str | None = None
    chunked: bool = False
    announce_length: bool = True
    announce_ranges: bool = True
    head: bool = True
    location: Callable[[str], str | None] = lambda _path: None
    extra: dict[str, str] = field(default_factory=dict)
    cuts: list[int | None] = field(default_factory=list)
    statuses: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    after_request: Callable[[Site], None] = lambda _site: None
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def asked(self, name: str) -> list[str | None]:
        """Return the values of a header in all requests."""
        return [headers.get(name.lower()) for _method, _path, headers in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_HEAD(self) -> None:
        if not self.site.head:
            self._note()
            self.send_error(405)
            return
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _note(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.requests.append((self.command, self.path, headers))

    def _answer(self, with_body: bool) -> None:
        site = self.site
        self.close_connection = True
        self._note()
        if site.statuses:
            status, headers = site.statuses.pop(0)
            self._head(status, {"Content-Length": "0", **headers})
            return
        place = site.location(self.path)
        if place is not None:
            self._head(302, {"Location": place, "Content-Length": "0"})
            return
        content = site.content
        etag = {"strong": f'"{hashlib.sha1(content).hexdigest()}"', "weak": 'W/"same"', None: None}.get(
            site.etag, site.etag
        )
        headers = dict(site.extra)
        if site.media_type is not None:
            headers["Content-Type"] = site.media_type
        if etag is not None:
            headers["ETag"] = etag
        if site.encoding is not None:
            headers["Content-Encoding"] = site.encoding
        if site.ranges and site.announce_ranges:
            headers["Accept-Ranges"] = "bytes"
        status, start = 200, 0
        asked = self.headers.get("Range")
        if site.ranges and asked is not None and self.headers.get("If-Range", etag) == etag:
            start = int(asked.removeprefix("bytes=").split("-")[0])
            status = 206 if start < len(content) else 416
            where = f"{start}-{len(content) - 1}" if status == 206 else "*"
            headers["Content-Range"] = f"bytes {where}/{len(content)}"
        body = content[start:]
        if site.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif site.announce_length:
            headers["Content-Length"] = str(len(body))
        self._head(status, headers)
        if with_body:
            self._send(body)
        site.after_request(site)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def _send(self, body: bytes) -> None:
        cut = self.site.cuts.pop(0) if self.site.cuts else None
        sent = body if cut is None else body[:cut]
        try:
            if self.site.chunked:
                for start in range(0, len(sent), 5000):
                    piece = sent[start : start + 5000]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                if cut is None:
                    self.wfile.write(b"0\r\n\r\n")
            else:
                self.wfile.write(sent)
        except OSError:
            return
        if cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_arguments: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: Any) -> None:
        pass


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site on loopback."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
