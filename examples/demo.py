"""What `make demo` runs: a sample data set to Jelly and back, with sizes, rates and the first rows.

python -m examples.demo [--statements N] [--directory DIR]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks.datasets import DATASETS

import jellyframe
from jellyframe import arrow, ntriples

_T = TypeVar("_T")


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def shortened(text: str, width: int) -> str:
    """The end of a long text: IRIs of one kind begin alike."""
    return text if len(text) <= width else "…" + text[1 - width :]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--statements", type=int, default=200_000)
    parser.add_argument("--directory", type=Path, default=Path("build/demo"))
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    text_file = arguments.directory / "sensors.nt"
    jelly_file = arguments.directory / "sensors.jelly"
    count = arguments.statements

    print(f"jellyframe {jellyframe.__version__}, {jellyframe.kernel_name()} kernel")
    print(f"\nMaking {count:,} statements of sensor observations: {text_file}")
    DATASETS["sensors"].write(text_file, count)

    def text_to_jelly() -> None:
        with jellyframe.open_writer(jelly_file, jellyframe.StreamOptions(), index=True) as writer:
            for batch in ntriples.read(text_file):
                writer.write_batch(batch)

    def read_statements() -> int:
        with jellyframe.open_reader(jelly_file) as reader:
            return sum(1 for _statement in reader.statements())

    _nothing, writing = timed(text_to_jelly)
    table, reading = timed(lambda: arrow.read_table(jelly_file, layout="ntriples"))
    statements, objects = timed(read_statements)
    text_size, jelly_size = text_file.stat().st_size, jelly_file.stat().st_size

    print(f"\n{'':34}{'size':>12}{'of the text':>13}")
    print(f"{'N-Triples':34}{text_size:>12,}{1:>13.1%}")
    print(f"{'Jelly':34}{jelly_size:>12,}{jelly_size / text_size:>13.1%}")
    print(f"\n{'':34}{'seconds':>12}{'statements/s':>13}")
    for what, seconds in (
        ("N-Triples → Jelly", writing),
        ("Jelly → Arrow table", reading),
        ("Jelly → Python statements", objects),
    ):
        print(f"{what:34}{seconds:>12.3f}{count / seconds:>13,.0f}")

    print(f"\nThe first of {table.num_rows:,} rows:\n")
    widths = (34, 26, 56)
    print("  ".join(f"{name:{width}}" for name, width in zip("spo", widths, strict=True)))
    for row in table.slice(0, 8).to_pylist():
        print("  ".join(f"{shortened(row[name], width):{width}}" for name, width in zip("spo", widths, strict=True)))

    if not table.num_rows == statements == count:
        print(f"\nwrote {count:,} statements, but read {table.num_rows:,} and {statements:,}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
