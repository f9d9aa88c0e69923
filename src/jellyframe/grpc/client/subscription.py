"""A subscription of the blocking client."""

from __future__ import annotations

import threading
import time
from typing import Any

from jellyframe.batch import Batch
from jellyframe.errors import JellyError, RemoteError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.calling import BlockingCalls
from jellyframe.grpc.client.failures import closed, remote_error
from jellyframe.grpc.client.queues import MessageQueue
from jellyframe.grpc.client.subscribing import SubscriptionState
from jellyframe.options import StreamOptions
from jellyframe.stream.reader import StatementReader


class Subscription(StatementReader):
    """A subscription. Its views are those of `JellyReader`; they share one position, and raise once it is closed.

    A subscription is for one thread at a time, but any thread may close it.
    """

    def __init__(self, batches: Receiver, source_name: str) -> None:
        """Start to read; use `Client.subscribe` to create one for a topic."""
        super().__init__(batches, source_name)
        self._receiver = batches

    @property
    def offset(self) -> int | None:
        """The offset from which another subscription continues after the rows read so far.

        The last row, batch or frame returned counts as read when the next one is requested, or the stream is over: a
        program that stores this offset after each step reads everything at least once. None if nothing has been read
        or frames have no offsets.
        """
        return self._receiver.offset

    def started(self, timeout: float | None = None) -> bool:
        """Wait until the server has accepted the subscription, so that nothing published from now on is missed.

        Args:
            timeout: seconds to wait, None for no limit

        Returns:
            whether the server has accepted it. If not, the views raise the error, or try again. Some servers accept
            only with the first frame; ours accept at once.
        """
        return self._receiver.started(timeout)

    def cancel(self) -> None:
        """End the subscription. Views that wait for frames in other threads raise."""
        self.close()


class Receiver:
    """Receives the messages of a subscription in a thread and decodes them into batches. Reconnects when necessary."""

    def __init__(self, client: BlockingCalls, state: SubscriptionState, deadline: float | None) -> None:
        self._client = client
        self._state = state
        self._deadline = deadline
        self._is_closed = threading.Event()
        self._failure: RemoteError | None = None
        self._call: Any = None
        self._queue = MessageQueue()
        self._has_answer = threading.Event()
        self._is_accepted = False
        client._unanswered.add(self)
        self._begin()

    @property
    def offset(self) -> int | None:
        """The offset from which another subscription continues."""
        return self._state.offset

    @property
    def options(self) -> StreamOptions | None:
        """The options of the stream, once they are known."""
        return self._state.options

    @property
    def is_delimited(self) -> bool:
        """Whether frames are delimited: no, since gRPC delimits messages."""
        return False

    def next_batch(self) -> Batch | None:
        """Return the next batch, or None if the server has ended the stream."""
        self._state.begin_step()
        batch = self._next_batch()
        self._state.end_step(batch)
        return batch

    def started(self, timeout: float | None) -> bool:
        """Wait until the server has answered, and return whether it has accepted the subscription."""
        self._has_answer.wait(timeout)
        return self._is_accepted

    def close(self) -> None:
        """End the call."""
        self._is_closed.set()
        self._call.cancel()
        self._queue.close()

    # ---- implementation ----

    def _next_batch(self) -> Batch | None:
        state = self._state
        while True:
            if self._is_closed.is_set():
                raise closed("subscription")
            self._client._check_usable()
            try:
                batch = state.next_batch()
                if batch is None and not self._receive():
                    # If there is nothing left to decode, a batch need not be full.
                    batch = state.next_batch(partial=True)
                    if batch is None and not state.is_over:
                        self._wait()
                        continue
            except JellyError:
                self._call.cancel()
                raise
            if batch is not None or state.is_over:
                return batch

    def _receive(self) -> bool:
        """Pass on the messages that have arrived, and return whether there were any."""
        messages = self._queue.take()
        for message in messages:
            self._state.push(message)
        return bool(messages)

    def _wait(self) -> None:
        """Wait for messages, or for the end of the call; make another call if it failed."""
        self._queue.wait()
        if not self._queue.is_over or self._is_closed.is_set():
            return
        if self._failure is None:
            self._state.finish()
            return
        self._client._check_usable()
        pause = self._state.pause_after(self._failure, time.monotonic())
        self._is_closed.wait(pause)
        if not self._is_closed.is_set():
            self._begin()

    def _begin(self) -> None:
        left = None if self._deadline is None else max(0.001, self._deadline - time.monotonic())
        client, state = self._client, self._state
        self._failure = None
        self._queue = MessageQueue()
        self._call = client._call(client._subscribe, state.request, state.call_metadata(), left)
        threading.Thread(
            target=self._pump, args=(self._call, self._queue), name="jelly-subscription", daemon=True
        ).start()

    def _accept(self) -> None:
        self._is_accepted = True
        self._has_answer.set()

    def _pump(self, call: Any, queue: MessageQueue) -> None:
        """Move messages from the call into the queue."""
        import grpc

        try:
            if protocol.is_accepted(call.initial_metadata()):
                self._accept()
            for message in call:
                if not self._is_accepted:
                    self._accept()
                if not queue.put(message):
                    call.cancel()
                    return
        except grpc.RpcError as error:
            self._failure = remote_error(error, self._client.address)
        finally:
            self._has_answer.set()
            queue.end()
