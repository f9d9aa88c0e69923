"""The options of the clients' commands that say how the server is reached."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from jellyframe.cli.arguments import CommandParser, add_limits, limits_of, number_from_zero
from jellyframe.cli.console import UsageError
from jellyframe.defaults import CONNECT_SECONDS, KEEPALIVE_SECONDS, RECONNECT_SECONDS

if TYPE_CHECKING:
    from jellyframe.grpc import Client

TOKEN_VARIABLE = "JELLYFRAME_TOKEN"


def add_connection(parser: CommandParser) -> None:
    """Add the server's address, TLS, the token, and for how long to try."""
    group = parser
    group.add_argument("--server", metavar="HOST:PORT", required=True, help="the server")
    group.add_switch("--tls", default=False, help="use TLS; implied by --ca, --cert and --server-name")
    group.add_path(
        "--ca", metavar="FILE", help="certificates of trusted authorities (PEM), instead of those of the system"
    )
    group.add_path("--cert", metavar="FILE", help="this client's own certificate (PEM), for mutual TLS")
    group.add_path("--key", metavar="FILE", help="the key of that certificate (PEM)")
    group.add_argument("--server-name", metavar="NAME", help="the name in the server's certificate, if not the host")
    group.add_path(
        "--token-file",
        metavar="FILE",
        help=f"a file with the bearer token; by default the variable {TOKEN_VARIABLE}, if it is set",
    )
    group.add_argument(
        "--connect-timeout",
        metavar="SECONDS",
        type=seconds,
        default=CONNECT_SECONDS,
        help=f"how long to try to connect, in seconds ({CONNECT_SECONDS:g})",
    )
    group.add_argument(
        "--reconnect-timeout",
        metavar="SECONDS",
        type=seconds,
        default=RECONNECT_SECONDS,
        help=f"how long to try to reconnect, in seconds ({RECONNECT_SECONDS:g})",
    )
    group.add_argument(
        "--keepalive",
        metavar="SECONDS",
        type=seconds,
        default=KEEPALIVE_SECONDS,
        help=f"seconds of silence after which the connection is checked ({KEEPALIVE_SECONDS:g}); 0 for never",
    )
    add_limits(parser)


def open_client(arguments: argparse.Namespace) -> Client:
    """Return a client of the server that the options name."""
    from jellyframe.grpc import connect

    return connect(
        arguments.server,
        tls=arguments.tls,
        ca=arguments.ca,
        certificate=arguments.cert,
        key=arguments.key,
        server_name=arguments.server_name,
        token=_token(arguments),
        limits=limits_of(arguments),
        connect_timeout=arguments.connect_timeout,
        reconnect_timeout=arguments.reconnect_timeout,
        keepalive=arguments.keepalive,
    )


def _token(arguments: argparse.Namespace) -> str | None:
    if arguments.token_file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    with open(arguments.token_file, encoding="utf-8", errors="replace") as file:
        token = file.read(10_000).strip()
    if not token:
        raise UsageError(f"{arguments.token_file}: there is no token in this file")
    return token


def seconds(text: str) -> float:
    """Return a number of seconds, at least 0."""
    return number_from_zero(text, "a number of seconds")


def positive_number(text: str) -> float:
    """Return a number above 0."""
    number = seconds(text)
    if number == 0:
        raise argparse.ArgumentTypeError("it must be more than 0")
    return number
