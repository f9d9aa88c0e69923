"""Work done in a process that may take little memory: `python -m support.capped MEGABYTES FILE FORMATS`.

All that reads a Jelly file is tried on it, one after the other. The limit is on what that takes beyond the start.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pyoxigraph  # noqa: F401  # loaded before the limit is set

import jellyframe
from jellyframe.cli.main import main
from jellyframe.options import LayoutName

LAYOUTS: tuple[LayoutName, ...] = ("struct", "ntriples", "flat")


def limit_memory(extra: int) -> None:
    status = Path("/proc/self/status").read_text()
    taken = int(next(line for line in status.splitlines() if line.startswith("VmSize")).split()[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (taken + extra, taken + extra))


def read_in_every_way(path: str, formats: list[str]) -> dict[str, int]:
    """Return how many statements each way of reading gives; for commands, the exit code."""
    done = {}
    for layout in LAYOUTS:
        for dictionary in (False, True):
            with jellyframe.open_reader(path) as reader:
                rows = sum(batch.num_rows for batch in reader.record_batches(layout, dictionary=dictionary))
            done[f"{layout} {'dictionary' if dictionary else 'plain'}"] = rows
    with jellyframe.open_reader(path) as reader:
        done["statements"] = sum(1 for _ in reader)
    for name in formats:
        done[name] = main(["rdf", "from-jelly", path, "--out-format", name, "--to", "/dev/null", "--force"])
    done["validate"] = main(["rdf", "validate", path])
    done["inspect"] = main(["rdf", "inspect", "--size", path])
    return done


if __name__ == "__main__":
    limit_memory(int(sys.argv[1]) << 20)
    for way, result in read_in_every_way(sys.argv[2], sys.argv[3].split(",")).items():
        print(f"{way}={result}", file=sys.stderr)
