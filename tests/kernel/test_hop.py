"""Hopping over frames: the compiled function and its Python twin find the same, and never read outside of the data."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jellyframe.kernel import hop_cy
from support import wire
from support.kernel_twins import load_twin_module

PURE = load_twin_module("pure", "kernel.hop_cy")

FRAMES = [
    b"",
    wire.frame(wire.options()),
    wire.frame(wire.options(name="n" * 200)),
    wire.frame(wire.triple(wire.bnode("x" * 300))),
    wire.frame(metadata={"key": b"value" * 40}),
]


@given(numbers=st.lists(st.integers(0, len(FRAMES) - 1), max_size=8), data=st.data())
def test_next_frame_with_options_is_found(numbers: list[int], data: st.DataObject) -> None:
    frames = [FRAMES[number] for number in numbers]
    starts = [len(wire.delimited(*frames[:count])) for count in range(len(frames) + 1)]
    text = wire.delimited(*frames)
    begin = data.draw(st.integers(0, len(frames)))
    wanted = [starts[at] for at in range(begin, len(frames)) if numbers[at] in (1, 2)]
    expected = wanted[0] if wanted else len(text)
    assert PURE.next_with_options(text, starts[begin], len(text)) == expected
    assert hop_cy.next_with_options(text, starts[begin], len(text)) == expected


@given(text=st.binary(max_size=60), stop=st.integers(0, 70))
def test_any_bytes_give_a_position(text: bytes, stop: int) -> None:
    found = hop_cy.next_with_options(text, 0, stop)
    assert found >= 0
    assert found == PURE.next_with_options(text, 0, stop)
