"""A program: reads, transforms and writes Jelly on a small cluster while an executor and a Python worker are killed.

    python spark_faults.py INPUT OUTPUT MARKS

MARKS is an empty folder, in which each kill is noted, so that it happens once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def parent(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


def killing_worker(marks: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def change(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        victim = {1: "worker", 3: "executor"}.get(context.partitionId())
        for number, batch in enumerate(batches):
            if number == 1 and victim is not None and not Path(marks, victim).exists():
                Path(marks, victim).touch()
                # A worker is a child of a daemon, which is a child of the executor.
                os.kill(os.getpid() if victim == "worker" else parent(os.getppid()), signal.SIGKILL)
            yield batch

    return change


def main(source: str, target: str, marks: str) -> None:
    from jellyframe.spark import session

    spark = session(
        "local-cluster[2,1,1024]",
        # Small batches, so that much is on its way when it happens.
        config={"spark.executor.memory": "1g", "spark.sql.execution.arrow.maxRecordsPerBatch": 200},
    )
    frame = spark.read.format("jelly").options(layout="ntriples", partition_bytes="20k").load(source)
    changed = frame.mapInArrow(killing_worker(marks), frame.schema)
    changed.write.format("jelly").mode("overwrite").save(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
