"""One Spark session for all tests that need a running Spark; most need only its Python classes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs jellyframe[spark]")


@pytest.fixture(scope="session")
def connect_port() -> int:
    """A port for a Spark Connect server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture(scope="session")
def spark(connect_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from jellyframe.spark import session

    config: dict[str, str | int | Path] = {
        "spark.sql.warehouse.dir": tmp_path_factory.mktemp("warehouse"),
        "spark.sql.shuffle.partitions": 2,
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": connect_port,
    }
    started = session("local[2]", config=config)
    yield started
    started.stop()
