"""A program: overwrites a folder of Jelly, and stops in the middle, with some tasks done, for somebody to kill it.

    python spark_killed_driver.py INPUT OUTPUT

Two tasks run at a time. The first ends, the second never does: INPUT has to have as many partitions, and more.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

STUCK_PARTITION = 1
# Should nobody come, the program ends by itself.
WAIT_SECONDS = 120


def get_stuck(batches: Iterator[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    for number, batch in enumerate(batches):
        if number == 2 and context.partitionId() == STUCK_PARTITION:
            threading.Event().wait(WAIT_SECONDS)
            raise TimeoutError("nobody has killed the driver")
        yield batch


def main(source: str, target: str) -> None:
    from jellyframe.spark import session

    spark = session("local[2]", config={"spark.sql.execution.arrow.maxRecordsPerBatch": 200})
    frame = spark.read.format("jelly").options(layout="ntriples", partition_bytes="20k", batch_rows=200).load(source)
    changed = frame.mapInArrow(get_stuck, frame.schema)
    changed.write.format("jelly").mode("overwrite").save(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
