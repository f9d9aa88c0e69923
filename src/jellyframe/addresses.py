"""Addresses that servers listen on: what HOST:PORT means, and who can reach it."""

from __future__ import annotations

import re

from jellyframe.errors import OptionsError, shortened


def split_address(address: str) -> tuple[str, int]:
    """Return the host and the port of an address, which may be IPv6 in brackets."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port[:6]) > 65535:
        raise OptionsError(f"{shortened(address)} is not an address: write HOST:PORT, such as 127.0.0.1:8080")
    return host, int(port)


def join_address(host: str, port: int) -> str:
    """Return HOST:PORT, with brackets around IPv6."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def with_port(address: str, port: int) -> str:
    """Return an address with another port."""
    return join_address(split_address(address)[0], port)


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.[0-9]+){3}", host) is not None
