"""The JVM that reads and writes with Jelly-JVM; `make interop` builds what it runs."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from support.jvm import Jvm, java_command

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
KAFKA_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    yield from running(java_command("classpath", "interop.Main"))


@pytest.fixture(scope="session")
def patch_jvm() -> Iterator[Jvm]:
    """A JVM with Jelly-JVM's patch modules."""
    yield from running(java_command("patch/classpath", "interop.PatchMain"))


def running(command: list[str]) -> Iterator[Jvm]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        yield Jvm(process)
        assert process.stdin is not None
        process.stdin.close()
        # A server that a test has started runs on its own threads.
        process.terminate()


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Kafka broker, a cluster of one."""
    folder = tmp_path_factory.mktemp("kafka")
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        port, controller = first.getsockname()[1], second.getsockname()[1]
    settings = folder / "server.properties"
    settings.write_text(KAFKA_SETTINGS.format(port=port, controller=controller, folder=folder / "logs"))
    format_logs = java_command("kafka-classpath", "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings)
    subprocess.run(format_logs, check=True, stdout=subprocess.DEVNULL)
    address = f"127.0.0.1:{port}"
    with subprocess.Popen(java_command("kafka-classpath", "kafka.Kafka", settings)) as broker:
        try:
            wait_for_broker(address)
            yield address
        finally:
            broker.terminate()


def wait_for_broker(address: str) -> None:
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    for _ in range(60):
        try:
            client.list_topics(timeout=1)
        except KafkaException:
            continue
        return
    pytest.fail("the Kafka broker does not answer")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files that go back and forth; session-wide, so that property tests may use it."""
    return tmp_path_factory.mktemp("jvm")
