"""Which commands there are: groups, and in each the modules of this package that define its commands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from jellyframe import __version__
from jellyframe.cli.arguments import CommandParser

if TYPE_CHECKING:
    from types import ModuleType

RDF_COMMANDS: tuple[str, ...] = ("to_jelly", "from_jelly", "transcode", "inspect", "validate", "to_neo4j")
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
    "neo4j",
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


class CommandGroup(NamedTuple):
    """Commands on one subject. `package` is where their modules are, below this package."""

    subject: str
    description: str
    package: str
    commands: tuple[str, ...]


GROUPS = {
    "rdf": CommandGroup("RDF data in Jelly", "Commands for RDF data in the Jelly format.", "", RDF_COMMANDS),
    "patch": CommandGroup(
        "changes to RDF data, as Jelly-Patch",
        "Commands for changes to RDF data: Jelly-Patch, and RDF Patch text.",
        "patch.",
        PATCH_COMMANDS,
    ),
    "http": CommandGroup("data over HTTP", "Commands for data over HTTP.", "http.", HTTP_COMMANDS),
    "spark": CommandGroup(
        "jobs on Spark, here or on a cluster",
        "Jobs on Spark. They run on all cores of this machine unless --master names a cluster.",
        "spark.",
        SPARK_COMMANDS,
    ),
    "grpc": CommandGroup(
        "streams over gRPC",
        "Jelly streams over gRPC: a server with topics, and its clients.",
        "grpc.",
        GRPC_COMMANDS,
    ),
}

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
    for name, group in GROUPS.items():
        subparser = top.add_parser(
            name, help=f"{group.subject}: " + ", ".join(map(_spelled, group.commands)), description=group.description
        )
        commands = _needed_commands(name, group, words)
        if commands:
            _add(subparser.add_subparsers(title="commands", metavar="COMMAND", required=True), group.package, commands)
    if not words or words[0] not in GROUPS:
        _add(top, "", TOP_COMMANDS)
    return parser


def _needed_commands(name: str, group: CommandGroup, words: Sequence[str] | None) -> tuple[str, ...]:
    """Return the commands of a group that a line of such words can mean: all, one or none."""
    if words is None:
        return group.commands
    if name not in words:
        return ()
    named = tuple(command for command in group.commands if [name, _spelled(command)] == list(words[:2]))
    return named or group.commands


def _spelled(command: str) -> str:
    return command.replace("_", "-")


def _add(subparsers: Any, package: str, commands: tuple[str, ...]) -> None:
    for command in commands:
        module: ModuleType = import_module(f"jellyframe.cli.{package}{command}")
        module.add_parser(subparsers)
