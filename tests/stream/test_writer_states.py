"""Writers in every state: accepted statements read back exactly, whatever was refused in between."""

from __future__ import annotations

import io
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from jellyframe.errors import JellyError, NamedGraphError
from jellyframe.options import DialectName, LogicalType, PhysicalType, StreamOptions
from support.strategies import TYPE_PAIRS

EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


class ForeignError(Exception):
    """An error of the caller's iterable."""


class Terms:
    """Terms of one twin: good ones first, then those that some options refuse, then those that are always refused."""

    def __init__(self, package: ModuleType) -> None:
        iri, literal, triple = package.IRI, package.Literal, package.Triple
        self.iris = [iri(EX + name) for name in "abc"] + [iri(f"http://{n}.org/x#{n}") for n in range(6)] + [iri("x")]
        self.blanks = [package.BlankNode(label) for label in ("b", "c")]
        self.literals = [
            literal("x"),
            literal("x" * 300),
            literal("1", XSD + "integer"),
            literal("2", "http://x.org/type"),
            literal("x", language="en"),
        ]
        quoted = triple(self.iris[0], self.iris[4], self.literals[2])
        nested = triple(quoted, self.iris[5], triple(self.blanks[0], self.iris[0], self.literals[0]))
        refused_inside = triple(self.iris[1], self.iris[2], triple(self.iris[7], self.literals[0], self.iris[3]))
        many_names: Any = self.iris[0]
        for number in range(10):
            many_names = triple(many_names, self.iris[number % 3], iri(f"{EX}n{number}"))
        deep: Any = self.iris[1]
        for _ in range(97):
            deep = triple(deep, self.iris[2], self.iris[3])
        self.stars = [quoted, nested, refused_inside, many_names, deep]
        self.never = [
            package.IRI(EX + "\ud800"),
            "text",
            None,
            (self.iris[0],),
            triple(self.iris[6], self.iris[0], "text"),
            package.DEFAULT_GRAPH,
        ]
        self.all = [*self.iris, *self.blanks, *self.literals, *self.stars, *self.never]


PLAIN = st.integers(0, 9)
# Mostly what can be written, at each position.
SUBJECTS = st.one_of(PLAIN, PLAIN, st.integers(0, 11), st.integers(0, 27))
OBJECTS = st.one_of(PLAIN, st.integers(0, 16), st.integers(0, 21), st.integers(0, 27))
GRAPHS = st.one_of(st.sampled_from([0, 1, 3, 4, 27]), PLAIN, st.sampled_from([12, 14, 17]), st.integers(0, 27))
STATEMENTS = st.lists(
    st.tuples(SUBJECTS, st.one_of(PLAIN, PLAIN, SUBJECTS), OBJECTS, GRAPHS, st.integers(0, 30)), max_size=6
)
NAMES = st.sampled_from(["", "ex", "é", "a\ud800", 1])
NAMESPACE_IRIS = st.sampled_from([EX, "http://0.org/x#", "", "urn:x", "http://x.org/" * 20, "x\udfff", None])
METADATA = st.sampled_from([None, {}, {"key": b"value"}, {"": b""}, {"k\ud800": b""}, {"k": "text"}, {1: b""}])


class WriterMachine(RuleBasedStateMachine):
    """A writer, and what it has accepted: `frames` that have ended, and the `open_frame`."""

    package: ModuleType
    terms: Terms
    dialect: DialectName = "released"

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[dict[str, Any]] = []
        self.open_frame = self.new_frame()
        self.folder = tempfile.TemporaryDirectory()

    @staticmethod
    def new_frame() -> dict[str, Any]:
        return {"statements": [], "namespaces": [], "metadata": {}}

    @initialize(
        types=st.sampled_from([*TYPE_PAIRS, None]),
        generalized=st.booleans(),
        star=st.booleans(),
        names=st.sampled_from([8, 9, 64, 4000]),
        prefixes=st.sampled_from([0, 1, 2, 3, 150]),
        datatypes=st.sampled_from([0, 1, 32]),
        version=st.sampled_from([0, 1, 2]),
        frame_rows=st.sampled_from([None, 1, 2, 7, 256]),
        frame_bytes=st.sampled_from([None, 40, 1000]),
        restart_every=st.sampled_from([None, 1, 60, 700, "auto"]),
        delimited=st.sampled_from([True, True, True, False]),
        index=st.booleans(),
        to_path=st.booleans(),
        use_repeat=st.booleans(),
    )
    def open(self, types: Any, generalized: bool, star: bool, index: bool, to_path: bool, **chosen: Any) -> None:
        physical, logical = types or (PhysicalType.UNSPECIFIED, LogicalType.UNSPECIFIED)
        self.options = StreamOptions(
            physical,
            logical,
            generalized_statements=generalized,
            rdf_star=star,
            max_name_table_size=chosen.pop("names"),
            max_prefix_table_size=chosen.pop("prefixes"),
            max_datatype_table_size=chosen.pop("datatypes"),
            version=chosen.pop("version"),
            use_repeat=chosen.pop("use_repeat"),
        )
        self.is_grouped = logical.is_grouped
        self.is_bare = not chosen["delimited"]
        index = index and chosen["delimited"] and not self.is_grouped and self.dialect == "released"
        self.sink: Any = Path(self.folder.name, "file.jelly") if to_path else io.BytesIO()
        self.writer = self.package.open_writer(self.sink, self.options, index=index, dialect=self.dialect, **chosen)
        self.has_index = index

    # ---- what is written ----

    def make(self, drawn: list[tuple[int, ...]]) -> list[tuple[Any, ...]]:
        """The statements that were drawn, of the stream's kind but for a few."""
        options = self.writer.options or self.options
        made: list[tuple[Any, ...]] = []
        for *places, kind in drawn:
            terms = [self.terms.all[place] for place in places]
            has_graph = options.has_graph if options.physical_type else bool(made and len(made[0]) == 4) or kind < 15
            if kind == 30:
                made.append(tuple(terms[:2]))
            elif has_graph != (kind == 29):
                made.append(self.package.Quad(*terms))
            else:
                made.append(self.package.Triple(*terms[:3]))
        return made

    def accept(self, statements: list[Any], before: int, error: BaseException | None) -> None:
        """Note the statements that the writer says it has written: all, or those before the one it refused."""
        count = self.writer.statements_written - before
        assert count < len(statements) if error is not None else count == len(statements)
        self.open_frame["statements"] += [tuple(statement) for statement in statements[:count]]

    def end(self, metadata: dict[str, bytes] | None = None) -> None:
        self.open_frame["metadata"] = dict(metadata or {})
        self.frames.append(self.open_frame)
        self.open_frame = self.new_frame()

    @rule(drawn=STATEMENTS)
    def write(self, drawn: Any) -> None:
        self.write_statements(self.make(drawn))

    def write_statements(self, statements: list[Any]) -> BaseException | None:
        before = self.writer.statements_written
        error = attempt(self.writer.write, iter(statements))
        self.accept(statements, before, error)
        return error

    @rule(places=st.lists(st.tuples(PLAIN, PLAIN, PLAIN, PLAIN), min_size=1, max_size=5))
    @precondition(lambda self: not self.is_bare and self.writer.options is not None)
    def write_what_can_always_be_written(self, places: Any) -> None:
        statements = self.make([(*place, 20) for place in places])
        assert self.write_statements(statements) is None

    @rule(drawn=STATEMENTS)
    def write_from_an_iterator_that_fails(self, drawn: Any) -> None:
        statements = self.make(drawn)
        before = self.writer.statements_written

        def failing() -> Iterator[Any]:
            yield from statements
            raise ForeignError

        try:
            self.writer.write(failing())
        except ForeignError:
            self.accept(statements, before, None)
        except JellyError as error:
            self.accept(statements, before, error)

    @rule(
        drawn=STATEMENTS,
        start=st.integers(0, 3),
        cuts=st.lists(st.integers(0, 6), max_size=3),
        in_frames=st.booleans(),
    )
    def write_batch(self, drawn: Any, start: int, cuts: list[int], in_frames: bool) -> None:
        statements = self.make(drawn)
        try:
            batch = self.package.Batch.from_statements(statements)
        except JellyError:
            return
        if self.writer.options is not None and self.writer.options.has_graph and not batch.has_graph:
            statements = [(*statement, self.package.DEFAULT_GRAPH) for statement in statements]
        before = self.writer.statements_written
        if not in_frames:
            start = min(start, len(statements))
            error = attempt(self.writer.write_batch, batch, start)
            self.accept(statements[start:], before, error)
            return
        ends = [*sorted(min(cut, len(statements)) for cut in cuts), len(statements)]
        batch = batch.replace(frame_ends=memoryview(array("i", ends)), last_frame_open=False)
        error = attempt(self.writer.write_batch_in_frames, batch)
        if isinstance(error, NamedGraphError):
            return
        written = self.writer.statements_written - before
        at = 0
        for end in ends:
            self.open_frame["statements"] += [tuple(statement) for statement in statements[at : min(end, written)]]
            if error is not None and (end > written or (self.is_bare and self.frames)):
                return
            self.end()
            at = end
        assert error is None

    @rule(drawn=STATEMENTS, metadata=METADATA)
    def write_frame(self, drawn: Any, metadata: Any) -> None:
        if self.is_bare and self.frames:
            return
        statements = self.make(drawn)
        before = self.writer.statements_written
        error = attempt(self.writer.write_frame, statements, metadata)
        count = self.writer.statements_written - before
        self.open_frame["statements"] += [tuple(statement) for statement in statements[:count]]
        if error is None:
            assert count == len(statements)
            self.end(metadata)

    @rule(name=NAMES, iri=NAMESPACE_IRIS)
    def declare_namespace(self, name: Any, iri: Any) -> None:
        if attempt(self.writer.declare_namespace, name, iri) is None:
            self.open_frame["namespaces"].append((name, iri))

    @rule(metadata=METADATA)
    def end_frame(self, metadata: Any) -> None:
        if attempt(self.writer.end_frame, metadata) is None:
            self.end(metadata)

    @rule()
    def flush(self) -> None:
        self.writer.flush()
        if self.open_frame["statements"] or self.open_frame["namespaces"]:
            self.end()

    # ---- what is read ----

    def teardown(self) -> None:
        if hasattr(self, "writer"):
            self.writer.close()
            self.check()
        self.folder.cleanup()

    def check(self) -> None:
        data = self.sink.read_bytes() if isinstance(self.sink, Path) else self.sink.getvalue()
        with self.package.open_reader(data, dialect=self.dialect) as reader:
            read = [
                {
                    "statements": [tuple(statement) for statement in frame],
                    "namespaces": frame.namespaces,
                    "metadata": frame.metadata,
                }
                for frame in reader.frames()
            ]
        if self.has_index:
            assert read.pop()["metadata"]
        written = self.frames
        if self.open_frame["statements"] or self.open_frame["namespaces"] or not written:
            written = [*written, self.open_frame]
        if self.is_grouped or self.is_bare:
            assert read == written
        else:
            assert flat(read) == flat(written)
        uses_1_1 = self.has_index or any(frame["namespaces"] or frame["metadata"] for frame in written)
        if self.dialect == "draft":
            assert not uses_1_1
            assert self.writer.options.version == 1
        else:
            assert self.writer.options.version == max(self.options.version, 2 if uses_1_1 else 1)


def attempt(call: Any, *arguments: Any) -> JellyError | None:
    """The error with which a call is refused, if it is."""
    try:
        call(*arguments)
    except JellyError as error:
        return error
    return None


def flat(frames: list[dict[str, Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    """All statements, all namespaces, and the metadata of the frames that have some."""
    return (
        [statement for frame in frames for statement in frame["statements"]],
        [namespace for frame in frames for namespace in frame["namespaces"]],
        [frame["metadata"] for frame in frames if frame["metadata"]],
    )


@pytest.mark.parametrize("chosen", get_args(DialectName))
def test_accepted_statements_are_read_back_exactly(twin: ModuleType, chosen: DialectName) -> None:
    class Machine(WriterMachine):
        package = twin
        terms = Terms(twin)
        dialect = chosen

    run_state_machine_as_test(Machine, settings=settings(settings.default, stateful_step_count=20))
