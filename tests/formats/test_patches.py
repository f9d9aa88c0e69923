"""Patches of either format are opened by one function, which refuses everything else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import jellyframe
from jellyframe import formats
from jellyframe.errors import OptionsError
from jellyframe.formats.patches import open_patch_input, open_patch_output

IRI = jellyframe.IRI("x:y")
ROWS: list[jellyframe.PatchRow] = [
    jellyframe.Header("id", IRI),
    jellyframe.TransactionStart(),
    jellyframe.Add(IRI, IRI, IRI, jellyframe.DEFAULT_GRAPH),
    jellyframe.TransactionCommit(),
    jellyframe.Punctuation(),
]


@pytest.mark.parametrize("name", ["a.jellyp", "a.rdfp", "a.rdfpatch", "a.jellyp.gz", "a.rdfp.zst", "A.RDFP.GZ"])
def test_the_name_decides_format_and_compression(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with open_patch_output(path) as writer:
        writer.write(ROWS[:-1])
        writer.end_patch()
        assert writer.rows_written == 5
    with open_patch_input(path) as reader:
        assert list(reader) == ROWS
        assert reader.source_name == str(path)
    is_compressed = path.read_bytes()[:2] in (b"\x1f\x8b", b"\x28\xb5")
    assert is_compressed == (name.count(".") > 1)


@pytest.mark.parametrize("name", ["jelly-patch", "jellyp", "rdfp", "rdfpatch", "RDF-Patch"])
def test_the_format_can_be_passed(name: str) -> None:
    sink = io.BytesIO()
    with open_patch_output(sink, name) as writer:
        writer.write(ROWS)
    assert list(open_patch_input(sink.getvalue(), name)) == ROWS


def test_the_default_format_is_jelly_patch() -> None:
    sink = io.BytesIO()
    with open_patch_output(sink) as writer:
        writer.write(ROWS)
    assert list(open_patch_input(sink.getvalue())) == ROWS


def test_rdf_data_is_refused_as_patches_and_the_reverse(tmp_path: Path) -> None:
    for name in ("a.nt", "a.jelly", "a.ttl.gz"):
        with pytest.raises(OptionsError, match="RDF data and not changes to it: see `jellyframe rdf`"):
            open_patch_input(tmp_path / name)
    with pytest.raises(OptionsError, match="'nq' is N-Quads, RDF data"):
        open_patch_input(b"", "nq")
    with pytest.raises(OptionsError, match="'nq' is N-Quads, RDF data"):
        open_patch_input(b"", formats.NQUADS)
    for name in ("a.rdfp", "a.jellyp.gz"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(
            OptionsError,
            match="changes to RDF data and not such data; read it with open_patch_input or `jellyframe patch`",
        ):
            jellyframe.convert(tmp_path / name, io.BytesIO())
    (tmp_path / "a.nt").write_bytes(b"")
    for target in ("rdfp", "jelly-patch"):
        with pytest.raises(OptionsError, match="changes to RDF data and not such data"):
            jellyframe.convert(tmp_path / "a.nt", io.BytesIO(), out_format=target)
    with pytest.raises(OptionsError, match="is not one of jelly-patch, rdfp"):
        open_patch_input(b"", "yaml")
    with pytest.raises(OptionsError, match=r"a\.txt: .* recognised by the name \(jelly-patch, rdfp\)"):
        open_patch_input(tmp_path / "a.txt")


def test_a_byte_range_is_for_jelly_patch() -> None:
    with pytest.raises(OptionsError, match="no restart points"):
        open_patch_input(b"", "rdfp", byte_range=(0, 5))
