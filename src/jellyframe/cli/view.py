"""`jellyframe view`: a page to look at Jelly files, for a browser on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import STANDARD_STREAM, add_command, add_limits, add_listen, limits_of

_EXAMPLES = """
jellyframe view people.jelly
jellyframe view monday.jelly tuesday.jelly --no-browser --listen 127.0.0.1:9000
"""
_DESCRIPTION = """\
Look at Jelly files of any size on a page in the browser, until the command is interrupted: their statements, which can
be filtered and followed from term to term, their frames and lookup tables, plots, and options.
The page is only for this machine and for those who know its address, which contains a token. It loads nothing from
anywhere. Needs the package uvicorn: pip install 'jellyframe[http]'."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "view",
        run,
        help="show Jelly files on a page in the browser",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_path("files", nargs="+", metavar="FILE", help="the Jelly files, folders, or patterns of them")
    add_listen(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address, and do not open a browser")
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    import secrets
    from contextlib import ExitStack, closing

    from jellyframe.addresses import is_loopback, split_address
    from jellyframe.cli.console import UsageError
    from jellyframe.ops.browsing.pages import BrowsedFile
    from jellyframe.storage.resolving import resolve_inputs
    from jellyframe.web.guard import loopback_hosts
    from jellyframe.web.server import address_of, base_url, bind
    from jellyframe.web.server import run as run_server
    from jellyframe.web.viewing import ViewApp

    host, _port = split_address(arguments.listen)
    if not is_loopback(host):
        raise UsageError(f"{host} can be reached from other machines; the page is for this one: listen on 127.0.0.1")
    if STANDARD_STREAM in arguments.files:
        raise UsageError("standard input cannot be looked at, as pages jump to and fro in it: name a file")
    paths: list[str] = resolve_inputs(arguments.files)
    with ExitStack() as opened:
        files = [opened.enter_context(closing(BrowsedFile(path, limits_of(arguments)))) for path in paths]
        bound = bind(arguments.listen)
        token = secrets.token_urlsafe(18)
        address = f"{base_url(bound)}/?token={token}"

        def announce() -> None:
            arguments.console.announce(f"listening on {address}")
            if not arguments.no_browser:
                _open_browser(address)

        run_server(ViewApp(files, token, loopback_hosts(*address_of(bound))), bound, announce)
    return 0


def _open_browser(address: str) -> None:
    """Open the page in the user's browser, in a thread: with some browsers the call blocks."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
