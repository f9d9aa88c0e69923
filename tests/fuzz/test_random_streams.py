"""Valid streams of every shape that the format allows are read correctly by both kernels."""

from __future__ import annotations

from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from support import oracle, wire
from support.kernel_twins import NoTwinError, load_twin, load_twin_module
from support.mutations import batch_contents, mutate, outcome
from support.plain import build, plain
from support.random_streams import RandomEncoder, untidy
from support.strategies import FrameCase, StreamCase, streams
from support.writing import written, written_flat

SEEDS = st.integers(0, 2**32 - 1)
CASES = st.one_of(streams(), streams(extras=True))


@pytest.fixture(scope="module")
def twins() -> tuple[ModuleType, ModuleType]:
    try:
        return load_twin("compiled"), load_twin("pure")
    except NoTwinError as reason:
        pytest.skip(str(reason))


def expected_frames(case: StreamCase) -> tuple[object, ...]:
    return tuple((plain(frame.statements), frame.namespaces, frame.metadata) for frame in case.frames)


@given(case=CASES, seed=SEEDS, tidy=st.booleans())
def test_random_streams_are_read(case: StreamCase, seed: int, tidy: bool) -> None:
    """Entries in any slot, IRIs split anywhere; untidy: fields in any order, unknown ones, long varints."""
    rng = Random(seed)
    messages = RandomEncoder(case.options, rng).encode(case)
    frames = [message.SerializeToString() if tidy else untidy(message, rng) for message in messages]
    data = wire.delimited(*frames)
    by_oracle = oracle.decode(data, delimited=True)
    assert tuple((frame.statements, frame.namespaces, frame.metadata) for frame in by_oracle) == expected_frames(case)
    result = outcome(jellyframe, data, delimited=True)
    assert result.error is None, result
    assert result.frames == expected_frames(case)


@given(case=CASES, seed=SEEDS)
def test_both_kernels_read_the_same(twins: tuple[ModuleType, ModuleType], case: StreamCase, seed: int) -> None:
    compiled, pure = twins
    rng = Random(seed)
    data = wire.delimited(*(untidy(message, rng) for message in RandomEncoder(case.options, rng).encode(case)))
    for bytes_read in (data, mutate(data, rng), mutate(data, rng)):
        assert outcome(compiled, bytes_read, delimited=True) == outcome(pure, bytes_read, delimited=True)
        batches = [list(batch_contents(twin, bytes_read, delimited=True, batch_rows=4)) for twin in twins]
        assert batches[0] == batches[1]


@given(
    case=st.one_of(streams(fitting=False), streams(extras=True)),
    restart_every=st.none() | st.integers(1, 200),
)
def test_both_kernels_write_the_same(
    twins: tuple[ModuleType, ModuleType], case: StreamCase, restart_every: int | None
) -> None:
    results: list[tuple[object, ...]] = []
    for name, package in zip(("compiled", "pure"), twins, strict=True):
        terms = load_twin_module(name, "terms")
        frames = [
            FrameCase(build(terms, plain(frame.statements)), frame.namespaces, frame.metadata) for frame in case.frames
        ]
        rebuilt = StreamCase(case.options, frames)
        try:
            by_frame = written(rebuilt, package, restart_every=restart_every)
            flat = written_flat(rebuilt, package, restart_every=restart_every, frame_rows=7)
            results.append((by_frame, flat, package.dumps(rebuilt.statements, case.options)))
        except jellyframe.JellyError as error:
            results.append((type(error).__name__, str(error)))
    assert results[0] == results[1]
