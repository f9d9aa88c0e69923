"""`rdf validate` and `rdf inspect` on the public test suite, in this process: there are many files."""

from __future__ import annotations

import pytest

from conformance.manifest import Entry, read_entries, suite_folder
from jellyframe.cli.main import main

FOLDER = suite_folder()
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="no conformance suite: set JELLY_CONFORMANCE to the folder of its manifests"
)
ENTRIES = [] if FOLDER is None else read_entries(FOLDER / "from_jelly" / "manifest.ttl")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_answer_is_that_of_the_suite(entry: Entry, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (source,) = map(str, entry.action)
    # Tables that are too large are refused, which is no answer.
    assert main(["rdf", "validate", source]) in ((0,) if entry.positive else (1, 2)), capfdbinary.readouterr()
    assert main(["rdf", "inspect", source, "--detail=all"]) == 0
    if not entry.positive:
        return
    assert main(["rdf", "inspect", source, "--size", "--json"]) == 0
    for frame, result in enumerate(entry.result):
        compared = ["--compare-to-rdf-file", str(result), "--compare-frame-indices", str(frame)]
        for order in ("--compare-ordered=false", "--compare-ordered=true"):
            assert main(["rdf", "validate", source, *compared, order]) == 0, capfdbinary.readouterr()
