"""Use Spark from Python threads other than the one that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jellyframe.spark.types import AnySession


def activate(spark: AnySession) -> AnySession:
    """Make a session the active one of the calling thread, and return it.

    For writes, Spark looks `format("jelly")` up in the active session of the JVM thread that serves the calling Python
    thread. Only the thread that started Spark has one, so every other thread calls this once before it writes. With
    Spark Connect it does nothing: the server knows the session of each call.

    Args:
        spark: the session
    """
    java_session: Any = getattr(spark, "_jsparkSession", None)
    if java_session is not None:
        jvm: Any = spark.sparkContext._jvm
        jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(java_session)
    return spark
