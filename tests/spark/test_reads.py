"""Reading: layouts, selected columns and rows, schemas given by the user."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructField, StructType

import jellyframe
from jellyframe import DEFAULT_GRAPH, Batch, BlankNode, Literal, OptionsError, Triple
from jellyframe.arrow.tables import batch_to_arrow, table_to_batches
from jellyframe.ops.filters import RowFilter
from jellyframe.options import LogicalType, PhysicalType
from support.spark_data import INT, LONG, SPECIAL, STRING, XSD, Read, iri, quads, schema, texts, write_jelly

STATEMENTS = quads(500) + SPECIAL
G = "http://example.org/"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_jelly(tmp_path_factory.mktemp("reads") / "a.jelly", STATEMENTS, frame_rows=30)


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_each_layout_holds_every_statement(path, layout):
    table = Read(path, layout=layout).table
    assert [s for batch in table_to_batches(table) for s in batch.statements()] == STATEMENTS


def test_triples_are_in_no_graph(tmp_path):
    triples = [Triple(*statement[:3]) for statement in STATEMENTS]
    read = Read(write_jelly(tmp_path / "t.jelly", triples), layout="ntriples")
    assert read.counted() == texts(triples)


def test_columns_are_those_asked_for_in_that_order(path):
    read = Read(path, columns="o, file,frame , s", layout="ntriples")
    assert read.table.column_names == ["o", "file", "frame", "s"]
    assert set(read.rows("file")) == {(str(path),)}
    assert read.rows("s", "o") == [(str(s), str(o)) for s, _, o, _ in STATEMENTS]
    assert Read(path, columns="file").table.num_rows == len(STATEMENTS)
    assert Read(path, columns="*,frame", layout="flat").table.column_names == [
        *("s", "p", "o", "o_kind", "o_datatype", "o_lang", "g"),
        "frame",
    ]


@pytest.mark.parametrize("batch_rows", [3, 100_000])
def test_metadata_goes_with_every_row_of_its_frame(tmp_path, batch_rows):
    path = tmp_path / "a.jelly"
    options = jellyframe.StreamOptions(
        physical_type=PhysicalType.QUADS, logical_type=LogicalType.DATASETS, rdf_star=True, generalized_statements=True
    )
    sizes = [1, 10, 0, 4, 20, 2]
    with jellyframe.open_writer(path, options) as writer:
        for number, size in enumerate(sizes):
            writer.write(quads(size))
            writer.end_frame({"number": b"%d" % number} if number % 3 else {"a": b"", "b": b"\xff"})
    read = Read(path, columns="metadata,frame", batch_rows=batch_rows)
    assert [(dict(metadata), frame) for metadata, frame in read.rows()] == [
        ({"number": b"%d" % number} if number % 3 else {"a": b"", "b": b"\xff"}, number)
        for number, size in enumerate(sizes)
        for _ in range(size)
    ]


_THREE_SUBJECTS = (iri("s3"), BlankNode("b0"), Literal("generalized"))
_TWO_GRAPHS = (iri("g2"), DEFAULT_GRAPH)


@pytest.mark.parametrize(
    ("options", "keep"),
    [
        ({"predicates": f"{G}p1"}, lambda q: q.p == iri("p1")),
        ({"predicates": f"{G}p1 <{G}p2>"}, lambda q: q.p in (iri("p1"), iri("p2"))),
        ({"predicates": "_:predicate"}, lambda q: q.p == BlankNode("predicate")),
        ({"subjects": f'["{G}s3", "_:b0", "\\"generalized\\""]'}, lambda q: q.s in _THREE_SUBJECTS),
        ({"objects": f'["\\"4\\"^^<{XSD}integer>"]'}, lambda q: q.o == Literal("4", f"{XSD}integer")),
        ({"objects": f'["<< <{G}a> <{G}b> \\"c\\" >>"]'}, lambda q: isinstance(q.o, Triple)),
        ({"graphs": "default"}, lambda q: q.g is DEFAULT_GRAPH),
        ({"graphs": f"{G}g2 default", "predicates": f"{G}p4"}, lambda q: q.g in _TWO_GRAPHS and q.p == iri("p4")),
        ({"graphs": "<default>"}, lambda q: False),
        ({"subjects": "http://example.org/nobody"}, lambda q: False),
    ],
)
@pytest.mark.parametrize("batch_rows", [7, 100_000])
def test_filters_keep_the_statements_with_these_terms(path, options, keep, batch_rows):
    read = Read(path, columns="*,frame", layout="ntriples", batch_rows=batch_rows, **options)
    whole = Read(path, columns="frame").rows()
    expected = [(*row, frame) for row, (frame,) in zip(STATEMENTS, whole, strict=True) if keep(row)]
    assert [row[4] for row in read.rows()] == [row[4] for row in expected]
    assert read.counted("s", "p", "o", "g") == texts(row[:4] for row in expected)


def test_filters_on_graphs_of_triples():
    batch = Batch.from_statements([Triple(*statement[:3]) for statement in STATEMENTS])
    assert len(RowFilter({"g": ["default"]}).apply(batch)) == len(STATEMENTS)
    assert len(RowFilter({"g": [f"{G}g0"]}).apply(batch)) == 0


def test_a_filtered_batch_is_like_any_other():
    batch = RowFilter({"p": [f"{G}p1"]}).apply(Batch.from_statements(STATEMENTS))
    assert batch.statements() == [statement for statement in STATEMENTS if statement.p == iri("p1")]
    assert batch_to_arrow(batch, "struct").num_rows == len(batch)


def test_a_schema_of_the_users_own(path):
    read = Read(path, schema(o=STRING, s=STRING))
    assert read.rows() == [(str(o), str(s)) for s, _, o, _ in STATEMENTS]
    read = Read(path, schema(frame=LONG, s={"value": STRING}, g={"kind": STRING, "lang": STRING}))
    assert read.rows("s")[0] == ({"value": f"{G}s0"},)
    assert [g for (g,) in read.rows("g")].count(None) == sum(q.g is DEFAULT_GRAPH for q in STATEMENTS)
    assert Read(path, schema(o=STRING, o_lang=STRING)).rows()[500] == ("chat", "fr")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (schema(s=STRING, t=STRING), {}, "no column 't'"),
        (schema(s=INT), {}, "'s' is int"),
        (schema(s={"value": INT}), {}, "'s' is struct<value:int>"),
        (schema(s=STRING), {"layout": "struct"}, "'s' is string; in the layout struct"),
        (StructType([StructField("g", STRING, False)]), {"layout": "ntriples"}, "'g' is declared NOT NULL"),
        (None, {"layout": "rows"}, "layout = 'rows': it must be one of struct, ntriples, flat"),
        (None, {"columns": "s,q"}, "no column 'q'"),
        (None, {"columns": "s,*"}, "named twice"),
        (None, {"columns": "s,,p"}, "names separated by commas"),
        (None, {"mode": "LENIENT"}, "one of FAILFAST, PERMISSIVE, DROPMALFORMED"),
        (None, {"predicate": "x:y"}, "did you mean predicates?"),
        (None, {"subjects": '"open'}, "not a term"),
        (None, {"subjects": "[1]"}, "JSON array of strings"),
        (None, {"partition_bytes": "a lot"}, "it must be a whole number"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(path, given, options, message):
    with pytest.raises(OptionsError, match=r".*") as caught:
        Read(path, given, **options)
    assert message in str(caught.value)


def test_options_are_accepted_in_both_spellings(path):
    assert len(Read(path, partitionBytes="1k").partitions) == len(Read(path, PARTITION_BYTES="1024").partitions)


def test_advice_names_the_options_of_the_source(path, tmp_path):
    with pytest.raises(
        jellyframe.LimitError, match="; raise the option max_frame_bytes if you trust the input"
    ) as caught:
        Read(path, max_frame_bytes="100").table  # noqa: B018 - reads it
    assert "Limits" not in str(caught.value)
    patch = tmp_path / "changes.jelly"
    with jellyframe.open_patch_writer(patch) as writer:
        writer.write([])
    with pytest.raises(OptionsError, match=r'; read it with format\("jelly-patch"\)$'):
        Read(patch).table  # noqa: B018 - reads it
    other = write_jelly(tmp_path / "other.jelly", STATEMENTS, options=jellyframe.StreamOptions(stream_name="other"))
    joined = tmp_path / "joined.jelly"
    joined.write_bytes(path.read_bytes() + other.read_bytes())
    with pytest.raises(jellyframe.JellyError, match=r"; set the option concatenated to true$"):
        Read(joined).table  # noqa: B018 - reads it
