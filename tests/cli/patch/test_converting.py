"""`jellyframe patch to-jelly` and `from-jelly`, as processes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import jellyframe
from jellyframe.patch import PatchStreamType
from support.command import run

TEXT = b'H id <urn:1> .\nTX .\nPA "ex" <x:e> .\nA <x:s> <x:p> "o" <x:g> .\nTC .\n# end of patch\n'


@pytest.mark.parametrize("stream_type", ["frame", "flat", "punctuated"])
def test_text_survives_a_round_trip(stream_type: str, tmp_path: Path) -> None:
    (tmp_path / "in.rdfp").write_bytes(TEXT)
    run("patch", "to-jelly", "in.rdfp", "--stream-type", stream_type, "--to", "out.jellyp", cwd=tmp_path)
    with jellyframe.open_patch_reader(tmp_path / "out.jellyp") as reader:
        assert reader.options.stream_type is PatchStreamType[stream_type.upper()]
    expected = TEXT.replace(b"# end of patch\n", b"") if stream_type == "flat" else TEXT
    assert run("patch", "from-jelly", "out.jellyp", cwd=tmp_path).out == expected
    run("patch", "from-jelly", "out.jellyp", "--to", "back.rdfp.gz", cwd=tmp_path)
    assert gzip.decompress((tmp_path / "back.rdfp.gz").read_bytes()) == expected


def test_standard_streams() -> None:
    made = run("patch", "to-jelly", "--preset", "small", "--rows-per-frame", "2", data=TEXT).out
    with jellyframe.open_patch_reader(made) as reader:
        assert reader.options == jellyframe.PatchOptions.small()
        assert max(batch.first_frame + len(list(batch.frame_spans())) for batch in reader.batches()) > 2
    assert run("patch", "from-jelly", "-", data=made).out == TEXT


def test_statement_type_and_strictness() -> None:
    told = run("patch", "to-jelly", "--statement-type", "triples", data=TEXT, code=2).err
    assert "standard input: line 4, column 19: expected '.' (only a patch of quads has graphs), found '<'" in told
    text = b"A <x:s> <x:p> <x:o> .\n"
    made = run("patch", "to-jelly", "--statement-type", "triples", "--stream-type=flat", data=text).out
    assert run("patch", "from-jelly", data=made).out == text
    assert "the text ends inside a transaction" in run("patch", "to-jelly", data=b"TX .\n", code=2).err


def test_the_wrong_format_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "in.rdfp").write_bytes(TEXT)
    (tmp_path / "in.nt").write_bytes(b"<x:s> <x:p> <x:o> .\n")
    run("patch", "to-jelly", "in.rdfp", "--to", "in.jellyp", cwd=tmp_path)
    run("rdf", "to-jelly", "in.nt", "--to", "in.jelly", cwd=tmp_path)
    cases = [
        (("patch", "to-jelly", "in.jellyp"), "in.jellyp is Jelly-Patch, and RDF Patch is expected"),
        (("patch", "to-jelly", "in.nt"), "in.nt is N-Triples, RDF data and not changes to it: see `jellyframe rdf`"),
        (("patch", "from-jelly", "in.rdfp"), "in.rdfp is RDF Patch, and Jelly-Patch is expected"),
        (("patch", "from-jelly", "in.jelly"), "in.jelly is Jelly, RDF data and not changes"),
        (
            ("patch", "from-jelly", "in.jellyp", "--to", "x.jellyp"),
            "x.jellyp is Jelly-Patch, and RDF Patch is",
        ),
        (("rdf", "to-jelly", "in.rdfp"), "in.rdfp is RDF Patch, changes to RDF data and not such data"),
        (("rdf", "from-jelly", "in.jellyp"), "this is a Jelly-Patch stream, not one of RDF statements"),
    ]
    for arguments, message in cases:
        outcome = run(*arguments, code=2, cwd=tmp_path)
        assert message in outcome.err
        assert outcome.out == b""
        assert outcome.err.count("\n") == 1
    data = (tmp_path / "in.jelly").read_bytes()
    assert "this is a stream of RDF statements" in run("patch", "from-jelly", data=data, code=2).err
