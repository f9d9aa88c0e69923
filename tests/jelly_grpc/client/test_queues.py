"""Messages between two threads."""

from __future__ import annotations

import threading

from jellyframe.grpc.client.queues import MessageQueue


def test_who_puts_waits_for_room_and_all_arrives_in_order():
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


def test_what_is_waiting_when_it_is_closed_is_not_taken_for_sent():
    queue = MessageQueue()
    assert queue.put(b"one")
    queue.close()
    assert not queue.put(b"two")
    assert list(queue) == []
    assert not queue.is_drained


def test_who_waits_for_room_is_told_that_nobody_takes_any_more():
    queue = MessageQueue(limit=1)
    queue.put(b"full")
    results = []
    thread = threading.Thread(target=lambda: results.append(queue.put(b"more")))
    thread.start()
    queue.close()
    thread.join(20)
    assert results == [False]
