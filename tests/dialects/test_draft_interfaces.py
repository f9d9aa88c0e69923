"""The draft dialect through every function and command that reads or writes Jelly."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph
import pytest

import jellyframe
import jellyframe.pyoxigraph
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, Literal, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.defaults import DIALECT_NAMES
from jellyframe.errors import EncodeError, JellyError, OptionsError, ParseError
from jellyframe.options import LogicalType
from jellyframe.proto import draft_pb2
from jellyframe.stream.index import restart_points
from jellyframe.stream.message_batches import MessageDecoder, encode_messages
from jellyframe.stream.recovery import Damage
from support.command import run
from support.draft_streams import ENTRIES, A, B, graph_start, iri, literal, name, options, row, stream, triple

EX = "http://example.org/"
PEOPLE = [Triple(IRI(f"{EX}p{n}"), IRI(EX + "name"), Literal(f"Person {n}")) for n in range(300)]
GRAPHS = [Quad(*triple, IRI(f"{EX}g{n % 3}") if n % 3 else DEFAULT_GRAPH) for n, triple in enumerate(PEOPLE)]


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.jelly"
    with jellyframe.open_writer(path, dialect="draft", frame_rows=50, restart_every=2000) as writer:
        writer.write(PEOPLE)
    return path


@pytest.fixture
def released(tmp_path: Path) -> Path:
    path = tmp_path / "released.jelly"
    with jellyframe.open_writer(path) as writer:
        writer.write(PEOPLE)
    return path


def read(path: Path, dialect: Any = "draft") -> list[Any]:
    with jellyframe.open_reader(path, dialect=dialect) as reader:
        return list(reader.statements())


# ---- functions ----


def test_an_unknown_dialect_is_refused(tmp_path: Path) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda name: jellyframe.open_reader(b"", dialect=name),
        lambda name: jellyframe.open_writer(io.BytesIO(), dialect=name),
        lambda name: jellyframe.dumps([], dialect=name),
        lambda name: jellyframe.scan(tmp_path, dialect=name),
        lambda name: jellyframe.inspect(b"", dialect=name),
    ]
    for call in calls:
        for wrong in ("Draft", "1.0", None, 1):
            if wrong is None and call is calls[-1]:
                continue
            with pytest.raises(OptionsError, match="must be one of released, draft"):
                call(wrong)


@pytest.mark.parametrize("statements", [PEOPLE, GRAPHS], ids=["triples", "quads"])
def test_tables_are_read_and_written_in_the_draft(statements: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "people.jelly"
    with jellyframe.open_writer(path, dialect="draft") as writer:
        writer.write(statements)
    table = jellyframe.read_table(path, dialect="draft", layout="ntriples")
    assert table.num_rows == len(statements)
    jellyframe.write_table(table, tmp_path / "again.jelly", dialect="draft")
    assert read(tmp_path / "again.jelly") == statements
    with pytest.raises(JellyError, match="dialect='draft'"):
        jellyframe.read_table(path)


def test_a_table_with_namespaces_is_written_without_them(tmp_path: Path) -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.declare_namespace("ex", EX)
        writer.write(PEOPLE)
    table = jellyframe.read_table(sink.getvalue())
    jellyframe.write_table(table, tmp_path / "draft.jelly", dialect="draft")
    assert read(tmp_path / "draft.jelly") == PEOPLE


def test_scan_reads_draft_files(draft: Path) -> None:
    assert jellyframe.scan(draft, dialect="draft").read_all().num_rows == len(PEOPLE)
    with pytest.raises(JellyError, match="dialect='draft'"):
        jellyframe.scan(draft).read_all()


def test_integrations_read_the_draft(draft: Path, tmp_path: Path) -> None:
    for source in (draft, draft.read_bytes()):
        assert len(jellyframe.read_pandas(source, dialect="draft")) == 300
        assert len(jellyframe.read_polars(source, dialect="draft")) == 300
        assert len(jellyframe.read_duckdb(source, dialect="draft")) == 300
        assert jellyframe.pivot(source, dialect="draft").num_rows == 300
        assert jellyframe.to_networkx(source, dialect="draft").number_of_edges() == 300
        store = pyoxigraph.Store()
        jellyframe.pyoxigraph.load(store, source, dialect="draft")
        assert len(store) == 300
    assert len(jellyframe.scan_polars(draft, dialect="draft").collect()) == 300
    run("rdf", "to-neo4j", draft, "--dialect=draft", "--to", tmp_path / "graph")
    with pytest.raises(ParseError, match="set dialect='draft'"):
        jellyframe.read_pandas(draft)


def test_messages_in_arrow_arrays() -> None:
    table = jellyframe.read_table(jellyframe.dumps(PEOPLE), layout="ntriples").combine_chunks()
    messages = encode_messages(table.to_batches()[0], [100, 100, 300], dialect="draft")
    assert [len(jellyframe.loads(one, dialect="draft")) for one in messages] == [100, 0, 200]
    (part,) = MessageDecoder("ntriples", dialect="draft").decode(pa.array(messages, pa.binary()))
    assert part.counts == [100, 0, 200]
    parts = list(MessageDecoder("ntriples").decode(pa.array(messages[:1], pa.binary())))
    assert parts[0].error is not None
    assert "dialect='draft'" in str(parts[0].error)


def test_convert_reads_and_writes_the_draft(draft: Path, tmp_path: Path) -> None:
    jellyframe.convert(draft, tmp_path / "people.nt", dialect="draft")
    jellyframe.convert(tmp_path / "people.nt", tmp_path / "again.jelly", out_dialect="draft")
    assert read(tmp_path / "again.jelly") == PEOPLE
    jellyframe.convert(draft, tmp_path / "people.jelly.txt", dialect="draft")
    jellyframe.convert(tmp_path / "people.jelly.txt", tmp_path / "third.jelly", out_dialect="draft")
    assert read(tmp_path / "third.jelly") == PEOPLE


def test_rows_as_text_are_not_taken_for_those_of_the_other_dialect(draft: Path, tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="look like those of the draft dialect"):
        jellyframe.convert(draft, tmp_path / "people.jelly.txt")
    with pytest.raises(OptionsError, match="Jelly text shows rows of the released format"):
        jellyframe.convert(tmp_path / "draft.jelly", tmp_path / "x.jelly.txt", dialect="draft", out_dialect="draft")


# ---- transcode ----


@pytest.mark.parametrize("physical_type", ["TRIPLES", "QUADS", "GRAPHS"])
def test_transcode_goes_both_ways(physical_type: str, tmp_path: Path) -> None:
    statements = PEOPLE if physical_type == "TRIPLES" else GRAPHS
    given = StreamOptions(physical_type=PhysicalType[physical_type])
    with jellyframe.open_writer(tmp_path / "a.jelly", given, frame_rows=50) as writer:
        writer.write(statements)
    jellyframe.transcode(tmp_path / "a.jelly", tmp_path / "b.jelly", out_dialect="draft")
    jellyframe.transcode(tmp_path / "b.jelly", tmp_path / "c.jelly", dialect="draft")
    assert read(tmp_path / "b.jelly") == statements
    assert read(tmp_path / "c.jelly", "released") == statements
    frames = []
    for letter, dialect in (("a", "released"), ("b", "draft"), ("c", "released")):
        with jellyframe.open_reader(tmp_path / f"{letter}.jelly", dialect=dialect) as reader:  # type: ignore[arg-type]
            frames.append([len(list(frame.statements())) for frame in reader.frames()])
    assert frames[0] == frames[1] == frames[2]


def test_a_draft_file_that_does_not_change_is_copied(draft: Path, tmp_path: Path) -> None:
    done = jellyframe.transcode(draft, tmp_path / "copy.jelly", dialect="draft", out_dialect="draft")
    assert done.is_copy
    assert (tmp_path / "copy.jelly").read_bytes() == draft.read_bytes()


def test_several_processes_rewrite_a_draft_file(tmp_path: Path) -> None:
    statements = [Triple(IRI(f"{EX}p{n}"), IRI(EX + "name"), Literal(f"{n} " * 100)) for n in range(40_000)]
    path = tmp_path / "large.jelly"
    with jellyframe.open_writer(path, dialect="draft") as writer:
        writer.write(statements)
    with path.open("rb") as file:
        assert len(restart_points(file)) > 1
    one = jellyframe.transcode(path, tmp_path / "one.jelly", dialect="draft", frame_rows=500)
    many = jellyframe.transcode(path, tmp_path / "many.jelly", dialect="draft", frame_rows=500, jobs=2)
    assert one.statements == many.statements == len(statements)
    assert one.options == many.options
    assert read(tmp_path / "many.jelly", "released") == statements


def test_metadata_and_indexes_are_refused_in_the_draft(tmp_path: Path) -> None:
    path = tmp_path / "rich.jelly"
    with jellyframe.open_writer(path) as writer:
        writer.declare_namespace("ex", EX)
        writer.write(PEOPLE)
        writer.end_frame({"key": b"value"})
    with pytest.raises(EncodeError, match=r"a frame has metadata.*set frames='rows'"):
        jellyframe.transcode(path, tmp_path / "draft.jelly", out_dialect="draft")
    assert not (tmp_path / "draft.jelly").exists()
    jellyframe.transcode(path, tmp_path / "draft.jelly", out_dialect="draft", frames="rows")
    assert read(tmp_path / "draft.jelly") == PEOPLE
    with pytest.raises(OptionsError, match="an index is metadata"):
        jellyframe.transcode(path, tmp_path / "draft.jelly", out_dialect="draft", index=True)
    with jellyframe.open_writer(io.BytesIO(), dialect="draft") as writer:
        writer.write(PEOPLE)
        for refused in (lambda: writer.declare_namespace("ex", EX), lambda: writer.end_frame({"k": b""})):
            with pytest.raises(EncodeError, match="neither namespaces nor metadata"):
                refused()
    with pytest.raises(OptionsError, match="an index is metadata"):
        jellyframe.open_writer(io.BytesIO(), dialect="draft", index=True)


def test_small_tables_of_the_draft_grow_in_the_released_format(tmp_path: Path) -> None:
    given = StreamOptions(max_name_table_size=0)
    path = tmp_path / "draft.jelly"
    with jellyframe.open_writer(path, given, dialect="draft") as writer:
        writer.write(PEOPLE)
    done = jellyframe.transcode(path, tmp_path / "new.jelly", dialect="draft")
    assert done.options.max_name_table_size == 8
    assert read(tmp_path / "new.jelly", "released") == PEOPLE


def test_a_grouped_stream_keeps_its_frames(tmp_path: Path) -> None:
    given = StreamOptions(logical_type=LogicalType.GRAPHS)
    with jellyframe.open_writer(tmp_path / "a.jelly", given) as writer:
        for start in (0, 100, 290):
            writer.write_frame(PEOPLE[start : start + 100])
    jellyframe.transcode(tmp_path / "a.jelly", tmp_path / "b.jelly", out_dialect="draft")
    with jellyframe.open_reader(tmp_path / "b.jelly", dialect="draft") as reader:
        assert [len(list(frame.statements())) for frame in reader.frames()] == [100, 100, 10]
        assert reader.options.logical_type is LogicalType.UNSPECIFIED


# ---- damage, restart points ----


def test_a_damaged_draft_file_is_read_on_at_its_next_restart_point(draft: Path) -> None:
    data = bytearray(draft.read_bytes())
    points = [point.offset for point in restart_points(io.BytesIO(bytes(data)))]
    assert len(points) > 3
    data[points[1] + 100 : points[1] + 140] = bytes(40)
    losses: list[Damage] = []
    with jellyframe.open_reader(bytes(data), dialect="draft", on_damage=losses.append) as reader:
        found = list(reader.statements())
    assert len(losses) == 1
    assert losses[0].stop == points[2]
    assert set(found) < set(PEOPLE)
    assert PEOPLE[-1] in found


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_a_stream_in_the_other_dialect_is_not_taken_for_a_damaged_one(
    draft: Path, released: Path, dialect: Any
) -> None:
    other = released if dialect == "draft" else draft
    losses: list[Damage] = []
    with (
        jellyframe.open_reader(other, dialect=dialect, on_damage=losses.append) as reader,
        pytest.raises(JellyError, match=f"dialect='{'released' if dialect == 'draft' else 'draft'}'"),
    ):
        list(reader.statements())
    assert losses == []


# ---- inspect, validate ----


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("delimited", [True, False])
@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_inspect_recognises_the_dialect(dialect: Any, delimited: bool, content: bool) -> None:
    data = jellyframe.dumps(GRAPHS, StreamOptions(rdf_star=False), dialect=dialect)
    if delimited:
        sink = io.BytesIO()
        with jellyframe.open_writer(sink, StreamOptions(rdf_star=False), dialect=dialect) as writer:
            writer.end_frame()
            writer.write(GRAPHS)
        data = sink.getvalue()
    survey = jellyframe.inspect(data, content=content)
    assert survey.dialect == dialect
    assert survey.counts.statements == len(GRAPHS)
    assert survey.options is not None
    assert survey.options.rdf_star is False
    assert survey.counts.terms("object", "literal") == len(GRAPHS)
    assert survey.counts.terms("predicate", "repeated") == len(GRAPHS) - 1
    assert survey.counts.terms("graph", "default_graph") > 0
    assert survey.content is None or survey.content.statements == len(GRAPHS)


def test_inspect_counts_quoted_triples_and_graphs_of_the_draft() -> None:
    inner = Triple(BlankNode("a"), IRI(EX), Triple(IRI(EX), IRI(EX), Literal("x")))
    given = StreamOptions(physical_type=PhysicalType.GRAPHS)
    data = jellyframe.dumps([Quad(inner, IRI(EX), inner, IRI("urn:g"))], given, dialect="draft")
    counts = jellyframe.inspect(data).counts
    assert counts.terms("subject", "triple") == counts.terms("object", "triple") == 1
    assert [counts.quoted_terms(kind) for kind in ("iri", "bnode", "literal", "triple")] == [6, 2, 2, 2]
    assert counts.terms("graph", "iri") == counts.rows("graph_start") == 1


@pytest.mark.parametrize(
    ("rows", "dialect"),
    [
        ((options(),), None),
        ((options(rdf_star=True),), "draft"),
        ((options(3), *ENTRIES, graph_start(draft_pb2.RdfGraph(bnode="g")), row(graph_end=True)), "draft"),
        ((options(), *ENTRIES), None),
    ],
)
def test_streams_without_statements(rows: Any, dialect: str | None) -> None:
    """They may be valid in both dialects, and hold no statement to be read wrongly."""
    data = stream(*rows)
    assert jellyframe.inspect(data).dialect == dialect
    assert jellyframe.loads(data, dialect="draft") == []


def test_validation_finds_bad_iris_and_language_tags() -> None:
    data = stream(options(), name(1, "not an IRI"), triple(iri(0, 1), iri(0, 1), literal("x", langtag="not a tag")))
    report = jellyframe.validate(data, dialect="draft", validate_terms=True)
    assert not report.is_valid
    assert jellyframe.validate(data, dialect="draft").is_valid
    assert jellyframe.validate(stream(options(), *ENTRIES, triple(A, B, A)), dialect="draft").is_valid


def test_comparisons_take_a_dialect_for_either_side(draft: Path, released: Path) -> None:
    for ordered in (False, True):
        assert jellyframe.compare(draft, draft, dialect="draft", ordered=ordered).is_equal
        assert jellyframe.compare(draft, released, dialect="draft", second_dialect="released", ordered=ordered).is_equal
        assert jellyframe.compare(released, draft, second_dialect="draft", ordered=ordered).is_equal
    assert not jellyframe.compare(
        draft, jellyframe.dumps(PEOPLE[1:], dialect="draft"), second_format="jelly", dialect="draft"
    ).is_equal
    assert jellyframe.validate(draft, compare_to=draft, dialect="draft").is_valid
    assert jellyframe.validate(released, compare_to=draft, compare_dialect="draft").is_valid


def test_comparisons_name_the_argument_of_the_side_that_is_wrong(draft: Path, released: Path) -> None:
    with pytest.raises(JellyError, match=r"; set dialect='draft'$"):
        jellyframe.compare(draft, released)
    with pytest.raises(JellyError, match=r"; set second_dialect='draft'$"):
        jellyframe.compare(released, draft)
    with pytest.raises(JellyError, match=r"; set compare_dialect='released'$"):
        jellyframe.validate(draft, compare_to=released, dialect="draft")
    with pytest.raises(OptionsError, match="must be one of released, draft"):
        jellyframe.compare(released, released, dialect="old")  # type: ignore[arg-type]


# ---- the command line ----


def test_commands_read_and_write_the_draft(draft: Path, tmp_path: Path) -> None:
    text = run("rdf", "from-jelly", draft, "--dialect", "draft").out
    (tmp_path / "people.nt").write_bytes(text)
    run("rdf", "to-jelly", "people.nt", "--dialect", "draft", "--opt.use-repeat=false", "--to", "a.jelly", cwd=tmp_path)
    run(
        "rdf",
        "transcode",
        "a.jelly",
        "--dialect",
        "draft",
        "--out-dialect",
        "released",
        "--to",
        "b.jelly",
        cwd=tmp_path,
    )
    run("rdf", "transcode", "b.jelly", "--out-dialect", "draft", "--to", "c.jelly", cwd=tmp_path)
    assert read(tmp_path / "a.jelly") == read(tmp_path / "b.jelly", "released") == read(tmp_path / "c.jelly") == PEOPLE
    run("rdf", "validate", "c.jelly", "--dialect", "draft", "--compare-to-rdf-file", "people.nt", cwd=tmp_path)
    for letter, dialect, use_repeat in (("a", "draft", False), ("b", "released", None), ("c", "draft", True)):
        document = json.loads(run("rdf", "inspect", f"{letter}.jelly", "--json", cwd=tmp_path).out)
        assert document["input"]["dialect"] == dialect
        assert document["stream_options"].get("use_repeat") is use_repeat


def test_errors_of_commands_name_the_option(draft: Path, released: Path) -> None:
    for path, said, other in ((draft, (), "draft"), (released, ("--dialect", "draft"), "released")):
        for command in ("from-jelly", "transcode", "validate"):
            done = run("rdf", command, path, *said, code=1 if command == "validate" else 2)
            assert f"use --dialect={other}" in (done.out.decode() if command == "validate" else done.err)
    done = run("rdf", "validate", released, "--compare-to-rdf-file", draft, code=2)
    assert "use --compare-to-dialect=draft" in done.err
    run("rdf", "validate", released, "--compare-to-rdf-file", draft, "--compare-to-dialect", "draft")


def test_commands_without_the_option_name_the_command_that_helps(draft: Path, released: Path, tmp_path: Path) -> None:
    changes = tmp_path / "changes.jellyp"
    run("patch", "diff", released, released, "--to", changes)
    for words in (
        ("patch", "diff", draft, released),
        ("patch", "apply", draft, changes, "--to", tmp_path / "out.nt"),
        ("view", draft, "--no-browser", "--listen", "127.0.0.1:0"),
        # Its --dialect is that of the output.
        ("rdf", "to-jelly", draft, "--dialect", "draft", "--to", tmp_path / "out.jelly"),
    ):
        told = run(*words, code=2).err
        assert told.count("\n") == 1
        assert "look like those of the draft dialect" in told
        assert told.endswith("rewrite it with `jellyframe rdf transcode --dialect draft`, and use that file\n")
    run("rdf", "transcode", draft, "--dialect", "draft", "--to", tmp_path / "new.jelly")
    run("patch", "diff", tmp_path / "new.jelly", released, "--to", changes)


def test_patch_commands_say_that_a_draft_file_is_no_patch(draft: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "draft.jellyp"
    renamed.write_bytes(draft.read_bytes())
    for command in ("inspect", "from-jelly", "invert", "log"):
        assert "is Jelly, RDF data and not changes to it" in run("patch", command, draft, code=2).err
        assert "a stream of RDF statements, not a Jelly-Patch stream" in run("patch", command, renamed, code=2).err
