"""Open the store of a topic, according to its settings."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote

from jellyframe.errors import OptionsError, shortened
from jellyframe.grpc.config import TopicSettings
from jellyframe.grpc.retention.kafka import KafkaStore
from jellyframe.grpc.retention.live import LiveStore
from jellyframe.grpc.retention.log import LogSettings, LogStore
from jellyframe.grpc.retention.replay import ReplayStore
from jellyframe.grpc.retention.static import StaticStore
from jellyframe.grpc.retention.store import Store
from jellyframe.options import Limits

DEFAULT_REPLAY_BYTES = 64 << 20
# The folder of the empty topic: no other topic has this name when it is quoted.
_EMPTY_TOPIC = "%"
_MOST_LETTERS = 200


def open_store(settings: TopicSettings, name: str, limits: Limits) -> Store:
    """Return the store of a topic, according to its settings; it is not started."""
    if settings.retention == "live":
        return LiveStore()
    if settings.retention == "replay":
        max_bytes = DEFAULT_REPLAY_BYTES if settings.max_bytes is None else settings.max_bytes
        return ReplayStore(max_bytes=max_bytes, max_age=settings.max_age, limits=limits)
    if settings.retention == "log":
        assert settings.path is not None
        log = LogSettings(settings.max_bytes, settings.max_age, settings.segment_bytes, settings.segment_age)
        return LogStore(settings.path, log, limits)
    if settings.retention == "file":
        assert settings.path is not None
        return StaticStore(settings.path, limits)
    if settings.retention == "kafka":
        assert settings.path is not None
        return KafkaStore(settings.path, name, limits)
    raise OptionsError(f"a topic of the retention {settings.retention} cannot be opened")


def folder_of_topic(parent: str, topic: str) -> str:
    """Return the folder of a topic's log in the folder of all topics that are not named."""
    # Quoting leaves dots unchanged, which have a meaning in paths.
    name = quote(topic, safe="").replace(".", "%2E") or _EMPTY_TOPIC
    if len(name) > _MOST_LETTERS:
        raise OptionsError(f"the topic {shortened(topic)} is too long for the name of a folder: name it with --topic")
    return os.path.join(parent, name)


def topics_below(default: TopicSettings) -> list[str]:
    """Return the topics that have a log from an earlier run in the folder of topics that are not named."""
    if default.retention != "log" or default.path is None or not os.path.isdir(default.path):
        return []
    with os.scandir(default.path) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    return ["" if name == _EMPTY_TOPIC else unquote(name) for name in names]
