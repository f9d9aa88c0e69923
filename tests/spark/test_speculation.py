"""A task of which two attempts write at the same time, on a cluster of a master and two workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.spark_data import Read, quads, texts, write_jelly

PROGRAM = Path(__file__).parent.parent / "support" / "spark_speculation.py"
# Spark starts no second attempt on a host that runs the first, so the workers need different addresses.
HOSTS = ("127.0.0.1", "127.0.0.2")


def can_bind(host: str) -> bool:
    try:
        with socket.create_server((host, 0)):
            return True
    except OSError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not all(map(can_bind, HOSTS)), reason="needs two loopback addresses"),
]


def free_port() -> int:
    with socket.create_server((HOSTS[0], 0)) as server:
        port: int = server.getsockname()[1]
    return port


def environment() -> dict[str, str]:
    import pyspark

    from jellyframe.spark.java import find_java_home

    return {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_DAEMON_MEMORY": "256m",
        # These processes live too briefly for the optimizing compiler to pay off.
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }


@contextmanager
def cluster(folder: Path, variables: dict[str, str]) -> Iterator[str]:
    """Start a master and two workers, and give the master's URL."""
    launcher = Path(variables["SPARK_HOME"], "bin", "spark-class")
    port = free_port()
    url = f"spark://{HOSTS[0]}:{port}"
    started = []

    def start(name: str, *arguments: str) -> None:
        with (folder / f"{name}.log").open("w") as log:
            command = [str(launcher), f"org.apache.spark.deploy.{name}", "--webui-port", "0", *arguments]
            started.append(subprocess.Popen(command, env=variables, cwd=folder, stdout=log, stderr=log))

    try:
        start("master.Master", "--host", HOSTS[0], "--port", str(port))
        for host in HOSTS:
            work = str(folder / f"work-{host}")
            start("worker.Worker", "--host", host, "--cores", "1", "--memory", "512m", "--work-dir", work, url)
        yield url
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def test_only_one_of_two_attempts_counts(tmp_path):
    statements = quads(6000)
    source = write_jelly(tmp_path / "in.jelly", statements, restart_every=8000, frame_rows=50, index=True)
    tasks = len(Read(source, partition_bytes="20k").partitions)
    assert tasks > 2
    target, marks = tmp_path / "out", tmp_path / "marks"
    for folder in (target, marks):
        folder.mkdir()
    write_jelly(target / "old.jelly", statements[:10])
    variables = environment()
    with cluster(tmp_path, variables) as master:
        done = subprocess.run(
            [sys.executable, PROGRAM, master, source, target, marks],
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in marks.iterdir()) == ["attempt-0", "attempt-1"]
    assert Read(target, layout="ntriples").counted() == texts(statements)
    assert len(list(target.iterdir())) == tasks
    assert all(path.name.startswith("part-") and path.suffix == ".jelly" for path in target.rglob("*"))
