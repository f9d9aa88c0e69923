"""Batches of streams are committed once, whatever fails."""

from __future__ import annotations

import os

import pytest

from jellyframe.errors import StorageError
from jellyframe.storage.stream_commit import NOTES_KEPT, StreamBatch

LINES = [f"line {i}" for i in range(20)]


def lines_in(folder):
    """Return the content of the files that readers see."""
    return [line for path in sorted(folder.glob("*.jelly")) for line in path.read_text().splitlines()]


def files_in(folder):
    """All files but notes, hidden ones too."""
    return sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if not place.endswith("_jelly-commits")
    )


def staged(batch, attempt, lines):
    """The files of a task that has come to its end."""
    folder = batch.target.attempt_folder(attempt)
    path = f"{folder}/part-00000-{attempt[0]}.jelly"
    with open(path, "w") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def begun(folder, number=3):
    return StreamBatch(str(folder), "query", number)


def test_a_batch_that_is_run_again_changes_nothing(tmp_path):
    batch = begun(tmp_path / "out")
    batch.commit([staged(batch, "a1", LINES[:5]), staged(batch, "b1", LINES[5:10])])
    files = files_in(tmp_path)
    again = begun(tmp_path / "out")
    assert again.is_decided()
    # A task may have begun before the batch was decided.
    again.commit([staged(again, "a2", LINES[:7])])
    assert files_in(tmp_path) == files
    staged(again, "c1", LINES[:7])
    again.abort()
    assert files_in(tmp_path) == files
    assert lines_in(tmp_path / "out") == LINES[:10]
    other = begun(tmp_path / "out", 4)
    other.commit([staged(other, "d1", LINES[10:20])])
    assert lines_in(tmp_path / "out") == LINES[:20]


@pytest.mark.parametrize("moved", [0, 1])
@pytest.mark.parametrize("then", ["commit", "abort"])
def test_an_interrupted_commit_is_finished_later(tmp_path, moved, then):
    batch = begun(tmp_path / "out")
    files = [staged(batch, "a1", LINES[:5]), staged(batch, "b1", LINES[5:10])]
    # A folder stands where the next file should go.
    obstacle = tmp_path / "out" / os.path.basename(files[moved])
    (obstacle / "x").mkdir(parents=True)
    with pytest.raises(StorageError, match="batch 3 is not all in place"):
        batch.commit(files)
    (obstacle / "x").rmdir()
    obstacle.rmdir()
    assert lines_in(tmp_path / "out") == LINES[: 5 * moved]
    again = begun(tmp_path / "out")
    more = staged(again, "a2", LINES[:5])
    if then == "commit":
        again.commit([more])
    else:
        again.abort()
    assert lines_in(tmp_path / "out") == LINES[:10]
    assert len(files_in(tmp_path)) == 2


def test_files_that_the_driver_does_not_see(tmp_path):
    batch = begun(tmp_path / "out")
    with pytest.raises(StorageError, match="a file system that they share"):
        batch.commit([f"{tmp_path}/out/_jelly-staging-x/a.jelly"])
    assert not batch.is_decided()
    batch.abort()


def test_old_records_of_batches_are_removed(tmp_path):
    for number in range(NOTES_KEPT + 5):
        begun(tmp_path, number).commit([])
    assert len(list((tmp_path / "_jelly-commits").iterdir())) == NOTES_KEPT
