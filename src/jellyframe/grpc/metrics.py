"""The metrics of a server, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from jellyframe.grpc.topics import Topic

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of a server, collected on request.

    Args:
        topics: returns the topics that are open
    """

    def __init__(self, topics: Callable[[], Iterable[Topic]]) -> None:
        self._topics = topics
        self._calls: Counter[tuple[str, str]] = Counter()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def count_call(self, call: str, code: Any) -> None:
        """Count a call that has ended, by its status."""
        self._calls[call, code.name] += 1

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics. Called by the registry."""
        calls = CounterMetricFamily("jelly_calls", "Calls that have ended, by status", labels=["call", "code"])
        for (call, code), count in self._calls.items():
            calls.add_metric([call, code], count)
        yield calls
        topics = list(self._topics())
        for name, words, value in _COUNTERS:
            counter = CounterMetricFamily(f"jelly_topic_{name}", words, labels=["topic"])
            for topic in topics:
                counter.add_metric([topic.name], value(topic))
            yield counter
        for name, words, value in _GAUGES:
            gauge = GaugeMetricFamily(f"jelly_topic_{name}", words, labels=["topic"])
            for topic in topics:
                gauge.add_metric([topic.name], value(topic))
            yield gauge


_Numbers = tuple[tuple[str, str, Callable[[Topic], float]], ...]
_COUNTERS: _Numbers = (
    ("frames_received", "Frames that publishers sent", lambda topic: topic.counts.frames_in),
    ("statements_received", "Statements that publishers sent", lambda topic: topic.counts.statements_in),
    ("bytes_received", "Bytes that publishers sent", lambda topic: topic.counts.bytes_in),
    ("frames_sent", "Frames sent to subscribers", lambda topic: topic.counts.frames_out),
    ("bytes_sent", "Bytes sent to subscribers", lambda topic: topic.counts.bytes_out),
)
_GAUGES: _Numbers = (
    ("publishers", "Publications in progress", lambda topic: topic.publications),
    ("subscribers", "Subscriptions in progress", lambda topic: len(topic.subscribers)),
    ("queued_bytes", "Bytes that wait to be sent", lambda topic: topic.queued_bytes),
    ("first_offset", "Offset of the oldest frame that is kept", lambda topic: topic.store.first_offset),
    ("next_offset", "Offset of the next frame", lambda topic: topic.store.next_offset),
    ("kept_bytes", "Bytes that are kept", lambda topic: topic.store.kept_bytes),
)
