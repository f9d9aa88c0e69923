"""Run an ASGI app: listen on a socket, stop on signals, let running requests finish."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jellyframe.addresses import join_address, split_address
from jellyframe.errors import OptionsError, StorageError, how_to_install

# Seconds that requests have to finish when the server stops.
GRACE_SECONDS = 10
# Requests at a time; more are answered with 503.
MOST_CONNECTIONS = 512


def bind(listen: str) -> socket.socket:
    """Return a socket that listens on HOST:PORT; port 0 selects a free port."""
    host, port = split_address(listen)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _name, address = found[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise StorageError(f"cannot listen on {listen}: {error.strerror or error}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise StorageError(f"cannot listen on {listen}: {error.strerror or error}") from None
    return bound


def address_of(bound: socket.socket) -> tuple[str, int]:
    """Return the host and the port that a socket listens on."""
    host, port = bound.getsockname()[:2]
    return str(host), int(port)


def base_url(bound: socket.socket) -> str:
    """Return the URL of the server that listens on a socket."""
    return f"http://{join_address(*address_of(bound))}"


def run(app: Any, bound: socket.socket, on_ready: Callable[[], object]) -> None:
    """Serve an app until a signal stops it; responses then have some seconds to finish.

    Args:
        app: an ASGI app
        bound: a listening socket, which is closed at the end
        on_ready: called when the server is ready
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        bound.close()
        raise OptionsError(f"serving needs a package that is not installed: {how_to_install(error)}") from None

    class Server(uvicorn.Server):
        """A server that reports when it is ready, and does not raise the signal again that stopped it."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            handled = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
            before = {number: signal.signal(number, self._end) for number in handled if not _is_ignored(number)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        def _end(self, *_signal: object) -> None:
            # A second signal does not wait for responses.
            self.force_exit = self.should_exit
            self.should_exit = True

    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    Server(config).run(sockets=[bound])


def _is_ignored(number: int) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN
