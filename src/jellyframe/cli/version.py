"""`jellyframe version`."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import add_command
from jellyframe.cli.console import print_text


def add_parser(subparsers: Any) -> None:
    add_command(
        subparsers,
        "version",
        run,
        help="print the version of jellyframe, of its kernel and of the libraries it uses",
        examples="jellyframe version",
    )


def run(_arguments: argparse.Namespace) -> int:
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    from jellyframe import __version__, kernel_name

    lines = [f"jellyframe {__version__} ({kernel_name()} kernel)", f"Python {platform.python_version()}"]
    for package in ("pyarrow", "pyoxigraph", "protobuf", "rdflib"):
        try:
            lines.append(f"{package} {version_of(package)}")
        except PackageNotFoundError:
            lines.append(f"{package} not installed")
    print_text("\n".join(lines) + "\n")
    return 0
