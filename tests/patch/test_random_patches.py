"""Random patch streams are read back by every reader; damage gives an error or the right rows."""

from __future__ import annotations

import io
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import jellyframe
from jellyframe.errors import JellyError
from support import oracle, patch_oracle
from support.kernel_twins import NoTwinError, load_twin
from support.patch_strategies import FLAT, FRAME, PUNCTUATED, Case, patch_streams, write


def read(package: ModuleType, data: bytes, **reading: Any) -> list[patch_oracle.PlainRow]:
    with package.open_patch_reader(data, **reading) as reader:
        return [patch_oracle.plain_row(row) for row in reader.rows()]


@given(case=patch_streams(), pieces=st.sampled_from([1, 2, 5]), batch_rows=st.sampled_from([1, 3, 16_384]))
def test_written_patches_are_read_back_by_us_and_by_the_oracle(case: Case, pieces: int, batch_rows: int) -> None:
    data = write(jellyframe, case, pieces)
    assert patch_oracle.decode(data, case[1]["delimited"]) == case[2]
    assert read(jellyframe, data, batch_rows=batch_rows) == case[2]


@given(case=patch_streams(), pieces=st.sampled_from([1, 3]))
def test_both_kernels_write_the_same_bytes_and_read_the_same_rows(case: Case, pieces: int) -> None:
    compiled, pure = both_twins()
    data = write(compiled, case, pieces)
    assert write(pure, case, pieces) == data
    assert read(pure, data) == read(compiled, data) == case[2]


@given(case=patch_streams())
def test_rows_go_through_batches_unchanged(case: Case) -> None:
    options, _writing, rows = case
    sink = io.BytesIO()
    with (
        jellyframe.open_patch_reader(write(jellyframe, case), batch_rows=3) as reader,
        jellyframe.open_patch_writer(sink, jellyframe.PatchOptions(**options)) as writer,
    ):
        for batch in reader.batches():
            writer.write_batch(batch)
    assert read(jellyframe, sink.getvalue()) == rows


def both_twins() -> tuple[ModuleType, ModuleType]:
    try:
        return load_twin("compiled"), load_twin("pure")
    except NoTwinError as reason:
        pytest.skip(str(reason))


# ---- damage ----


def outcome(package: ModuleType, data: bytes) -> tuple[list[patch_oracle.PlainRow], tuple[Any, ...] | None]:
    """The rows before an error, and the error."""
    rows: list[patch_oracle.PlainRow] = []
    try:
        with package.open_patch_reader(data) as reader:
            rows.extend(patch_oracle.plain_row(row) for row in reader.rows())
    except JellyError as error:
        return rows, (type(error).__name__, error.message, error.frame, error.row, error.offset)
    return rows, None


def is_canonical(data: bytes) -> bool:
    """Whether protobuf would write the very same bytes: nothing twice, unknown or in odd order."""
    frames = patch_oracle.parse_frames(data)
    for frame in frames:
        frame.DiscardUnknownFields()
    return [frame.SerializeToString() for frame in frames] == oracle.split_frames(data)


def sample(stream_type: int) -> bytes:
    """A stream with rows of every kind, in several frames."""
    iri, literal = jellyframe.IRI, jellyframe.Literal
    ex = "http://example.org/"
    graph = iri(ex + "g")
    quoted = jellyframe.Triple(iri(ex + "a"), iri("urn:p"), literal("é", language="fr"))
    rows: list[jellyframe.PatchRow] = [
        jellyframe.Header("id", literal("1")),
        jellyframe.Header("prev", quoted),
        jellyframe.TransactionStart(),
        jellyframe.NamespaceAdd("ex", iri(ex), graph),
        jellyframe.Add(iri(ex + "a"), iri("urn:p"), literal("1", "urn:d"), graph),
        jellyframe.Delete(iri(ex + "a"), iri("urn:q"), quoted, jellyframe.DEFAULT_GRAPH),
        jellyframe.NamespaceDelete("ex", None, graph),
        jellyframe.TransactionCommit(),
        jellyframe.Add(jellyframe.BlankNode("b"), iri("urn:p"), iri(ex), graph),
    ]
    sink = io.BytesIO()
    options = jellyframe.PatchOptions.small(stream_type=jellyframe.PatchStreamType(stream_type))
    with jellyframe.open_patch_writer(sink, options, frame_rows=4) as writer:
        writer.write(rows)
        if stream_type != FLAT:
            writer.end_patch()
            writer.write(rows[2:8])
    return sink.getvalue()


every_type = pytest.mark.parametrize("stream_type", [FRAME, FLAT, PUNCTUATED], ids=["FRAME", "FLAT", "PUNCTUATED"])


@every_type
def test_every_truncation_gives_an_error_or_whole_frames(stream_type: int) -> None:
    data = sample(stream_type)
    whole, error = outcome(jellyframe, data)
    assert error is None
    for size in range(len(data)):
        rows, _error = outcome(jellyframe, data[:size])
        assert rows == whole[: len(rows)], size


@every_type
def test_every_bit_flip_gives_an_error_or_the_rows_of_the_oracle(stream_type: int) -> None:
    data = sample(stream_type)
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        rows, error = outcome(jellyframe, bytes(damaged))
        try:
            expected = patch_oracle.decode(bytes(damaged))
        except oracle.UnsettledError:
            continue
        except oracle.RefusedError:
            assert error is not None, bit
            continue
        if error is None:
            assert rows == expected, bit
        else:
            assert not is_canonical(bytes(damaged)), (bit, error)


@every_type
def test_both_kernels_read_damaged_streams_alike(stream_type: int) -> None:
    compiled, pure = both_twins()
    data = sample(stream_type)
    rng = Random(stream_type)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice([0, 0x0A, 0x12, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        cut = bytes(damaged[: rng.choice([len(data), rng.randrange(len(data))])])
        assert outcome(pure, cut) == outcome(compiled, cut), cut


# ---- a writer in every state ----

KINDS = st.one_of(st.integers(0, 1), st.integers(0, 7), st.integers(0, 9))
PLACES = st.one_of(st.integers(0, 6), st.integers(0, 6), st.integers(0, 14))
ROWS = st.lists(st.tuples(KINDS, PLACES, st.one_of(st.integers(0, 6), PLACES), PLACES, st.integers(0, 9)), max_size=6)


class PatchWriterMachine(RuleBasedStateMachine):
    """A writer, and the patches that it has accepted; the last one is open."""

    package: ModuleType

    def __init__(self) -> None:
        super().__init__()
        self.patches: list[list[patch_oracle.PlainRow]] = [[]]
        self.in_transaction = False

    @initialize(
        types=st.tuples(st.sampled_from([1, 2]), st.sampled_from([FRAME, FLAT, PUNCTUATED])),
        flags=st.tuples(st.booleans(), st.booleans()),
        tables=st.tuples(st.sampled_from([8, 4000]), st.sampled_from([0, 1, 3, 150]), st.sampled_from([0, 1, 32])),
        frame_rows=st.sampled_from([None, 1, 3, 256]),
        frame_bytes=st.sampled_from([None, 40, 1000]),
        restart_every=st.sampled_from([None, 1, 80]),
    )
    def open(self, types: Any, flags: Any, tables: Any, **settings_of_writer: Any) -> None:
        self.sink = io.BytesIO()
        self.options = self.package.PatchOptions(*types, *flags, *tables)
        self.stream_type = types[1]
        self.writer = self.package.open_patch_writer(self.sink, self.options, **settings_of_writer)

    def row(self, kind: int, s: int, p: int, o: int, g: int) -> Any:
        """A row, of those that every stream takes, that some take, and that none takes."""
        package = self.package
        iri = [package.IRI(f"http://example.org/{letter}") for letter in "abc"]
        iri += [package.IRI(f"http://{n}.org/x#{n}") for n in range(4)]
        quoted = package.Triple(iri[0], iri[4], package.Literal("1", "urn:d"))
        terms = [
            *iri,
            package.BlankNode("b"),
            package.Literal("x"),
            package.Literal("2", "urn:e"),
            package.Literal("y" * 60, language="en"),
            quoted,
            package.Triple(quoted, iri[5], quoted),
            package.DEFAULT_GRAPH,
            "text",
        ]
        graph = [*iri[:4], package.DEFAULT_GRAPH, None, None, package.BlankNode("g"), package.Literal("g"), quoted][g]
        if not self.options.has_graph and g != 9:
            graph = None
        name = ["", "ex", "é", "\ud800", 5][p % 5]
        return [
            package.Add(terms[s], terms[p], terms[o], graph),
            package.Delete(terms[s], terms[p], terms[o], graph),
            package.NamespaceAdd(name, terms[o], graph),
            package.NamespaceDelete(name, None if s < 4 else terms[o], graph),
            package.Header(name, terms[o]),
            package.TransactionStart(),
            package.TransactionCommit(),
            package.TransactionAbort(),
            package.Punctuation(),
            "no row",
        ][kind]

    @rule(drawn=ROWS)
    def write(self, drawn: list[Any]) -> None:
        rows = [self.row(*choice) for choice in drawn]
        before = self.writer.rows_written
        error: JellyError | None = None
        try:
            self.writer.write(iter(rows))
        except JellyError as raised:
            error = raised
        count = self.writer.rows_written - before
        assert count == len(rows) if error is None else count < len(rows)
        for row in rows[:count]:
            self.accept(row)

    def accept(self, row: Any) -> None:
        name = type(row).__name__
        if name == "NamespaceDelete" and row.iri is self.package.DEFAULT_GRAPH:
            row = self.package.NamespaceDelete(row.name, None, row.g)
        plain = patch_oracle.plain_row(row)
        if self.options.has_graph and plain[0] in ("A", "D", "PA", "PD") and plain[-1] is None:
            plain = (*plain[:-1], ("default",))
        if plain == ("P",):
            self.patches.append([])
        else:
            self.patches[-1].append(plain)
        self.in_transaction = plain == ("TX",) or (self.in_transaction and plain not in (("TC",), ("TA",)))

    @rule()
    def end_patch(self) -> None:
        try:
            self.writer.end_patch()
        except JellyError:
            assert self.in_transaction or self.stream_type == FLAT
        else:
            self.patches.append([])

    @rule()
    def flush(self) -> None:
        self.writer.flush()

    def teardown(self) -> None:
        if not hasattr(self, "writer"):
            return
        if self.in_transaction:
            self.writer.write([self.package.TransactionAbort()])
            self.patches[-1].append(("TA",))
        self.writer.close()
        # Closing ends a patch that has rows. A FRAME or FLAT stream is never without a patch.
        if not self.patches[-1] and (len(self.patches) > 1 or self.stream_type == PUNCTUATED):
            self.patches.pop()
        data = self.sink.getvalue()
        with self.package.open_patch_reader(data) as reader:
            assert [[patch_oracle.plain_row(row) for row in patch] for patch in reader.patches()] == self.patches
        marks = [("P",)] if self.stream_type == PUNCTUATED else []
        assert patch_oracle.decode(data) == [row for patch in self.patches for row in (*patch, *marks)]


def test_accepted_rows_are_read_back_exactly(twin: ModuleType) -> None:
    class Machine(PatchWriterMachine):
        package = twin

    run_state_machine_as_test(Machine, settings=settings(settings.default, stateful_step_count=15))
