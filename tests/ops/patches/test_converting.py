"""Patches from one format and stream type into another."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path

import pytest

import jellyframe
from jellyframe.errors import JellyError, NamedGraphError, OptionsError
from jellyframe.formats.patches import open_patch_input
from jellyframe.ops.patches.converting import convert_patches
from jellyframe.patch import PatchStatementType, PatchStreamType

TEXT = """\
H id <urn:1> .
TX .
A <x:s> <x:p> "o" <x:g> .
TC .
# end of patch
# end of patch
H id <urn:2> .
D <x:s> <x:p> "o" .
# end of patch
"""
LINES = [line for line in TEXT.splitlines() if not line.startswith("#")]
TYPES = (PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED)


def patches_of(path: Path) -> list[list[str]]:
    with open_patch_input(path) as reader:
        return [
            [str(row) for row in patch if not isinstance(row, jellyframe.Punctuation)] for patch in reader.patches()
        ]


def write(path: Path, stream_type: PatchStreamType) -> Path:
    path.with_suffix(".rdfp").write_text(TEXT)
    convert_patches(path.with_suffix(".rdfp"), path, changes={"stream_type": stream_type})
    return path


@pytest.mark.parametrize(("before", "after"), list(product(TYPES, TYPES)))
def test_patches_stay_apart_unless_the_output_is_flat(
    before: PatchStreamType, after: PatchStreamType, tmp_path: Path
) -> None:
    given = write(tmp_path / "given.jellyp", before)
    done = convert_patches(given, tmp_path / "made.jellyp", changes={"stream_type": after}, frame_rows=1)
    expected = [LINES[:4], [], LINES[4:]]
    if PatchStreamType.FLAT in (before, after):
        expected = [LINES]
    assert patches_of(tmp_path / "made.jellyp") == expected
    assert done.rows == (6 if before is PatchStreamType.FLAT else 9)


@pytest.mark.parametrize("stream_type", TYPES)
def test_text_survives_a_round_trip(stream_type: PatchStreamType, tmp_path: Path) -> None:
    given = write(tmp_path / "given.jellyp", stream_type)
    convert_patches(given, tmp_path / "made.rdfp")
    expected = "".join(f"{line}\n" for line in LINES) if stream_type is PatchStreamType.FLAT else TEXT
    assert (tmp_path / "made.rdfp").read_text() == expected


def test_a_patch_ends_with_its_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.rdfp").write_text("A <x:s> <x:p> <x:o> .\n")
    given = [tmp_path / "a.rdfp", tmp_path / "b.rdfp"]
    for stream_type, count in zip(TYPES, (2, 1, 2), strict=True):
        convert_patches(given, tmp_path / "made.jellyp", changes={"stream_type": stream_type})
        assert len(patches_of(tmp_path / "made.jellyp")) == count


def test_quads_become_triples_where_none_has_a_graph(tmp_path: Path) -> None:
    triples = {"statement_type": PatchStatementType.TRIPLES}
    (tmp_path / "a.rdfp").write_text("H id <x:i> .\nA <x:s> <x:p> <x:o> .\n")
    convert_patches(tmp_path / "a.rdfp", tmp_path / "quads.jellyp")
    convert_patches(tmp_path / "quads.jellyp", tmp_path / "triples.jellyp", changes=triples)  # type: ignore[arg-type]
    with open_patch_input(tmp_path / "triples.jellyp") as reader:
        assert not reader.options.has_graph
    convert_patches(tmp_path / "triples.jellyp", tmp_path / "back.jellyp", options=jellyframe.PatchOptions())
    assert patches_of(tmp_path / "back.jellyp") == patches_of(tmp_path / "quads.jellyp")
    given = write(tmp_path / "given.jellyp", PatchStreamType.FLAT)
    with pytest.raises(NamedGraphError, match=r"row 3 has a graph, which a stream of triples cannot hold: .*<x:g>"):
        convert_patches(given, tmp_path / "none.jellyp", changes=triples)  # type: ignore[arg-type]
    assert not (tmp_path / "none.jellyp").exists()


def test_nothing_appears_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.rdfp").write_text("TX .\n")
    with pytest.raises(JellyError, match=r"a\.rdfp: line 2, column 1: the text ends inside a transaction"):
        convert_patches(tmp_path / "a.rdfp", tmp_path / "a.jellyp")
    assert [path.name for path in tmp_path.iterdir()] == ["a.rdfp"]
    with pytest.raises(OptionsError, match="name at least one input"):
        convert_patches([], io.BytesIO())
