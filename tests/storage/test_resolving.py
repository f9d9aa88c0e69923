"""Names of inputs are resolved to files, in all operations."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, OptionsError, Triple
from jellyframe.errors import StorageError
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.storage.stores import Storage

STATEMENTS = [Triple(IRI(f"http://a/{number}"), IRI("http://a/p"), IRI("http://a/o")) for number in range(4)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    (folder / "deep").mkdir(parents=True)
    for name, statements in (("a.jelly", STATEMENTS[:2]), ("deep/b.jelly", STATEMENTS[2:])):
        with jellyframe.open_writer(folder / name) as writer:
            writer.write(statements)
    (folder / "notes.txt").write_text("no data")
    return folder


def as_uri(folder: Path) -> str:
    return folder.as_uri()


NAMES: dict[str, Callable[[Path], str | Path]] = {
    "folder": lambda folder: folder,
    "pattern": lambda folder: f"{folder}/**/*.jelly",
    "URI": as_uri,
    "pattern in a URI": lambda folder: f"file://{folder}/**/*.jelly",
}


@pytest.mark.parametrize("kind", NAMES)
def test_folders_and_patterns_resolve_to_their_files(folder: Path, kind: str) -> None:
    assert resolve_inputs([NAMES[kind](folder)]) == [f"{folder}/a.jelly", f"{folder}/deep/b.jelly"]


def test_other_inputs_are_returned_unchanged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    file = io.BytesIO()
    assert resolve_inputs([None, b"bytes", "deep", file, "not there"]) == [
        None,
        b"bytes",
        "deep/b.jelly",
        file,
        "not there",
    ]
    (folder / "[a].jelly").touch()
    assert resolve_inputs(["[a].jelly", "[a].*"]) == ["[a].jelly", "a.jelly"]
    (folder / "empty").mkdir()
    for name in ("empty", "*.nothing"):
        with pytest.raises(StorageError, match=name.replace("*", r"\*")):
            resolve_inputs([name])


@pytest.mark.parametrize("kind", NAMES)
def test_operations_take_names_of_many_files(folder: Path, kind: str, tmp_path: Path) -> None:
    name = NAMES[kind](folder)
    written = tmp_path / "all.jelly"
    assert jellyframe.transcode(name, written).statements == 4
    assert jellyframe.transcode([name, name], io.BytesIO()).statements == 8
    assert jellyframe.convert(name, tmp_path / "all.nt").statements == 4
    assert jellyframe.compare(name, tmp_path / "all.nt", ordered=True).is_equal
    assert jellyframe.compare(written, name).is_equal
    assert not jellyframe.compare(name, folder / "a.jelly").is_equal
    assert jellyframe.validate(written, compare_to=name).is_valid
    with pytest.raises(OptionsError, match="has 2 files"):
        jellyframe.validate(name)


def test_operations_take_uris_of_object_stores(folder: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    try:
        memory.put(f"{folder}/", "/jellyframe-resolving/", recursive=True)
        name = "memory://jellyframe-resolving"
        files = [f"{name}/a.jelly", f"{name}/deep/b.jelly"]
        assert resolve_inputs([name]) == resolve_inputs([f"{name}/**/*.jelly"]) == files
        assert resolve_inputs(files[:1]) == files[:1]
        assert jellyframe.transcode(name, tmp_path / "all.jelly").statements == 4
        assert jellyframe.convert(f"{name}/*.jelly", tmp_path / "some.nt").statements == 2
        assert jellyframe.compare(name, tmp_path / "all.jelly").is_equal
        assert jellyframe.validate(f"{name}/deep").statements == 2
    finally:
        memory.rm("/jellyframe-resolving", recursive=True)


def test_addresses_keep_the_settings_of_a_uri() -> None:
    uri = "s3://bucket/folder?endpoint_override=localhost%3A9000&scheme=http&region=x"
    settings = uri.partition("?")[2]
    assert Storage(uri).address("bucket/folder/a.jelly") == f"s3://bucket/folder/a.jelly?{settings}"
    assert Storage().address("/a/b") == "/a/b"
