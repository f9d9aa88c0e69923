"""A session for the Spark rows, the files that they read, and the memory of its Python workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from jellyframe import open_writer
from jellyframe.formats import ntriples
from jellyframe.spark import session
from jellyframe.spark.source import JellyDataSource

from .datasets import Dataset
from .spark_peers import DroppedBatches, ReadyBatches
from .timing import Contestant

CORES = 2
MANY_FILES = 16
# Room for a cached DataFrame of five million statements.
_DRIVER_MEMORY = "4g"


@contextmanager
def started_session() -> Iterator[SparkSession]:
    spark = session(f"local[{CORES}]", config={"spark.driver.memory": _DRIVER_MEMORY})
    spark.dataSource.register(ReadyBatches)
    spark.dataSource.register(DroppedBatches)
    try:
        yield spark
    finally:
        spark.stop()


class SparkFiles:
    """One data set in one folder, in all the forms that are read; each is made when first used."""

    def __init__(self, folder: Path, dataset: Dataset, statements: int) -> None:
        self.out = str(folder / "out")
        self.statements = statements
        self.short_statements = statements // 10
        self._folder = folder
        self._dataset = dataset

    @cached_property
    def text(self) -> str:
        path = self._folder / "data.nt"
        self._dataset.write(path, self.statements)
        return str(path)

    @cached_property
    def short_text(self) -> str:
        """The path of the beginning of the text, for a slow peer."""
        path = self._folder / "short.nt"
        self._dataset.write(path, self.short_statements)
        return str(path)

    @cached_property
    def jelly(self) -> str:
        """The path of one splittable file."""
        path = self._folder / "data.jelly"
        with open_writer(path, index=True) as writer:
            for batch in ntriples.read(self.text):
                writer.write_batch(batch)
        return str(path)

    @cached_property
    def many_jelly(self) -> str:
        """The path of a folder with the same rows in many files, none of which is split."""
        folder = self._folder / "many"
        folder.mkdir()
        rows = -(-self.statements // MANY_FILES)
        files = (str(folder / f"{number:02}.jelly") for number in range(MANY_FILES + 1))
        writer, room = open_writer(next(files)), rows
        for batch in ntriples.read(self.text):
            start = 0
            while start < len(batch):
                if not room:
                    writer.close()
                    writer, room = open_writer(next(files)), rows
                stop = min(len(batch), start + room)
                writer.write_batch(batch, start, stop)
                room -= stop - start
                start = stop
        writer.close()
        return str(folder)

    def ready_batches(self, layout: str) -> str:
        """Return a folder with the record batches of reading `jelly`, one Arrow file per partition."""
        folder = self._folder / f"ready-{layout}"
        if not folder.exists():
            folder.mkdir()
            source = JellyDataSource({"path": self.jelly, "layout": layout})
            reader: Any = source.reader(source.schema())
            for number, partition in enumerate(reader.partitions()):
                with pa.ipc.new_file(str(folder / f"{number:04}.arrow"), reader.columns.arrow) as sink:
                    for batch in reader.read(partition):
                        sink.write_batch(batch)
        return str(folder)


def to_nothing(frame: DataFrame, statements: int) -> Contestant:
    """Return a contestant that computes every row and keeps none. The number of rows is checked beforehand."""

    def run() -> int:
        frame.write.format("noop").mode("overwrite").save()
        return statements

    return _warm(Contestant(run, statements), frame)


def to_format(frame: DataFrame, name: str, path: str, statements: int) -> Contestant:
    def run() -> int:
        frame.write.format(name).mode("overwrite").save(path)
        return statements

    return _warm(Contestant(run, statements), frame)


def _warm(contestant: Contestant, frame: DataFrame) -> Contestant:
    """Return a contestant that has run before, so that classes are loaded, code is compiled and workers are running."""
    if (found := frame.count()) != contestant.expected:
        raise AssertionError(f"{found:,} rows instead of {contestant.expected:,}")
    for _ in range(2):
        contestant.run()
    return contestant


def on_one_core(spark: SparkSession, contestant: Contestant) -> Contestant:
    """Return the same work with Spark and its Python workers bound to one core. Linux only."""

    def run() -> int:
        cores = os.sched_getaffinity(0)
        _bind(spark, {min(cores)})
        try:
            return contestant.run()
        finally:
            _bind(spark, cores)

    return replace(contestant, run=run)


def _bind(spark: SparkSession, cores: set[int]) -> None:
    """Bind all threads to these cores; threads that they start inherit the binding."""
    java = _java(spark)
    for pid in [java, *_descendants(java)]:
        for thread in _threads(pid):
            # It may have ended since it was listed.
            with suppress(ProcessLookupError):
                os.sched_setaffinity(thread, cores)


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def worker_peak_bytes(spark: SparkSession) -> int:
    """Return the highest peak memory of the running Python workers, which stay for a minute after their work."""
    peaks = [_peak_bytes(pid) for pid in _descendants(_java(spark)) if "python" in _status(pid).get("Name", "")]
    return max(peaks)


def _java(spark: SparkSession) -> int:
    pid: int = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    return pid


def _descendants(parent: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (of := _status(int(name)).get("PPid")):
            children.setdefault(int(of), []).append(int(name))
    waiting = [parent]
    while waiting:
        found = children.get(waiting.pop(), [])
        waiting += found
        yield from found


def _peak_bytes(pid: int) -> int:
    return 1024 * int(_status(pid).get("VmHWM", "0 kB").split()[0])


def _status(pid: int) -> dict[str, str]:
    """Return Linux's status of a process; nothing if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
