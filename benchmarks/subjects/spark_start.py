"""The time to start and stop a Spark session in a new process: ours and that of plain PySpark."""

import os
import shutil
import sys
from collections.abc import Iterator

from ..comparison import measurement
from ..processes import in_turns
from ..registry import Measurement, Row, Settings, once

START = Row("spark-start", "Spark: a process with a session", "plain PySpark", "s", 1.2, at_most=True)

_OURS = "import jellyframe.spark; jellyframe.spark.session('local[2]').stop()"
_PLAIN = "from pyspark.sql import SparkSession; SparkSession.builder.master('local[2]').getOrCreate().stop()"


@once("spark-start", START)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    environment = dict(os.environ)
    if "JAVA_HOME" not in environment and shutil.which("java") is None:
        # Where the machine has no Java, PySpark alone would not start at all.
        from jellyframe.spark.java import find_java_home

        environment["JAVA_HOME"] = str(find_java_home())
    commands = ((sys.executable, "-c", code) for code in (_OURS, _PLAIN))
    ours, plain = in_turns(settings.repeats, *commands, environment=environment)
    yield measurement(START, "-", ours.seconds, plain.seconds)
