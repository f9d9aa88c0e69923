"""Finding files: folders, patterns, lists."""

from __future__ import annotations

import os

import pyarrow.fs
import pytest

from jellyframe.errors import StorageError
from jellyframe.storage.finding import find_files
from jellyframe.storage.stores import locate


@pytest.fixture
def folder(tmp_path):
    for name in (
        "a.jelly",
        "b.jelly.gz",
        "deep/c.jelly.zst",
        "deep/er/d.JELLY",
        "notes.txt",
        "_hidden/e.jelly",
        ".f.jelly",
        "deep/_g.jelly",
        "x=1/[odd].jelly",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    return tmp_path


def names(folder, *paths):
    return [file.path.removeprefix(f"{folder}/") for file in find_files(tuple(f"{folder}/{path}" for path in paths))]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", ["a.jelly", "b.jelly.gz", "deep/c.jelly.zst", "deep/er/d.JELLY", "x=1/[odd].jelly"]),
        ("deep/", ["deep/c.jelly.zst", "deep/er/d.JELLY"]),
        ("*.jelly", ["a.jelly"]),
        ("*", ["a.jelly", "b.jelly.gz", "deep/c.jelly.zst", "deep/er/d.JELLY", "notes.txt", "x=1/[odd].jelly"]),
        ("?.jelly*", ["a.jelly", "b.jelly.gz"]),
        ("[a-b].*", ["a.jelly", "b.jelly.gz"]),
        ("[!a].jelly.gz", ["b.jelly.gz"]),
        ("{a,b}.jelly{,.gz}", ["a.jelly", "b.jelly.gz"]),
        ("**/*.jelly*", ["a.jelly", "b.jelly.gz", "deep/c.jelly.zst", "x=1/[odd].jelly"]),
        ("d*/e?", ["deep/er/d.JELLY"]),
        ("*/*.zst", ["deep/c.jelly.zst"]),
        ("x=1/[odd].jelly", ["x=1/[odd].jelly"]),
        ("_hidden/e.jelly", ["_hidden/e.jelly"]),
        ("notes.txt", ["notes.txt"]),
    ],
)
def test_paths_are_files_folders_and_patterns(folder, path, found):
    assert names(folder, path) == found


def test_a_list_names_each_file_once(folder):
    assert names(folder, "b.jelly.gz", "*.jelly*", "a.jelly") == ["b.jelly.gz", "a.jelly"]
    assert [file.size for file in find_files((f"file://{folder}/a.jelly", f"file:{folder}/a.jelly"))] == [5]


@pytest.mark.parametrize("path", ["nothing", "nothing/*.jelly", "*.nq"])
def test_missing_files_are_errors(folder, path):
    with pytest.raises(StorageError, match=path.replace("*", r"\*")):
        names(folder, path)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_names_that_are_not_utf_8_are_errors_that_show_them(tmp_path):
    odd = os.path.join(os.fsencode(tmp_path), b"odd\xff.jelly")
    with open(odd, "wb") as file:
        file.write(b"12345")
    for path in (os.fsdecode(odd), str(tmp_path), f"{tmp_path}/*.jelly"):
        with pytest.raises(StorageError, match=r"odd\\xff\.jelly: the name is not UTF-8") as caught:
            find_files([path])
        assert "\udcff" not in str(caught.value)


def test_links_to_folders_are_followed_unless_they_lead_back(tmp_path):
    data, other = tmp_path / "data", tmp_path / "other"
    for path in (data / "in" / "a.jelly", other / "b.jelly"):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"12345")
    (data / "linked").symlink_to(other)
    (data / "loop").symlink_to(data)
    (data / "in" / "up").symlink_to("..")
    (other / "back").symlink_to(data)
    assert names(data, "") == ["in/a.jelly", "linked/b.jelly"]
    assert names(data, "**/*.jelly") == ["in/a.jelly", "linked/b.jelly"]


def test_a_folder_may_be_empty(tmp_path):
    assert find_files((str(tmp_path),)) == []


def test_unknown_file_systems_are_refused():
    with pytest.raises(StorageError, match="nowhere://"):
        locate("nowhere://bucket/key")


def test_files_of_other_file_systems_know_their_position(tmp_path):
    data = bytes(range(256)) * 10
    (tmp_path / "a").write_bytes(data)
    storage, path = locate("a", pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem()))
    with storage.open(path) as file:
        assert (file.tell(), file.read(100), file.tell()) == (0, data[:100], 100)
        # From the current position on, also where more was asked for than there is.
        assert file.seek(100, os.SEEK_CUR) == 200
        assert (file.read(5000), file.tell()) == (data[200:], len(data))
        assert file.seek(-10, os.SEEK_CUR) == len(data) - 10
        assert file.read(5000) == data[-10:]
