"""The settings of a server, from Python, the command line or a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from jellyframe.addresses import is_loopback, split_address
from jellyframe.errors import OptionsError, display_name, shortened
from jellyframe.grpc.security import TlsSettings, Token
from jellyframe.grpc.subscribers import SlowPolicy
from jellyframe.options import DialectName, Limits
from jellyframe.sizes import parse_duration, parse_size

Retention: TypeAlias = Literal["live", "replay", "log", "file", "kafka", "none"]
LogFormat: TypeAlias = Literal["text", "json"]
_T = TypeVar("_T")
# The largest message that gRPC clients take unless they are told otherwise.
DEFAULT_FRAME_BYTES = 4 << 20
_TOPIC = re.compile(r"(?P<name>.*?)=(?P<how>live|replay|log:.+|file:.+|kafka://.+|none)", re.DOTALL)
_HOW = re.compile(r"(?P<kind>live|replay|none)|(?P<with_path>log|file):(?P<path>.+)|(?P<url>(kafka)://.+)", re.DOTALL)


@dataclass(frozen=True)
class TopicSettings:
    """What becomes of the frames of a topic.

    Args:
        retention: `live` keeps nothing, `replay` keeps frames in memory, `log` on disk; `file` serves a file or a
            folder; `kafka` keeps frames in a Kafka topic; `none` refuses the topic
        path: the folder of a log, the file or folder that is served, or the URL of the Kafka cluster
        max_bytes: bytes that are kept, at most; by default 64 MiB in memory, and no such limit on disk
        max_age: seconds for which frames are kept, at most
        segment_bytes: bytes after which a log begins another file
        segment_age: seconds after which a log begins another file
        queue_bytes: bytes that may wait to be sent to a subscriber
        slow: what happens when more wait: `end` the subscription, or `block` publishers. Where frames are kept, neither
            is needed: a slow subscriber reads them from there
    """

    retention: Retention = "live"
    path: str | None = None
    max_bytes: int | None = None
    max_age: int | None = None
    segment_bytes: int = 64 << 20
    segment_age: int = 24 * 3600
    queue_bytes: int = 16 << 20
    slow: SlowPolicy = "end"

    def __post_init__(self) -> None:
        _check_word("retention", self.retention, get_args(Retention))
        _check_word("slow", self.slow, get_args(SlowPolicy))
        if (self.path is not None) != (self.retention in ("log", "file", "kafka")):
            needs = "needs a path" if self.path is None else "has no path"
            raise OptionsError(f"a topic of the retention {self.retention} {needs}")

    @classmethod
    def parse(cls, text: str) -> TopicSettings:
        """Return the settings that `live`, `replay`, `log:FOLDER`, `file:PATH`, `kafka://…` or `none` stand for.

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
    """What a server takes on.

    Args:
        max_streams: publications and subscriptions at the same time
        max_topics: topics at the same time
        max_frame_bytes: bytes of one frame
        max_name_table_size: entries in the table of names of a publication or subscription
        max_prefix_table_size: entries in the table of prefixes
        max_datatype_table_size: entries in the table of datatypes
        max_nesting_depth: quoted triples inside each other
    """

    max_streams: int = 20_000
    max_topics: int = 10_000
    max_frame_bytes: int = DEFAULT_FRAME_BYTES
    max_name_table_size: int = 4096
    max_prefix_table_size: int = 4096
    max_datatype_table_size: int = 4096
    max_nesting_depth: int = 96

    def for_streams(self) -> Limits:
        """Return the limits of each stream."""
        shared = {one.name for one in fields(Limits)}
        return Limits(**{one.name: getattr(self, one.name) for one in fields(self) if one.name in shared})


@dataclass(frozen=True)
class ServerSettings:
    """All settings of a server.

    Args:
        listen: the address, as HOST:PORT; port 0 for any that is free
        topics: the settings of topics, by name
        default_topic: the settings of all others; those of a log get a folder each, below its path
        limits: what the server takes on
        tls: the certificate, None for connections in the clear
        insecure: whether it may listen in the clear on an address that other machines can reach
        tokens: who may do what; without any, everybody may do everything
        reflection: whether clients may ask which services there are
        web: the address of the status page and the metrics, None for none
        keepalive: seconds without traffic after which a connection is probed
        keepalive_timeout: seconds to wait for the answer
        drain: seconds that calls have to end in when the server stops
        log_level: what is logged: `debug`, `info`, `warning` or `error`
        log_format: `text`, or `json` for one object a line
        dialect: the dialect of calls that do not say theirs in their metadata, under `jelly-dialect`
    """

    listen: str = "127.0.0.1:9090"
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
        _check_word("log_level", self.log_level, ("debug", "info", "warning", "error"))
        _check_word("log_format", self.log_format, get_args(LogFormat))
        _check_word("dialect", self.dialect, get_args(DialectName))
        host, _port = split_address(self.listen)
        if self.tls is None and not self.insecure and not is_loopback(host):
            raise OptionsError(
                f"{self.listen} can be reached from other machines, and there is no TLS: set tls, or insecure if the "
                "network is trusted"
            )
        if self.web is not None:
            split_address(self.web)


def parse_topic(text: str) -> tuple[str, TopicSettings]:
    """Return the name and the settings of a topic, given as `NAME=live|replay|log:FOLDER|file:PATH`."""
    found = _TOPIC.fullmatch(text)
    if found is None:
        raise OptionsError(
            f"{shortened(text)} is not a topic, as NAME=live, NAME=replay, NAME=log:FOLDER, NAME=file:PATH or NAME=kafka://HOST:PORT"
        )
    return found["name"], TopicSettings.parse(found["how"])


def _check_word(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise OptionsError(f"{what} is {shortened(str(value))}, and must be one of {', '.join(known)}")


# ---- TOML ----

_SIZES = ("max_bytes", "segment_bytes", "queue_bytes", "max_frame_bytes")
_DURATIONS = ("max_age", "segment_age", "keepalive", "keepalive_timeout", "drain")


def read_config(path: str | PathLike[str]) -> ServerSettings:
    """Return the settings of a TOML file. Paths in it are relative to its folder.

    Args:
        path: the file

    Raises OptionsError if something in it is unknown or makes no sense.
    """
    file = Path(path)
    try:
        with file.open("rb") as source:
            table = tomllib.load(source)
    except tomllib.TOMLDecodeError as error:
        raise OptionsError(f"{display_name(path)}: not TOML: {error}") from None
    try:
        return _settings(table, file.absolute().parent)
    except OptionsError as error:
        raise OptionsError(f"{display_name(path)}: {error.message}") from None


def _settings(table: dict[str, Any], folder: Path) -> ServerSettings:
    values = dict(table)
    if "topics" in values:
        topics = _table("topics", values["topics"])
        values["topics"] = {name: _topic(f"topics.{name}", one, folder) for name, one in topics.items()}
    if "default_topic" in values:
        values["default_topic"] = _topic("default_topic", values["default_topic"], folder)
    if "limits" in values:
        values["limits"] = _build(ServerLimits, "limits", _table("limits", values["limits"]))
    if "tls" in values:
        tls = _table("tls", values["tls"])
        values["tls"] = _build(TlsSettings, "tls", {key: _path(folder, value) for key, value in tls.items()})
    if "tokens" in values:
        if not isinstance(values["tokens"], list):
            raise OptionsError("tokens must be tables, each as [[tokens]]")
        values["tokens"] = tuple(_token(_table("tokens", one)) for one in values["tokens"])
    return _build(ServerSettings, "", values)


def _topic(place: str, value: Any, folder: Path) -> TopicSettings:
    if isinstance(value, str):
        settings = TopicSettings.parse(value)
        if settings.path is None or settings.retention == "kafka":
            return settings
        return replace(settings, path=_path(folder, settings.path))
    table = dict(_table(place, value))
    if "path" in table and table.get("retention") != "kafka":
        table["path"] = _path(folder, table["path"])
    return _build(TopicSettings, place, table)


def _token(table: dict[str, Any]) -> Token:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return _build(Token, "tokens", values)


def _path(folder: Path, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionsError(f"{shortened(str(value))} is not a path")
    return str(folder / value)


def _table(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise OptionsError(f"{place} must be a table")
    return value


def _build(kind: type[_T], place: str, table: dict[str, Any]) -> _T:
    """Return a settings object from a table, whose keys and types are checked."""
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    values = {}
    for key, value in table.items():
        where = f"{place}.{key}" if place else key
        if key not in known:
            raise OptionsError(f"there is no setting {where}; there are {', '.join(known)}")
        values[key] = _value(where, key, value, str(known[key].type))
    missing = [name for name, one in known.items() if name not in values and _is_required(one)]
    if missing:
        raise OptionsError(f"{place or 'the file'} lacks {', '.join(missing)}")
    return kind(**values)


def _is_required(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _value(where: str, key: str, value: Any, kind: str) -> Any:
    try:
        if isinstance(value, str) and key in _SIZES:
            value = parse_size(value)
        elif isinstance(value, str) and key in _DURATIONS:
            value = parse_duration(value)
    except ValueError as error:
        raise OptionsError(f"{where} is {shortened(str(value))}: {error}") from None
    if kind.startswith("int"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise OptionsError(f"{where} is {shortened(str(value))}, and must be a whole number")
    elif kind == "bool" and not isinstance(value, bool):
        raise OptionsError(f"{where} is {shortened(str(value))}, and must be true or false")
    elif kind.startswith("str") and not isinstance(value, str):
        raise OptionsError(f"{where} is {shortened(str(value))}, and must be a string")
    elif kind.startswith("tuple[str") and not (isinstance(value, tuple) and all(isinstance(v, str) for v in value)):
        raise OptionsError(f"{where} must be a list of strings")
    return value
