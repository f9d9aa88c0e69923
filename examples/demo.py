"""The program of `make demo`: convert N-Quads files to Jelly, deduplicate and count them, on a local Spark.

python -m examples.demo [--statements N] [--directory DIR]

The same as commands:

    jellyframe spark convert build/demo/text --to build/demo/jelly
    jellyframe spark merge build/demo/jelly --to build/demo/merged --distinct
    jellyframe spark stats build/demo/merged --html build/demo/statistics.html
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks.datasets import DATASETS, DEFAULT_SEED

import jellyframe
from jellyframe.report.statistics_page import statistics_page
from jellyframe.report.statistics_table import text_table
from jellyframe.spark import jobs, session

FILES = 8
TOP = 8


class Steps:
    """Says what is being done, and how long that took."""

    def __init__(self) -> None:
        self.total = 0.0

    @contextmanager
    def step(self, words: str) -> Iterator[None]:
        print(f"{words:68}", end="", flush=True)
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self.total += seconds
        print(f"{seconds:8.1f} s", flush=True)


def write_file(path: Path, statements: int, seed: int) -> None:
    DATASETS["nanopubs"].write(path, statements, seed=seed)


def write_text(folder: Path, statements: int) -> int:
    """Write files of about the same length, the last with what the first holds. How many statements are doubled?"""
    folder.mkdir()
    lengths = [statements * (number + 1) // FILES - statements * number // FILES for number in range(FILES)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        made = [
            pool.submit(write_file, folder / f"nanopubs-{number}.nq", length, DEFAULT_SEED + number % (FILES - 1))
            for number, length in enumerate(lengths)
        ]
        for done in made:
            done.result()
    return min(lengths[0], lengths[-1])


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--statements", type=int, default=2_000_000)
    parser.add_argument("--directory", type=Path, default=Path("build/demo"))
    arguments = parser.parse_args()
    count: int = arguments.statements
    directory: Path = arguments.directory
    text, jelly, merged, page = (directory / name for name in ("text", "jelly", "merged", "statistics.html"))
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)

    print(f"jellyframe {jellyframe.__version__}, {jellyframe.kernel_name()} kernel\n")
    steps = Steps()
    with steps.step(f"making {count:,} statements, in {FILES} N-Quads files"):
        doubled = write_text(text, count)
    with steps.step("starting Spark on this machine"):
        spark = session()
    try:
        with steps.step("convert: N-Quads to Jelly"):
            converted = jobs.convert(spark, text, jelly)
        with steps.step("merge --distinct: into few files, nothing twice"):
            kept = jobs.merge(spark, jelly, merged, distinct=True)
        with steps.step("stats: counting what there is"):
            statistics = jobs.stats(spark, merged)
    finally:
        spark.stop()
    page.write_text(statistics_page(statistics, "Nanopublications", top=20))

    print(f"\n{'':34}{'files':>8}{'statements':>12}{'bytes':>14}{'of the text':>13}")
    whole = size_of(text)
    for name, folder, files, statements in (
        ("N-Quads", text, converted.input_files, count),
        ("Jelly, converted", jelly, converted.files, converted.statements),
        ("Jelly, merged and distinct", merged, kept.files, kept.statements),
    ):
        size = size_of(folder)
        print(f"{name:34}{files:>8,}{statements:>12,}{size:>14,}{size / whole:>13.1%}")
    print(f"\n{text_table(statistics, top=TOP)}")
    print(f"All in {steps.total:.0f} seconds. A page with plots of this: {page.absolute().as_uri()}")

    if converted.statements != count or not kept.statements == statistics.statements == count - doubled:
        print("these numbers of statements do not fit together", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
