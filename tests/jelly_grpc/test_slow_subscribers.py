"""Subscribers that do not read do not slow others down, and their queues are bounded."""

from __future__ import annotations

import threading

import grpc
import pytest

from jellyframe import StreamOptions
from jellyframe.grpc.config import TopicSettings
from support.grpc_server import PlainClient, Received, RunningServer, frames_of, triples

# More than connections and queues hold.
STATEMENTS = triples(150_000)
FRAMES = frames_of(STATEMENTS, 1500, StreamOptions.big(stream_name="t"))
QUEUE = 200_000


def server(retention: str = "live", slow: str = "end") -> RunningServer:
    return RunningServer(topics={"t": TopicSettings(retention, queue_bytes=QUEUE, slow=slow)})  # type: ignore[arg-type]


def queued(running: RunningServer) -> int:
    return running.call(lambda: sum(topic.queued_bytes for topic in running.server._topics))


def test_a_live_subscription_that_is_too_slow_is_ended_and_others_get_everything() -> None:
    with server() as running, PlainClient(running.address) as client, PlainClient(running.address) as other:
        slow = client.subscribe("t")
        quick = other.subscribe("t")
        received: list[bytes] = []
        for start in range(0, len(STATEMENTS), 3000):
            # One publication after the other, so that the quick one is never far behind.
            other.publish(frames_of(STATEMENTS[start : start + 3000], 1500, StreamOptions.big(stream_name="t")))
            received += quick.take(2)
        assert Received(received).statements == STATEMENTS
        assert queued(running) <= QUEUE + len(FRAMES[0])
        error = slow.error()
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "the subscriber is too slow" in error.details()


def test_with_block_publishers_wait_and_no_frame_is_lost() -> None:
    with server(slow="block") as running, PlainClient(running.address) as client, PlainClient(running.address) as other:
        slow = client.subscribe("t")
        answers: list[object] = []
        publishing = threading.Thread(target=lambda: answers.append(other.publish(FRAMES)))
        publishing.start()
        received = slow.take(1)
        while queued(running) <= QUEUE:
            # Until the queue is full, and the publisher has to wait.
            assert publishing.is_alive()
        assert answers == []
        assert queued(running) <= QUEUE + 2 * max(map(len, FRAMES))
        received += slow.take(len(FRAMES) - 1)
        publishing.join(30)
        assert len(answers) == 1
        assert Received(received).statements == STATEMENTS


def test_a_blocked_publisher_continues_when_the_subscriber_leaves() -> None:
    with server(slow="block") as running, PlainClient(running.address) as client, PlainClient(running.address) as other:
        slow = client.subscribe("t")
        answers: list[object] = []
        publishing = threading.Thread(target=lambda: answers.append(other.publish(FRAMES)))
        publishing.start()
        slow.take(1)
        slow.cancel()
        publishing.join(30)
        assert len(answers) == 1


@pytest.mark.parametrize("slow", ["end", "block"])
def test_a_slow_subscriber_reads_kept_frames_later(slow: str) -> None:
    with (
        server("replay", slow) as running,
        PlainClient(running.address) as client,
        PlainClient(running.address) as other,
    ):
        subscription = client.subscribe("t")
        other.publish(FRAMES)
        assert queued(running) <= QUEUE
        assert Received(subscription.take(len(FRAMES))).statements == STATEMENTS
