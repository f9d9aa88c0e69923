"""Patches and transactions as parts of a stream that are read as they are drawn."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import ParseError, UsageError
from support.patch_streams import (
    COMMIT,
    ENTRIES,
    FRAME,
    MARK,
    SPOG,
    START,
    add,
    delete,
    delimited,
    frame,
    header,
    literal,
    options,
    stream,
)


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 1000])
def test_groups_do_not_depend_on_batches(twin: ModuleType, batch_rows: int) -> None:
    rows = [header(key="k", h_literal=literal("v")), START, add(**SPOG), delete(), COMMIT, add(), MARK]
    data = delimited(frame(options(), *ENTRIES, *rows), *[frame(*rows)] * 3)
    with twin.open_patch_reader(data, batch_rows=batch_rows) as reader:
        patches = [(len(patch.headers), [len(batch) for batch in patch.batches()]) for patch in reader.patches()]
    assert [(headers, sum(sizes)) for headers, sizes in patches] == [(1, 6)] * 4
    assert max(size for _, sizes in patches for size in sizes) <= batch_rows
    with twin.open_patch_reader(data, batch_rows=batch_rows) as reader:
        parts = [(part.is_explicit, len(list(part)), part.is_committed) for part in reader.transactions()]
    assert parts == [(False, 1, True), *[(True, 2, True), (False, 3, True)] * 3, (True, 2, True), (False, 2, True)]


def test_the_rest_of_a_patch_is_skipped(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), delete(), MARK, delete(), MARK)
    with twin.open_patch_reader(data, batch_rows=1) as reader:
        assert [type(next(iter(patch))).__name__ for patch in reader.patches()] == ["Add", "Delete"]


@pytest.mark.parametrize("view", ["patches", "transactions"])
def test_the_rows_of_a_skipped_part_can_no_longer_be_read(twin: ModuleType, view: str) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), MARK, START, delete(), COMMIT)
    with twin.open_patch_reader(data) as reader:
        parts = list(getattr(reader, view)())
        assert len(parts) == 2
        for part in parts:
            with pytest.raises(UsageError, match="skipped"):
                list(part)


def test_the_rows_of_a_patch_can_be_kept(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, header(key="k", h_bnode="b"), add(**SPOG), MARK, delete(), MARK)
    with twin.open_patch_reader(data) as reader:
        kept = [(patch, list(patch)) for patch in reader.patches()]
    assert [(patch.is_complete, len(rows)) for patch, rows in kept] == [(True, 2), (True, 1)]


def test_a_transaction_that_is_not_ended_has_no_outcome(twin: ModuleType) -> None:
    data = stream(options(), START, START, COMMIT, START)
    with twin.open_patch_reader(data, strict=False) as reader:
        found = [(len(list(part)), part.is_complete, part.is_committed) for part in reader.transactions()]
    assert found == [(0, False, None), (0, True, True), (0, False, None)]


def test_rows_before_an_error_are_given_first(twin: ModuleType) -> None:
    data = delimited(frame(options(stream_type=FRAME), *ENTRIES, add(**SPOG)), frame(delete()), frame(COMMIT))
    read: list[Any] = []
    with twin.open_patch_reader(data) as reader, pytest.raises(ParseError, match="commit outside"):
        read.extend(len(list(patch)) for patch in reader.patches())
    assert read == [1, 1]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_bytes_may_come_in_any_pieces(twin: ModuleType, size: int) -> None:
    data = delimited(frame(options(), *ENTRIES, START, add(**SPOG)), frame(delete(), COMMIT, MARK))
    decoder = twin.PatchStreamDecoder()
    rows = 0
    for at in range(0, len(data), size):
        decoder.push(data[at : at + size])
        rows += sum(len(batch) for batch in decoder.batches())
    decoder.finish()
    rows += sum(len(batch) for batch in decoder.batches())
    assert rows == 5
    assert decoder.is_finished


def test_frames_pass_from_an_encoder_to_a_decoder(twin: ModuleType) -> None:
    with twin.open_patch_reader(stream(options(), *ENTRIES, add(**SPOG), MARK, delete(), MARK)) as reader:
        (batch,) = reader.batches()
    encoder = twin.PatchStreamEncoder(twin.PatchOptions.small())
    assert encoder.encode(batch) == len(batch)
    encoder.finish()
    frames = encoder.take_frames()
    assert len(frames) == 2
    decoder = twin.PatchStreamDecoder()
    for data in frames:
        decoder.push_frame(data)
    decoder.finish()
    assert sum(len(batch) for batch in decoder.batches()) == 4


def test_the_algebra_of_batches_keeps_operations(twin: ModuleType) -> None:
    with twin.open_patch_reader(stream(options(), *ENTRIES, add(**SPOG), delete(), START, COMMIT, MARK)) as reader:
        (batch,) = reader.batches()
    assert list(batch.op) == [2, 3, 6, 7, 15]
    assert list(batch.slice(1, 3).op) == [3, 6]
    assert list(batch.take([4, 0]).op) == [15, 2]
    assert list(batch.filter([True, False, True, False, True]).op) == [2, 6, 15]
    assert list(twin.Batch.concat([batch, batch]).op) == [2, 3, 6, 7, 15] * 2
    assert list(batch.without_graph(merge=True).op) == list(batch.op)
    with pytest.raises(ValueError, match="batches of patches"):
        twin.Batch.concat([batch, batch.replace(op=None)])


def test_headers_of_a_patch_are_those_that_it_begins_with(twin: ModuleType) -> None:
    data = stream(options(), header(key="a", h_bnode="x"), header(key="b", h_bnode="y"), START, COMMIT, MARK, MARK)
    with twin.open_patch_reader(data) as reader:
        found = [(patch.headers, len(list(patch))) for patch in reader.patches()]
    assert found == [({"a": twin.BlankNode("x"), "b": twin.BlankNode("y")}, 4), ({}, 0)]
