"""Damaged streams: a reader gives rows or a JellyError, and both kernels give the same."""

from __future__ import annotations

import os
from random import Random

import pytest

import jellyframe
from support import oracle
from support.kernel_twins import NoTwinError, load_twin
from support.mutations import Outcome, batch_contents, corpus, mutate, outcome
from support.sources import Pipe

CORPUS = corpus()
# Damaged copies of each stream of the corpus; raise it to look further.
ROUNDS = int(os.environ.get("JELLYFRAME_FUZZ_ROUNDS", "40"))

streams = pytest.mark.parametrize("number", range(len(CORPUS)))


def damaged(number: int, rounds: int = ROUNDS) -> list[bytes]:
    rng = Random(number)
    return [CORPUS[number], *(mutate(CORPUS[number], rng) for _ in range(rounds))]


@streams
def test_damaged_streams_give_rows_or_a_jelly_error(number: int) -> None:
    for data in damaged(number, ROUNDS * 2):
        result = outcome(jellyframe, data)
        if result.error is not None:
            frame, _, offset = result.place
            assert result.message
            assert frame is not None or not data, data
            assert offset is not None, data
            assert 0 <= offset <= len(data), data


def unchanged_by_protobuf(data: bytes) -> bool:
    """Whether protobuf would write the very same bytes: nothing twice, unknown or in odd order."""
    parsed = oracle.parse_frames(data)
    for message in parsed:
        # A known field of another wire type counts as unknown, and would be written as it was.
        message.DiscardUnknownFields()
    return [message.SerializeToString() for message in parsed] == oracle.split_frames(data)


@streams
def test_the_oracle_agrees(number: int) -> None:
    """The reader and the oracle accept the same input, with the same result, and refuse the same input.

    Only where the bytes are odd as protobuf (which the oracle leaves to a lenient parser) may we be stricter.
    """
    for data in damaged(number):
        ours = outcome(jellyframe, data)
        try:
            theirs = oracle.decode(data)
        except oracle.UnsettledError:
            continue
        except oracle.RefusedError:
            assert ours.error is not None, data
            continue
        expected = tuple((frame.statements, frame.namespaces, frame.metadata) for frame in theirs)
        if ours.error is None:
            assert ours.frames == expected, data
        else:
            assert not unchanged_by_protobuf(data), (data, ours)


@streams
def test_both_kernels_read_damaged_streams_alike(number: int) -> None:
    """Equal frames, batches and errors, with message and place."""
    try:
        compiled, pure = load_twin("compiled"), load_twin("pure")
    except NoTwinError as reason:
        pytest.skip(str(reason))
    for data in damaged(number):
        assert outcome(compiled, data) == outcome(pure, data), data
        batches = [list(batch_contents(twin, data, batch_rows=3)) for twin in (compiled, pure)]
        assert batches[0] == batches[1], data


@streams
def test_pieces_make_no_difference(number: int) -> None:
    """The same from a source that cannot seek and comes in small pieces, and with small batches."""
    for data in damaged(number, ROUNDS // 4):
        whole = outcome(jellyframe, data)
        assert same_but_for_source(outcome(jellyframe, Pipe(data)), whole), data
        assert outcome(jellyframe, data, batch_rows=1) == whole, data


def same_but_for_source(left: Outcome, right: Outcome) -> bool:
    return (left.frames, left.error, left.place) == (right.frames, right.error, right.place)
