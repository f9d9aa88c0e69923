"""Executors and workers that die in the middle of a job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spark_data import Read, quads, texts, write_jelly

STATEMENTS = quads(6000)
PROGRAM = Path(__file__).parent.parent / "spark_faults.py"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_the_result_is_exact_though_an_executor_and_a_worker_are_killed(tmp_path):
    source = write_jelly(tmp_path / "in.jelly", STATEMENTS, restart_every=8000, frame_rows=50, index=True)
    assert len(Read(source, partition_bytes="20k").partitions) > 4
    target, marks = tmp_path / "out", tmp_path / "marks"
    for folder in (target, marks):
        folder.mkdir()
    write_jelly(target / "old.jelly", STATEMENTS[:10])
    done = subprocess.run(
        [sys.executable, PROGRAM, source, target, marks],
        env={
            **os.environ,
            "SPARK_WORKER_DIR": str(tmp_path / "work"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in marks.iterdir()) == ["executor", "worker"]
    assert Read(target, layout="ntriples").counted() == texts(STATEMENTS)
    assert all(path.name.startswith("part-") and path.suffix == ".jelly" for path in target.rglob("*"))
