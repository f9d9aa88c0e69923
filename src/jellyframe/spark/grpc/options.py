"""The options of the data source `jelly-grpc`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from jellyframe.defaults import CONNECT_SECONDS, LAYOUT_NAMES
from jellyframe.errors import OptionsError
from jellyframe.formats import JELLY
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.client.settings import Connection
from jellyframe.grpc.protocol import EARLIEST, Start, parse_start
from jellyframe.options import StreamOptionChanges, StreamOptions
from jellyframe.spark.options import (
    GivenOptions,
    ReadOptions,
    boolean,
    names_with_commas,
    one_of,
    positive_size,
    stream_options,
    without_query_options,
)

FORMAT_NAME = "jelly-grpc"
_FRAMES_PER_PARTITION = 1024
# Less than the default of clients: Spark runs a task again that fails, and meanwhile the task takes a core.
_RECONNECT_SECONDS = 60.0


@dataclass(frozen=True)
class ServerOptions:
    """A topic and the settings of the connection to its server. Can be pickled, unlike a client."""

    connection: Connection
    topic: str
    token_file: str | None = None

    @classmethod
    def take(cls, given: GivenOptions) -> ServerOptions:
        server = given.take("server", str, None)
        topic = given.take("topic", str, given.take("path", str, None))
        if server is None or topic is None:
            missing = "server" if server is None else "topic"
            raise OptionsError(f'the option {missing} is missing: .option("{missing}", "…")')
        connection = Connection(
            server,
            tls=given.take("tls", boolean, False),
            ca=given.take("ca", str, None),
            certificate=given.take("certificate", str, None),
            key=given.take("key", str, None),
            server_name=given.take("server_name", str, None),
            connect_timeout=given.take("connect_timeout", float, CONNECT_SECONDS),
            reconnect_timeout=given.take("reconnect_timeout", float, _RECONNECT_SECONDS),
        )
        return cls(connection, topic, given.take("token_file", str, None))

    def connect(self) -> Client:
        """Return a new client. The token is read from its file here, so that it appears in no query plan and no log."""
        if self.token_file is None:
            return Client(self.connection)
        with open(self.token_file, encoding="utf-8") as file:
            return Client(replace(self.connection, token=file.read().strip()))


@dataclass(frozen=True)
class TopicReadOptions:
    """The options of `spark.read.format("jelly-grpc")` and `spark.readStream`."""

    server: ServerOptions
    rows: ReadOptions
    start: Start = EARLIEST
    accept_loss: bool = False
    max_frames: int | None = None
    frames_per_partition: int = _FRAMES_PER_PARTITION

    @classmethod
    def read(cls, options: Mapping[str, str]) -> TopicReadOptions:
        given = GivenOptions(options, JELLY, FORMAT_NAME)
        server = ServerOptions.take(given)
        rows = ReadOptions(
            paths=(server.topic,),
            layout=given.take("layout", one_of(*LAYOUT_NAMES), None),
            columns=given.take("columns", names_with_commas, None),
        )
        result = cls(
            server,
            rows,
            start=given.take("startingOffsets", parse_start, EARLIEST),
            accept_loss=given.take("acceptLoss", boolean, False),
            max_frames=given.take("maxFramesPerTrigger", positive_size, None),
            frames_per_partition=given.take("framesPerPartition", positive_size, _FRAMES_PER_PARTITION),
        )
        given.refuse_others()
        return result


@dataclass(frozen=True)
class TopicWriteOptions:
    """The options of `df.write.format("jelly-grpc")`."""

    server: ServerOptions
    stream: StreamOptionChanges = field(default_factory=StreamOptionChanges)
    frame_rows: int | None = None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> TopicWriteOptions:
        given = GivenOptions(without_query_options(options), JELLY, FORMAT_NAME)
        result = cls(
            ServerOptions.take(given),
            stream=cast("StreamOptionChanges", stream_options(given, StreamOptions, StreamOptions.small())),
            frame_rows=given.take("frame_rows", positive_size, None),
        )
        given.refuse_others()
        return result
