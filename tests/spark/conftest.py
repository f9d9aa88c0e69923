"""One Spark session for all tests that need a running Spark; most need only its Python classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs jellyframe[spark]")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from jellyframe.spark import session

    started = session("local[2]", config={"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "1g"})
    yield started
    started.stop()
