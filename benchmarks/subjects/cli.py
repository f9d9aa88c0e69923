"""The command `jellyframe` as whole processes: how fast it starts and converts, and how much memory it takes.

The scripts of the peers run once: they take tens of seconds, so that their start and noise hardly count.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..comparison import measurement
from ..datasets import DATASETS
from ..processes import in_turns, run
from ..registry import Measurement, Row, Settings, once

DATASET = "people"
MEMORY_LIMIT = 300e6
HELP = Row("cli-start", "jellyframe --help", "python -c pass", "s", 8, at_most=True)
INSPECT = Row("cli-start-inspect", "rdf inspect, a small file", "python -c pass", "s", 12, at_most=True)
TO_JELLY = Row("cli-to-jelly", "rdf to-jelly, N-Triples", "pyoxigraph + pyjelly script", "statements/s", 15)
FROM_JELLY = Row("cli-from-jelly", "rdf from-jelly, N-Triples", "pyjelly script", "statements/s", 15)
TRANSCODE = Row("cli-transcode", "rdf transcode, nothing changed", "decoding alone", "s", 2.2, at_most=True)
REWRITE = Row("cli-transcode-rewrite", "rdf transcode, other table sizes", "decoding alone", "s", 2.2, at_most=True)
MEMORY = Row("cli-memory", "the highest peak of these four", "300 MB", "bytes", 1.0, at_most=True)

_COMMAND = (sys.executable, "-m", "jellyframe", "rdf")
_SCRIPT = (sys.executable, "-m", "benchmarks.command_work")
_BARE = (sys.executable, "-c", "pass")


@once("cli", HELP, INSPECT, TO_JELLY, FROM_JELLY, TRANSCODE, REWRITE, MEMORY)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        files = _Files(Path(folder))
        if wanted & {HELP.name, INSPECT.name}:
            yield from _starts(settings, wanted, files)
        if wanted - {HELP.name, INSPECT.name}:
            yield from _conversions(settings, wanted, files)


class _Files:
    def __init__(self, folder: Path) -> None:
        self.text = str(folder / "data.nt")
        self.jelly = str(folder / "data.jelly")
        self.out = str(folder / "out")

    def write_text(self, statements: int) -> None:
        with open(self.text, "wb") as file:
            for chunk in DATASETS[DATASET].chunks(statements):
                file.write(chunk)


def _starts(settings: Settings, wanted: frozenset[str], files: _Files) -> Iterator[Measurement]:
    files.write_text(100)
    run([*_COMMAND, "to-jelly", files.text, "--to", files.jelly])
    commands = {HELP: [sys.executable, "-m", "jellyframe", "--help"], INSPECT: [*_COMMAND, "inspect", files.jelly]}
    for row, command in commands.items():
        if row.name in wanted:
            ours, bare = in_turns(3 * settings.repeats, command, _BARE)
            yield measurement(row, "-", ours.seconds, bare.seconds)


def _conversions(settings: Settings, wanted: frozenset[str], files: _Files) -> Iterator[Measurement]:
    statements = 2 * settings.statements
    files.write_text(statements)
    (to_jelly,) = in_turns(settings.repeats, [*_COMMAND, "to-jelly", files.text, "--to", files.jelly])
    (from_jelly,) = in_turns(
        settings.repeats, [*_COMMAND, "from-jelly", files.jelly, "--out-format=nt", "--to", files.out]
    )
    copy = [*_COMMAND, "transcode", files.jelly, "--to", files.out]
    transcode, rewrite, decode = in_turns(
        settings.repeats, copy, [*copy, "--opt.max-name-table-size=3000"], [*_SCRIPT, "decode", files.jelly]
    )
    if TO_JELLY.name in wanted:
        (script,) = in_turns(1, [*_SCRIPT, "to-jelly", files.text, files.out])
        yield measurement(TO_JELLY, DATASET, to_jelly.rate(statements), script.rate(statements))
    if FROM_JELLY.name in wanted:
        (script,) = in_turns(1, [*_SCRIPT, "from-jelly", files.jelly, files.out])
        yield measurement(FROM_JELLY, DATASET, from_jelly.rate(statements), script.rate(statements))
    if TRANSCODE.name in wanted:
        yield measurement(TRANSCODE, DATASET, transcode.seconds, decode.seconds)
    if REWRITE.name in wanted:
        yield measurement(REWRITE, DATASET, rewrite.seconds, decode.seconds)
    if MEMORY.name in wanted:
        peaks = [costs.peak for costs in (to_jelly, from_jelly, transcode, rewrite)]
        failed = [peak for peak in peaks if isinstance(peak, Exception)]
        measured = [peak for peak in peaks if not isinstance(peak, Exception)]
        yield measurement(MEMORY, DATASET, failed[0] if failed else max(measured), MEMORY_LIMIT)
