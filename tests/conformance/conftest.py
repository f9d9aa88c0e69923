"""One pytest case per entry of the manifests, and the EARL report of a run (`--earl FILE`)."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from support.conformance_earl import Result, report
from support.conformance_manifest import Entry, read_entries, suite_folder

_RESULTS = pytest.StashKey[dict[str, Result]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--earl", metavar="FILE", help="write the outcome of the conformance tests as EARL (Turtle)")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RESULTS] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `from_jelly_entry` or `to_jelly_entry` run once for each entry of that manifest."""
    for direction in ("from_jelly", "to_jelly"):
        if f"{direction}_entry" not in metafunc.fixturenames:
            continue
        folder = suite_folder()
        manifest = folder / direction / "manifest.ttl" if folder else None
        if manifest is None or not manifest.is_file():
            reason = "no conformance suite: set JELLY_CONFORMANCE to the folder of its manifests"
            params = [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=reason))]
        else:
            params = [pytest.param(entry, id=entry.id) for entry in read_entries(manifest)]
        metafunc.parametrize(f"{direction}_entry", params)


def _entry_of(item: pytest.Item) -> Entry | None:
    params = getattr(getattr(item, "callspec", None), "params", {})
    entry = params.get("from_jelly_entry") or params.get("to_jelly_entry")
    return entry if isinstance(entry, Entry) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    outcome = yield
    entry = _entry_of(item)
    if entry is not None:
        results = item.config.stash[_RESULTS]
        before = results.get(entry.iri)
        if outcome.failed:
            results[entry.iri] = Result(entry.iri, "failed")
        elif outcome.skipped and before is None:
            results[entry.iri] = Result(entry.iri, "untested")
        elif outcome.when == "call" and (before is None or before.outcome == "untested"):
            results[entry.iri] = Result(entry.iri, "passed")
    return outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("earl", None)
    if file:
        Path(file).write_text(report(list(session.config.stash[_RESULTS].values())), encoding="utf-8")
