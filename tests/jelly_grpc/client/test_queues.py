"""Messages between two threads."""

from __future__ import annotations

import threading

from jellyframe.grpc.client.queues import MessageQueue


def test_put_waits_for_room_and_keeps_the_order():
    queue = MessageQueue(limit=10)
    sent = [bytes([i]) * 4 for i in range(200)]

    def put():
        assert all(map(queue.put, sent))
        queue.end()

    thread = threading.Thread(target=put)
    thread.start()
    assert list(queue) == sent
    thread.join(20)
    assert queue.is_drained


def test_messages_waiting_in_a_closed_queue_do_not_count_as_sent():
    queue = MessageQueue()
    assert queue.put(b"one")
    queue.close()
    assert not queue.put(b"two")
    assert list(queue) == []
    assert not queue.is_drained


def test_a_waiting_put_returns_false_when_the_queue_is_closed():
    queue = MessageQueue(limit=1)
    queue.put(b"full")
    results = []
    thread = threading.Thread(target=lambda: results.append(queue.put(b"more")))
    thread.start()
    queue.close()
    thread.join(20)
    assert results == [False]
