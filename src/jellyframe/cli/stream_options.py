"""Stream options on the command line: `--opt.…`, `--preset`, `--options-from`, and options for writing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, cast

from jellyframe.cli.arguments import CommandParser, natural, positive, size_or_off
from jellyframe.cli.console import UsageError
from jellyframe.defaults import (
    DATATYPE_TABLE_SIZE,
    DEFAULT_FRAME_ROWS,
    DEFAULT_RESTART_EVERY,
    NAME_TABLE_SIZE,
    PREFIX_TABLE_SIZE,
)
from jellyframe.storage.types import COMPRESSIONS

if TYPE_CHECKING:
    from jellyframe.formats.settings import JellySettings
    from jellyframe.ops.regroup import FileSettings
    from jellyframe.options import DialectName, LogicalType, OptionChanges, PhysicalType, StreamOptions
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.storage.types import Compression

_STAX = "https://w3id.org/stax/ontology#"
# Option on the command line (also with dots) to field of StreamOptions; the first ones are in PatchOptions too.
TERM_FIELDS = (
    "generalized_statements",
    "rdf_star",
    "use_repeat",
    "max_name_table_size",
    "max_prefix_table_size",
    "max_datatype_table_size",
)
STREAM_OPTIONS = ("stream_name", *TERM_FIELDS, "physical_type", "logical_type")


def add_stream_options(parser: CommandParser) -> None:
    """Add the options of the stream itself: name, types, and a file to copy them from."""
    parser.add_argument("--opt.stream-name", dest="stream_name", metavar="NAME", help="name of the stream")
    add_term_options(parser)
    parser.add_named(
        "--opt.physical-type",
        values=("TRIPLES", "QUADS", "GRAPHS"),
        dest="physical_type",
        metavar="TYPE",
        help="TRIPLES, QUADS or GRAPHS; by default it depends on the data",
    )
    parser.add_named(
        "--opt.logical-type",
        values=("FLAT_TRIPLES", "FLAT_QUADS", "GRAPHS", "DATASETS", "SUBJECT_GRAPHS", "NAMED_GRAPHS"),
        dest="logical_type",
        metavar="TYPE",
        help="FLAT_TRIPLES, FLAT_QUADS, GRAPHS, DATASETS, … or the IRI of an RDF-STaX type",
    )
    parser.add_path(
        "--options-from", metavar="FILE", help="a Jelly file whose options are copied; other options override them"
    )


def add_term_options(parser: CommandParser) -> None:
    """Add what streams of statements and of patches have in common: which terms occur, and the sizes of tables."""
    parser.add_switch(
        "--opt.generalized-statements",
        dest="generalized_statements",
        help="whether generalized statements are allowed (by default yes)",
    )
    parser.add_switch(
        "--opt.rdf-star",
        "--opt.triple-terms",
        dest="rdf_star",
        help="whether quoted triples are allowed (by default yes)",
    )
    parser.add_switch(
        "--opt.use-repeat",
        dest="use_repeat",
        help="whether terms are repeated by RdfRepeat, in the draft dialect (by default yes); the released one always "
        "repeats them",
    )
    for table, size in (("name", NAME_TABLE_SIZE), ("prefix", PREFIX_TABLE_SIZE), ("datatype", DATATYPE_TABLE_SIZE)):
        parser.add_argument(
            f"--opt.max-{table}-table-size",
            dest=f"max_{table}_table_size",
            metavar="N",
            type=natural,
            help=f"entries in the {table} table ({size})",
        )
    parser.add_argument("--preset", choices=("big", "small"), help="table sizes for files, or for small messages")


def add_writer_options(parser: CommandParser) -> None:
    """Add the options for framing, restart points and compression."""
    add_frame_rows(parser)
    parser.add_switch("--delimited", default=True, help="whether frames are delimited; false writes one bare frame")
    add_restart_every(
        parser, f"such as 8MiB, or `off`; by default {DEFAULT_RESTART_EVERY >> 20}MiB in files of flat streams"
    )
    parser.add_switch("--index", help="append an index of restart points")
    add_compression(parser)


def add_frame_rows(parser: CommandParser, rows: int = DEFAULT_FRAME_ROWS) -> None:
    """Add the option for the rows of a frame. `rows` is the default that the help names."""
    parser.add_argument("--rows-per-frame", metavar="N", type=positive, help=f"rows in a frame ({rows})")


def add_restart_every(parser: CommandParser, values: str) -> None:
    """Add the option for restart points. `values` ends its help text."""
    parser.add_argument(
        "--restart-every",
        metavar="SIZE",
        type=size_or_off,
        default=argparse.SUPPRESS,
        help=f"distance between restart points, at which files can be split, {values}",
    )


def add_compression(
    parser: CommandParser,
    help: str = "compress the output; by default according to its name",  # noqa: A002
) -> None:
    """Add the option for the compression of the output; `compression_of` reads it."""
    parser.add_argument("--compress", choices=(*COMPRESSIONS, "none"), help=help)


def compression_of(arguments: argparse.Namespace) -> Compression | None:
    """Return the compression of the output: the given one, or that of the file name."""
    from jellyframe.storage.names import compression_by_name

    if arguments.compress is not None:
        return None if arguments.compress == "none" else cast("Compression", arguments.compress)
    return compression_by_name(arguments.to)


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of StreamOptions that the command line sets one by one."""
    given: dict[str, Any] = {
        name: getattr(arguments, name) for name in STREAM_OPTIONS if getattr(arguments, name) is not None
    }
    if "physical_type" in given:
        given["physical_type"] = physical_type(given["physical_type"])
    if "logical_type" in given:
        given["logical_type"] = logical_type(given["logical_type"])
    return given


def base_options(arguments: argparse.Namespace, dialect: DialectName) -> StreamOptions | None:
    """Return the base options from `--options-from` or `--preset`, or None; presets set table sizes."""
    from jellyframe.options import StreamOptions

    base = None
    if arguments.options_from is not None:
        from jellyframe.stream.reader import open_reader

        with open_reader(arguments.options_from, dialect=dialect) as reader:
            base = reader.options.replace(version=0)
    if arguments.preset is not None:
        sizes = StreamOptions.small() if arguments.preset == "small" else StreamOptions.big()
        base = with_sizes_of(sizes, base or sizes)
    return base


def with_sizes_of(sizes: StreamOptions, options: StreamOptions) -> StreamOptions:
    """Return options with the table sizes of others."""
    return options.replace(
        max_name_table_size=sizes.max_name_table_size,
        max_prefix_table_size=sizes.max_prefix_table_size,
        max_datatype_table_size=sizes.max_datatype_table_size,
    )


def options_and_changes(
    arguments: argparse.Namespace, dialect: DialectName = "released"
) -> tuple[StreamOptions | None, OptionChanges]:
    """Return the options to begin with, if a file gives some, and the changes to them or to those of the input.

    The file is in the dialect of the output.
    """
    base = base_options(arguments, dialect)
    changes = given_options(arguments)
    if arguments.options_from is None and base is not None:
        # A preset is about the sizes of tables, and nothing else.
        sizes = ("max_name_table_size", "max_prefix_table_size", "max_datatype_table_size")
        changes = {**{name: getattr(base, name) for name in sizes}, **changes}
        base = None
    return base, cast("OptionChanges", changes)


def jelly_settings(arguments: argparse.Namespace) -> JellySettings:
    """Return how the stream lies in its file."""
    from jellyframe.formats.settings import JellySettings

    settings = JellySettings(delimited=arguments.delimited, index=bool(arguments.index))
    add_given_frames(settings, arguments)
    return settings


def add_given_frames(settings: JellySettings | PatchWriterSettings, arguments: argparse.Namespace) -> None:
    """Add to settings how frames are cut and where restart points are, if the command line says it."""
    if arguments.rows_per_frame is not None:
        settings["frame_rows"] = arguments.rows_per_frame
    if hasattr(arguments, "restart_every"):
        settings["restart_every"] = arguments.restart_every


def writer_settings(arguments: argparse.Namespace) -> FileSettings:
    """Return the arguments of `open_writer` beside the sink and the options; frames aside."""
    settings: FileSettings = {
        "delimited": arguments.delimited,
        "compression": compression_of(arguments),
        "index": bool(arguments.index),
    }
    if hasattr(arguments, "restart_every"):
        settings["restart_every"] = arguments.restart_every
    return settings


# ---- types by name ----


def physical_type(text: str) -> PhysicalType:
    from jellyframe.options import PhysicalType

    name = _bare_name(text, "PHYSICAL_STREAM_TYPE_")
    if name in PhysicalType.__members__ and name != "UNSPECIFIED":
        return PhysicalType[name]
    raise UsageError(f"--opt.physical-type: {text!r} is not one of TRIPLES, QUADS, GRAPHS")


def logical_type(text: str) -> LogicalType:
    from jellyframe.options import LogicalType

    if text.strip().startswith(_STAX):
        for known in LogicalType:
            if known and stax_iri(known) == text.strip():
                return known
    name = _bare_name(text, "LOGICAL_STREAM_TYPE_")
    if name in LogicalType.__members__:
        return LogicalType[name]
    known_names = ", ".join(known.name for known in LogicalType if known)
    raise UsageError(f"--opt.logical-type: {text!r} is not one of {known_names}, nor the IRI of such a type")


def stax_iri(known: LogicalType) -> str:
    """Return the IRI that RDF-STaX has for a logical type: FLAT_TRIPLES is …#flatTripleStream."""
    first, *others = known.name.rstrip("S").lower().split("_")
    return f"{_STAX}{first}{''.join(word.capitalize() for word in others)}Stream"


def _bare_name(text: str, prefix: str) -> str:
    return text.strip().upper().replace("-", "_").removeprefix(prefix)
