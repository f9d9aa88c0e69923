"""The words that options choose from are those of the library, which the command line does not import for its help."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import get_args

import pytest

from jellyframe.cli.commands import build_parser
from jellyframe.defaults import DIALECT_NAMES, LAYOUT_NAMES
from jellyframe.formats.rdf_patch import PATCH_ENDS
from jellyframe.grpc.client.subscribing import Reconnect
from jellyframe.ops import inputs
from jellyframe.ops.bad_input import MODES
from jellyframe.ops.partitioning import KEYS
from jellyframe.ops.patches import diffing
from jellyframe.ops.patches.history import LOG_ORDERS
from jellyframe.ops.transcoding import Frames
from jellyframe.patch import PatchStatementType, PatchStreamType
from jellyframe.storage.types import COMPRESSIONS

# Words that only the command line has.
_OWN = {"--detail", "--delimited", "--preset", "shell"}
_STREAM_TYPES = tuple(kind.name.lower() for kind in PatchStreamType if kind)
WORDS: dict[str, list[tuple[str, ...]]] = {
    "--blank-nodes": [get_args(inputs.BlankNodes), diffing.BLANK_NODES],
    "--by": [KEYS],
    "--compare-to-dialect": [DIALECT_NAMES],
    "--compress": [(*COMPRESSIONS, "none")],
    "--dialect": [DIALECT_NAMES],
    "--frames": [get_args(Frames)],
    "--in-dialect": [DIALECT_NAMES],
    "--layout": [LAYOUT_NAMES],
    "--mode": [MODES],
    "--order": [LOG_ORDERS],
    "--out-dialect": [DIALECT_NAMES],
    "--patch-ends": [PATCH_ENDS],
    "--reconnect": [get_args(Reconnect)],
    "--statement-type": [tuple(kind.name.lower() for kind in PatchStatementType if kind)],
    # Tasks cannot cut files between frames that are patches.
    "--stream-type": [_STREAM_TYPES, tuple(kind for kind in _STREAM_TYPES if kind != "frame")],
}


def choices(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the options of all commands that choose from words, with these words."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from choices(command)
        elif action.choices is not None:
            yield (action.option_strings or [action.dest])[0], tuple(action.choices)


FOUND = sorted(set(choices(build_parser())))


@pytest.mark.parametrize(("option", "words"), FOUND)
def test_words_are_those_of_the_library(option: str, words: tuple[str, ...]) -> None:
    if option not in _OWN:
        assert sorted(words) in [sorted(known) for known in WORDS[option]]


def test_all_options_are_found() -> None:
    assert {option for option, _words in FOUND} == {*WORDS, *_OWN}
