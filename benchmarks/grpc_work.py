"""A gRPC server that forwards bytes without decoding them, as a process, and clients that put load on any server.

    python -m benchmarks.grpc_work        runs the server, and writes `listening on HOST:PORT` to standard error

The server has the calls of the protocol and one topic. It shows the cost of a server that only forwards.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
import grpc.aio

from jellyframe.grpc.protocol import (
    PUBLISH,
    SERVICE,
    SUBSCRIBE,
    Subscription,
    encode_subscription,
    publication_metadata,
)

_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
)


_TOPIC = tuple(publication_metadata("t"))


class OpaqueServer:
    """Forwards published frames to all subscribers."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[bytes]] = []

    async def publish(self, frames: AsyncIterator[bytes], _context: Any) -> bytes:
        async for frame in frames:
            for queue in self._queues:
                queue.put_nowait(frame)
        return b""

    async def subscribe(self, _request: bytes, context: Any) -> None:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues.append(queue)
        try:
            await context.send_initial_metadata(())
            while True:
                await context.write(await queue.get())
        finally:
            self._queues.remove(queue)

    async def serve(self) -> None:
        server = grpc.aio.server(options=_OPTIONS)
        handlers = {
            "PublishRdf": grpc.stream_unary_rpc_method_handler(self.publish),
            "SubscribeRdf": grpc.unary_stream_rpc_method_handler(self.subscribe),
        }
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        print(f"listening on 127.0.0.1:{port}", file=sys.stderr, flush=True)
        await server.wait_for_termination()


@contextmanager
def running(*command: str) -> Iterator[str]:
    """Run a server process, and yield the address that it listens on."""
    process = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield process.stderr.readline().removeprefix("listening on ").strip()
    finally:
        process.kill()
        process.communicate()


class Clients:
    """One publisher and many subscribers of a server, each with its own connection."""

    def __init__(self, address: str, subscribers: int) -> None:
        self._address = address
        self._subscribers = subscribers

    def forward(self, frames: Sequence[bytes], take: Callable[[bytes], None] | None = None) -> int:
        """Publish frames, wait until all have arrived, and return how many did. `take` is called with each of them."""
        return asyncio.run(self._forward(frames, take))

    async def _forward(self, frames: Sequence[bytes], take: Callable[[bytes], None] | None) -> int:
        async with self._connected() as (publish, calls):
            receiving = [asyncio.create_task(_receive(call, len(frames), take)) for call in calls]
            await publish(frames)
            return sum(await asyncio.gather(*receiving))

    def latencies(self, frames: Sequence[bytes]) -> list[float]:
        """Publish frames one by one, each after the one before has arrived, and return the time of each."""
        return asyncio.run(self._latencies(frames))

    async def _latencies(self, frames: Sequence[bytes]) -> list[float]:
        times = []
        channel = grpc.aio.insecure_channel(self._address, _OPTIONS)
        async with self._connected() as (_publish, (call,)), channel:
            publication = channel.stream_unary(PUBLISH)(metadata=_TOPIC)
            for frame in frames:
                start = time.perf_counter()
                await publication.write(frame)
                await call.read()
                times.append(time.perf_counter() - start)
            await publication.done_writing()
            await publication
        return times

    def _connected(self) -> "_Connected":
        return _Connected(self._address, self._subscribers)


class _Connected:
    def __init__(self, address: str, subscribers: int) -> None:
        self._channels = [grpc.aio.insecure_channel(address, _OPTIONS) for _ in range(subscribers + 1)]

    async def __aenter__(self) -> tuple[Any, list[Any]]:
        request = encode_subscription(Subscription("t"))
        calls = [channel.unary_stream(SUBSCRIBE)(request) for channel in self._channels[1:]]
        for call in calls:
            await call.initial_metadata()
        return self._publish, calls

    async def _publish(self, frames: Sequence[bytes]) -> None:
        call = self._channels[0].stream_unary(PUBLISH)(metadata=_TOPIC)
        for frame in frames:
            await call.write(frame)
        await call.done_writing()
        await call

    async def __aexit__(self, *_exception: object) -> None:
        for channel in self._channels:
            await channel.close()


async def _receive(call: Any, count: int, take: Callable[[bytes], None] | None) -> int:
    for received in range(count):
        frame = await call.read()
        if frame is grpc.aio.EOF:
            return received
        if take is not None:
            take(frame)
    return count


if __name__ == "__main__":
    asyncio.run(OpaqueServer().serve())
