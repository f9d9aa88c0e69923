"""Many messages at a time, without Spark, give the statements of a reader of each message."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jellyframe
from jellyframe import IRI, EncodeError, LimitError, Literal, PhysicalType, StreamOptions, Triple
from jellyframe.arrow.terms import BatchMaker
from jellyframe.errors import NamedGraphError
from jellyframe.stream import message_batches as message_codec
from jellyframe.stream.framing import split_frames
from jellyframe.stream.message_batches import MessageDecoder, encode_messages
from support import hostile
from support.spark_data import SPECIAL, quads

GOOD = quads(40) + SPECIAL
TRIPLES = [Triple(*quad[:3]) for quad in GOOD]
GRAPHS = StreamOptions(physical_type=PhysicalType.GRAPHS, generalized_statements=True, rdf_star=True)


def delimited(statements):
    out = io.BytesIO()
    with jellyframe.open_writer(out, frame_rows=3) as writer:
        writer.write(statements)
    return out.getvalue()


def repeated_options():
    """A message whose options row comes twice, and which refers back over the second one."""
    whole = jellyframe.dumps(TRIPLES[:2])
    options = whole[: 2 + whole[1]]
    return options + whole


PAYLOADS = {
    "quads": jellyframe.dumps(GOOD),
    "triples": jellyframe.dumps(TRIPLES),
    "graphs": jellyframe.dumps(GOOD[:20], GRAPHS),
    "named": jellyframe.dumps(TRIPLES[:5], StreamOptions(stream_name="n" * 200, rdf_star=True)),
    "nothing": jellyframe.dumps([], GRAPHS),
    "delimited": delimited(GOOD),
    "twice": repeated_options(),
    "null": None,
}
BAD = {
    "empty": b"",
    "cut": PAYLOADS["quads"][:-5],
    "no options": PAYLOADS["triples"][2 + PAYLOADS["triples"][1] :],
    "text": b"<a> <b> <c> .",
    "open graph": PAYLOADS["graphs"][:-4],
}


def expected(payload):
    try:
        return [(*statement, jellyframe.DEFAULT_GRAPH)[:4] for statement in jellyframe.loads(payload)]
    except jellyframe.JellyError:
        return None


def decoded(payloads, layout="struct"):
    """For each message its statements, or None; as `loads` gives them."""
    found: list[list[tuple[Any, ...]] | None] = [None] * len(payloads)
    for part in MessageDecoder(layout).decode(pa.array(payloads, pa.binary())):
        assert sum(part.counts) == len(part.rows)
        statements = list(map(tuple, BatchMaker(part.rows.schema).make(part.rows).statements()))
        for number, count in zip(part.messages, part.counts, strict=True):
            found[number] = None if part.error else statements[:count]
            statements = statements[count:]
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*PAYLOADS, *BAD]), max_size=12), st.sampled_from([1, 1500, 1 << 20]))
def test_any_sequence_of_messages(names, run_bytes):
    everything = {**PAYLOADS, **BAD}
    payloads = [everything[name] for name in names]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_codec, "RUN_BYTES", run_bytes)
        assert decoded(payloads) == [None if payload is None else expected(payload) for payload in payloads]


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_each_layout_survives_a_round_trip(layout):
    (part,) = MessageDecoder(layout).decode(pa.array([PAYLOADS["quads"]] * 3))
    messages = encode_messages(part.rows, [0, 7, 45, 100, len(part.rows)])
    statements = [tuple(statement) for statement in GOOD * 3]
    assert [len(one) for one in decoded(messages)] == [0, 7, 38, 55, 35]
    assert [statement for one in decoded(messages) for statement in one] == statements
    # Each is self-contained, as one made by `dumps`.
    assert all(expected(message) is not None for message in messages)


def test_slices_and_large_arrays():
    payloads = pa.array([None, PAYLOADS["quads"], None, PAYLOADS["triples"], b"x"], pa.large_binary())
    parts = list(MessageDecoder("ntriples").decode(payloads.slice(1, 3)))
    assert [(part.messages, part.counts) for part in parts] == [([0], [45]), ([2], [45])]
    assert list(MessageDecoder("ntriples").decode(pa.array([], pa.binary()))) == []


def test_statements_that_the_options_exclude_are_refused():
    (part,) = MessageDecoder("struct").decode(pa.array([PAYLOADS["quads"]]))
    with pytest.raises(NamedGraphError, match="message 0: quads in a stream of triples"):
        encode_messages(part.rows, [45], StreamOptions(physical_type=PhysicalType.TRIPLES))
    with pytest.raises(EncodeError, match="message 1: "):
        encode_messages(part.rows, [10, 45], StreamOptions(physical_type=PhysicalType.QUADS, rdf_star=False))


def test_a_message_that_stands_for_too_much_text_loses_no_other() -> None:
    """465 kB that are 3 GB of text."""
    good = jellyframe.dumps([Triple(IRI("http://a/s"), IRI("http://a/p"), Literal("x"))])
    (much,) = split_frames(hostile.repeated_literal(rows=8192))
    parts = list(MessageDecoder("ntriples").decode(pa.array([good, much, good])))
    assert [(part.messages, part.counts) for part in parts] == [([0], [1]), ([1], [0]), ([2], [1])]
    assert isinstance(parts[1].error, LimitError)
    assert "the statements of a message of 465586 bytes take more than" in str(parts[1].error)
    assert [len(part.rows) for part in parts] == [1, 0, 1]
