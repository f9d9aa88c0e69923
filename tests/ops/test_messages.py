"""Messages in Arrow columns, without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from jellyframe import IRI, Batch, JellyError, Triple, dumps
from jellyframe.arrow.tables import arrow_schema, batch_to_arrow
from jellyframe.ops.bad_input import DROPMALFORMED, PERMISSIVE
from jellyframe.ops.messages import decode_lists, decode_rows, encode_lists, encode_rows

SCHEMA = arrow_schema("ntriples", True)
LISTS = pa.list_(pa.struct(list(SCHEMA)))


def triples(subject, count):
    return [Triple(IRI(f"http://a/{subject}"), IRI("http://a/p"), IRI(f"http://a/{i}")) for i in range(count)]


MESSAGES = pa.array([dumps(triples("a", 3)), None, b"no Jelly", dumps(triples("b", 2))], pa.binary())


def test_messages_decode_to_lists_and_encode_back():
    lists = decode_lists(MESSAGES, LISTS, layout="ntriples", mode=PERMISSIVE)
    assert [None if one is None else len(one) for one in lists.to_pylist()] == [3, None, None, 2]
    again = decode_lists(encode_lists(lists), LISTS, layout="ntriples")
    assert again.equals(lists)
    with pytest.raises(JellyError, match="message 2 of an Arrow batch"):
        decode_lists(MESSAGES, LISTS, layout="ntriples")


def test_rows_keep_columns_of_their_message():
    batch = pa.record_batch({"key": pa.array(["x", "y", "z", "w"]), "value": MESSAGES})
    schema = pa.schema([("key", pa.string()), *SCHEMA])
    (rows,) = (
        pa.Table.from_batches(
            decode_rows([batch], "value", schema, keep=["key"], layout="ntriples", mode=DROPMALFORMED)
        )
        .combine_chunks()
        .to_batches()
    )
    assert rows["key"].to_pylist() == ["x"] * 3 + ["w"] * 2
    reported = schema.append(pa.field("bad", pa.string()))
    table = pa.Table.from_batches(
        decode_rows([batch], "value", reported, keep=["key"], layout="ntriples", mode=PERMISSIVE)
    )
    assert [(row["key"], row["s"]) for row in table.to_pylist() if row["bad"] is not None] == [("z", None)]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_messages_of_rows_do_not_depend_on_batches(size):
    statements = [*triples("a", 5), *triples("b", 1), *triples("c", 4)]
    table = pa.Table.from_batches([batch_to_arrow(Batch.from_statements(statements), "ntriples")])
    schema = pa.schema([("s", pa.string()), ("value", pa.binary())])
    made = pa.Table.from_batches(
        encode_rows(table.to_batches(size), ["s", "p", "o"], schema, keys=["s"], rows_per_message=3)
    )
    lists = decode_lists(made["value"].combine_chunks(), LISTS, layout="ntriples")
    assert [(key[10:-1], len(one)) for key, one in zip(made["s"].to_pylist(), lists.to_pylist(), strict=True)] == [
        ("a", 3),
        ("a", 2),
        ("b", 1),
        ("c", 3),
        ("c", 1),
    ]
