"""`jellyframe patch transcode`, `inspect` and `validate`, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jellyframe
from jellyframe.ops.patches.converting import convert_patches
from jellyframe.patch import PatchStreamType
from jellyframe.stream import restart_points
from support.command import run

TEXT = """\
H id <urn:1> .
TX .
PA "ex" <x:e> .
A <x:s> <x:p> "o" .
A <x:s> <x:q> "o" .
TC .
# end of patch
H id <urn:2> .
TX .
D <x:s> <x:p> "o" .
TA .
# end of patch
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.rdfp").write_text(TEXT)
    convert_patches(tmp_path / "a.rdfp", tmp_path / "a.jellyp")
    return tmp_path


def test_transcode_changes_types_and_tables_and_regroups(folder: Path) -> None:
    arguments = ("--stream-type=frame", "--statement-type=triples", "--preset=small", "--opt.max-name-table-size=8")
    run("patch", "transcode", "a.jellyp", *arguments, "--to", "b.jellyp", cwd=folder)
    with jellyframe.open_patch_reader(folder / "b.jellyp") as reader:
        assert reader.options == jellyframe.PatchOptions.small(
            statement_type=jellyframe.PatchStatementType.TRIPLES,
            stream_type=PatchStreamType.FRAME,
            max_name_table_size=8,
        )
        assert [len(list(patch)) for patch in reader.patches()] == [6, 4]
    assert run("patch", "from-jelly", "b.jellyp", cwd=folder).out.decode() == TEXT
    made = run("patch", "transcode", "--rows-per-frame=1", data=(folder / "a.jellyp").read_bytes()).out
    assert b"frame_count: 12" in run("patch", "inspect", data=made).out


def test_transcode_joins_files_of_either_format(folder: Path) -> None:
    run("patch", "transcode", "a.rdfp", "a.jellyp", "--index", "--restart-every=1", "--to", "b.jellyp", cwd=folder)
    with open(folder / "b.jellyp", "rb", buffering=0) as file:
        points = restart_points(file)
    assert len(points) > 2
    text = b""
    for start, stop in zip(points, [*points[1:], None], strict=True):
        with jellyframe.open_patch_reader(
            folder / "b.jellyp", byte_range=(start.offset, None if stop is None else stop.offset)
        ) as reader:
            text += "".join(f"{row}\n" for row in reader).encode()
    assert text.decode() == TEXT * 2
    told = run("patch", "transcode", "a.jellyp", "--to", "b.rdfp", code=2, cwd=folder).err
    assert "b.rdfp is RDF Patch, and Jelly-Patch is expected: patch from-jelly writes RDF Patch text" in told


def test_inspect_counts(folder: Path) -> None:
    for name in ("a.jellyp", "a.rdfp"):
        document = json.loads(run("patch", "inspect", name, "--json", "--size", cwd=folder).out)
        assert document["stream_options"]["stream_type"] == "PATCH_STREAM_TYPE_PUNCTUATED (3)"
        patches = document["patches"]
        assert patches.pop("frame_count") == (2 if name == "a.jellyp" else 0)
        assert patches.pop("rdf_patch_ratio") > 0
        assert set(patches.pop("replaced_entries", {}).values()) == ({0} if name == "a.jellyp" else set())
        for table in ("name", "prefix", "datatype"):
            patches.pop(f"{table}_count", None)
        assert patches == {
            "patch_count": 2,
            "statement_add_count": 2,
            "statement_delete_count": 1,
            "namespace_add_count": 1,
            "namespace_delete_count": 0,
            "transaction_start_count": 2,
            "transaction_commit_count": 1,
            "transaction_abort_count": 1,
            "header_count": 2,
            "row_count": 10,
            "rdf_patch_size": len(TEXT),
        }
        assert document["input"]["size"] == (folder / name).stat().st_size


def test_inspect_patch_by_patch(folder: Path) -> None:
    for stream_type in ("frame", "punctuated"):
        run("patch", "transcode", "a.jellyp", "--stream-type", stream_type, "--to", "b.jellyp", cwd=folder)
        document = json.loads(run("patch", "inspect", "b.jellyp", "--per-patch", "--json", cwd=folder).out)
        assert [patch["headers"] for patch in document["patches"]] == [{"id": "<urn:1>"}, {"id": "<urn:2>"}]
        assert [patch["row_count"] for patch in document["patches"]] == [6, 4]
    empty = run("patch", "inspect", "--per-patch", "--in-format=rdfp", "--json", data=b"").out
    assert json.loads(empty)["patches"] == []


def test_inspect_counts_lookup_entries_as_that_of_rdf_does(tmp_path: Path) -> None:
    """The same statements with the same tables take the same entries, in a patch and in a stream of statements."""
    lines = [f'<http://x{n % 3}/{n % 40}> <x:p> "{n}"^^<x:d{n % 20}> .' for n in range(300)]
    (tmp_path / "a.nt").write_text("\n".join(lines))
    (tmp_path / "a.rdfp").write_text("\n".join(f"A {line}" for line in lines))
    run("rdf", "to-jelly", "a.nt", "--preset=small", "--opt.max-name-table-size=16", "--to", "a.jelly", cwd=tmp_path)
    sizes = ("--preset=small", "--opt.max-name-table-size=16", "--statement-type=triples")
    run("patch", "to-jelly", "a.rdfp", *sizes, "--to", "a.jellyp", cwd=tmp_path)
    expected = json.loads(run("rdf", "inspect", "a.jelly", "--json", cwd=tmp_path).out)["frames"]
    found = json.loads(run("patch", "inspect", "a.jellyp", "--json", cwd=tmp_path).out)["patches"]
    for count in ("name_count", "prefix_count", "datatype_count", "replaced_entries"):
        assert found[count] == expected[count]
    assert found["replaced_entries"]["name_count"] > 0
    assert "name_count" not in json.loads(run("patch", "inspect", "a.rdfp", "--json", cwd=tmp_path).out)["patches"]
    assert "Lookup entries" in run("patch", "inspect", "a.jellyp", "--html", "-", cwd=tmp_path).out.decode()


def test_inspect_draws_a_page(folder: Path) -> None:
    run("patch", "inspect", "a.jellyp", "--html", "page.html", cwd=folder)
    page = (folder / "page.html").read_text()
    for words in ("Changes along the stream", "Size against text", "&lt;x:p&gt;", "PATCH_STREAM_TYPE_PUNCTUATED"):
        assert words in page
    assert run("patch", "inspect", "a.rdfp", "--html", "-", cwd=folder).out.decode().count("RDF Patch text") > 0


def test_validate_reports_valid_patches(folder: Path) -> None:
    assert run("patch", "validate", "a.jellyp", cwd=folder).out == b"a.jellyp: valid (2 frames, 2 patches, 12 rows)\n"
    assert run("patch", "validate", "a.rdfp", cwd=folder).out == b"a.rdfp: valid (2 patches, 12 rows)\n"
    report = json.loads(run("patch", "validate", "--json", data=(folder / "a.jellyp").read_bytes()).out)
    assert report["valid"]
    assert report["patch_count"] == 2
    assert run("patch", "validate", "a.jellyp", "--options-file", "a.rdfp", "--quiet", cwd=folder).out == b""


def test_validate_lists_the_errors_of_invalid_patches(folder: Path) -> None:
    text = b"TX .\nA <x:s> .\nTX .\n"
    told = run("patch", "validate", "--in-format=rdfp", data=text, code=1).out.decode()
    assert told.splitlines() == [
        "standard input: invalid (1 patch, 1 row read before the error)",
        "  line 2, column 9: expected any term as predicate, found '.'",
        "  line 3, column 1: a transaction starts inside another transaction",
        "  line 4, column 1: the text ends inside a transaction, and must end it with 'TC .' or 'TA .'",
    ]
    assert run("patch", "validate", "--in-format=rdfp", "--strict=false", data=b"TX .\nTX .\n").code == 0
    many = run("patch", "validate", "--in-format=rdfp", data=b"A .\n" * 30, code=1).out.decode()
    assert many.endswith("  10 more lines cannot be read\n")
    terms = b'A <x:s> <x:p> "o"@abcdefghij .\n'
    told = run("patch", "validate", "--in-format=rdfp", "--validate-terms", data=terms, code=1).out.decode()
    assert "row 1: " in told
    data = (folder / "a.jellyp").read_bytes()
    assert "ends inside a frame" in run("patch", "validate", data=data[:-3], code=1).out.decode()
    told = run("patch", "validate", "--delimited=false", data=data, code=1).out.decode()
    assert "the input is frames with their lengths in front, not one bare frame" in told
    run("patch", "transcode", "a.jellyp", "--preset=small", "--to", "b.jellyp", cwd=folder)
    told = run("patch", "validate", "a.jellyp", "--options-file", "b.jellyp", code=1, cwd=folder).out.decode()
    assert "the option max_name_table_size is 4000, and 128 in b.jellyp" in told
    assert run("patch", "validate", "missing.jellyp", code=2, cwd=folder).out == b""


def test_exceeding_a_limit_is_an_error_and_not_invalid(folder: Path) -> None:
    told = run("patch", "validate", "a.jellyp", "--limit", "max_frame_bytes=20", code=2, cwd=folder).err
    assert "max_frame_bytes" in told
