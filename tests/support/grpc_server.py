"""A server of ours in a thread of the test, and a client that is made from the .proto alone, with plain grpcio."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import grpc

from jellyframe import IRI, Literal, StreamOptions, Triple
from jellyframe.grpc.protocol import TopicInfo
from jellyframe.grpc.server import Server
from jellyframe.proto import grpc_pb2, rdf_pb2
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.stream.encoder import StreamEncoder
from jellyframe.stream.statements import encode_statements
from jellyframe.terms import Quad

SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"
# No call of a test takes this long, unless something is wrong.
PATIENCE = 30
_T = TypeVar("_T")
Metadata = Sequence[tuple[str, str | bytes]]


class RunningServer:
    """A server in a thread."""

    def __init__(self, **arguments: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self.server = self.call(lambda: Server(**arguments))
            self.run(self.server.start())
        except BaseException:
            self._end_loop()
            raise
        self.address = self.server.address

    def run(self, work: Any) -> Any:
        """Run a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def call(self, function: Callable[[], _T]) -> _T:
        """Call a function in the server's loop."""
        done: Future[_T] = Future()

        def call() -> None:
            try:
                done.set_result(function())
            except BaseException as error:
                done.set_exception(error)

        self._loop.call_soon_threadsafe(call)
        return done.result(PATIENCE)

    def topics(self) -> list[TopicInfo]:
        """Return the server's descriptions of its topics."""
        return self.call(lambda: self.server.topics)

    def stop(self, grace: float = 0.2) -> None:
        self.run(self.server.stop(grace))
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()


class PlainClient:
    """A client made of the .proto and grpcio: it knows nothing of jellyframe but the messages."""

    def __init__(self, address: str, credentials: Any = None) -> None:
        # The window of a stream stays as small as it begins: what a client has not read waits in the server.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        self.channel: Any = (
            grpc.insecure_channel(address, options)
            if credentials is None
            else grpc.secure_channel(address, credentials, options)
        )
        self._publish = self.channel.stream_unary(
            f"/{SERVICE}/PublishRdf",
            rdf_pb2.RdfStreamFrame.SerializeToString,
            grpc_pb2.RdfStreamReceived.FromString,
        )
        self._subscribe = self.channel.unary_stream(
            f"/{SERVICE}/SubscribeRdf",
            grpc_pb2.RdfStreamSubscribe.SerializeToString,
            rdf_pb2.RdfStreamFrame.FromString,
        )
        self.publish_raw = self.channel.stream_unary(f"/{SERVICE}/PublishRdf", None, None)
        self.subscribe_raw = self.channel.unary_stream(f"/{SERVICE}/SubscribeRdf", None, None)

    def publish(self, frames: Iterable[bytes], metadata: Metadata = ()) -> Any:
        """Publish frames, given as bytes, and return the answer."""
        messages = (rdf_pb2.RdfStreamFrame.FromString(frame) for frame in frames)
        return self._publish(messages, metadata=tuple(metadata), timeout=PATIENCE)

    def subscribe(
        self, topic: str = "", options: StreamOptions | None = None, metadata: Metadata = ()
    ) -> PlainSubscription:
        """Subscribe, and return when the server has seen it."""
        request = grpc_pb2.RdfStreamSubscribe(topic=topic)
        if options is not None:
            request.requested_options.ParseFromString(options.to_bytes())
        call = self._subscribe(request, metadata=tuple(metadata), timeout=PATIENCE)
        return PlainSubscription(call)

    def close(self) -> None:
        self.channel.close()

    def __enter__(self) -> PlainClient:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class PlainSubscription:
    """The frames of a subscription, one after the other."""

    def __init__(self, call: Any) -> None:
        self._call = call
        # Sent when the subscription has begun, or refused.
        self.initial_metadata = call.initial_metadata()

    def take(self, count: int) -> list[bytes]:
        """Return the next frames."""
        return [next(self._call).SerializeToString() for _ in range(count)]

    def rest(self) -> list[bytes]:
        """Return all frames up to the end."""
        return [frame.SerializeToString() for frame in self._call]

    def error(self) -> Any:
        """Return the error that the subscription ends with."""
        try:
            for _frame in self._call:
                pass
        except grpc.RpcError as error:
            return error
        raise AssertionError("the subscription has ended well")

    def cancel(self) -> None:
        self._call.cancel()


class OpenPublication:
    """A publication whose frames are sent one by one."""

    def __init__(self, client: PlainClient, metadata: Metadata = ()) -> None:
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._answer = client.publish_raw.future(
            iter(self._frames.get, None), metadata=tuple(metadata), timeout=PATIENCE
        )

    def send(self, *frames: bytes) -> None:
        for frame in frames:
            self._frames.put(frame)

    def finish(self) -> bytes:
        """End the stream and return the answer."""
        self._frames.put(None)
        answer: bytes = self._answer.result()
        return answer

    def cancel(self) -> None:
        self._answer.cancel()
        self._frames.put(None)


def triples(count: int, start: int = 0, *, who: str = "s") -> list[Triple]:
    """Statements that are told apart by their numbers."""
    return [
        Triple(
            IRI(f"http://example.org/{who}{number}"),
            IRI(f"http://example.org/p{number % 3}"),
            Literal(f"{who} {number}"),
        )
        for number in range(start, start + count)
    ]


def frames_of(
    statements: Sequence[Triple | Quad], size: int = 4, options: StreamOptions | None = None, **encoding: Any
) -> list[bytes]:
    """A stream of statements, so many to a frame, as frames."""
    encoder = StreamEncoder(options, frame_rows=None, frame_bytes=None, **encoding)
    for start in range(0, len(statements), size):
        for _ in encode_statements(encoder, statements[start : start + size]):
            pass
        encoder.end_frame()
    return encoder.take_frames()


class Received:
    """Frames that a subscriber has got, decoded as one stream: it raises where they are not one."""

    def __init__(self, frames: Iterable[bytes]) -> None:
        decoder = StreamDecoder()
        for frame in frames:
            decoder.push_frame(frame)
        decoder.finish()
        self.batches = list(decoder.batches())
        self.options = decoder.options
        self.statements = [statement for batch in self.batches for statement in batch.statements()]
        self.metadata = {number: entries for batch in self.batches for number, entries in batch.metadata.items()}
        self.namespaces = [(one.name, one.iri) for batch in self.batches for one in batch.namespaces]
        self.frames = [
            batch.statements(start, stop)
            for batch in self.batches
            for _number, start, stop, _whole in batch.frame_spans()
        ]


def status(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    """Call something that fails, and return the status."""
    try:
        call()
    except grpc.RpcError as error:
        failed: Any = error
        return failed.code(), failed.details()
    raise AssertionError("the call has not failed")


def each(items: Iterable[_T]) -> Iterator[_T]:
    yield from items
