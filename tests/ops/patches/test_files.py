"""The functions for patches of files: diff, apply, invert, compact and log."""

from __future__ import annotations

import functools
import io
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import EncodeError, JellyError, NamedGraphError, OptionsError
from jellyframe.formats import ntriples
from jellyframe.ops.isomorphism import isomorphic
from jellyframe.ops.patches import apply, compact, diff, invert, log
from jellyframe.ops.progress import Progress
from jellyframe.patch import (
    Add,
    Delete,
    Header,
    NamespaceAdd,
    NamespaceDelete,
    PatchOptions,
    PatchRow,
    PatchStatementType,
    PatchStreamType,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
    open_patch_reader,
    open_patch_writer,
)
from jellyframe.patch.journal import Journal
from jellyframe.stream.messages import dumps
from jellyframe.stream.reader import open_reader
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.patch_models import DATA, PATCHES, UNFINISHED_PATCHES, applied

A, B, P = IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/p")


def lines(statements) -> bytes:
    return "".join(f"{statement.to_line()}\n" for statement in statements).encode()


def patch_bytes(rows, stream_type=PatchStreamType.PUNCTUATED, statement_type=PatchStatementType.QUADS) -> bytes:
    sink = io.BytesIO()
    with open_patch_writer(sink, PatchOptions(stream_type=stream_type, statement_type=statement_type)) as writer:
        writer.write(rows)
    return sink.getvalue()


def rows_in(data: bytes) -> list[PatchRow]:
    with open_patch_reader(data) as reader:
        return list(reader.rows())


def changes(old: bytes, new: bytes, **settings) -> bytes:
    sink = io.BytesIO()
    diff(old, new, sink, old_format="nq", new_format="nq", **settings)
    return sink.getvalue()


def result(data: bytes, *patches: bytes | str | Path, **settings) -> list:
    sink = io.BytesIO()
    apply(data, patches, sink, in_format="nq", out_format="nq", **settings)
    return [quad for batch in ntriples.read(sink.getvalue(), quads=True) for quad in batch.statements()]


@given(old=DATA, new=DATA, stream_type=st.sampled_from(PatchStreamType), transaction=st.booleans())
def test_applying_the_changes_gives_the_new_data_and_inverting_them_the_old(old, new, stream_type, transaction):
    if stream_type is PatchStreamType.UNSPECIFIED:
        stream_type = PatchStreamType.FLAT
    options = PatchOptions(stream_type=stream_type)
    patch = changes(lines(old), lines(new), options=options, transaction=transaction)
    assert set(result(lines(old), patch)) == set(new)
    undo = io.BytesIO()
    invert(patch, undo)
    assert set(result(lines(new), undo.getvalue())) == set(old)


@given(data=DATA, patches=st.lists(PATCHES, min_size=1, max_size=3), stream_type=st.integers(1, 3))
def test_compacting_has_the_same_effect(data, patches, stream_type):
    sources = [patch_bytes(rows, PatchStreamType(stream_type)) for rows in patches]
    expected = applied(data, [row for rows in patches for row in rows])
    assert set(result(lines(data), *sources)) == expected
    sink = io.BytesIO()
    done = compact(sources, sink)
    assert set(result(lines(data), sink.getvalue())) == expected
    rows = rows_in(sink.getvalue())
    statements = [row.statement for row in rows if isinstance(row, Add | Delete)]
    assert len(set(statements)) == len(statements) == done.added + done.deleted


@given(data=DATA, rows=UNFINISHED_PATCHES)
def test_an_unfinished_transaction_has_no_effect(data, rows):
    source = patch_bytes(rows)[:] if _is_finished(rows) else _unfinished(rows)
    assert set(result(lines(data), source, strict=False)) == applied(data, rows)
    if not _is_finished(rows):
        with pytest.raises(JellyError):
            result(lines(data), source)


def _is_finished(rows) -> bool:
    marks = [row for row in rows if isinstance(row, TransactionStart | TransactionCommit | TransactionAbort)]
    return not marks or not isinstance(marks[-1], TransactionStart)


def _unfinished(rows) -> bytes:
    """Write a stream that ends inside a transaction, which the writer refuses to end."""
    sink = io.BytesIO()
    writer = open_patch_writer(sink, PatchOptions(stream_type=PatchStreamType.FLAT))
    writer.write(rows)
    writer.flush()
    writer.discard()
    return sink.getvalue()


@given(rows=PATCHES, data=DATA)
def test_inverting_twice_is_the_patch_again(rows, data):
    """Except for aborted transactions, which have no effect."""
    once, twice = io.BytesIO(), io.BytesIO()
    invert(patch_bytes(rows), once)
    invert(once.getvalue(), twice)
    assert set(result(lines(data), twice.getvalue())) == applied(data, rows)


@given(rows=PATCHES)
def test_inverting_gives_the_same_when_spilled_to_disk(rows):
    patch = patch_bytes(rows)
    plain, spilled = io.BytesIO(), io.BytesIO()
    invert(patch, plain)
    small = functools.partial(Journal, memory_bytes=100)
    with mock.patch("jellyframe.ops.patches.inverting.Journal", small):
        invert(patch, spilled)
    assert plain.getvalue() == spilled.getvalue()


_NODES = [BlankNode(label) for label in "abcdef"]


@st.composite
def graphs_with_nodes(draw: st.DrawFn) -> list[Quad]:
    subjects = [*_NODES, A, Triple(A, P, _NODES[0])]
    terms = st.sampled_from([*subjects, Literal("x")])
    quads = st.builds(Quad, st.sampled_from(subjects), st.just(P), terms, st.sampled_from([DEFAULT_GRAPH, _NODES[1]]))
    return draw(st.lists(quads, max_size=12))


def renamed(term, names):
    if isinstance(term, BlankNode):
        return BlankNode(names[term.label])
    return Triple(*(renamed(part, names) for part in term)) if isinstance(term, Triple) else term


@given(old=graphs_with_nodes(), new=graphs_with_nodes(), labels=st.permutations("bcdxyz"), rnd=st.randoms())
def test_blank_nodes_are_matched(old, new, labels, rnd):
    names = dict(zip("abcdef", labels, strict=True))
    same = [Quad(*(renamed(term, names) for term in quad)) for quad in old]
    rnd.shuffle(same)
    # The same data with other labels has no changes; other data gets changes that lead to it.
    found = diff(lines(old), lines(same), old_format="nq", new_format="nq", blank_nodes="match")
    assert found.is_equal
    other = [Quad(*(renamed(term, names) for term in quad)) for quad in new]
    patch = changes(lines(old), lines(other), blank_nodes="match")
    assert isomorphic(result(lines(old), patch), other)


def test_a_changed_node_keeps_its_label():
    """Nodes around a change are matched nevertheless, so that the patch stays small."""
    old = [Triple(IRI(f"http://example.org/{n}"), P, BlankNode(f"x{n}")) for n in range(50)]
    old += [Triple(BlankNode(f"x{n}"), P, Literal(str(n))) for n in range(50)]
    old += [Triple(BlankNode(f"x{n}"), P, BlankNode(f"x{n + 1}")) for n in range(49)]
    new = [
        Triple(*(BlankNode(f"y{term.label[1:]}") if isinstance(term, BlankNode) else term for term in triple))
        for triple in reversed(old)
    ]
    new[new.index(Triple(BlankNode("y20"), P, Literal("20")))] = Triple(BlankNode("y20"), P, Literal("new"))
    found = diff(lines(old), lines(new), old_format="nt", new_format="nt", blank_nodes="match")
    assert (found.added, found.deleted) == (1, 1)


def test_matching_is_deterministic():
    old = lines(Triple(BlankNode(f"x{n}"), P, Literal("x")) for n in range(20))
    new = lines(Triple(BlankNode(f"y{n}"), P, Literal("x")) for n in range(23))
    patches = {changes(old, new, blank_nodes="match") for _ in range(3)}
    assert len(patches) == 1
    assert len(rows_in(patches.pop())) == 3 + 3


def test_blank_nodes_can_be_refused(tmp_path: Path):
    with pytest.raises(OptionsError, match=r"blank node.*_:x"):
        changes(b"", b"_:x <a:p> <a:o> .\n", blank_nodes="refuse")
    changes(b"<a:s> <a:p> <a:o> .\n", b"<a:s> <a:p> <a:o2> .\n", blank_nodes="refuse")
    with pytest.raises(OptionsError, match="label, refuse, match"):
        changes(b"", b"", blank_nodes="guess")
    old = tmp_path / "old.rdf"
    old.write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description>'
        '<p xmlns="http://example.org/">x</p></rdf:Description></rdf:RDF>'
    )
    with pytest.raises(OptionsError, match=r"RDF/XML has no labels"):
        diff(old, b"")
    new = tmp_path / "new.nt"
    new.write_bytes(b'_:x <http://example.org/p> "x" .\n')
    assert diff(new, old, blank_nodes="match").is_equal


def test_nodes_without_labels_are_the_same_at_the_same_places(tmp_path: Path):
    for name in ("old", "new"):
        (tmp_path / f"{name}.ttl").write_text("<http://example.org/a> <http://example.org/p> [], [] .")
    assert diff(tmp_path / "old.ttl", tmp_path / "new.ttl").is_equal


def test_namespaces_are_compared_where_formats_have_them(tmp_path: Path):
    (tmp_path / "old.ttl").write_text("@prefix a: <http://a/> . @prefix b: <http://b/> . a:s a:p a:o .")
    (tmp_path / "new.ttl").write_text("@prefix b: <http://c/> . @prefix d: <http://d/> . <http://a/s> d:p b:o .")
    (tmp_path / "new.nt").write_text("<http://a/s> <http://a/p> <http://a/o> .")
    patch = tmp_path / "p.jellyp"
    found = diff(tmp_path / "old.ttl", tmp_path / "new.ttl", patch)
    assert (found.namespaces_added, found.namespaces_deleted) == (2, 2)
    with open_patch_reader(patch) as reader:
        rows = [row for row in reader.rows() if isinstance(row, NamespaceAdd | NamespaceDelete)]
    assert rows == [
        NamespaceDelete("a", IRI("http://a/"), DEFAULT_GRAPH),
        NamespaceDelete("b", IRI("http://b/"), DEFAULT_GRAPH),
        NamespaceAdd("b", IRI("http://c/"), DEFAULT_GRAPH),
        NamespaceAdd("d", IRI("http://d/"), DEFAULT_GRAPH),
    ]
    assert diff(tmp_path / "old.ttl", tmp_path / "new.nt").is_equal
    assert diff(tmp_path / "old.ttl", tmp_path / "new.ttl", namespaces=False).namespaces_added == 0
    apply(tmp_path / "old.ttl", patch, tmp_path / "out.ttl")
    text = (tmp_path / "out.ttl").read_text()
    assert "http://d/" in text
    assert "@prefix a:" not in text
    assert diff(tmp_path / "out.ttl", tmp_path / "new.ttl").is_equal
    apply(tmp_path / "old.ttl", patch, tmp_path / "out.jelly")
    with open_reader(tmp_path / "out.jelly") as stream:
        assert len(list(stream)) == 1
        assert dict(stream.namespaces) == {"b": "http://c/", "d": "http://d/"}


def test_headers_of_compacted_and_inverted_patches():
    def one(number: int) -> bytes:
        return patch_bytes(
            [
                Header("id", Literal(str(number))),
                Header("prev", Literal(str(number - 1))),
                Header(f"only-{number}", A),
                Add(A, P, Literal(str(number))),
            ]
        )

    sink = io.BytesIO()
    compact([one(1), one(2)], sink)
    headers = {row.key: row.value for row in rows_in(sink.getvalue()) if isinstance(row, Header)}
    assert headers == {"id": Literal("2"), "prev": Literal("0"), "only-1": A, "only-2": A}
    sink = io.BytesIO()
    assert invert([one(1), one(2)], sink).patches == 2
    with open_patch_reader(sink.getvalue()) as reader:
        found = [(patch.headers, [str(row) for row in patch][-1]) for patch in reader.patches()]
    assert found == [
        ({"only-2": A, "prev": Literal("2")}, f'D {A} {P} "2" .'),
        ({"only-1": A, "prev": Literal("1")}, f'D {A} {P} "1" .'),
    ]


def test_namespaces_that_lack_their_iri_cannot_be_added_again():
    iri = IRI("http://example.org/")
    sink = io.BytesIO()
    invert(patch_bytes([NamespaceDelete("a", iri), NamespaceAdd("b", iri)]), sink)
    assert [str(row) for row in rows_in(sink.getvalue())[:2]] == ['PD "b" .', f'PA "a" {iri} .']
    with pytest.raises(EncodeError, match="'a' is deleted without its IRI"):
        invert(patch_bytes([NamespaceDelete("a")]), io.BytesIO())


def test_a_stream_of_triples_holds_triples_only():
    options = PatchOptions(statement_type=PatchStatementType.TRIPLES)
    plain = lines([Triple(A, P, B)])
    patch = changes(b"", plain, options=options)
    assert Add(A, P, B) in rows_in(patch)
    with pytest.raises(NamedGraphError):
        changes(b"", lines([Quad(A, P, B, A)]), options=options)
    # Patches of patches are of triples if all of them are.
    sink = io.BytesIO()
    compact(patch, sink)
    with open_patch_reader(sink.getvalue()) as reader:
        assert reader.options.statement_type is PatchStatementType.TRIPLES


def test_the_result_is_of_triples_if_no_graph_is_named(tmp_path: Path):
    data = tmp_path / "data.jelly"
    data.write_bytes(dumps([Triple(A, P, B)]))
    for quad, has_graph in ((Quad(B, P, A, DEFAULT_GRAPH), False), (Quad(B, P, A, A), True)):
        apply(data, patch_bytes([Add(*quad)]), tmp_path / "out.jelly")
        with open_reader(tmp_path / "out.jelly") as reader:
            assert reader.options.has_graph is has_graph
            assert len(list(reader)) == 2
    with pytest.raises(NamedGraphError):
        apply(data, patch_bytes([Add(B, P, A, A)]), tmp_path / "out.nt")
    assert not (tmp_path / "out.nt").exists()


def test_a_file_can_be_patched_in_place(tmp_path: Path):
    data = tmp_path / "data.nq"
    data.write_bytes(lines([Triple(A, P, Literal(str(number))) for number in range(100)]))
    done = apply(data, patch_bytes([Delete(A, P, Literal("7")), Add(B, P, A)]), data)
    assert (done.statements, done.added, done.deleted) == (100, 1, 1)
    assert data.read_bytes().endswith(lines([Triple(B, P, A)]))


def test_folders_and_patterns_stand_for_files_in_order(tmp_path: Path):
    folder = tmp_path / "log"
    folder.mkdir()
    for number in range(3):
        rows = [Add(A, P, B)] if number % 2 else [Delete(A, P, B)]
        (folder / f"{number}.jellyp").write_bytes(patch_bytes(rows))
    (folder / "3.rdfp").write_text("A <a:s> <a:p> <a:o> .\n")
    (folder / "note.txt").write_text("not a patch")
    assert [str(quad) for quad in result(b"", folder)] == ["<a:s> <a:p> <a:o> ."]
    assert len(result(b"", str(folder / "[01].jellyp"))) == 1
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.nt").write_bytes(lines([Triple(A, P, B)]))
    (data / "b.ttl").write_bytes(lines([Triple(B, P, B)]))
    assert diff(data, lines([Triple(A, P, B), Triple(B, P, B)]), new_format="nt").is_equal


def test_pipes_are_read_once_and_kept():
    class Pipe:
        def __init__(self, data: bytes) -> None:
            self._file = io.BytesIO(data)

        def read(self, size: int) -> bytes:
            return self._file.read(min(size, 3))

    old, new = lines([Triple(A, P, B)]), lines([Triple(B, P, B)])
    sink = io.BytesIO()
    found = diff(Pipe(old), Pipe(new), sink, old_format="nt", new_format="nt")
    assert (found.added, found.deleted) == (1, 1)
    out = io.BytesIO()
    apply(Pipe(old), Pipe(sink.getvalue()), out, in_format="nt", out_format="nt")
    assert out.getvalue() == new


def test_progress_is_reported(tmp_path: Path):
    data = tmp_path / "data.nt"
    data.write_bytes(lines([Triple(A, P, Literal(str(number))) for number in range(1000)]))
    seen: list[Progress] = []
    diff(data, data, progress=seen.append)
    assert seen[-1].bytes_read == seen[-1].total_bytes == 4 * data.stat().st_size or seen[-1].statements == 2000


def test_errors_leave_nothing_behind(tmp_path: Path):
    good, bad = tmp_path / "good.nt", tmp_path / "bad.nt"
    good.write_bytes(lines([Triple(A, P, B)]))
    bad.write_bytes(lines([Triple(A, P, B)]) + b"no statement\n")
    patch = tmp_path / "p.jellyp"
    for old, new in ((good, bad), (bad, good), (good, tmp_path / "missing.nt")):
        with pytest.raises((JellyError, OSError)):
            diff(old, new, patch)
    with pytest.raises(OptionsError):
        diff(good, good, tmp_path / "p.nt")
    with pytest.raises(JellyError):
        apply(good, good.read_bytes(), tmp_path / "out.nt")
    with pytest.raises(JellyError, match="no patch"):
        apply(good, [], tmp_path / "out.nt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.nt", "good.nt"]


def test_log_lists_the_patches_of_a_folder(tmp_path: Path):
    first = [
        Header("id", Literal("1")),
        Header("prev", IRI("urn:0")),
        Header("created", Literal("2024-05-06T07:08:09Z")),
        TransactionStart(),
        Add(A, P, B),
        NamespaceAdd("a", A),
        TransactionCommit(),
        TransactionStart(),
        Add(A, P, A),
        Delete(A, P, A),
        TransactionAbort(),
    ]
    (tmp_path / "a.jellyp").write_bytes(patch_bytes([*first]))
    with open_patch_writer(tmp_path / "b.jellyp") as writer:
        for number in range(3):
            writer.write([Header("id", Literal(str(number))), *[Delete(A, P, Literal(str(n))) for n in range(number)]])
            writer.end_patch()
    os.utime(tmp_path / "b.jellyp", (0, 0))
    one, other = log(tmp_path)
    assert (one.added, one.deleted, one.namespaces, one.committed, one.aborted, one.left_out) == (1, 0, 1, 1, 1, 2)
    assert (one.id, one.previous, one.time) == ("1", "<urn:0>", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC))
    assert one.bytes == (tmp_path / "a.jellyp").stat().st_size
    assert (other.patches, other.deleted, other.id, other.time) == (3, 3, "2", datetime(1970, 1, 1, tzinfo=UTC))
    assert [entry.file for entry in log(tmp_path, order="time")] == [other.file, one.file]
    assert [entry.file for entry in log(tmp_path, order="size")] == [other.file, one.file]
    assert [(entry.patch, entry.deleted) for entry in log(tmp_path / "b.jellyp", each_patch=True)] == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]
    with pytest.raises(OptionsError, match="name, time, size"):
        log(tmp_path, order="length")  # type: ignore[arg-type]


@given(cut=st.integers(0, 200), rows=PATCHES)
def test_a_truncated_patch_gives_an_error_or_the_right_result(cut, rows):
    data = patch_bytes(rows)[:cut]
    with suppress(JellyError):
        done = rows_in(data)
        assert set(result(b"", data)) == applied([], done)
