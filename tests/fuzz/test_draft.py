"""The draft dialect: valid streams of every shape, damaged ones, and streams of the other dialect."""

from __future__ import annotations

import io
from random import Random
from types import ModuleType

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe.dialects.recognition import recognised_dialect
from jellyframe.options import DialectName
from jellyframe.proto import draft_pb2
from jellyframe.stream.index import restart_points
from support import draft_streams, oracle, wire
from support.draft_streams import RandomDraftEncoder
from support.kernel_twins import NoTwinError, load_twin, load_twin_module
from support.mutations import Outcome, batch_contents, mutate, outcome
from support.plain import build, plain
from support.random_streams import RandomEncoder, untidy
from support.strategies import FrameCase, StreamCase, streams
from support.writing import written, written_flat

SEEDS = st.integers(0, 2**32 - 1)
CASES = st.builds(
    lambda case, use_repeat: StreamCase(case.options.replace(use_repeat=use_repeat), case.frames),
    streams(),
    st.booleans(),
)
WITH_EXTRAS = st.one_of(streams(), streams(extras=True))


@pytest.fixture(scope="module")
def twins() -> tuple[ModuleType, ModuleType]:
    try:
        return load_twin("compiled"), load_twin("pure")
    except NoTwinError as reason:
        pytest.skip(str(reason))


def read(data: bytes, package: ModuleType = jellyframe, **arguments: object) -> Outcome:
    return outcome(package, data, dialect="draft", delimited=True, **arguments)


def statements(case: StreamCase) -> list[object]:
    return [plain(frame.statements) for frame in case.frames]


def random_draft(case: StreamCase, rng: Random, *, tidy: bool = True) -> bytes:
    messages = RandomDraftEncoder(case.options, rng).encode(case)
    return wire.delimited(*(one.SerializeToString() if tidy else untidy(one, rng) for one in messages))


@given(case=CASES, seed=SEEDS, tidy=st.booleans())
def test_random_streams_are_read(case: StreamCase, seed: int, tidy: bool) -> None:
    """Entries in any slot, IRIs split anywhere; untidy: fields in any order, unknown ones, long varints."""
    data = random_draft(case, Random(seed), tidy=tidy)
    assert draft_streams.decode(data) == statements(case)
    result = read(data)
    assert result.error is None, result
    assert [frame[0] for frame in result.frames] == statements(case)


@given(case=CASES, restart_every=st.none() | st.integers(1, 200))
def test_written_streams_are_read_back(case: StreamCase, restart_every: int | None) -> None:
    """Frame by frame, by our reader and by the oracle; and once more when frames are cut as the writer likes."""
    data = written(case, dialect="draft", restart_every=restart_every)
    assert draft_streams.decode(data) == statements(case)
    assert [frame[0] for frame in read(data).frames] == statements(case)
    flat = read(written_flat(case, dialect="draft", restart_every=restart_every, frame_rows=7))
    assert flat.error is None
    assert [one for frame in flat.frames for one in frame[0]] == list(plain(case.statements))


@given(case=CASES)
def test_transcoding_to_the_released_format_and_back_keeps_everything(case: StreamCase) -> None:
    first = io.BytesIO()
    second = io.BytesIO()
    with (
        jellyframe.open_reader(written(case, dialect="draft"), dialect="draft") as reader,
        jellyframe.open_writer(first, reader.options) as writer,
    ):
        for batch in reader.batches():
            writer.write_batch_in_frames(batch)
    with (
        jellyframe.open_reader(first.getvalue()) as reader,
        jellyframe.open_writer(second, reader.options, dialect="draft") as writer,
    ):
        for batch in reader.batches():
            writer.write_batch_in_frames(batch)
    for data, dialect in ((first.getvalue(), "released"), (second.getvalue(), "draft")):
        result = outcome(jellyframe, data, dialect=dialect)
        assert result.error is None, result
        assert [one for frame in result.frames for one in frame[0]] == list(plain(case.statements))


@given(case=WITH_EXTRAS, seed=SEEDS)
def test_a_stream_in_the_other_dialect_is_always_refused(case: StreamCase, seed: int) -> None:
    """Reading any stream in the other dialect gives an error that names the dialect, and no rows."""
    rng = Random(seed)
    released = [
        written(case),
        wire.delimited(*(one.SerializeToString() for one in RandomEncoder(case.options, rng).encode(case))),
    ]
    draft = [random_draft(case, rng), written(StreamCase(case.options, _without_extras(case)), dialect="draft")]
    wrong: list[tuple[list[bytes], DialectName]] = [(released, "draft"), (draft, "released")]
    for streams_, dialect in wrong:
        for data in streams_:
            result = outcome(jellyframe, data, dialect=dialect)
            assert not any(frame[0] for frame in result.frames)
            if not case.statements:
                continue
            assert result.error in ("ParseError", "OptionsError"), (data, result)
            other = "draft" if dialect == "released" else "released"
            assert result.message is not None
            assert result.message.endswith(f"set dialect='{other}'"), (data, result)
            found = [recognised_dialect(frame) for frame in oracle.split_frames(data, delimited=True)]
            assert set(found) - {None} == {other}, (data, found)


def _without_extras(case: StreamCase) -> list[FrameCase]:
    return [FrameCase(frame.statements) for frame in case.frames]


@given(case=CASES, seed=SEEDS)
def test_both_kernels_read_the_same(twins: tuple[ModuleType, ModuleType], case: StreamCase, seed: int) -> None:
    compiled, pure = twins
    rng = Random(seed)
    data = random_draft(case, rng, tidy=False)
    for bytes_read in (data, mutate(data, rng), mutate(data, rng)):
        assert read(bytes_read, compiled) == read(bytes_read, pure)
        batches = [list(batch_contents(twin, bytes_read, dialect="draft", batch_rows=4)) for twin in twins]
        assert batches[0] == batches[1]


@given(case=streams(fitting=False), use_repeat=st.booleans(), restart_every=st.none() | st.integers(1, 200))
def test_both_kernels_write_the_same(
    twins: tuple[ModuleType, ModuleType], case: StreamCase, use_repeat: bool, restart_every: int | None
) -> None:
    results: list[tuple[object, ...]] = []
    for name, package in zip(("compiled", "pure"), twins, strict=True):
        terms = load_twin_module(name, "terms")
        frames = [FrameCase(build(terms, plain(frame.statements))) for frame in case.frames]
        rebuilt = StreamCase(case.options.replace(use_repeat=use_repeat), frames)
        try:
            by_frame = written(rebuilt, package, dialect="draft", restart_every=restart_every)
            results.append((by_frame, package.dumps(rebuilt.statements, rebuilt.options, dialect="draft")))
        except jellyframe.JellyError as error:
            results.append((type(error).__name__, str(error)))
    assert results[0] == results[1]


def _unchanged_by_protobuf(data: bytes) -> bool:
    for frame in oracle.split_frames(data, delimited=True):
        message = draft_pb2.RdfStreamFrame.FromString(frame)
        message.DiscardUnknownFields()
        if message.SerializeToString() != frame:
            return False
    return True


@given(case=CASES, seed=SEEDS)
def test_damaged_streams_give_an_error_or_the_rows_of_the_oracle(case: StreamCase, seed: int) -> None:
    rng = Random(seed)
    data = random_draft(case, rng)
    for _ in range(8):
        damaged = mutate(data, rng)
        ours = read(damaged)
        try:
            theirs = draft_streams.decode(damaged)
        except oracle.UnsettledError:
            continue
        except (oracle.RefusedError, DecodeError):
            assert ours.error is not None, damaged
            continue
        if ours.error is None:
            assert [frame[0] for frame in ours.frames] == theirs, damaged
        elif ours.error != "LimitError":
            # Only where the bytes are odd as protobuf may we be stricter.
            assert not _unchanged_by_protobuf(damaged) or "not a" in str(ours.message), (damaged, ours)


@given(case=CASES)
def test_a_truncated_stream_gives_whole_frames_then_an_error(case: StreamCase) -> None:
    data = written(case, dialect="draft")
    whole = read(data).frames
    ends = {0}
    for frame in oracle.split_frames(data, delimited=True):
        ends.add(max(ends) + len(wire.varint(len(frame))) + len(frame))
    for cut in range(1, len(data), max(1, len(data) // 60)):
        result = read(data[:cut])
        assert result.frames == whole[: len(result.frames)]
        # A graph may be open where a frame ends.
        assert (result.error is None) <= (cut in ends)


@given(case=streams(flat=True), restart_every=st.integers(1, 200))
def test_restart_points_can_be_read_from(case: StreamCase, restart_every: int) -> None:
    data = written_flat(case, dialect="draft", restart_every=restart_every, frame_rows=3)
    points = [point.offset for point in restart_points(io.BytesIO(data))]
    found: list[object] = []
    for start, stop in zip(points, [*points[1:], len(data)], strict=True):
        result = outcome(jellyframe, data, dialect="draft", byte_range=(start, stop), self_contained=True)
        assert result.error is None, result
        found += [one for frame in result.frames for one in frame[0]]
    assert found == list(plain(case.statements))
