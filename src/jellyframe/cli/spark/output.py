"""Options of commands that write: the output folder, the format and the stream options."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import CommandParser, add_dialect, add_format, add_layout, positive
from jellyframe.cli.console import UsageError
from jellyframe.cli.spark.jobs import read_settings
from jellyframe.cli.stream_options import (
    TERM_FIELDS,
    add_compression,
    add_frame_rows,
    add_restart_every,
    add_stream_options,
    add_term_options,
    base_options,
    given_options,
)
from jellyframe.defaults import DEFAULT_RESTART_EVERY


def add_output_options(parser: CommandParser, *, may_append: bool = True, has_files: bool = True) -> None:
    """Add the options of the output folder and of files of statements."""
    add_target(parser, may_append=may_append)
    add_data_options(parser, has_files=has_files)
    _add_blank_nodes(parser)


def add_table_target(parser: CommandParser) -> None:
    """Add the options of a command that writes tables."""
    add_target(parser, may_append=False)
    _add_blank_nodes(parser)
    parser.add_switch("--json", default=False, help="the summary as JSON on standard output")


def table_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `add_table_target` as arguments of functions in `jellyframe.spark.jobs`."""
    return {"save": "overwrite" if arguments.overwrite else "error", "blank_nodes": arguments.blank_nodes}


def _add_blank_nodes(parser: CommandParser) -> None:
    parser.add_argument(
        "--blank-nodes",
        choices=("keep", "per-file"),
        default="keep",
        help="leave labels unchanged (the default: files of a dump share nodes), or make them distinct for each file",
    )


def add_target(parser: CommandParser, *, may_append: bool = True) -> None:
    """Add the output folder and the save mode."""
    parser.add_path("--to", "--output", metavar="FOLDER", required=True, help="the folder to write to")
    save = parser.add_mutually_exclusive_group()
    save.add_argument(
        "--overwrite", action="store_true", help="replace the data in the folder when the new data is complete"
    )
    if may_append:
        save.add_argument("--append", action="store_true", help="add files to those in the folder")
    else:
        parser.set_defaults(append=False)


def add_data_options(parser: CommandParser, *, has_files: bool = True) -> None:
    """Add the options of files of statements."""
    add_format(parser, "--out-format", "--output-format", known=formats.CUT_FORMATS)
    _add_file_options(parser, "statements", has_files=has_files)
    add_layout(parser, "the columns of Parquet (struct)")
    add_stream_options(parser)
    add_dialect(
        parser,
        "the dialect of the Jelly files to write, released (the default) or draft",
        option="--out-dialect",
        default="released",
    )


def add_patch_options(parser: CommandParser, *, stream_type: str, has_files: bool = True) -> None:
    """Add the options of files of patches."""
    _add_file_options(parser, "rows", has_files=has_files)
    parser.add_argument(
        "--stream-type",
        choices=("flat", "punctuated"),
        default=stream_type,
        help=f"what ends a patch: the stream, or a punctuation mark ({stream_type})",
    )
    parser.add_argument(
        "--statement-type", choices=("triples", "quads"), help="whether statements have graphs (default: as the input)"
    )
    add_term_options(parser)


def _add_file_options(parser: CommandParser, rows: str, *, has_files: bool) -> None:
    if has_files:
        parser.add_argument("--files", metavar="N", type=positive, help="how many files to write")
    parser.add_argument(
        "--max-records-per-file", metavar="N", type=positive, help=f"the maximum number of {rows} in a file"
    )
    add_compression(parser, "compress the files")
    add_frame_rows(parser)
    add_restart_every(parser, f"such as {DEFAULT_RESTART_EVERY >> 20}MiB (the default), or `off`")
    parser.add_switch("--index", help="whether files end with an index of restart points (default: yes)")
    parser.add_switch("--json", default=False, help="the summary as JSON on standard output")


def output_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the reading and writing options as arguments of functions in `jellyframe.spark.jobs`."""
    out_format = formats.format_by_name(arguments.out_format or formats.JELLY.name, formats.CUT_FORMATS)
    if arguments.layout is not None and not out_format.is_table:
        raise UsageError("--layout is for --out-format parquet")
    return _given(
        arguments,
        **_stream_settings(arguments),
        out_format=out_format.name,
        layout=arguments.layout,
        dialect=arguments.out_dialect,
        blank_nodes=getattr(arguments, "blank_nodes", None),
    )


def patch_output_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the reading and patch writing options as arguments of functions in `jellyframe.spark.jobs`."""
    return _given(
        arguments,
        stream_type=arguments.stream_type,
        statement_type=arguments.statement_type,
        preset=arguments.preset,
        **{name: getattr(arguments, name) for name in TERM_FIELDS},
    )


def _given(arguments: argparse.Namespace, **others: Any) -> dict[str, Any]:
    settings = {
        **read_settings(arguments),
        **others,
        "frame_rows": arguments.rows_per_frame,
        "index": arguments.index,
        "compression": arguments.compress,
        "max_records_per_file": arguments.max_records_per_file,
    }
    if hasattr(arguments, "overwrite"):
        settings["save"] = "overwrite" if arguments.overwrite else "append" if arguments.append else "error"
    if hasattr(arguments, "files"):
        settings["files"] = arguments.files
    if hasattr(arguments, "restart_every"):
        settings["restart_every"] = arguments.restart_every or "off"
    return {name: value for name, value in settings.items() if value is not None}


def _stream_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    base = base_options(arguments, arguments.out_dialect)
    if base is None:
        return given_options(arguments)
    from dataclasses import asdict

    copied = asdict(base)
    del copied["version"]
    if arguments.options_from is None:
        # A preset sets only the sizes of lookup tables.
        copied = {name: value for name, value in copied.items() if name.endswith("_table_size")}
    return {**copied, **given_options(arguments)}
