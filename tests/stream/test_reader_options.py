"""The options row: its position, its values, and its repetitions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import jellyframe
from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits, LogicalType, PhysicalType
from support import wire
from support.strategies import TYPE_PAIRS

NAME = wire.name("a")
STATEMENT = wire.triple(wire.iri(0, 1), wire.iri(0, 1), wire.iri(0, 1))


def read(twin: ModuleType, data: bytes, **arguments: object) -> int:
    """The number of statements."""
    with twin.open_reader(data, **arguments) as reader:
        return sum(1 for _ in reader.statements())


def refuse(twin: ModuleType, frames: list[list[bytes]], kind: type[JellyError], **arguments: object) -> JellyError:
    """The last row of the last frame is refused."""
    with pytest.raises(kind) as caught:
        read(twin, wire.delimited(*(wire.frame(*rows) for rows in frames)), **arguments)
    error = caught.value
    start, end = wire.row_spans(frames)[-1][-1]
    assert (error.frame, error.row) == (len(frames) - 1, len(frames[-1]) - 1), str(error)
    assert error.offset is not None
    assert start <= error.offset <= end, str(error)
    return error


@pytest.mark.parametrize("row", [NAME, STATEMENT, wire.GRAPH_END, wire.prefix("p"), wire.namespace("n", wire.iri())])
def test_the_first_row_is_the_options(twin: ModuleType, row: bytes) -> None:
    refuse(twin, [[row]], ParseError)
    refuse(twin, [[], [row]], ParseError)


@pytest.mark.parametrize("version", [0, 3, 9999, 10000, 2**32 - 1])
def test_unknown_versions_are_refused(twin: ModuleType, version: int) -> None:
    error = refuse(twin, [[wire.options(version=version)]], OptionsError)
    assert str(version) in str(error)


@pytest.mark.parametrize("version", [1, 2])
def test_known_versions_are_read(twin: ModuleType, version: int) -> None:
    assert read(twin, wire.stream(wire.options(version=version), NAME, STATEMENT)) == 1


@pytest.mark.parametrize("physical", [0, 4, 2**31])
def test_unknown_physical_types_are_refused(twin: ModuleType, physical: int) -> None:
    refuse(twin, [[wire.options(physical=physical)]], OptionsError)


FITTING = {(int(physical), int(logical)) for physical, logical in TYPE_PAIRS}


@pytest.mark.parametrize("logical", [*map(int, LogicalType), 5, 99])
@pytest.mark.parametrize("physical", [1, 2, 3])
def test_physical_and_logical_types_must_match(twin: ModuleType, physical: int, logical: int) -> None:
    options = wire.options(physical=physical, logical=logical)
    if (physical, logical) not in FITTING:
        refuse(twin, [[options]], OptionsError)
        return
    with twin.open_reader(wire.stream(options)) as reader:
        assert reader.options.physical_type is PhysicalType(physical)
        assert reader.options.logical_type is LogicalType(logical)
        assert [frame.statements() for frame in reader.frames()] == [[]]


@pytest.mark.parametrize("size", [0, 1, 7])
def test_name_tables_below_eight_entries_are_refused(twin: ModuleType, size: int) -> None:
    refuse(twin, [[wire.options(names=size)]], OptionsError)


TABLES = ("names", "prefixes", "datatypes")


def sizes(table: str, size: int) -> dict[str, Any]:
    """Return the argument of `wire.options` that gives a table its size."""
    return {table: size}


@pytest.mark.parametrize("size", [4097, 10_000_000, 2**31, 2**32 - 1])
@pytest.mark.parametrize("table", TABLES)
def test_tables_above_the_limit_are_refused(twin: ModuleType, table: str, size: int) -> None:
    refuse(twin, [[wire.options(**sizes(table, size))]], LimitError)


@pytest.mark.parametrize("table", TABLES)
def test_limits_of_tables_can_be_set(twin: ModuleType, table: str) -> None:
    limit = {"names": "max_name_table_size", "prefixes": "max_prefix_table_size"}.get(table, "max_datatype_table_size")
    options = wire.options(**sizes(table, 5000))
    assert read(twin, wire.stream(options, NAME, STATEMENT), limits=Limits(**{limit: 5000})) == 1
    refuse(twin, [[options]], LimitError, limits=Limits(**{limit: 4999}))
    assert read(twin, wire.stream(wire.options(**sizes(table, 4096)), NAME, STATEMENT)) == 1


def test_the_options_may_be_repeated(twin: ModuleType) -> None:
    options = wire.options(name="s", physical=1, logical=1, version=2, star=1)
    frames = [[options, options, NAME, STATEMENT], [options, STATEMENT], [STATEMENT, options], [options]]
    assert read(twin, wire.delimited(*(wire.frame(*rows) for rows in frames))) == 3


def test_repeated_options_reset_nothing(twin: ModuleType) -> None:
    options = wire.options()
    rows = [
        options,
        wire.name("a"),
        wire.name("b"),
        wire.prefix("p"),
        wire.triple(*[wire.iri(1, 1)] * 3),
        options,
    ]
    rows += [wire.name("c"), wire.triple(None, None, wire.iri(0, 0)), wire.triple(None, wire.iri(0, 0), None)]
    with twin.open_reader(wire.stream(*rows)) as reader:
        lines = [statement.to_line() for statement in reader.statements()]
    assert lines == ["<pa> <pa> <pa> .", "<pa> <pa> <pb> .", "<pa> <pc> <pb> ."]


def test_repeated_options_may_be_encoded_differently(twin: ModuleType) -> None:
    options = wire.options()
    spelled_out = wire.block(1, wire.number(4, 0) + wire.block(1, b"") + options[2:] + wire.number(14, 0))
    assert read(twin, wire.stream(options, spelled_out, NAME, STATEMENT)) == 1


DIFFERENT: dict[str, Any] = {
    "name": "other",
    "physical": 2,
    "generalized": 1,
    "star": 1,
    "names": 64,
    "prefixes": 0,
    "datatypes": 17,
    "logical": 1,
    "version": 2,
}


@pytest.mark.parametrize("field", DIFFERENT)
def test_repeated_options_that_differ_are_refused(twin: ModuleType, field: str) -> None:
    other = wire.options(**{field: DIFFERENT[field]})
    for frames in ([[wire.options(), NAME, STATEMENT, other]], [[wire.options(), NAME], [], [other]]):
        refuse(twin, frames, OptionsError)


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xe2\x82"])
def test_the_stream_name_is_utf_8(twin: ModuleType, bad: bytes) -> None:
    refuse(twin, [[wire.options(name=bad)]], JellyError)


def test_all_options_are_read(twin: ModuleType) -> None:
    row = wire.options(
        name="поток",
        physical=3,
        generalized=1,
        star=1,
        names=9,
        prefixes=0,
        datatypes=7,
        logical=114,
        version=2,
    )
    with twin.open_reader(wire.stream(row)) as reader:
        options = reader.options
    assert options.stream_name == "поток"
    assert (options.physical_type, options.logical_type) == (
        PhysicalType.GRAPHS,
        LogicalType.TIMESTAMPED_NAMED_GRAPHS,
    )
    assert (options.generalized_statements, options.rdf_star, options.version) == (True, True, 2)
    sizes = options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size
    assert sizes == (9, 0, 7)


def test_concatenated_streams_start_with_empty_state(twin: ModuleType) -> None:
    """With `concatenated`, an options row begins a new stream, also one of other options."""
    first = wire.stream(wire.options(), wire.prefix("p"), NAME, wire.triple(*[wire.iri(1, 1)] * 3))
    second = wire.stream(wire.options(names=16), wire.name("b"), wire.triple(*[wire.iri(0, 1)] * 3))
    with twin.open_reader(first + second, concatenated=True) as reader:
        lines = [statement.to_line() for statement in reader.statements()]
    assert lines == ["<pa> <pa> <pa> .", "<b> <b> <b> ."]

    repeat_across = wire.stream(wire.options(), wire.triple())
    with pytest.raises(ParseError):
        read(twin, first + repeat_across, concatenated=True)
    assert read(twin, first + repeat_across) == 2


def advice_of(twin: ModuleType, rows: list[bytes], **arguments: object) -> str:
    """Return the message of the error with which these rows are refused."""
    with pytest.raises(ParseError) as caught:
        read(twin, wire.stream(*rows), **arguments)
    return str(caught.value)


FULL_TABLE = [wire.name(letter) for letter in "abcdefgh"]
REFERS_TO_A_NEW_STREAM = {
    # Read as one stream, the entry would go into a slot that the table does not have.
    "entry": [wire.options(names=8), *FULL_TABLE, wire.options(names=8), NAME],
    "iri": [
        wire.options(names=8),
        *FULL_TABLE,
        wire.triple(*[wire.iri(0, 8)] * 3),
        wire.options(names=8),
        wire.triple(wire.iri(0, 0), wire.iri(0, 1), wire.iri(0, 1)),
    ],
    "graph": [
        wire.options(physical=3),
        NAME,
        wire.graph_start(wire.iri(0, 1)),
        wire.options(physical=3),
        wire.graph_start(wire.iri(0, 1)),
    ],
}
CONTINUES_THE_STREAM = {
    "statement": [wire.options(), NAME, STATEMENT, wire.options(), wire.triple(None, wire.iri(0, 1), wire.iri(0, 1))],
    "iri": [wire.options(), NAME, STATEMENT, wire.options(), STATEMENT],
    "prefix": [wire.options(), wire.prefix("p"), NAME, wire.options(), NAME, wire.triple(*[wire.iri(1, 1)] * 3)],
    "datatype": [
        wire.options(),
        wire.datatype("d"),
        wire.options(),
        wire.triple(wire.bnode("a"), wire.bnode("a"), wire.literal("l", datatype=1)),
    ],
    "graph": [wire.options(physical=3), NAME, wire.graph_start(wire.iri(0, 1)), wire.options(physical=3)],
    "graph_end": [wire.options(physical=3), NAME, wire.options(physical=3), wire.GRAPH_END],
}


@pytest.mark.parametrize("case", REFERS_TO_A_NEW_STREAM)
def test_the_error_suggests_concatenated_for_several_streams(twin: ModuleType, case: str) -> None:
    message = advice_of(twin, REFERS_TO_A_NEW_STREAM[case])
    assert "these may be several streams, one after the other; set concatenated=True" in message


@pytest.mark.parametrize("case", CONTINUES_THE_STREAM)
def test_the_error_suggests_one_stream_for_repeated_options(twin: ModuleType, case: str) -> None:
    rows = CONTINUES_THE_STREAM[case]
    if case == "datatype":
        rows = [row if row != wire.options() else wire.options(generalized=1) for row in rows]
    message = advice_of(twin, rows, concatenated=True)
    assert "it may only repeat those of the stream; set concatenated=False" in message
    if not case.startswith("graph"):
        assert read(twin, wire.stream(*rows)) > 0 or case == "datatype"


def test_no_advice_without_a_second_options_row(twin: ModuleType) -> None:
    for concatenated in (False, True):
        assert "concatenated" not in advice_of(twin, [wire.options(), STATEMENT], concatenated=concatenated)


@pytest.mark.parametrize(
    "data",
    [
        wire.delimited(wire.unknown_fields()),
        wire.delimited(b"", wire.frame(extra=wire.unknown_fields()), b""),
        wire.delimited(wire.frame(metadata={"k": b"v"}, extra=wire.unknown_fields())),
    ],
)
def test_unknown_fields_alone_are_not_a_stream(twin: ModuleType, data: bytes) -> None:
    with pytest.raises(ParseError, match="not a Jelly stream"):
        read(twin, data)
    with pytest.raises(ParseError, match="not a Jelly stream"):
        twin.loads(data)
    with pytest.raises(ParseError, match="not a Jelly stream"):
        read(twin, wire.unknown_fields(), delimited=False)


def test_frames_without_rows_need_no_options(twin: ModuleType) -> None:
    assert twin.loads(wire.delimited(b"", b"")) == []
    assert twin.loads(wire.delimited(wire.frame(metadata={"key": b"value"}), b"")) == []
    assert read(twin, wire.delimited(wire.unknown_fields(), wire.frame(wire.options(), NAME, STATEMENT))) == 1


@pytest.mark.parametrize("rows", [0, -1, 1 << 31, 1 << 62, 1 << 70])
def test_numbers_of_rows_that_no_batch_can_have_are_refused(rows: int) -> None:
    data = wire.stream(wire.options(), NAME, STATEMENT)
    with pytest.raises(OptionsError, match="batch_rows is"):
        jellyframe.open_reader(data, batch_rows=rows)
    with pytest.raises(OptionsError, match="batch_rows is"):
        jellyframe.open_patch_reader(data, batch_rows=rows)
    with pytest.raises(OptionsError, match="batch_rows is"):
        jellyframe.scan("any.ttl", batch_rows=rows)


@pytest.mark.parametrize("byte_range", [(-5, 3), (3, 2), (0, -1), (1 << 70, None), (0, 1 << 70), (1.5, None)])
def test_ranges_that_no_file_has_are_refused(byte_range: tuple[int, int | None]) -> None:
    data = wire.stream(wire.options(), NAME, STATEMENT)
    for opened in (jellyframe.open_reader, jellyframe.open_patch_reader):
        with pytest.raises(OptionsError, match="of byte_range is"):
            opened(data, byte_range=byte_range)
