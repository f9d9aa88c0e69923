"""A bar that follows the tasks of Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from jellyframe.cli.progress import clock, drawn_bar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jellyframe.cli.console import Console
    from jellyframe.cli.progress import StatusLine

REFRESH_SECONDS = 0.25


class Stage(NamedTuple):
    """The progress of a stage of a Spark job."""

    tasks: int
    done: int


def is_remote(spark: SparkSession) -> bool:
    """Return whether the session is one of Spark Connect."""
    return not hasattr(spark, "_jvm")


def line(stages: list[Stage], seconds: float) -> str:
    """Return the text of the bar while stages run."""
    tasks = sum(stage.tasks for stage in stages)
    done = sum(stage.done for stage in stages)
    return f"{drawn_bar(done / tasks if tasks else 0.0)} {done} of {tasks} tasks, {clock(seconds)}"


@contextmanager
def following(spark: SparkSession, console: Console) -> Iterator[None]:
    """Show the progress of running tasks, unless progress is turned off or there is no terminal."""
    status = console.status_line()
    if status is None:
        yield
        return
    with _following_server(spark, status) if is_remote(spark) else _following_tasks(spark, status):
        yield


@contextmanager
def _following_tasks(spark: SparkSession, status: StatusLine) -> Iterator[None]:
    tracker = spark.sparkContext.statusTracker()
    is_over = Event()
    start = time.monotonic()

    def follow() -> None:
        while not is_over.wait(REFRESH_SECONDS):
            infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            stages = [Stage(info.numTasks, info.numCompletedTasks) for info in infos if info is not None]
            if stages and not is_over.is_set():
                status.show(line(stages, time.monotonic() - start))

    thread = Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def _following_server(spark: Any, status: StatusLine) -> Iterator[None]:
    start = time.monotonic()

    def show(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        running = [Stage(stage.num_tasks, stage.num_completed_tasks) for stage in stages or () if not stage.done]
        if running and not done:
            status.show(line(running, time.monotonic() - start))

    spark.registerProgressHandler(show)
    try:
        yield
    finally:
        spark.removeProgressHandler(show)
