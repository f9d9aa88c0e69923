"""Checks of `Host` and `Origin`: pages of other sites must not reach a loopback server through the user's browser."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jellyframe.addresses import join_address
from jellyframe.web.asgi import Request, RequestError


class HostGuard:
    """Checks that requests name an allowed host, are not sent by pages of other sites, and only read."""

    def __init__(self, hosts: Sequence[str] | None) -> None:
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    def check(self, request: Request) -> None:
        """Raise if a request names another host, was sent by a page of another site, or is not to read."""
        if self._hosts is not None:
            self._check_host(request, self._hosts)
        if request.method not in ("GET", "HEAD"):
            raise RequestError(405, "only GET and HEAD are answered here", {"Allow": "GET, HEAD"})

    def _check_host(self, request: Request, hosts: Collection[str]) -> None:
        host = request.headers.get("host", "").lower()
        if host not in hosts:
            raise RequestError(421, "this server does not answer to that name (Host)")
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{known}" for known in hosts}:
            raise RequestError(403, "pages of other sites are not answered (Origin)")


def loopback_hosts(host: str, port: int, names: Sequence[str] = ()) -> list[str]:
    """Return the host names of a loopback server, and further ones that were given."""
    own = [join_address(name, port) for name in dict.fromkeys((host, "localhost", "127.0.0.1", "::1"))]
    if port == 80:
        own += [name.rpartition(":")[0] for name in own]
    return [*own, *names]
