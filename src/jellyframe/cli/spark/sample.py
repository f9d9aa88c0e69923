"""`jellyframe spark sample`: take a random sample of data."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import natural, number_from_zero
from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_output_options, output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "sample",
        run,
        help="take a random sample of statements, or of subjects with all of their statements",
        examples="""
jellyframe spark sample people --fraction 0.01 --to some
jellyframe spark sample people --number 1000 --whole-subjects --seed 7 --to thousand
""",
    )
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--fraction", metavar="F", type=_fraction, help="sample about this fraction of the statements, 0 to 1"
    )
    size.add_argument("--number", metavar="N", type=natural, help="sample exactly N statements")
    parser.add_argument(
        "--seed", metavar="N", type=natural, default=0, help="the seed: the same seed selects the same sample (0)"
    )
    parser.add_switch("--whole-subjects", default=False, help="sample subjects, each with all of its statements")
    add_output_options(parser)


def _fraction(text: str) -> float:
    return number_from_zero(text, "a number between 0 and 1", most=1)


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), output_settings(arguments)
    settings |= {"fraction": arguments.fraction, "number": arguments.number, "seed": arguments.seed}
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import sample

        summary = sample(spark, paths, arguments.to, whole_subjects=arguments.whole_subjects, **settings)
    return report(summary, arguments)
