"""`jellyframe spark convert`: files of any format into Jelly, N-Quads, N-Triples or Parquet."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_output_options, output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "convert",
        run,
        help="convert files of any RDF format to Jelly, N-Quads, N-Triples or Parquet",
        description="Convert files to a folder of Jelly, N-Quads, N-Triples or Parquet files. N-Triples, N-Quads,\n"
        "Jelly and Parquet are read in parallel also within a file, other formats and compressed text one file a task.",
        examples="""
jellyframe spark convert dump/*.nt.gz --to people
jellyframe spark convert graphs.nq --to graphs --compress zstd --files 8
jellyframe spark convert people --to tables --out-format parquet --layout flat --overwrite
jellyframe spark convert s3://bucket/dump --to s3://bucket/jelly --master spark://head:7077
""",
    )
    parser.add_argument("--sort", metavar="COLUMNS", help="sort what a task writes, for size: `true`, or such as g,s,p")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), output_settings(arguments)
    if arguments.sort is not None:
        settings["sort"] = arguments.sort
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import convert

        summary = convert(spark, paths, arguments.to, **settings)
    return report(summary, arguments)
