"""The generator for the benchmarks and the demo: repeatable, of exact length, and valid text."""

import collections
import hashlib
import re
from typing import Any

import pytest
from benchmarks.datasets import CHUNK_STATEMENTS, DATASETS, GROUPED, STAR_REIFIED, Dataset

pyoxigraph = pytest.importorskip("pyoxigraph")

ALL = [*DATASETS.values(), GROUPED, STAR_REIFIED]
EXPECTED_DIGESTS = {
    "sensors": "efdd647bb6e4",
    "people": "87fdc8194045",
    "articles": "2c9c1e72704c",
    "nanopubs": "aad86f46ce1b",
    "star": "1ff3cb253298",
}
by_name = pytest.mark.parametrize("dataset", ALL, ids=lambda dataset: dataset.name)


def parse(dataset: Dataset, text: bytes) -> list[Any]:
    formats = pyoxigraph.RdfFormat
    return list(pyoxigraph.parse(text, formats.N_QUADS if dataset.quads else formats.N_TRIPLES))


def without_quoted_triples(text: bytes) -> bytes:
    """Every `<< … >>`, from the inside out, replaced by an IRI: what is left is plain N-Triples."""
    count = 1
    while count:
        text, count = re.subn(rb"<< ((?:(?!<<|>>).)+?) >>", b"<https://quoted.example.org/>", text)
    return text


@by_name
def test_a_seed_always_gives_the_same_text(dataset: Dataset) -> None:
    assert dataset.text(3000, seed=7) == dataset.text(3000, seed=7)
    assert dataset.text(3000, seed=7) != dataset.text(3000, seed=8)


@by_name
@pytest.mark.parametrize("statements", [0, 1, 99, CHUNK_STATEMENTS, CHUNK_STATEMENTS + 1])
def test_the_number_of_statements_is_exact(dataset: Dataset, statements: int) -> None:
    text = dataset.text(statements)
    assert text.count(b"\n") == statements
    if not dataset.rdf_star:
        assert len(parse(dataset, text)) == statements


@by_name
def test_a_short_data_set_is_the_beginning_of_a_long_one(dataset: Dataset) -> None:
    assert dataset.text(9000).startswith(dataset.text(500))


@by_name
def test_chunks_end_with_whole_lines(dataset: Dataset) -> None:
    chunks = list(dataset.chunks(3 * CHUNK_STATEMENTS))
    assert len(chunks) > 1
    assert all(chunk.endswith(b" .\n") for chunk in chunks)


@by_name
def test_write_makes_a_file_of_the_text(dataset: Dataset, tmp_path) -> None:
    path = tmp_path / f"data{dataset.suffix}"
    dataset.write(path, 1000)
    assert path.read_bytes() == dataset.text(1000)


def test_the_default_data_sets_are_the_same_everywhere() -> None:
    digests = {name: hashlib.sha256(dataset.text(2000)).hexdigest()[:12] for name, dataset in DATASETS.items()}
    assert digests == EXPECTED_DIGESTS


def test_articles_have_long_literals_with_escapes_and_languages() -> None:
    quads = parse(DATASETS["articles"], DATASETS["articles"].text(20_000))
    literals = [quad.object for quad in quads if isinstance(quad.object, pyoxigraph.Literal)]
    assert max(len(literal.value) for literal in literals) > 2000
    assert any("\n" in literal.value for literal in literals)
    assert any('"' in literal.value for literal in literals)
    assert any("\\" in literal.value for literal in literals)
    assert any(max(literal.value) > "\uffff" for literal in literals)
    assert len({literal.language for literal in literals}) > 4


def test_people_are_linked_unevenly() -> None:
    quads = parse(DATASETS["people"], DATASETS["people"].text(30_000))
    links = collections.Counter(quad.object.value for quad in quads if quad.predicate.value.endswith("knows"))
    counts = sorted(links.values(), reverse=True)
    assert counts[0] > 50 * counts[len(counts) // 2]
    assert any(isinstance(quad.object, pyoxigraph.BlankNode) for quad in quads)


def test_every_nanopublication_has_four_graphs() -> None:
    dataset = DATASETS["nanopubs"]
    for text in dataset.groups(50):
        graphs = {quad.graph_name.value.rpartition("#")[2] for quad in parse(dataset, text)}
        assert graphs == {"Head", "assertion", "provenance", "pubinfo"}


def test_star_quotes_triples_as_subjects_and_objects_and_nests_them() -> None:
    text = DATASETS["star"].text(5000)
    assert text.count(b"\n<< ") > 1000
    assert b" >> .\n" in text
    assert b"<< << " in text
    plain = without_quoted_triples(text)
    assert b"<<" not in plain
    assert len(parse(DATASETS["star"], plain)) == 5000


def test_groups_are_small_data_sets() -> None:
    groups = list(GROUPED.groups(300))
    assert len(groups) == 300
    sizes = {len(parse(GROUPED, text)) for text in groups}
    assert 5 <= min(sizes) < max(sizes) <= 15
    assert b"".join(groups).startswith(GROUPED.text(500))
