"""`jellyframe spark validate`: read every file to its end and report errors."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.console import print_text
from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, read_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "validate",
        run,
        help="read every file to its end, and report which are valid",
        description="Read every file to its end, and report which are valid and what is wrong with the others.\n"
        "The report is written to standard output. The exit code is 0 if all files are valid, 1 if some are not.",
        examples="""
jellyframe spark validate people
jellyframe spark validate 's3://bucket/dump/*.nq.gz' --json > report.json
""",
        has_mode=False,
    )
    parser.add_switch("--json", default=False, help="the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), read_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import validate

        report = validate(spark, paths, **settings)
    print_text(report.as_json() if arguments.json else "" if arguments.quiet else report.as_table())
    arguments.console.note(
        f"validate: {len(report.files):,} files, {report.bad_files:,} of them bad, {report.statements:,} statements, "
        f"{report.seconds:.1f} s"
    )
    return 0 if report.ok else 1
