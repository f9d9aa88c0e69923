"""Executors, workers and drivers that die in the middle of a job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jellyframe.storage.commit import ABANDONED_AFTER_SECONDS, STAGING_PREFIX
from support.spark_data import Read, quads, texts, write_jelly

STATEMENTS = quads(6000)
PROGRAMS = Path(__file__).parent.parent / "support"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc"),
]


def environment(**more):
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def test_the_result_is_exact_though_an_executor_and_a_worker_are_killed(tmp_path):
    source = write_jelly(tmp_path / "in.jelly", STATEMENTS, restart_every=8000, frame_rows=50, index=True)
    assert len(Read(source, partition_bytes="20k").partitions) > 4
    target, marks = tmp_path / "out", tmp_path / "marks"
    for folder in (target, marks):
        folder.mkdir()
    write_jelly(target / "old.jelly", STATEMENTS[:10])
    done = subprocess.run(
        [sys.executable, PROGRAMS / "spark_faults.py", source, target, marks],
        env=environment(SPARK_WORKER_DIR=str(tmp_path / "work")),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in marks.iterdir()) == ["executor", "worker"]
    assert Read(target, layout="ntriples").counted() == texts(STATEMENTS)
    assert all(path.name.startswith("part-") and path.suffix == ".jelly" for path in target.rglob("*"))


def living(session):
    """Whether a process of a session is alive. Spark's Python workers stay in it, though they leave their group."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, _group, its_session = place.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # It has ended meanwhile.
            continue
        if int(its_session) == session and state != "Z":
            return True
    return False


def kill_in_the_middle_of_an_overwrite(source, target, folder):
    """Start a driver, and kill it with its JVM when one task is done writing and another has begun."""
    with (folder / "log").open("w") as log:
        driver = subprocess.Popen(
            [sys.executable, PROGRAMS / "spark_killed_driver.py", source, target],
            env=environment(),
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def is_half_written():
        assert driver.poll() is None, (folder / "log").read_text()
        attempts = list(target.glob(f"{STAGING_PREFIX}*/attempt-*"))
        return len(attempts) > 1 and any(target.glob(f"{STAGING_PREFIX}*/attempt-*/part-*.jelly"))

    try:
        wait_until(is_half_written, 60, "tasks that write")
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    wait_until(lambda: not living(driver.pid), 30, "the end of the workers")


def test_a_driver_that_is_killed_in_an_overwrite_leaves_the_old_data(spark, tmp_path):
    source = write_jelly(tmp_path / "in.jelly", STATEMENTS, restart_every=8000, frame_rows=50, index=True)
    target, old = tmp_path / "out", STATEMENTS[:1000]
    target.mkdir()
    write_jelly(target / "old.jelly", old)
    kill_in_the_middle_of_an_overwrite(source, target, tmp_path)

    # What was staged is still there, but it is not data: neither for us nor for Spark.
    (staging,) = target.glob(f"{STAGING_PREFIX}*")
    staged = [path for path in staging.rglob("*") if path.is_file()]
    assert staged
    assert Read(target, layout="ntriples").counted() == texts(old)
    assert spark.read.format("jelly").load(str(target)).count() == len(old)

    def overwrite():
        spark.read.format("jelly").load(str(source)).write.format("jelly").mode("overwrite").save(str(target))
        assert Read(target, layout="ntriples").counted() == texts(STATEMENTS)

    # The next job does not know that the other one is dead, and keeps its folder.
    overwrite()
    assert all(path == staging or path.name.startswith("part-") for path in target.iterdir())
    assert [path for path in staging.rglob("*") if path.is_file()] == staged
    # After a long time it removes the folder.
    long_ago = time.time() - ABANDONED_AFTER_SECONDS - 3600
    for path in (staging, *staging.rglob("*")):
        os.utime(path, (long_ago, long_ago))
    overwrite()
    assert all(path.name.startswith("part-") and path.suffix == ".jelly" for path in target.rglob("*"))
