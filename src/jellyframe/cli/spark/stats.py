"""`jellyframe spark stats`: what a set of statements holds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jellyframe.cli.arguments import STANDARD_STREAM, add_output, positive, second_output
from jellyframe.cli.console import UsageError
from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, read_settings
from jellyframe.errors import one_line

if TYPE_CHECKING:
    from jellyframe.ops.stats.result import Statistics

DEFAULT_TOP = 20


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "stats",
        run,
        help="count statements, terms, predicates, classes, datatypes and languages",
        description="Count statements and distinct terms, and uses of predicates, classes, datatypes and languages.\n"
        "The input is read once. The numbers are shown as a table, as JSON, as VoID and as a page with plots.",
        examples="""
jellyframe spark stats people.jelly
jellyframe spark stats dump/ --html dump.html --void dump.ttl --dataset https://example.org/dump
jellyframe spark stats 's3://data/*.nq.gz' --approximate --json | jq .distinct
""",
    )
    add_output(parser, binary=False)
    parser.add_switch("--json", default=False, help="JSON with all numbers, instead of a table")
    parser.add_path(
        "--void",
        metavar="FILE",
        type=second_output,
        help="also write a VoID description, in Turtle; `-` writes it to standard output, instead of the table",
    )
    parser.add_path(
        "--html",
        metavar="FILE",
        type=second_output,
        help="also write a page with plots, which needs no network; `-` writes it to standard output, instead of the "
        "table",
    )
    parser.add_switch(
        "--approximate", default=False, help="estimate distinct terms (HyperLogLog): faster, for very large data"
    )
    parser.add_argument(
        "--top", metavar="N", type=positive, default=DEFAULT_TOP, help=f"lines of long lists (default {DEFAULT_TOP})"
    )
    parser.add_argument("--dataset", metavar="IRI", help="what the VoID description calls the data set")
    parser.add_argument("--title", metavar="TEXT", help="the title of the page and the description")


def run(arguments: argparse.Namespace) -> int:
    from pathlib import PurePath

    from jellyframe.ops.stats.void import require_dataset_iri
    from jellyframe.spark.jobs import stats

    paths = input_paths(arguments)
    require_dataset_iri(arguments.dataset)
    _check_outputs(arguments)
    with job_session(arguments) as spark:
        statistics = stats(spark, paths, approximate=arguments.approximate, **read_settings(arguments))
    for problem in statistics.problems:
        arguments.console.warn(problem)
    if statistics.bad_records:
        arguments.console.warn(f"{statistics.bad_records:,} bad records left out")
    _write(statistics, arguments, arguments.title or ", ".join(PurePath(path).name or path for path in paths))
    return 0


def _safe(text: str) -> str:
    """Escape control characters, since names from the data may hold terminal escape sequences."""
    return "".join(f"{one_line(line)}\n" for line in text.split("\n"))[:-1]


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Raise if an output has no place to go to, before the job runs."""
    from jellyframe.cli.streams import output_sink

    if arguments.void == arguments.html == STANDARD_STREAM:
        raise UsageError("--void and --html cannot both go to standard output: name a file")
    for path in (arguments.to, arguments.void, arguments.html):
        if path not in (None, STANDARD_STREAM):
            output_sink(path, is_binary=False)


def _write(statistics: Statistics, arguments: argparse.Namespace, title: str) -> None:
    from jellyframe.cli.streams import output_sink, write_second_output
    from jellyframe.ops.stats.void import void_description
    from jellyframe.report.statistics_page import statistics_page
    from jellyframe.report.statistics_table import text_table
    from jellyframe.storage.sinks import ByteSink

    top = arguments.top
    if arguments.to is not None or STANDARD_STREAM not in (arguments.void, arguments.html):
        with ByteSink(output_sink(arguments.to, is_binary=False)) as sink:
            text = statistics.as_json() if arguments.json else _safe(text_table(statistics, top=top))
            sink.write_text(text)
    if arguments.void is not None:
        description = void_description(statistics, dataset=arguments.dataset, title=arguments.title)
        write_second_output(description, arguments.void, "description", arguments.console)
    if arguments.html is not None:
        write_second_output(statistics_page(statistics, title, top=top), arguments.html, "page", arguments.console)
