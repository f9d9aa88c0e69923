"""Requests and responses of ASGI, without a framework."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Our pages run no foreign scripts, are not embedded in other pages, and need no sniffing of content types.
_SAFE_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class RequestError(Exception):
    """A request that is answered with an error: the status, and one line with the reason."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


@dataclass(frozen=True)
class Request:
    """A request: `path` is as it was sent, with its escapes. Names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]

    @classmethod
    def of(cls, scope: Scope) -> Request:
        """Return the request of a scope. A repeated header has all of its values."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        path = scope.get("raw_path") or scope["path"].encode()
        try:
            query = parse_qs(scope.get("query_string", b"").decode("ascii"), max_num_fields=50)
        except (ValueError, UnicodeDecodeError):
            raise RequestError(400, "the query of the address is invalid") from None
        return cls(scope["method"], path.partition(b"?")[0].decode("latin-1"), query, headers)

    def first(self, name: str) -> str | None:
        """Return the first value of a parameter of the query, or None."""
        values = self.query.get(name)
        return values[0] if values else None


@dataclass
class Response:
    """A response. `body` is bytes, or an asynchronous iterator of pieces that are sent as they come."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | AsyncGenerator[bytes, None] = b""

    async def send(self, send: Send, *, with_body: bool = True) -> None:
        """Send the response. If `body` fails, the connection is closed before the end of the response."""
        headers = {**_SAFE_HEADERS, **self.headers}
        if isinstance(self.body, bytes) and self.status != 304:
            headers.setdefault("Content-Length", str(len(self.body)))
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        if isinstance(self.body, bytes):
            await send({"type": "http.response.start", "status": self.status, "headers": encoded})
            await send({"type": "http.response.body", "body": self.body if with_body else b""})
            return
        async with aclosing(self.body) as pieces:
            # Get the first piece before the status is sent, so that early errors have their own status.
            first = await anext(pieces, b"") if with_body else b""
            await send({"type": "http.response.start", "status": self.status, "headers": encoded})
            if with_body:
                await send({"type": "http.response.body", "body": first, "more_body": True})
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


def text_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response of one line of plain text."""
    return Response(
        status,
        {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **(headers or {})},
        f"{message or HTTPStatus(status).phrase}\n".encode("utf-8", "backslashreplace"),
    )


def page_response(page: str, *, script_hash: str | None = None) -> Response:
    """Return a page whose policy forbids to load anything, and allows only the script with this hash."""
    script = f"'{script_hash}'" if script_hash else "'none'"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {script}; connect-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "X-Frame-Options": "DENY",
    }
    return Response(200, headers, page.encode("utf-8", "backslashreplace"))
