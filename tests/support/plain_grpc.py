"""A server made from the .proto alone, with protobuf's own messages: it knows nothing of jellyframe but the messages.

It keeps every stream that is published to a topic (the stream's name) and replays them to subscribers.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from jellyframe.proto import grpc_pb2, rdf_pb2

SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService"


class PlainServer:
    """A server on a port of this machine. Tests change `answer`, `frames` and so on to make it misbehave."""

    def __init__(self, port: int = 0, credentials: Any = None, **options: int) -> None:
        self.topics: dict[str, list[Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.requests: list[Any] = []
        # Whether frames tell their numbers, as those of a server of ours do.
        self.has_offsets = False
        # Set by tests: called with the context and the number of each frame before it is taken or sent. True ends it.
        self.on_frame: Any = lambda _context, _number: False
        self.on_published: Any = lambda _context: None
        self._server = grpc.server(
            ThreadPoolExecutor(32), options=[(f"grpc.{name}", value) for name, value in options.items()]
        )
        handlers = {
            "SubscribeRdf": grpc.unary_stream_rpc_method_handler(
                self._subscribe,
                grpc_pb2.RdfStreamSubscribe.FromString,
                rdf_pb2.RdfStreamFrame.SerializeToString,
            ),
            "PublishRdf": grpc.stream_unary_rpc_method_handler(
                self._publish,
                rdf_pb2.RdfStreamFrame.FromString,
                grpc_pb2.RdfStreamReceived.SerializeToString,
            ),
        }
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        address = f"127.0.0.1:{port}"
        self.port = (
            self._server.add_insecure_port(address)
            if credentials is None
            else self._server.add_secure_port(address, credentials)
        )
        self.address = f"localhost:{self.port}"
        self._server.start()

    def __enter__(self) -> PlainServer:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        stopped: threading.Event = self._server.stop(None)
        stopped.wait()

    def _publish(self, frames: Any, context: Any) -> Any:
        self.calls.append(("publish", dict(context.invocation_metadata())))
        received = []
        for number, frame in enumerate(frames):
            if self.on_frame(context, number):
                break
            received.append(frame)
        if not received or received[0].rows[0].WhichOneof("row") != "options":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first row is not the options")
        self.on_published(context)
        self.topics.setdefault(received[0].rows[0].options.stream_name, []).extend(received)
        return grpc_pb2.RdfStreamReceived()

    def _subscribe(self, request: Any, context: Any) -> Any:
        self.calls.append(("subscribe", dict(context.invocation_metadata())))
        self.requests.append(request)
        asked = dict(context.invocation_metadata())
        start = asked.get("jelly-from", "0") if self.has_offsets else "0"
        for number, frame in enumerate(self.topics.get(request.topic, [])):
            if start.isdigit() and number < int(start):
                continue
            if self.on_frame(context, number):
                return
            if self.has_offsets and asked.get("jelly-offsets") == "true":
                told = rdf_pb2.RdfStreamFrame()
                told.CopyFrom(frame)
                told.metadata["jelly-offset"] = str(number).encode()
                frame = told
            yield frame
