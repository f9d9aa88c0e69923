"""Snapshots: each number is made once, and the newest manifest is valid whenever a run is interrupted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jellyframe.errors import StorageError
from jellyframe.storage.finding import find_files
from jellyframe.storage.snapshots import Manifest, Snapshots, snapshot_data


def filled(snapshots: Snapshots, text: str) -> str:
    """The data of the next snapshot, complete."""
    folder = snapshots.next_folder()
    Path(folder).mkdir(parents=True)
    (Path(folder) / "part.jelly").write_text(text)
    return folder


def made(snapshots: Snapshots, text: str, patches=()) -> Manifest:
    return snapshots.commit(filled(snapshots, text), patches, origin=["base"], statements=1, files=1, size=len(text))


def patches_in(folder):
    return find_files([folder], lambda name: name.endswith(".jellyp"))


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    for number in (1, 2, 4):
        (folder / f"{number}.jellyp").write_text("x" * number)
    return folder


def test_a_snapshot_holds_its_patches_and_those_of_the_one_before(tmp_path, log):
    replica = tmp_path / "replica"
    first = Snapshots(str(replica))
    assert (first.number, first.current) == (0, None)
    found = patches_in(log)
    assert first.new_patches(found) == found
    made(first, "one", found[:2])
    again = Snapshots(str(replica))
    assert again.new_patches(found) == found[2:]
    made(again, "two", found[2:])
    assert Snapshots(str(replica)).new_patches(found) == []
    manifest = json.loads((replica / "_snapshots" / "000002.json").read_text())
    assert [(patch["name"], patch["size"], patch["since"]) for patch in manifest["patches"]] == [
        (str(log / "1.jellyp"), 1, 1),
        (str(log / "2.jellyp"), 2, 1),
        (str(log / "4.jellyp"), 4, 2),
    ]
    assert manifest["origin"] == ["base"]
    latest = Snapshots(str(replica)).latest
    assert latest is not None
    assert Manifest.from_json(latest.as_json()) == latest == again.latest


def test_readers_of_the_folder_see_the_newest_snapshot_only(tmp_path):
    snapshots = Snapshots(str(tmp_path))
    made(snapshots, "one")
    snapshots.tidy(2)
    made(snapshots, "two")
    assert [Path(file.path).read_text() for file in find_files([tmp_path])] == ["one"]
    snapshots.tidy(2)
    assert [Path(file.path).read_text() for file in find_files([tmp_path])] == ["two"]
    assert (Path(snapshot_data(str(tmp_path))) / "part.jelly").read_text() == "two"
    assert snapshot_data(str(tmp_path / "elsewhere")) == str(tmp_path / "elsewhere")


def test_old_snapshots_and_data_of_killed_runs_are_removed(tmp_path):
    snapshots = Snapshots(str(tmp_path))
    left_over = filled(snapshots, "never committed")
    made(snapshots, "one")
    of_another_run = filled(Snapshots(str(tmp_path)), "goes on")
    for text in ("two", "three"):
        snapshots.tidy(2)
        if text == "two":
            assert os.path.exists(of_another_run)
        made(snapshots, text)
    snapshots.tidy(2)
    inside = sorted(path.name for path in (tmp_path / "_snapshots").iterdir())
    assert [name for name in inside if name.endswith(".json")] == ["000002.json", "000003.json"]
    assert len(inside) == 4
    assert not os.path.exists(left_over)
    assert not os.path.exists(of_another_run)


def test_only_one_of_two_runs_makes_a_snapshot(tmp_path):
    one, other = Snapshots(str(tmp_path)), Snapshots(str(tmp_path))
    made(one, "one")
    with pytest.raises(StorageError, match="another run has made snapshot 1 meanwhile"):
        made(other, "other")
    made(one, "two")
    one.tidy(1)
    with pytest.raises(StorageError, match="another run"):
        made(other, "number 1 is free again, but older")
    assert Snapshots(str(tmp_path)).number == 2


def test_a_patch_that_changed_or_comes_late_is_refused(tmp_path, log):
    replica = tmp_path / "replica"
    made(Snapshots(str(replica)), "one", patches_in(log))
    (log / "5.jellyp").write_text("in order")
    assert [file.size for file in Snapshots(str(replica)).new_patches(patches_in(log))] == [8]
    (log / "3.jellyp").write_text("late")
    with pytest.raises(StorageError, match=r"3\.jellyp is new, but sorts before .*4\.jellyp, .* snapshot 1;"):
        Snapshots(str(replica)).new_patches(patches_in(log))
    late = Snapshots(str(replica)).new_patches(patches_in(log), allow_late=True)
    assert [file.size for file in late] == [4, 8]
    (log / "1.jellyp").unlink()
    (log / "2.jellyp").write_text("changed")
    with pytest.raises(StorageError, match=r"2\.jellyp has 7 bytes, and had 2 when it was applied, for snapshot 1"):
        Snapshots(str(replica)).new_patches(patches_in(log))


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "people.jelly").write_text("")
    with pytest.raises(StorageError, match="there is something in the folder, but no snapshot"):
        Snapshots(str(tmp_path))


def test_a_damaged_manifest_is_named(tmp_path):
    snapshots = Snapshots(str(tmp_path))
    made(snapshots, "one")
    (tmp_path / "_snapshots" / "000001.json").write_text('{"patches": []}')
    with pytest.raises(StorageError, match=r"000001\.json is damaged"):
        Snapshots(str(tmp_path))
