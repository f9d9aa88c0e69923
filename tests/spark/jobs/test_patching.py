"""Jobs on patches: the result equals the same changes to a set, in order and with transactions."""

from __future__ import annotations

import random

import pytest

from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Add,
    Delete,
    Header,
    Literal,
    NamespaceAdd,
    Punctuation,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.errors import OptionsError, ParseError
from jellyframe.ops import patches
from jellyframe.patch import PatchOptions, PatchRow, PatchStreamType, open_patch_reader
from jellyframe.spark import jobs
from jellyframe.stream.framing import walk_frames
from jellyframe.stream.reader import open_reader
from support.patch_logs import apply_to_set, random_rows, read_data, read_patches, statement, write_patch
from support.spark_data import write_jelly

FLAT = PatchStreamType.FLAT


@pytest.fixture(scope="module")
def old():
    return [statement(number) for number in range(400)]


@pytest.fixture(scope="module")
def data(old, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_jelly(folder / "one.jelly", old[:250])
    write_jelly(folder / "two.jelly", old[250:])
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Patches whose order matters: files that are cut into several pieces, and a compressed one between."""
    folder = tmp_path_factory.mktemp("log")
    rows = [random_rows(seed, 700) for seed in range(3)]
    write_patch(folder / "a.jellyp", rows[0], restart_every=1000, frame_rows=10)
    write_patch(folder / "b.jellyp.gz", rows[1], compression="gzip", restart_every=None)
    write_patch(folder / "c.jellyp", rows[2], restart_every=1000, frame_rows=10, index=True)
    return folder, [row for some in rows for row in some]


def test_apply_equals_the_same_changes_to_a_set(spark, data, log, old, tmp_path):
    folder, rows = log
    summary = jobs.apply(spark, data, folder, tmp_path / "new", files=3, partition_bytes=1500)
    found = read_data(tmp_path / "new")
    assert set(found) == apply_to_set(old, rows)
    assert len(found) == len(set(found)) == summary.statements
    assert (summary.job, summary.input_files) == ("apply", 5)


def test_diff_and_apply_are_inverse(spark, data, log, old, tmp_path):
    _folder, rows = log
    new = apply_to_set(old, rows)
    write_jelly(tmp_path / "new.jelly", sorted(new, key=str))
    summary = jobs.diff(spark, data, tmp_path / "new.jelly", tmp_path / "patch", files=2, restart_every=500)
    changes = read_patches(tmp_path / "patch")
    assert {row.statement for row in changes if isinstance(row, Add)} == new - set(old)
    assert {row.statement for row in changes if isinstance(row, Delete)} == set(old) - new
    assert len(changes) == summary.statements == len(new ^ set(old))
    jobs.apply(spark, data, tmp_path / "patch", tmp_path / "again")
    assert set(read_data(tmp_path / "again")) == new


def test_compact_has_the_same_effect(spark, log, old, tmp_path):
    folder, rows = log
    jobs.compact(spark, folder, tmp_path / "one", files=2, partition_bytes=1500)
    kept = read_patches(tmp_path / "one")
    # The first file has the headers: the last value of each key, but of `prev` the first one.
    assert kept[:3] == [
        Header("id", Literal("2")),
        Header("prev", Literal("before 0")),
        NamespaceAdd("ex", IRI("http://example.org/2/"), DEFAULT_GRAPH),
    ]
    changes = kept[3:]
    assert len({row.statement for row in changes}) == len(changes)
    for start in (old, [], [statement(number) for number in range(300, 600)]):
        assert apply_to_set(start, changes) == apply_to_set(start, rows)


def test_invert_undoes(spark, data, old, tmp_path):
    """Invert a log of effective changes, in several files that are split into pieces."""
    held = set(old)
    chance = random.Random(5)
    for number in range(3):
        rows: list[PatchRow] = [Header("id", Literal(str(number)))]
        for _ in range(60):
            rows.append(TransactionStart())
            for _ in range(5):
                change = statement(chance.randrange(600))
                rows.append(Delete(*change) if change in held else Add(*change))
                held ^= {change}
            rows.append(TransactionCommit())
            rows.append(Punctuation())
        kind = PatchStreamType.FLAT if number == 1 else PatchStreamType.PUNCTUATED
        wanted = [row for row in rows if kind is PatchStreamType.PUNCTUATED or not isinstance(row, Punctuation)]
        write_patch(tmp_path / "log" / f"{number}.jellyp", wanted, stream_type=kind, restart_every=300)
    jobs.invert(spark, tmp_path / "log", tmp_path / "undo", partition_bytes=500)
    assert len(list((tmp_path / "undo").iterdir())) > 3
    undoing = read_patches(tmp_path / "undo")
    assert apply_to_set(held, undoing) == set(old)
    assert [row for row in undoing if isinstance(row, Header)] == [Header("prev", Literal(n)) for n in "210"]
    assert sum(isinstance(row, Punctuation) for row in undoing) == 60 + 1 + 60
    jobs.invert(spark, tmp_path / "undo", tmp_path / "redo", stream_type="FLAT")
    assert apply_to_set(old, read_patches(tmp_path / "redo")) == held
    with pytest.raises(OptionsError, match="cannot be appended"):
        jobs.invert(spark, tmp_path / "log", tmp_path / "undo", save="append")


def test_a_transaction_that_is_not_finished_is_refused_or_left_out(spark, data, old, tmp_path):
    rows: list[PatchRow] = [Delete(*old[0]), TransactionStart(), Add(*statement(500)), TransactionCommit()]
    path = tmp_path / "cut.jellyp"
    write_patch(path, rows, frame_rows=1, restart_every=None)
    with open(path, "rb+") as file:
        *_frames, last = walk_frames(file, 0, path.stat().st_size)
        file.truncate(last.offset)
    with pytest.raises(ParseError, match=r"cut\.jellyp.*transaction"):
        jobs.apply(spark, data, path, tmp_path / "strict")
    assert not (tmp_path / "strict").exists()
    jobs.apply(spark, data, path, tmp_path / "new", strict=False)
    assert set(read_data(tmp_path / "new")) == set(old[1:])
    summary = jobs.apply(spark, data, path, tmp_path / "tolerant", mode="PERMISSIVE")
    assert (summary.bad_records, set(read_data(tmp_path / "tolerant"))) == (1, set(old[1:]))


TURTLE_BEFORE = """
@prefix ex: <http://example.org/> .
@prefix gone: <http://example.org/gone/> .
ex:a ex:p [ ex:q "1" ] , [ ex:q "2" ] ; ex:r _:named .
"""
TURTLE_AFTER = """
@prefix ex: <http://example.org/v2/> .
@prefix new: <http://example.org/new/> .
@prefix old: <http://example.org/> .
old:a old:p [ old:q "1" ] , [ old:q "3" ] ; old:r _:named .
"""


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Data in Turtle, with namespaces that change and blank nodes with and without labels."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "old.ttl").write_text(TURTLE_BEFORE)
    (folder / "new.ttl").write_text(TURTLE_AFTER)
    return folder / "old.ttl", folder / "new.ttl"


def namespaces_of(folder):
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.jelly")):
        with open_reader(path) as reader:
            for _batch in reader.batches():
                pass
            found |= reader.namespaces
    return found


def test_diff_and_apply_agree_with_the_commands_on_one_machine(spark, documents, tmp_path):
    """The same changes, of namespaces too, whoever finds them, and the same data, whoever applies them."""
    before, after = documents
    patches.diff(before, after, tmp_path / "one.jellyp", transaction=False, options=PatchOptions(stream_type=FLAT))
    jobs.diff(spark, before, after, tmp_path / "many", files=1)
    with open_patch_reader(tmp_path / "one.jellyp") as reader:
        expected = sorted(map(str, reader.rows()))
    found = read_patches(tmp_path / "many")
    assert sorted(map(str, found)) == expected
    assert [type(row).__name__ for row in found[:4]] == ["NamespaceDelete"] * 2 + ["NamespaceAdd"] * 2
    assert len([row for row in found if isinstance(row, Add | Delete)]) == 2
    patches.apply(before, tmp_path / "many", tmp_path / "one.jelly")
    jobs.apply(spark, before, [tmp_path / "one.jellyp"], tmp_path / "applied", files=2)
    assert set(read_data(tmp_path / "applied")) == set(read_data(tmp_path / "one.jelly"))
    wanted = {"ex": "http://example.org/v2/", "new": "http://example.org/new/", "old": "http://example.org/"}
    assert namespaces_of(tmp_path / "applied") == wanted
    # They are still there when patches that say nothing of them are applied, and no other format has a place for them.
    write_patch(tmp_path / "more" / "a.jellyp", [Add(*statement(1))])
    jobs.apply(spark, tmp_path / "applied", tmp_path / "more", tmp_path / "later")
    assert namespaces_of(tmp_path / "later") == wanted
    jobs.apply(spark, before, [tmp_path / "one.jellyp"], tmp_path / "text", out_format="nq", files=1)
    assert "PREFIX" not in "".join(path.read_text() for path in (tmp_path / "text").glob("*.nq"))


def test_namespaces_alone_are_a_change(spark, tmp_path):
    for name, iri in (("a", "http://example.org/1/"), ("b", "http://example.org/2/")):
        (tmp_path / f"{name}.ttl").write_text(f"@prefix ex: <{iri}> .\n")
    assert jobs.diff(spark, tmp_path / "a.ttl", tmp_path / "b.ttl", tmp_path / "changes").statements == 2
    same = jobs.diff(spark, tmp_path / "a.ttl", tmp_path / "b.ttl", tmp_path / "none", namespaces=False)
    assert same.statements == 0
    (tmp_path / "c.nt").write_text("")
    assert jobs.diff(spark, tmp_path / "a.ttl", tmp_path / "c.nt", tmp_path / "never").statements == 0


def test_blank_nodes_can_be_refused(spark, documents, tmp_path):
    before, after = documents
    with pytest.raises(OptionsError, match=r"blank node, which were to be refused: .*set blank_nodes=label"):
        jobs.diff(spark, before, after, tmp_path / "changes", blank_nodes="refuse")
    with pytest.raises(OptionsError, match="use `jellyframe patch diff`"):
        jobs.diff(spark, before, after, tmp_path / "changes", blank_nodes="match")
    with pytest.raises(OptionsError, match="must be one of label, refuse, match"):
        jobs.diff(spark, before, after, tmp_path / "changes", blank_nodes="other")  # type: ignore[arg-type]
    document = '{"@id": "http://example.org/a", "http://example.org/p": {"http://example.org/q": "1"}}'
    (tmp_path / "old.jsonld").write_text(document)
    with pytest.raises(OptionsError, match="JSON-LD has no labels that a patch could refer to"):
        jobs.diff(spark, tmp_path / "old.jsonld", after, tmp_path / "changes")
    assert not list(tmp_path.glob("changes/*.jellyp"))
