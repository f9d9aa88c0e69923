"""A subscription of the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame, frames_of
from jellyframe.errors import ParseError, RemoteError, UsageError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.calling import AsyncCalls
from jellyframe.grpc.client.failures import closed, remote_error
from jellyframe.grpc.client.queues import QUEUE_BYTES
from jellyframe.grpc.client.subscribing import SubscriptionState
from jellyframe.options import StreamOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.options import LayoutName
    from jellyframe.terms import Quad, Triple


class AsyncSubscription:
    """A subscription, for one task at a time. Its views share one position, and raise once it is closed."""

    def __init__(self, client: AsyncCalls, state: SubscriptionState, timeout: float | None) -> None:
        """Start to read; use `AsyncClient.subscribe` to create one for a topic."""
        self._client = client
        self._state = state
        self._deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        self._namespaces: dict[str, str] = {}
        self._waiting_batch: Batch | None = None
        self._pump: asyncio.Task[None] | None = None
        self._messages: list[bytes] = []
        self._bytes = 0
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_answer = asyncio.Event()
        self._is_accepted = False
        self._failure: RemoteError | None = None
        self._is_closed = False
        self._is_in_use = False
        client._unanswered.add(self)
        self._begin()

    @property
    def namespaces(self) -> dict[str, str]:
        """The namespaces declared so far: the IRI of each name."""
        return self._namespaces

    @property
    def offset(self) -> int | None:
        """The offset from which another subscription continues, as in the blocking client."""
        return self._state.offset

    async def started(self, timeout: float | None = None) -> bool:
        """Wait until the server has accepted the subscription, so that nothing published from now on is missed.

        Args:
            timeout: seconds to wait, None for no limit

        Returns:
            whether the server has accepted it. If not, the views raise the error, or try again. Some servers accept
            only with the first frame; ours accept at once.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_answer.wait(), timeout)
        return self._is_accepted

    async def options(self) -> StreamOptions:
        """Return the options of the stream, reading them if necessary."""
        while self._state.options is None:
            self._waiting_batch = self._waiting_batch or await self._next_batch()
            if self._waiting_batch is None:
                break
        if self._state.options is None:
            raise ParseError("the stream ended before its options", source=self._client.address)
        return self._state.options

    # ---- the views ----

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield the stream in batches of at most `batch_rows` statements."""
        while True:
            batch, self._waiting_batch = self._waiting_batch, None
            if batch is None:
                batch = await self._next_batch()
            if batch is None:
                return
            self._namespaces.update((declaration.name, declaration.iri) for declaration in batch.namespaces)
            yield batch

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield the stream frame by frame: in a grouped stream, each is a graph or a dataset."""
        parts: list[Batch] = []
        async for batch in self.batches():
            parts.append(batch)
            if not batch.last_frame_open:
                for frame in frames_of(parts):
                    yield frame
                parts.clear()

    async def statements(self) -> AsyncIterator[Triple | Quad]:
        """Yield the stream statement by statement."""
        async for batch in self.batches():
            for statement in batch.statements():
                yield statement

    async def record_batches(
        self,
        layout: LayoutName = "struct",
        *,
        frame_column: bool = False,
        columns: Sequence[str] | None = None,
        dictionary: bool = False,
    ) -> AsyncIterator[pa.RecordBatch]:
        """Yield the rest of the stream as Arrow record batches.

        Args:
            layout: `struct`, `ntriples` or `flat`, as in `read_table`
            frame_column: add the number of the frame as a column `frame`
            columns: the columns to make; all by default
            dictionary: encode strings with a dictionary, which is the term table of each batch
        """
        from jellyframe.arrow.layouts import ArrowView

        has_graph = (await self.options()).has_graph
        view = ArrowView(layout, has_graph, frame_column=frame_column, columns=columns, dictionary=dictionary)
        async for batch in self.batches():
            for record_batch in view.record_batches([batch]):
                yield record_batch

    def __aiter__(self) -> AsyncIterator[Triple | Quad]:
        return self.statements()

    async def close(self) -> None:
        """End the subscription. Views that have not reached their end raise from now on."""
        self._is_closed = True
        self._changed.set()
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
            self._pump = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    # ---- implementation ----

    async def _next_batch(self) -> Batch | None:
        if self._is_in_use:
            raise UsageError("the subscription is in use: two tasks used it at the same time; use one for each task")
        self._is_in_use = True
        try:
            self._state.begin_step()
            batch = await self._decode()
            self._state.end_step(batch)
            return batch
        finally:
            self._is_in_use = False

    async def _decode(self) -> Batch | None:
        state = self._state
        while True:
            if self._is_closed:
                raise closed("subscription")
            self._client._check_usable()
            batch = state.next_batch()
            if batch is None and not self._receive():
                # If there is nothing left to decode, a batch need not be full.
                batch = state.next_batch(partial=True)
                if batch is None and not state.is_over:
                    await self._wait()
                    continue
            if batch is not None or state.is_over:
                return batch

    def _receive(self) -> bool:
        """Pass on the messages that have arrived, and return whether there were any."""
        messages, self._messages, self._bytes = self._messages, [], 0
        self._has_room.set()
        for message in messages:
            self._state.push(message)
        return bool(messages)

    async def _wait(self) -> None:
        """Wait for messages, or for the end of the call; make another call if it failed."""
        await self._changed.wait()
        self._changed.clear()
        pump = self._pump
        if self._messages or self._is_closed or pump is None or not pump.done():
            return
        if self._failure is None:
            pump.result()
            self._state.finish()
            return
        self._client._check_usable()
        pause = self._state.pause_after(self._failure, asyncio.get_running_loop().time())
        # `close` sets the event.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), pause)
        if not self._is_closed:
            self._begin()

    def _begin(self) -> None:
        left = None if self._deadline is None else max(0.001, self._deadline - asyncio.get_running_loop().time())
        method = self._client._channel().unary_stream(protocol.SUBSCRIBE)
        call = method(self._state.request, metadata=self._state.call_metadata(), timeout=left)
        self._failure = None
        self._pump = asyncio.ensure_future(self._move(call))
        # The task counts as done only after it has returned.
        self._pump.add_done_callback(lambda _task: self._changed.set())

    def _accept(self) -> None:
        self._is_accepted = True
        self._has_answer.set()

    async def _move(self, call: Any) -> None:
        """Move messages from the call to the decoder's queue, as long as there is room."""
        import grpc

        try:
            if protocol.is_accepted(await call.initial_metadata()):
                self._accept()
            async for message in call:
                if not self._is_accepted:
                    self._accept()
                while self._bytes >= QUEUE_BYTES:
                    self._has_room.clear()
                    await self._has_room.wait()
                self._messages.append(message)
                self._bytes += len(message)
                self._changed.set()
        except grpc.RpcError as error:
            self._failure = remote_error(error, self._client.address)
        finally:
            self._has_answer.set()
            call.cancel()
