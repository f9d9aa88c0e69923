"""The changes between two data sets that share nine tenths of their statements: time and memory of the command."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..comparison import measurement
from ..datasets import DATASETS
from ..processes import in_turns
from ..registry import Measurement, Row, Settings, once

DATASET = "people"
MEMORY_LIMIT = 1e9
DIFF = Row("patch-diff", "patch diff, 90 % shared", "reading both data sets", "s", 4, at_most=True)
MEMORY = Row("patch-diff-memory", "its peak memory", "1 GB", "bytes", 1.0, at_most=True)

_FACTOR = 5
# Of twenty statements, each data set lacks one that the other has.
_STEP, _OLD_LACKS, _NEW_LACKS = 20, 3, 13


@once("patch-diff", DIFF, MEMORY)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        old, new, out = (str(Path(folder, name)) for name in ("old.jelly", "new.jelly", "changes.jellyp"))
        _write(_FACTOR * settings.statements, old, new)
        # The exit code says that there are changes.
        diff = ("sh", "-c", '"$0" -m jellyframe patch diff "$1" "$2" --to "$3" || test $? = 1', sys.executable)
        read = (sys.executable, "-m", "benchmarks.command_work", "decode", old, new)
        ours, reading = in_turns(settings.repeats, [*diff, old, new, out], read)
    if DIFF.name in wanted:
        yield measurement(DIFF, DATASET, ours.seconds, reading.seconds)
    if MEMORY.name in wanted:
        yield measurement(MEMORY, DATASET, ours.peak, MEMORY_LIMIT)


def _write(statements: int, old: str, new: str) -> None:
    from jellyframe import open_writer
    from jellyframe.formats import ntriples

    from ..memory_work import Text

    dataset = DATASETS[DATASET]
    text = Text(dataset.chunks(statements * _STEP // (_STEP - 1)))
    with open_writer(old) as olds, open_writer(new) as news:
        first = 0
        for batch in ntriples.read(text, quads=dataset.quads):
            places = [(first + row) % _STEP for row in range(len(batch))]
            olds.write_batch(batch.filter([place != _OLD_LACKS for place in places]))
            news.write_batch(batch.filter([place != _NEW_LACKS for place in places]))
            first += len(batch)
