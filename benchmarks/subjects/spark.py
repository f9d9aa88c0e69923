"""Spark on this machine: our source and sink against ones that do nothing, and against other ways to do the same.

All rows share one warm session of two cores, and the contestants of a row take turns.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparison import against_peer, measurement
from ..datasets import DATASETS
from ..registry import Measurement, Row, Settings, once
from ..timing import Contestant, Outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..spark_session import SparkFiles

DATASET = "people"
MEMORY_LIMIT = 500e6
_RATE = "statements/s"
NTRIPLES = Row("spark-read-ntriples", "Spark: Jelly → ntriples → noop", "ready-made batches", _RATE, 0.75)
STRUCT = Row("spark-read-struct", "Spark: Jelly → struct → noop", "ready-made batches", _RATE, 0.75)
WRITE = Row("spark-write", "Spark: ntriples → Jelly", "a sink that drops batches", _RATE, 0.6)
REGEXP = Row("spark-read-regexp", "Spark: Jelly → ntriples → noop", "text + regexp_extract", _RATE, 3)
CORES = Row("spark-two-cores", "Spark: one Jelly file, two cores", "the same, one core", _RATE, 1.4)
TASKS = Row("spark-two-tasks", "Spark: one Jelly file, two tasks", "one task, two cores", _RATE, None)
FILES = Row("spark-one-file", "Spark: one Jelly file", "the same rows in 16 files", _RATE, 1.0)
CONVERT = Row("spark-convert", "Spark: convert, N-Triples → Jelly", "pyoxigraph + pyjelly, mapPartitions", _RATE, 4)
TABLES = Row("spark-tables", "Spark: Jelly → property tables", "text + regexp_extract + pivot", _RATE, 3)
MEMORY = Row("spark-memory", "Spark: peak of a Python worker", "500 MB", "bytes", 1.0, at_most=True)


@once("spark", MEMORY, NTRIPLES, STRUCT, REGEXP, CORES, TASKS, FILES, WRITE, CONVERT, TABLES)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    # Imported here, so that the other subjects need no Spark.
    from ..spark_session import SparkFiles, started_session

    settings.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.directory) as folder, started_session() as spark:
        files = SparkFiles(Path(folder).absolute(), DATASETS[DATASET], settings.spark_statements)
        rows = _Rows(settings, wanted, spark, files)
        # First, as later rows leave larger workers behind: files mapped into memory count too.
        yield from rows.memory()
        yield from rows.reading("ntriples", NTRIPLES)
        yield from rows.reading("struct", STRUCT)
        yield from rows.regexp()
        yield from rows.cores()
        yield from rows.files()
        yield from rows.writing()
        yield from rows.converting()
        yield from rows.tables()


class _Rows:
    def __init__(self, settings: Settings, wanted: frozenset[str], spark: "SparkSession", files: "SparkFiles") -> None:
        self._settings = settings
        self._wanted = wanted
        self._spark = spark
        self._files = files

    def reading(self, layout: str, row: Row) -> Iterator[Measurement]:
        if row.name in self._wanted:
            ready = self._spark.read.format("ready_batches").load(self._files.ready_batches(layout))
            yield from self._contest(row, self._to_nothing(self._jelly(layout)), self._to_nothing(ready))

    def regexp(self) -> Iterator[Measurement]:
        if REGEXP.name in self._wanted:
            from ..spark_peers import split_lines

            peer = self._to_nothing(split_lines(self._spark, self._files.text))
            yield from self._contest(REGEXP, self._to_nothing(self._jelly("ntriples")), peer)

    def cores(self) -> Iterator[Measurement]:
        """Compare two cores with one core, which runs one task at a time, as with `local[1]`, in the default layout.

        One task on two cores is measured too. Its Python worker uses one core and Spark the other, so that it is not
        much slower than two tasks.
        """
        from ..spark_session import on_one_core

        if self._wanted & {CORES.name, TASKS.name}:
            frame = self._jelly("struct")
            two, one = self._to_nothing(frame), self._to_nothing(frame.coalesce(1))
            if CORES.name in self._wanted:
                yield from self._contest(CORES, two, on_one_core(self._spark, one))
            if TASKS.name in self._wanted:
                yield from self._contest(TASKS, two, one)

    def files(self) -> Iterator[Measurement]:
        if FILES.name in self._wanted:
            many = self._jelly("struct", self._files.many_jelly)
            yield from self._contest(FILES, self._to_nothing(self._jelly("struct")), self._to_nothing(many))

    def writing(self) -> Iterator[Measurement]:
        if WRITE.name in self._wanted:
            from ..spark_session import to_format

            count = self._files.statements
            frame = self._jelly("ntriples").cache()
            try:
                ours = to_format(frame, "jelly", self._files.out, count)
                peer = to_format(frame, "dropped_batches", self._files.out, count)
                yield from self._contest(WRITE, ours, peer)
            finally:
                frame.unpersist()

    def converting(self) -> Iterator[Measurement]:
        if CONVERT.name in self._wanted:
            from jellyframe.spark import jobs

            from ..spark_peers import convert_by_hand
            from ..spark_session import CORES as CORE_COUNT

            files, spark = self._files, self._spark
            text, short_text = files.text, files.short_text
            ours = Contestant(
                lambda: jobs.convert(spark, text, files.out, save="overwrite").statements, files.statements
            )
            peer = Contestant(
                lambda: convert_by_hand(spark, short_text, f"{files.out}-by-hand", 2 * CORE_COUNT),
                files.short_statements,
            )
            for contestant in (ours, peer):
                contestant.run()
            yield from self._contest(CONVERT, ours, peer)

    def tables(self) -> Iterator[Measurement]:
        if TABLES.name in self._wanted:
            from jellyframe.spark import jobs

            from ..spark_peers import pivoted_by_hand

            files, spark = self._files, self._spark
            ours = Contestant(
                lambda: jobs.tables(spark, files.jelly, files.out, save="overwrite").statements, files.statements
            )
            peer = Contestant(
                lambda: pivoted_by_hand(spark, files.text, f"{files.out}-by-hand", files.statements),
                files.statements,
            )
            yield from self._contest(TABLES, ours, peer)

    def memory(self) -> Iterator[Measurement]:
        """Measure a task that reads all of a file, in the costlier layout, and one that writes all of it."""
        if MEMORY.name in self._wanted:
            from ..spark_session import worker_peak_bytes

            peak: Outcome
            try:
                whole = self._jelly("struct", partition_bytes="1t")
                whole.write.format("noop").mode("overwrite").save()
                whole.write.format("jelly").mode("overwrite").save(self._files.out)
                peak = worker_peak_bytes(self._spark)
            except Exception as error:
                peak = error
            yield measurement(MEMORY, DATASET, peak, MEMORY_LIMIT)

    def _jelly(self, layout: str, path: str | None = None, **options: str) -> "DataFrame":
        source = self._spark.read.format("jelly").option("layout", layout).options(**options)
        return source.load(path or self._files.jelly)

    def _to_nothing(self, frame: "DataFrame") -> Contestant:
        from ..spark_session import to_nothing

        return to_nothing(frame, self._files.statements)

    def _contest(self, row: Row, ours: Contestant, peer: Contestant) -> Iterator[Measurement]:
        return against_peer(self._settings, DATASET, peer, {row: ours}, self._wanted)
