"""Fixtures for the tests of gRPC."""

from __future__ import annotations

import socket

import pytest

pytest.importorskip("grpc", reason="needs jellyframe[grpc]")


@pytest.fixture
def unused_tcp_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port
