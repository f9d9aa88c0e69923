"""`jellyframe http serve`: files and folders of data over HTTP."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import add_command, add_listen

_EXAMPLES = """
jellyframe http serve dumps
jellyframe http serve people.jelly --listen 127.0.0.1:9000
"""
_DESCRIPTION = """\
Serve a folder of data, or one file, over HTTP, until the command is interrupted.
Jelly, N-Quads, N-Triples, TriG and Turtle are sent, as the client asks with `Accept`, else a file is sent as it is. A
folder is sent as one stream of all files below it; browsers get a page that lists it. Only files of data are served,
and nothing outside of DATA. Needs the package uvicorn: pip install 'jellyframe[http]'."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "serve",
        run,
        help="serve files and folders of data",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_path("data", metavar="DATA", help="the folder, or the file")
    add_listen(parser)
    parser.add_argument(
        "--host",
        metavar="NAME",
        action="append",
        default=[],
        help="another host name in requests, such as that of a reverse proxy; may be given several times",
    )


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.addresses import is_loopback
    from jellyframe.web.guard import loopback_hosts
    from jellyframe.web.server import address_of, base_url, bind
    from jellyframe.web.server import run as run_server
    from jellyframe.web.serving import data_app

    console = arguments.console
    bound = bind(arguments.listen)
    host, port = address_of(bound)
    try:
        hosts = loopback_hosts(host, port, arguments.host) if is_loopback(host) else arguments.host or None
        app = data_app(arguments.data, hosts=hosts, on_error=console.warn)
    except BaseException:
        bound.close()
        raise
    if not is_loopback(host):
        console.warn(f"other machines can reach {host}, and what is served is not encrypted")
    run_server(app, bound, lambda: console.announce(f"listening on {base_url(bound)}"))
    return 0
