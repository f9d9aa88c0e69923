"""Jelly on Spark: a data source for PySpark, functions for messages, and sessions to use them in.

    from jellyframe.spark import session

    spark = session()
    df = spark.read.format("jelly").load("people.jelly")
    df.write.format("jelly").mode("overwrite").save("copies")

`pyspark_jelly` and `pyspark_jelly_patch`, installed beside this package, make the formats `jelly` and `jelly-patch`
known to every session with no registration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.spark.payloads import decode_payloads, encode_payloads, from_jelly, to_jelly
    from jellyframe.spark.sessions import session
    from jellyframe.spark.source import JellyDataSource, JellyPatchDataSource, register
    from jellyframe.spark.threads import activate

__all__ = [
    "JellyDataSource",
    "JellyPatchDataSource",
    "activate",
    "decode_payloads",
    "encode_payloads",
    "from_jelly",
    "register",
    "session",
    "to_jelly",
]

_HOMES = {
    "JellyDataSource": "source",
    "JellyPatchDataSource": "source",
    "activate": "threads",
    "decode_payloads": "payloads",
    "encode_payloads": "payloads",
    "from_jelly": "payloads",
    "register": "source",
    "session": "sessions",
    "to_jelly": "payloads",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
