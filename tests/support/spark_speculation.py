"""A program: writes Jelly on a cluster of two workers, where two attempts of one task wait for each other.

    python spark_speculation.py MASTER INPUT OUTPUT MARKS

MARKS is an empty folder. Each attempt of that task leaves a file there when it has handed over its first rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PARTITION = 1
_PATIENCE_SECONDS = 120


def waits_for_another(marks: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def change(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and context.partitionId() == _PARTITION:
                Path(marks, f"attempt-{context.attemptNumber()}").touch()
                deadline = time.monotonic() + _PATIENCE_SECONDS
                while len(list(Path(marks).iterdir())) < 2 and time.monotonic() < deadline:
                    time.sleep(0.05)

    return change


def main(master: str, source: str, target: str, marks: str) -> None:
    from jellyframe.spark import session

    spark = session(
        master,
        config={
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.sql.execution.arrow.maxRecordsPerBatch": 200,
            "spark.speculation": True,
            "spark.speculation.interval": "100ms",
            "spark.speculation.quantile": 0.5,
            "spark.speculation.multiplier": 1.1,
            "spark.speculation.minTaskRuntime": "100ms",
        },
    )
    frame = spark.read.format("jelly").options(layout="ntriples", partition_bytes="20k").load(source)
    changed = frame.mapInArrow(waits_for_another(marks), frame.schema)
    changed.write.format("jelly").mode("overwrite").save(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
