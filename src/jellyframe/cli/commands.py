"""Which commands there are: groups, and in each the modules of this package that define its commands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jellyframe import __version__
from jellyframe.cli.arguments import CommandParser

if TYPE_CHECKING:
    from types import ModuleType

RDF_COMMANDS: tuple[str, ...] = ("to_jelly", "from_jelly", "transcode", "inspect", "validate")
PATCH_COMMANDS: tuple[str, ...] = (
    "to_jelly",
    "from_jelly",
    "transcode",
    "inspect",
    "validate",
    "diff",
    "apply",
    "invert",
    "compact",
    "log",
)
GRPC_COMMANDS: tuple[str, ...] = ("serve", "publish", "subscribe", "topics")
HTTP_COMMANDS: tuple[str, ...] = ("serve",)
SPARK_COMMANDS: tuple[str, ...] = (
    "convert",
    "merge",
    "partition",
    "sample",
    "stats",
    "tables",
    "validate",
    "diff",
    "apply",
    "compact",
    "invert",
    "replicate",
)
TOP_COMMANDS = ("view", "version", "completion")

_EXAMPLES = """\
examples:
  jellyframe rdf to-jelly people.nt.gz --to people.jelly
  jellyframe rdf from-jelly people.jelly --out-format ttl | less
  jellyframe rdf inspect people.jelly
  jellyframe patch to-jelly changes.rdfp --to changes.jellyp
  jellyframe spark convert dump/*.nt.gz --to people

exit codes: 0 success, 1 the data is invalid, different or incomplete, 2 an error
"""


def build_parser(words: Sequence[str] | None = None) -> CommandParser:
    """Return the parser of the whole command line; or, to start sooner, of as much as a line of such words needs."""
    parser = CommandParser(
        prog="jellyframe",
        description="Jelly, the fast RDF format: convert, look into and check Jelly files.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"jellyframe {__version__}")
    top = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    rdf = top.add_parser(
        "rdf",
        help="RDF data in Jelly: " + ", ".join(RDF_COMMANDS).replace("_", "-"),
        description="Commands for RDF data in the Jelly format.",
    )
    if words is None or "rdf" in words:
        _add(rdf.add_subparsers(title="commands", metavar="COMMAND", required=True), RDF_COMMANDS)
    patch = top.add_parser(
        "patch",
        help="changes to RDF data, as Jelly-Patch: " + ", ".join(PATCH_COMMANDS).replace("_", "-"),
        description="Commands for changes to RDF data: Jelly-Patch, and RDF Patch text.",
    )
    if words is None or "patch" in words:
        modules = tuple(f"patch.{name}" for name in PATCH_COMMANDS)
        _add(patch.add_subparsers(title="commands", metavar="COMMAND", required=True), modules)
    http = top.add_parser(
        "http", help="data over HTTP: " + ", ".join(HTTP_COMMANDS), description="Commands for data over HTTP."
    )
    if words is None or "http" in words:
        modules = tuple(f"http.{name}" for name in HTTP_COMMANDS)
        _add(http.add_subparsers(title="commands", metavar="COMMAND", required=True), modules)
    spark = top.add_parser(
        "spark",
        help="jobs on Spark, here or on a cluster: " + ", ".join(SPARK_COMMANDS),
        description="Jobs on Spark. They run on all cores of this machine unless --master names a cluster.",
    )
    if words is None or "spark" in words:
        modules = tuple(f"spark.{name}" for name in SPARK_COMMANDS)
        _add(spark.add_subparsers(title="commands", metavar="COMMAND", required=True), modules)
    grpc = top.add_parser(
        "grpc",
        help="streams over gRPC: " + ", ".join(GRPC_COMMANDS),
        description="Jelly streams over gRPC: a server with topics, and its clients.",
    )
    if words is None or "grpc" in words:
        modules = tuple(f"grpc.{name}" for name in GRPC_COMMANDS)
        _add(grpc.add_subparsers(title="commands", metavar="COMMAND", required=True), modules)
    _add(top, TOP_COMMANDS)
    return parser


def _add(subparsers: Any, names: tuple[str, ...]) -> None:
    for name in names:
        module: ModuleType = import_module(f"jellyframe.cli.{name}")
        module.add_parser(subparsers)
