"""Replication: each patch is applied once, whenever a run is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from jellyframe import Add, Delete
from jellyframe.errors import OptionsError, StorageError
from jellyframe.spark import jobs
from support.patch_logs import apply_to_set, random_rows, read_data, statement, write_patch
from support.spark_data import write_jelly


@pytest.fixture
def base(tmp_path):
    statements = [statement(number) for number in range(200)]
    write_jelly(tmp_path / "base.jelly", statements)
    return statements


def test_a_growing_folder_of_patches_becomes_snapshots(spark, base, tmp_path):
    replica, log = tmp_path / "replica", tmp_path / "log"
    rows = [random_rows(seed, 200) for seed in range(3)]
    write_patch(log / "0.jellyp", rows[0])
    first = jobs.replicate(spark, tmp_path / "base.jelly", log, to=replica)
    assert (first.snapshot, first.patches) == (1, 1)
    assert set(read_data(replica / "current")) == apply_to_set(base, rows[0])
    again = jobs.replicate(spark, tmp_path / "base.jelly", log, to=replica)
    assert (again.snapshot, again.patches, again.output) == (1, 0, first.output)
    assert again.as_text().startswith("replicate: no new patches; snapshot 1 in ")
    for number in (1, 2):
        write_patch(log / f"{number}.jellyp", rows[number])
    # Without `to`, the folder of snapshots is what is brought up to date.
    second = jobs.replicate(spark, replica, log, keep=1)
    assert (second.snapshot, second.patches) == (2, 2)
    assert second.as_text().endswith("2 patches, snapshot 2")
    assert set(read_data(replica / "current")) == apply_to_set(base, rows[0] + rows[1] + rows[2])
    manifest = json.loads((replica / "_snapshots" / "000002.json").read_text())
    assert [(os.path.basename(patch["name"]), patch["since"]) for patch in manifest["patches"]] == [
        ("0.jellyp", 1),
        ("1.jellyp", 2),
        ("2.jellyp", 2),
    ]
    assert manifest["statements"] == second.statements == len(read_data(replica / "current"))
    assert sorted(path.suffix for path in (replica / "_snapshots").iterdir()) == ["", ".json"]
    assert spark.read.format("jelly").load(str(replica)).count() == second.statements
    with pytest.raises(StorageError, match=r"the initial data of the snapshots was .*base\.jelly, not .*log"):
        jobs.replicate(spark, log, log, to=replica)


def test_snapshots_may_begin_and_become_empty(spark, tmp_path):
    replica, log = tmp_path / "replica", tmp_path / "log"
    log.mkdir()
    assert jobs.replicate(spark, replica, log).snapshot == 0
    write_patch(log / "1.jellyp", [Add(*statement(1))])
    assert jobs.replicate(spark, replica, log).snapshot == 1
    assert read_data(replica / "current") == [statement(1)]
    write_patch(log / "2.jellyp", [Delete(*statement(1))])
    assert jobs.replicate(spark, replica, log).statements == 0
    write_patch(log / "3.jellyp", [Add(*statement(2))])
    assert jobs.replicate(spark, replica, log).snapshot == 3
    assert read_data(replica / "current") == [statement(2)]


def test_invalid_arguments_are_refused(spark, tmp_path):
    with pytest.raises(OptionsError, match="keep is 0, and must be at least 1"):
        jobs.replicate(spark, tmp_path / "replica", tmp_path, keep=0)
    with pytest.raises(OptionsError, match="2 paths of initial data are given"):
        jobs.replicate(spark, [tmp_path / "a", tmp_path / "b"], tmp_path)
    with pytest.raises(StorageError, match="no such file or folder"):
        jobs.replicate(spark, tmp_path / "replica", tmp_path / "nowhere")


# A driver that ends itself, with no chance to clear up, at some moment of a run.
_KILLED_DRIVER = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from jellyframe.spark import jobs, session
from jellyframe.spark.jobs import replicating, running
from jellyframe.storage.commit import Target
from jellyframe.storage.snapshots import Snapshots

address, replica, log, moment = sys.argv[1:]

def kill(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

def killed_after(function):
    def run(*arguments, **named):
        function(*arguments, **named)
        kill()
    return run

def killed_while_tasks_write(frame):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(frame.collect)
        while not any(path.is_file() for path in Path(replica).rglob("_jelly-staging-*/**/*")):
            pass
        kill()

def kill_while_old_data_is_removed(commit):
    def run(*arguments, **named):
        commit(*arguments, **named)
        Snapshots._read = kill
    return run

if moment == "before anything is written":
    replicating.write_by_bucket = kill
elif moment == "while tasks write":
    running.collected = killed_while_tasks_write
elif moment == "before files are in place":
    Target.publish = kill
elif moment == "some files are in place":
    Target._move = killed_after(Target._move)
elif moment == "before the manifest":
    Snapshots.commit = kill
elif moment == "while the manifest is written":
    os.fsync = kill
elif moment == "after the manifest":
    Snapshots.commit = killed_after(Snapshots.commit)
elif moment == "while the run after it repairs the link":
    Snapshots._link = killed_after(Snapshots._link)
elif moment == "while old data is removed":
    Snapshots.commit = kill_while_old_data_is_removed(Snapshots.commit)
jobs.replicate(session(address), replica, log, keep=1)
"""


def test_a_driver_may_be_killed_at_any_moment(spark, connect_port, tmp_path):
    replica, log = tmp_path / "replica", tmp_path / "log"
    # Each with the number of the newest snapshot after it.
    moments = [
        ("before anything is written", 0),
        ("while tasks write", 0),
        ("before files are in place", 0),
        ("some files are in place", 0),
        ("before the manifest", 0),
        ("while the manifest is written", 0),
        ("after the manifest", 1),
        ("while the run after it repairs the link", 1),
        ("while old data is removed", 2),
        ("before anything is written", 2),
    ]
    rows = []
    for number, (moment, snapshots) in enumerate(moments):
        new = random_rows(number, 150)
        write_patch(log / f"{number}.jellyp", new)
        rows += new
        command = [sys.executable, "-c", _KILLED_DRIVER, f"sc://127.0.0.1:{connect_port}", replica, log, moment]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        manifests = sorted((replica / "_snapshots").glob("*.json"))
        assert [int(path.stem) for path in manifests][-1:] == [snapshots][: snapshots > 0]
        if moment == "while the manifest is written":
            assert list((replica / "_snapshots").glob(".000001.json.*"))
    done = jobs.replicate(spark, replica, log, keep=1)
    # The patches that a killed run had committed are not applied again.
    assert (done.snapshot, done.patches) == (3, 1)
    assert set(read_data(replica / "current")) == apply_to_set([], rows)
    assert sorted(path.suffix for path in (replica / "_snapshots").iterdir()) == ["", ".json"]
