"""Negotiation of options: pairs at random against a model made from the table of the specification."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import Limits, LogicalType, OptionsError, PhysicalType, StreamOptions
from jellyframe.grpc.negotiation import can_forward, check_request, effective_options, is_special_case, misfit

LIMITS = Limits()
LOGICAL_OF = {
    PhysicalType.TRIPLES: (LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS, LogicalType.SUBJECT_GRAPHS),
    PhysicalType.QUADS: (
        LogicalType.FLAT_QUADS,
        LogicalType.DATASETS,
        LogicalType.NAMED_GRAPHS,
        LogicalType.TIMESTAMPED_NAMED_GRAPHS,
    ),
}
LOGICAL_OF[PhysicalType.GRAPHS] = LOGICAL_OF[PhysicalType.QUADS]


@st.composite
def offers(draw: st.DrawFn) -> StreamOptions:
    """Options of a publication that the server accepts."""
    physical = draw(st.sampled_from(list(LOGICAL_OF)))
    return StreamOptions(
        physical_type=physical,
        logical_type=draw(st.sampled_from((LogicalType.UNSPECIFIED, *LOGICAL_OF[physical]))),
        stream_name=draw(st.sampled_from(("", "theirs"))),
        generalized_statements=draw(st.booleans()),
        rdf_star=draw(st.booleans()),
        max_name_table_size=draw(st.sampled_from((8, 128, 4000, 4096))),
        max_prefix_table_size=draw(st.sampled_from((0, 16, 150, 4096))),
        max_datatype_table_size=draw(st.sampled_from((0, 16, 32, 4096))),
        version=draw(st.sampled_from((1, 2))),
    )


REQUESTS = st.builds(
    StreamOptions,
    physical_type=st.sampled_from(PhysicalType),
    logical_type=st.sampled_from(LogicalType),
    stream_name=st.sampled_from(("", "mine")),
    generalized_statements=st.booleans(),
    rdf_star=st.booleans(),
    max_name_table_size=st.sampled_from((0, 1, 7, 8, 100, 4096, 1 << 20)),
    max_prefix_table_size=st.sampled_from((0, 1, 16, 4096, 1 << 20)),
    max_datatype_table_size=st.sampled_from((0, 1, 16, 4096, 1 << 20)),
    version=st.sampled_from((0, 1, 2, 3, 10_000)),
)


def is_compatible(asked: StreamOptions, got: StreamOptions) -> bool:
    """The table, row by row; 0 leaves the choice to the server, but where names are said there are sizes."""
    says_sizes = asked.max_name_table_size > 0
    return (
        (asked.physical_type in (PhysicalType.UNSPECIFIED, got.physical_type))
        and got.generalized_statements <= asked.generalized_statements
        and got.rdf_star <= asked.rdf_star
        and (not says_sizes or got.max_name_table_size <= asked.max_name_table_size)
        and (
            not (says_sizes or asked.max_prefix_table_size) or got.max_prefix_table_size <= asked.max_prefix_table_size
        )
        and (
            not (says_sizes or asked.max_datatype_table_size)
            or got.max_datatype_table_size <= asked.max_datatype_table_size
        )
        and (asked.version == 0 or got.version <= asked.version)
    )


def can_be_met(asked: StreamOptions) -> bool:
    if 0 < asked.max_name_table_size < 8:
        return False
    physical, logical = asked.physical_type, asked.logical_type
    if PhysicalType.UNSPECIFIED is physical or LogicalType.UNSPECIFIED is logical:
        return True
    return logical in LOGICAL_OF[physical]


@given(asked=REQUESTS, offered=offers())
def test_answers_fit_the_table_or_requests_are_refused(asked: StreamOptions, offered: StreamOptions) -> None:
    if not can_be_met(asked):
        with pytest.raises(OptionsError):
            effective_options(asked, offered)
        return
    got = effective_options(asked, offered)
    got.check_readable(LIMITS)
    assert is_compatible(asked, got)
    if asked.stream_name:
        assert got.stream_name == asked.stream_name
    # A type of frames is promised only where the data has it.
    if got.logical_type.is_grouped:
        assert offered.logical_type.is_grouped
    assert misfit(got, offered) is None


@given(offered=offers())
def test_without_a_request_the_options_are_those_of_the_data(offered: StreamOptions) -> None:
    assert effective_options(None, offered) == offered.replace(version=2)


@given(asked=REQUESTS.filter(can_be_met), offered=offers(), other=offers())
def test_frames_that_are_forwarded_keep_the_options_of_the_subscription(
    asked: StreamOptions, offered: StreamOptions, other: StreamOptions
) -> None:
    got = effective_options(asked, offered)
    if can_forward(got, other):
        assert got.physical_type is other.physical_type
        for table in ("max_name_table_size", "max_prefix_table_size", "max_datatype_table_size"):
            assert getattr(other, table) <= getattr(got, table)
        assert other.rdf_star <= got.rdf_star
        assert other.generalized_statements <= got.generalized_statements


@given(asked=REQUESTS)
def test_impossible_requests_are_refused_before_there_is_data(asked: StreamOptions) -> None:
    if can_be_met(asked):
        check_request(asked, LIMITS)
    else:
        with pytest.raises(OptionsError):
            check_request(asked, LIMITS)


def test_subtypes_end_in_the_number_of_their_type() -> None:
    assert is_special_case(LogicalType.TIMESTAMPED_NAMED_GRAPHS, LogicalType.NAMED_GRAPHS)
    assert is_special_case(LogicalType.TIMESTAMPED_NAMED_GRAPHS, LogicalType.DATASETS)
    assert not is_special_case(LogicalType.DATASETS, LogicalType.NAMED_GRAPHS)
    assert not is_special_case(LogicalType.SUBJECT_GRAPHS, LogicalType.DATASETS)
    assert is_special_case(LogicalType.GRAPHS, LogicalType.UNSPECIFIED)


def test_offsets_need_metadata() -> None:
    with pytest.raises(OptionsError, match="request version 2"):
        check_request(StreamOptions(version=1), LIMITS, with_offsets=True)
