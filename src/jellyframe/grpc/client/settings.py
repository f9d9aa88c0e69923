"""The settings of a connection: the address, TLS, the token, limits and timeouts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from jellyframe.addresses import is_loopback, split_address
from jellyframe.defaults import CONNECT_SECONDS, KEEPALIVE_SECONDS, RECONNECT_SECONDS
from jellyframe.errors import Advice, OptionsError, shortened
from jellyframe.options import Limits

_UNIX_SCHEMES = ("unix:", "unix-abstract:")
_LONGEST_ANSWER_SECONDS = 20.0


class ConnectionSettings(TypedDict, total=False):
    """The keyword arguments of `connect`."""

    tls: bool
    ca: str | os.PathLike[str] | None
    certificate: str | os.PathLike[str] | None
    key: str | os.PathLike[str] | None
    server_name: str | None
    token: str | None
    limits: Limits | None
    connect_timeout: float
    reconnect_timeout: float
    keepalive: float


@dataclass(frozen=True)
class Connection:
    """The settings of a connection, checked. `connect` explains them."""

    address: str
    tls: bool = False
    ca: str | os.PathLike[str] | None = None
    certificate: str | os.PathLike[str] | None = None
    key: str | os.PathLike[str] | None = None
    server_name: str | None = None
    # Not in the repr: an error or a log that prints the settings must not reveal the token.
    token: str | None = field(default=None, repr=False)
    limits: Limits | None = None
    connect_timeout: float = CONNECT_SECONDS
    reconnect_timeout: float = RECONNECT_SECONDS
    keepalive: float = KEEPALIVE_SECONDS

    def __post_init__(self) -> None:
        _check_address(self.address)
        uses_files = self.ca is not None or self.certificate is not None or self.server_name is not None
        if (self.certificate is None) != (self.key is None):
            raise OptionsError("certificate and key go together: give both, or neither")
        if uses_files and not self.tls:
            object.__setattr__(self, "tls", True)
        if self.token is not None:
            if not self.token or not self.token.isascii() or not self.token.isprintable() or " " in self.token:
                raise OptionsError("the token is not valid: it must be printable ASCII characters without spaces")
            if not self.tls and not self.is_local:
                raise OptionsError(
                    f"a token is sent over TLS only, and {shortened(self.address)} is neither on this machine nor "
                    "used with TLS",
                    advice=Advice("argument", "tls", "True"),
                )
        for name in ("connect_timeout", "reconnect_timeout", "keepalive"):
            if not getattr(self, name) >= 0:
                raise OptionsError(f"{name} is {getattr(self, name)}, and must be a number of seconds, at least 0")

    @property
    def is_local(self) -> bool:
        """Whether the address is on this machine."""
        return self.address.startswith(_UNIX_SCHEMES) or is_loopback(split_address(self.address)[0])

    @property
    def accepted(self) -> Limits:
        """The limits for data from the server."""
        return self.limits or Limits()

    def channel_options(self) -> list[tuple[str, Any]]:
        """Return the options of the channel. All sizes and timeouts are set explicitly."""
        options: list[tuple[str, Any]] = [
            # A message is a frame, so the limit is that of the decoder; gRPC's default is 4 MiB.
            ("grpc.max_receive_message_length", min(self.accepted.max_frame_bytes, 2**31 - 1)),
            # The server enforces its own limit.
            ("grpc.max_send_message_length", -1),
            # Our own back-off decides when to retry; gRPC's would wait for up to two minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            # Despite its name this is the timeout of an attempt, for servers that accept and then do not answer.
            ("grpc.min_reconnect_backoff_ms", int(min(max(self.connect_timeout, 1.0), 20.0) * 1000)),
            # Clients of one process share no connection, so that a failed one does not affect others.
            ("grpc.use_local_subchannel_pool", 1),
            # gRPC must not repeat calls: that would publish twice.
            ("grpc.enable_retries", 0),
        ]
        if self.keepalive:
            answer_ms = int(min(_LONGEST_ANSWER_SECONDS, self.keepalive) * 1000)
            options += [
                ("grpc.keepalive_time_ms", int(self.keepalive * 1000)),
                ("grpc.keepalive_timeout_ms", answer_ms),
                ("grpc.http2.ping_timeout_ms", answer_ms),
                ("grpc.http2.max_pings_without_data", 0),
            ]
        if self.is_local:
            options.append(("grpc.enable_http_proxy", 0))
        if self.server_name is not None:
            options.append(("grpc.ssl_target_name_override", self.server_name))
        return options

    def credentials(self) -> Any:
        """Return the TLS credentials, read from their files; None without TLS."""
        if not self.tls:
            return None
        import grpc

        def content(path: str | os.PathLike[str] | None) -> bytes | None:
            return None if path is None else Path(path).read_bytes()

        return grpc.ssl_channel_credentials(content(self.ca), content(self.key), content(self.certificate))

    def call_metadata(self) -> list[tuple[str, str | bytes]]:
        """Return the metadata of every call."""
        return [] if self.token is None else [("authorization", f"Bearer {self.token}")]


def _check_address(address: str) -> None:
    if not isinstance(address, str):
        raise OptionsError(f"the address is a {type(address).__name__}, and must be a str such as localhost:9090")
    if address.startswith(_UNIX_SCHEMES):
        return
    if split_address(address)[1] == 0:
        raise OptionsError(f"the address {shortened(address)} has no port: write HOST:PORT, such as localhost:9090")
