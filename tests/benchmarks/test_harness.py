"""The measuring itself: fair turns, failures that stay in their row, means and verdicts, files of peers."""

import json
import sys

import pytest
from benchmarks.comparison import measurement
from benchmarks.subjects import decode, integrations, size

from benchmarks import datasets, peers, plain_text, processes, registry, report, timing
from jellyframe import read_table

pyoxigraph = pytest.importorskip("pyoxigraph")
generic_sink = pytest.importorskip("pyjelly.integrations.generic.generic_sink")

FAST = registry.Row("fast", "work", "a peer", "things/s", 2)
SMALL = registry.Row("small", "size", "a file", "bytes", 1.0, at_most=True)


def plain(term: object) -> str:
    """A term of pyjelly in a form that does not depend on escapes."""
    if isinstance(term, generic_sink.Literal):
        datatype = term._datatype or ("rdf:langString" if term._langtag else "xsd:string")
        return repr((term._lex, term._langtag, datatype.rpartition("#")[2].rpartition(":")[2]))
    return str(term)


def oxigraph_plain(term: object) -> str:
    if isinstance(term, pyoxigraph.Literal):
        return repr((term.value, term.language, term.datatype.value.rpartition("#")[2]))
    return str(term)


@pytest.mark.parametrize("name", ["sensors", "people", "articles", "nanopubs"])
def test_the_peer_writes_files_of_just_the_generated_statements(name: str) -> None:
    dataset = datasets.DATASETS[name]
    text = dataset.text(2000)
    options = peers.options(quads=dataset.quads, rdf_star=dataset.rdf_star)
    read_back = peers.parse(peers.serialize(plain_text.statements(text), options))
    formats = pyoxigraph.RdfFormat
    expected = pyoxigraph.parse(text, formats.N_QUADS if dataset.quads else formats.N_TRIPLES)
    arity = 4 if dataset.quads else 3
    assert [[plain(term) for term in statement] for statement in read_back] == [
        [oxigraph_plain(term) for term in tuple(quad)[:arity]] for quad in expected
    ]


@pytest.mark.parametrize("name", list(datasets.DATASETS))
def test_a_script_makes_the_columns_that_data_frames_have(name: str) -> None:
    dataset = datasets.DATASETS[name]
    options = peers.options(quads=dataset.quads, rdf_star=dataset.rdf_star)
    jelly = peers.serialize(plain_text.statements(dataset.text(2000)), options)
    table = read_table(jelly, "flat")
    assert integrations.columns_by_hand(jelly, quads=dataset.quads) == table.to_pydict()


def test_quoted_triples_nest() -> None:
    (statement,) = plain_text.statements(b"<< << <a> <b> _:c >> <d> <e> >> <f> << <g> <h> <i> >> .\n")
    inner = generic_sink.Triple(generic_sink.IRI("a"), generic_sink.IRI("b"), generic_sink.BlankNode("c"))
    assert statement.s == generic_sink.Triple(inner, generic_sink.IRI("d"), generic_sink.IRI("e"))
    assert isinstance(statement.o, generic_sink.Triple)


def test_contestants_take_turns_and_a_failure_ends_only_one() -> None:
    turns: list[str] = []

    def runner(name: str) -> timing.Contestant:
        def run() -> int:
            turns.append(name)
            return 10

        return timing.Contestant(run, 10)

    def wrong_count() -> int:
        turns.append("wrong")
        return 9

    contest = {"a": runner("a"), "wrong": timing.Contestant(wrong_count, 10), "b": runner("b")}
    outcomes = timing.rates(contest, 3, collect_garbage=True)
    assert turns == ["a", "wrong", "b", "a", "b", "a", "b"]
    assert isinstance(outcomes["wrong"], AssertionError)
    assert not isinstance(outcomes["a"], Exception)
    assert outcomes["a"] > 0


def test_prepared_data_is_made_once_and_passed_to_every_run() -> None:
    made: list[list[int]] = []

    def prepare() -> list[int]:
        made.append([1, 2, 3])
        return made[-1]

    timing.rates({"a": timing.Contestant(len, 3, prepare=prepare)}, 4, collect_garbage=False)
    assert len(made) == 1


def test_geometric_means_and_verdicts() -> None:
    results = [
        measurement(FAST, "one", 8.0, 1.0),
        measurement(FAST, "two", 1.0, 2.0),
        measurement(SMALL, "one", 101.0, 100.0),
    ]
    assert report.geometric_means(results)[FAST].ratio == pytest.approx(2.0)
    assert report.verdicts(results) == {"fast": "pass", "small": "MISS"}


def test_a_failed_row_is_shown_and_has_no_mean(tmp_path) -> None:
    results = [measurement(FAST, "one", ValueError("no"), 1.0), measurement(SMALL, "one", 99.0, 100.0)]
    assert "FAILED" in report.table(results)
    report.write_json(tmp_path / "build" / "bench.json", results)
    entries = json.loads((tmp_path / "build" / "bench.json").read_text())
    assert [(entry["name"], entry["dataset"], entry["ratio"]) for entry in entries] == [
        ("fast", "one", None),
        ("small", "one", 0.99),
        ("small", "geomean", pytest.approx(0.99)),
    ]
    assert {"name", "dataset", "ratio", "ours", "peer", "unit"} <= entries[0].keys()


def test_rows_are_chosen_by_their_name_or_their_subject() -> None:
    subject = next(subject for subject in registry.SUBJECTS if subject.name == "decode")
    assert subject.wanted(frozenset()) == subject.wanted(frozenset({"decode"}))
    assert subject.wanted(frozenset({decode.TO_BATCHES.name})) == {decode.TO_BATCHES.name}
    assert not subject.wanted(frozenset({size.PLAIN.name}))


def test_row_names_are_unique() -> None:
    names = [row.name for subject in registry.SUBJECTS for row in subject.rows]
    assert len(names) == len(set(names))


def test_the_peak_of_a_process_is_its_own() -> None:
    ballast = b"x" * 100_000_000
    small = processes.run([sys.executable, "-c", "pass"])
    large = processes.run([sys.executable, "-c", "b'x' * 60_000_000"])
    assert small.peak_bytes < 60_000_000 < large.peak_bytes
    assert len(ballast) == 100_000_000
