"""Access to a Kafka cluster: write records, read records, and list offsets."""

from __future__ import annotations

import logging
import queue
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from jellyframe.errors import JellyError, OptionsError, StorageError, how_to_install, shortened

SCHEME = "kafka"
# Seconds that the cluster has to answer a request.
_PATIENCE = 30.0
_POLL_SECONDS = 0.1
_log = logging.getLogger("jellyframe.grpc")
_RECORDS_AT_A_TIME = 500
# The characters that Kafka allows in the name of a topic.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_ESCAPED = "jelly.escaped."
_MOST_NAME_LENGTH = 249
# Settings of librdkafka that we set.
_OURS = ("bootstrap.servers", "group.id", "enable.auto.commit", "auto.offset.reset", "acks", "enable.idempotence")

# Called in a thread with the offset and the value of a record.
OnRecord: TypeAlias = Callable[[int, bytes], None]
# Called in a thread with the offset of a written record, or the reason why it was not written.
OnWritten: TypeAlias = Callable[[int, str | None], None]


class Watermarks(NamedTuple):
    """The offsets of the oldest record of a topic and of the next one."""

    low: int
    high: int


@dataclass(frozen=True)
class KafkaAddress:
    """The address of a cluster, from a URL such as `kafka://one:9092,two:9092?security.protocol=SSL`.

    `partition` is the one to use in topics with several partitions, which are otherwise refused.
    """

    servers: str
    properties: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    partition: int | None = None

    @classmethod
    def parse(cls, url: str) -> KafkaAddress:
        """Read a URL. Settings of librdkafka follow a question mark."""
        parts = urlsplit(url)
        if parts.scheme != SCHEME or not parts.netloc or parts.path not in ("", "/") or parts.fragment:
            raise OptionsError(f"{shortened(url)} is not a Kafka cluster: write kafka://HOST:PORT[,HOST:PORT…]")
        if "@" in parts.netloc:
            raise OptionsError(
                "a Kafka URL has no user and password: write settings after a question mark, such as "
                "?security.protocol=SASL_SSL&sasl.username=…"
            )
        properties = dict(parse_qsl(parts.query)) if parts.query else {}
        partition = properties.pop("partition", None)
        if partition is not None and not (partition.isascii() and partition.isdigit()):
            raise OptionsError(f"the Kafka partition {shortened(partition)} is not a number")
        for name in properties:
            if name in _OURS:
                raise OptionsError(f"the Kafka setting {name} cannot be changed: offsets and acknowledgements need it")
        return cls(parts.netloc, tuple(properties.items()), None if partition is None else int(partition))

    def settings(self, **own: Any) -> dict[str, Any]:
        """Return the settings of a client. The names of our own settings have underscores instead of dots."""
        ours = {name.replace("_", "."): value for name, value in own.items()}
        return {**ours, **dict(self.properties), "bootstrap.servers": self.servers, "log_level": 2}


def record_topic(topic: str) -> str:
    """Return the name of the Kafka topic of a topic: the same, or one in hexadecimal if Kafka does not allow it."""
    if _PLAIN_NAME.fullmatch(topic) and topic not in (".", "..") and not topic.startswith(_ESCAPED):
        return topic
    name = f"{_ESCAPED}{topic.encode().hex() or '-'}"
    if len(name) > _MOST_NAME_LENGTH:
        raise OptionsError(f"the topic {shortened(topic)} is too long for the name of a Kafka topic")
    return name


class KafkaCluster:
    """Connections to a cluster that all topics of a server share: one for writing, and one for reading new records."""

    _shared: ClassVar[dict[tuple[KafkaAddress, int], KafkaCluster]] = {}
    _sharing = threading.Lock()

    def __init__(self, address: KafkaAddress, user: int) -> None:
        try:
            import confluent_kafka
        except ModuleNotFoundError as error:
            raise OptionsError(f"Kafka needs a package that is not installed: {how_to_install(error)}") from None
        self._kafka: Any = confluent_kafka
        self._address = address
        self._user = user
        self._partition = address.partition or 0
        self._users = 0
        self._producer = confluent_kafka.Producer(
            address.settings(acks="all", enable_idempotence=True, linger_ms=2, message_max_bytes=1_000_000_000)
        )
        # A consumer is for one thread: while it waits for records, other threads have to wait.
        self._tail = self.new_consumer()
        self._tail_work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._questions = self.new_consumer()
        self._asking = threading.Lock()
        self._watchers: dict[str, OnRecord] = {}
        self._is_closed = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"jelly-kafka-{name}", daemon=True)
            for name, work in (("written", self._report_written), ("new", self._read_new))
        ]
        for thread in self._threads:
            thread.start()

    @classmethod
    def use(cls, address: KafkaAddress, server: object) -> KafkaCluster:
        """Return a server's connections to a cluster, opening them if necessary. `leave` releases them."""
        key = (address, id(server))
        with cls._sharing:
            if key not in cls._shared:
                cls._shared[key] = cls(address, id(server))
            cls._shared[key]._users += 1
            return cls._shared[key]

    def leave(self) -> None:
        """Release the connections; the last user closes them. Blocks."""
        with self._sharing:
            self._users -= 1
            if self._users:
                return
            del self._shared[self._address, self._user]
        self._producer.flush(_PATIENCE)
        self._is_closed.set()
        for thread in self._threads:
            thread.join()
        self._tail.close()
        self._questions.close()

    # ---- topics ----

    def open_topic(self, name: str) -> Watermarks:
        """Create a topic if it does not exist, and return its offsets. Blocks."""
        partitions = self._partitions(name) or self._create(name)
        if partitions <= self._partition or (partitions != 1 and self._address.partition is None):
            raise OptionsError(
                f"the Kafka topic {name} has {partitions} partitions, and frames are in one order: it must have one, "
                "unless the URL names one, as ?partition=0"
            )
        return self.watermarks(name)

    def watermarks(self, name: str) -> Watermarks:
        """Return the offsets of a topic. Blocks."""
        with self._errors(), self._asking:
            return Watermarks(*self._questions.get_watermark_offsets(self.partition(name), _PATIENCE))

    def _partitions(self, name: str) -> int:
        with self._errors():
            found = self._producer.list_topics(name, _PATIENCE).topics[name]
        return 0 if found.error is not None else len(found.partitions)

    def _create(self, name: str) -> int:
        from confluent_kafka import admin as administration

        admin = administration.AdminClient(self._address.settings())
        topic: Any = administration.NewTopic(name, 1, -1)  # type: ignore[attr-defined]
        with self._errors():
            created = admin.create_topics([topic], request_timeout=_PATIENCE)[name]
        try:
            created.result(_PATIENCE)
        except self._kafka.KafkaException as error:
            if error.args[0].code() != self._kafka.KafkaError.TOPIC_ALREADY_EXISTS:
                raise StorageError(f"the Kafka topic {name} cannot be created: {error.args[0].str()}") from None
        return self._partitions_of_new(name)

    def _partitions_of_new(self, name: str) -> int:
        """Wait until brokers list a new topic, and return the number of its partitions."""
        deadline = time.monotonic() + _PATIENCE
        while not (partitions := self._partitions(name)):
            if time.monotonic() > deadline or self._is_closed.wait(_POLL_SECONDS):
                raise StorageError(f"the Kafka topic {name} was created, but the cluster does not list its partitions")
        return partitions

    # ---- writing ----

    def write(self, name: str, value: bytes, on_written: OnWritten) -> bool:
        """Write a record, and return whether there was room for it. Does not block."""

        def report(error: Any, record: Any) -> None:
            on_written(-1 if error is not None else record.offset(), None if error is None else error.str())

        try:
            self._producer.produce(name, value, partition=self._partition, on_delivery=report)
        except BufferError:
            return False
        except self._kafka.KafkaException as error:
            raise StorageError(f"the Kafka topic {name} does not accept a frame: {error.args[0].str()}") from None
        return True

    def _report_written(self) -> None:
        while not self._is_closed.is_set():
            self._producer.poll(_POLL_SECONDS)

    # ---- reading ----

    def watch(self, name: str, offset: int, on_record: OnRecord) -> None:
        """Call a function with the records of a topic, from an offset."""
        self._watchers[name] = on_record
        self._tail_work.put(lambda: self._tail.incremental_assign([self.partition(name, offset)]))

    def unwatch(self, name: str) -> None:
        """Stop reading a topic."""
        self._watchers.pop(name, None)
        self._tail_work.put(lambda: self._tail.incremental_unassign([self.partition(name)]))

    def new_consumer(self) -> Any:
        """Return a consumer, which reads its assigned partitions and commits nothing."""
        return self._kafka.Consumer(
            self._address.settings(
                group_id=f"jellyframe-{uuid4().hex}",
                enable_auto_commit=False,
                auto_offset_reset="error",
                fetch_wait_max_ms=20,
                queued_max_messages_kbytes=16_384,
            )
        )

    def partition(self, name: str, offset: int = 0) -> Any:
        """Return the partition of a topic that is used, at an offset."""
        return self._kafka.TopicPartition(name, self._partition, offset)

    def _read_new(self) -> None:
        while not self._is_closed.is_set():
            try:
                while not self._tail_work.empty():
                    self._tail_work.get()()
                for record in next_records(self._tail, _POLL_SECONDS):
                    self._pass_on(record)
            except (self._kafka.KafkaException, JellyError) as error:
                # Reading continues: the library reconnects by itself.
                _log.warning("reading from the Kafka cluster %s has failed: %s", self._address.servers, error)

    def _pass_on(self, record: Any) -> None:
        """Pass a record to the watcher of its topic."""
        name = record.topic() or ""
        watcher = self._watchers.get(name)
        error = record.error()
        if watcher is None:
            return
        if error is None:
            watcher(record.offset(), record.value() or b"")
        elif is_offset_gone(error):
            # Records were removed before they were read: continue with the oldest one that is left.
            low = self.watermarks(name).low
            _log.warning("the Kafka topic %s has lost records before offset %d", name, low)
            self._tail.incremental_unassign([self.partition(name)])
            self._tail.incremental_assign([self.partition(name, low)])

    def _errors(self) -> _KafkaErrors:
        return _KafkaErrors(self._kafka.KafkaException, self._address.servers)


def is_offset_gone(error: Any) -> bool:
    """Return whether an error means that there is no record at the requested offset."""
    return error.name() in ("_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE")


def next_records(consumer: Any, seconds: float) -> list[Any]:
    """Return the records that have arrived; wait for the first one up to a timeout."""
    first = consumer.poll(seconds)
    # Further records are taken without waiting.
    return [] if first is None else [first, *consumer.consume(_RECORDS_AT_A_TIME, 0)]


class _KafkaErrors:
    """Converts errors of the library to ours."""

    def __init__(self, kind: type[Exception], servers: str) -> None:
        self._kind = kind
        self._servers = servers

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, self._kind):
            raise StorageError(f"the Kafka cluster {self._servers} has failed: {error.args[0].str()}") from None
