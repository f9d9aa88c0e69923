"""The settings of a server; `config_file` reads them from a TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias, get_args

from jellyframe.addresses import is_loopback, split_address
from jellyframe.defaults import DIALECT_NAMES, GRPC_ADDRESS
from jellyframe.errors import OptionsError, SettingError, shortened
from jellyframe.grpc.security import TlsSettings, Token
from jellyframe.grpc.subscribers import QUEUE_BYTES, SlowPolicy
from jellyframe.options import (
    DEFAULT_LIMITS,
    MAX_FRAME_BYTES,
    MIN_NAME_TABLE_SIZE,
    DialectName,
    Limits,
    check_number,
    check_word,
)

Retention: TypeAlias = Literal["live", "replay", "log", "file", "kafka", "none"]
LogFormat: TypeAlias = Literal["text", "json"]
# The largest message that gRPC clients accept by default.
GRPC_MESSAGE_BYTES = 4 << 20
# A log starts another file after these.
SEGMENT_BYTES = 64 << 20
SEGMENT_SECONDS = 24 * 3600
# gRPC counts milliseconds in 31 bits.
_MOST_SECONDS = (2**31 - 1) // 1000
_TOPIC = re.compile(r"(?P<name>.*?)=(?P<how>live|replay|log:.+|file:.+|kafka://.+|none)", re.DOTALL)
_HOW = re.compile(r"(?P<kind>live|replay|none)|(?P<with_path>log|file):(?P<path>.+)|(?P<url>(kafka)://.+)", re.DOTALL)


@dataclass(frozen=True)
class TopicSettings:
    """Settings of a topic: how its frames are kept, and its queues.

    Args:
        retention: `live` keeps nothing, `replay` keeps frames in memory, `log` on disk; `file` serves a file or a
            folder; `kafka` keeps frames in a Kafka topic; `none` refuses the topic
        path: the folder of a log, the file or folder that is served, or the URL of the Kafka cluster
        max_bytes: the maximum number of bytes kept; by default 64 MiB in memory, and no limit on disk
        max_age: the maximum number of seconds for which frames are kept
        segment_bytes: bytes after which a log starts another file
        segment_age: seconds after which a log starts another file
        queue_bytes: bytes that may be queued for a subscriber
        slow: what to do if the queue is full: `end` the subscription, or `block` publishers. Neither is needed where
            frames are kept: a slow subscriber reads them from there
    """

    retention: Retention = "live"
    path: str | None = None
    max_bytes: int | None = None
    max_age: int | None = None
    segment_bytes: int = SEGMENT_BYTES
    segment_age: int = SEGMENT_SECONDS
    queue_bytes: int = QUEUE_BYTES
    slow: SlowPolicy = "end"

    def __post_init__(self) -> None:
        check_word("retention", self.retention, get_args(Retention))
        check_word("slow", self.slow, get_args(SlowPolicy))
        for key in ("max_bytes", "max_age", "segment_bytes", "queue_bytes"):
            if getattr(self, key) is not None:
                check_number(key, getattr(self, key), 1)
        check_number("segment_age", self.segment_age, 0)
        if (self.path is not None) != (self.retention in ("log", "file", "kafka")):
            needs = "needs a path" if self.path is None else "has no path"
            raise SettingError(f"a topic of the retention {self.retention} {needs}", "path")

    @classmethod
    def parse(cls, text: str) -> TopicSettings:
        """Return the settings for `live`, `replay`, `log:FOLDER`, `file:PATH`, `kafka://…` or `none`.

        Args:
            text: one of these
        """
        found = _HOW.fullmatch(text)
        if found is None:
            raise OptionsError(
                f"{shortened(text)} is not one of live, replay, log:FOLDER, file:PATH, kafka://HOST:PORT, none"
            )
        if found["url"] is not None:
            return cls("kafka", found["url"])
        return cls(found["kind"] or found["with_path"], found["path"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class ServerLimits:
    """The limits of a server.

    Args:
        max_streams: publications and subscriptions at the same time
        max_topics: topics at the same time
        max_topic_bytes: bytes of the name of a topic
        max_frame_bytes: bytes of one frame
        max_name_table_size: entries in the table of names of a publication or subscription
        max_prefix_table_size: entries in the table of prefixes
        max_datatype_table_size: entries in the table of datatypes
        max_nesting_depth: quoted triples inside each other
    """

    max_streams: int = 20_000
    max_topics: int = 10_000
    max_topic_bytes: int = 4096
    max_frame_bytes: int = GRPC_MESSAGE_BYTES
    max_name_table_size: int = DEFAULT_LIMITS.max_name_table_size
    max_prefix_table_size: int = DEFAULT_LIMITS.max_prefix_table_size
    max_datatype_table_size: int = DEFAULT_LIMITS.max_datatype_table_size
    max_nesting_depth: int = DEFAULT_LIMITS.max_nesting_depth

    def __post_init__(self) -> None:
        for key in ("max_streams", "max_topics"):
            check_number(key, getattr(self, key), 1)
        check_number("max_topic_bytes", self.max_topic_bytes, 0)
        check_number("max_frame_bytes", self.max_frame_bytes, 1, MAX_FRAME_BYTES)
        check_number("max_name_table_size", self.max_name_table_size, MIN_NAME_TABLE_SIZE)
        for key in ("max_prefix_table_size", "max_datatype_table_size", "max_nesting_depth"):
            check_number(key, getattr(self, key), 0)

    def for_streams(self) -> Limits:
        """Return the limits of each stream."""
        shared = {one.name for one in fields(Limits)}
        return Limits(**{one.name: getattr(self, one.name) for one in fields(self) if one.name in shared})


@dataclass(frozen=True)
class ServerSettings:
    """All settings of a server.

    Args:
        listen: the address, as HOST:PORT; port 0 for any free port
        topics: the settings of topics, by name
        default_topic: the settings of all other topics; with a log, each of them gets a subfolder
        limits: the limits of the server
        tls: the certificate, None to serve without TLS
        insecure: whether to allow an address that other machines can reach without TLS
        tokens: the rights of clients; without any, everybody may do everything
        reflection: whether clients may list the services
        web: the address of the status page and the metrics, None for none
        keepalive: seconds without traffic after which a connection is probed
        keepalive_timeout: seconds to wait for the answer
        drain: seconds that calls have to end when the server stops
        log_level: the lowest level that is logged: `debug`, `info`, `warning` or `error`
        log_format: `text`, or `json` for one object per line
        dialect: the dialect of calls without `jelly-dialect` in their metadata
    """

    listen: str = GRPC_ADDRESS
    topics: Mapping[str, TopicSettings] = field(default_factory=dict)
    default_topic: TopicSettings = field(default_factory=TopicSettings)
    limits: ServerLimits = field(default_factory=ServerLimits)
    tls: TlsSettings | None = None
    insecure: bool = False
    tokens: tuple[Token, ...] = ()
    reflection: bool = False
    web: str | None = None
    keepalive: int = 60
    keepalive_timeout: int = 20
    drain: int = 30
    log_level: str = "warning"
    log_format: LogFormat = "text"
    dialect: DialectName = "released"

    def __post_init__(self) -> None:
        check_word("log_level", self.log_level, ("debug", "info", "warning", "error"))
        check_word("log_format", self.log_format, get_args(LogFormat))
        check_word("dialect", self.dialect, DIALECT_NAMES)
        check_number("keepalive", self.keepalive, 1, _MOST_SECONDS)
        check_number("keepalive_timeout", self.keepalive_timeout, 1, _MOST_SECONDS)
        check_number("drain", self.drain, 0)
        host = _host("listen", self.listen)
        if self.tls is None and not self.insecure and not is_loopback(host):
            raise SettingError(
                f"{self.listen} can be reached from other machines, and there is no TLS: give a certificate, or allow "
                "insecure connections if the network is trusted",
                "listen",
            )
        if self.web is not None and not self.insecure and not is_loopback(_host("web", self.web)):
            raise SettingError(
                f"the status page on {self.web} can be reached from other machines, and it requires no token: "
                "give an address of this machine, or allow insecure connections if the network is trusted",
                "web",
            )


def _host(key: str, address: str) -> str:
    try:
        return split_address(address)[0]
    except OptionsError as error:
        raise SettingError(f"{key}: {error.message}", key) from None


def parse_topic(text: str) -> tuple[str, TopicSettings]:
    """Return the name and the settings of a topic, given as `NAME=live|replay|log:FOLDER|file:PATH|kafka://…|none`."""
    found = _TOPIC.fullmatch(text)
    if found is None:
        raise OptionsError(
            f"{shortened(text)} is not a topic, as NAME=live, NAME=replay, NAME=log:FOLDER, NAME=file:PATH or NAME=kafka://HOST:PORT"
        )
    return found["name"], TopicSettings.parse(found["how"])
