"""Jelly on Spark: a data source for PySpark, and sessions to use it in.

    from jellyframe.spark import session

    spark = session()
    df = spark.read.format("jelly").load("people.jelly")
    df.write.format("jelly").mode("overwrite").save("copies")

`pyspark_jelly`, installed beside this package, makes the format known to every session with no registration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jellyframe.spark.sessions import session
    from jellyframe.spark.source import JellyDataSource, register

__all__ = ["JellyDataSource", "register", "session"]

_HOMES = {"JellyDataSource": "source", "register": "source", "session": "sessions"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
