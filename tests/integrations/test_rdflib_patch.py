"""Jelly-Patch with the arguments of rdflib's patch format, compared with it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import rdflib

import jellyframe
from jellyframe.errors import OptionsError
from jellyframe.formats.patches import open_patch_input
from jellyframe.patch import rows_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:Dataset.:DeprecationWarning", "ignore:ConjunctiveGraph:DeprecationWarning"
)
EX = rdflib.Namespace("http://example.org/")


def quads(dataset: rdflib.Dataset) -> set:
    return set(dataset.quads())


@pytest.fixture
def before() -> rdflib.Dataset:
    made = rdflib.Dataset()
    made.graph(EX.g).add((EX.a, EX.p, EX.old))
    made.graph(EX.g).add((EX.a, EX.p, EX.both))
    return made


@pytest.fixture
def after() -> rdflib.Dataset:
    made = rdflib.Dataset()
    made.graph(EX.g).add((EX.a, EX.p, EX.both))
    made.add((EX.a, EX.p, rdflib.Literal("new", lang="en")))
    return made


def test_a_difference_is_that_of_the_text(before: rdflib.Dataset, after: rdflib.Dataset, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"target": after, "header_id": "uuid:1", "header_prev": "uuid:0"}
    before.serialize(tmp_path / "x.jellyp", format="jelly-patch", **settings)
    text = before.serialize(format="patch", **{**settings, "header_prev": None})
    with open_patch_input(tmp_path / "x.jellyp") as ours, open_patch_input(text.encode(), "rdfp") as theirs:
        our_rows = {str(row) for batch in ours.batches() for row in rows_of(batch)}
        their_rows = {str(row) for batch in theirs.batches() for row in rows_of(batch)}
    assert their_rows < our_rows  # the header of the previous patch
    before.parse(tmp_path / "x.jellyp")
    assert quads(before) == quads(after)


def test_adding_and_removing_everything(after: rdflib.Dataset) -> None:
    sink = io.BytesIO()
    after.serialize(sink, format="application/x-jelly-rdf-patch", operation="add")
    copy = rdflib.Dataset()
    copy.parse(data=sink.getvalue(), format="jelly-patch")
    assert quads(copy) == quads(after)
    sink = io.BytesIO()
    after.serialize(sink, format="jelly-patch", operation="remove")
    copy.parse(data=sink.getvalue(), format="jelly-patch")
    assert quads(copy) == set()
    assert jellyframe.apply_patch(sink.getvalue(), set()).deleted == 2


def test_graphs_have_no_patches(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match="Dataset"):
        rdflib.Graph().serialize(tmp_path / "x.jellyp", format="jelly-patch")
