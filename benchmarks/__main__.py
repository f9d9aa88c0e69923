"""`python -m benchmarks`: measures, prints a table and writes build/bench.json."""

import argparse
import importlib.metadata
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from . import subjects  # noqa: F401  (registers the measurements)
from .datasets import DATASETS
from .registry import SUBJECTS, Measurement, Settings
from .report import progress_line, table, verdicts, write_json
from .workload import Workload

QUICK = Settings(
    statements=50_000,
    peer_statements=20_000,
    groups=2000,
    messages=30,
    memory_statements=100_000,
    spark_statements=200_000,
    repeats=3,
)


def parsed_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    rows = [row.name for subject in SUBJECTS for row in subject.rows]
    names = [*(subject.name for subject in SUBJECTS), *rows]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, epilog=f"subjects and rows: {', '.join(names)}"
    )
    parser.add_argument("--only", nargs="+", choices=names, default=[], metavar="NAME", help="subjects or rows")
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=list(DATASETS), metavar="NAME")
    parser.add_argument("--statements", type=int, help="statements of each data set")
    parser.add_argument("--peer-statements", type=int, help="of these, the first ones, which pyjelly gets")
    parser.add_argument("--spark-statements", type=int, help="statements of the Spark rows")
    parser.add_argument("--repeat", type=int, help="rounds; the medians count")
    parser.add_argument("--quick", action="store_true", help="small sizes: a check that all runs, not a result")
    parser.add_argument("--no-gc", action="store_true", help="no garbage collection while timing, on both sides")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a bar is missed")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), metavar="FILE")
    return parser.parse_args(arguments)


def settings_from(options: argparse.Namespace) -> Settings:
    base = QUICK if options.quick else Settings()
    return replace(
        base,
        statements=options.statements or base.statements,
        peer_statements=options.peer_statements or base.peer_statements,
        spark_statements=options.spark_statements or base.spark_statements,
        repeats=options.repeat or base.repeats,
        collect_garbage=not options.no_gc,
    )


def measurements(settings: Settings, names: frozenset[str], chosen: Sequence[str]) -> Iterator[Measurement]:
    wanted = {subject.name: subject.wanted(names) for subject in SUBJECTS}
    for name in chosen:
        # One data set at a time: its inputs are freed before those of the next are made.
        workload = Workload(DATASETS[name], settings)
        for subject in SUBJECTS:
            if subject.for_dataset and wanted[subject.name]:
                yield from subject.for_dataset(settings, wanted[subject.name], workload)
    for subject in SUBJECTS:
        if subject.once and wanted[subject.name]:
            yield from subject.once(settings, wanted[subject.name])


def header(settings: Settings) -> str:
    try:
        from jellyframe import kernel_name

        ours = f"jellyframe {importlib.metadata.version('jellyframe')}, {kernel_name()} kernel"
    except ImportError as error:
        ours = f"jellyframe cannot be imported ({error})"
    versions = ", ".join(f"{peer} {importlib.metadata.version(peer)}" for peer in ("pyjelly", "pyoxigraph"))
    part = min(settings.peer_statements, settings.statements)
    collection = "on" if settings.collect_garbage else "off"
    return (
        f"{ours}; {versions}; Python {platform.python_version()}\n"
        f"{settings.statements:,} statements of each data set; {settings.repeats} rounds in turns, medians; "
        f"garbage collection {collection} for both sides, inputs excluded from it.\n"
        f"pyjelly gets the first {part:,} statements, and rates are compared: its rate does not depend on\n"
        "the length, as the rows of `scaling` show. pyoxigraph reads no quoted triples: it gets `star` as\n"
        "RDF 1.2, with reifiers, and the row counts bytes of text.\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed_arguments(arguments)
    settings = settings_from(options)
    print(header(settings), flush=True)
    results = []
    for item in measurements(settings, frozenset(options.only), options.dataset):
        results.append(item)
        print(progress_line(item), file=sys.stderr, flush=True)
    print(f"\n{table(results)}")
    write_json(options.json, results)
    print(f"\nwritten to {options.json}")
    missed = "MISS" in verdicts(results).values()
    return 1 if any(item.error for item in results) or (options.check and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
