"""The types of Spark that functions here take."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    import pyspark.sql
    import pyspark.sql.connect.session

# A session in this process, or one that is connected to a server. Spark has no type for both.
Session: TypeAlias = "pyspark.sql.SparkSession | pyspark.sql.connect.session.SparkSession"

# The type of a session that is returned as it was given.
AnySession = TypeVar("AnySession", bound=Session)
