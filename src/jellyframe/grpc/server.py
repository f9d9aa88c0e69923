"""The server: ports, services and topics, to run as a command or to embed in a program."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer

from jellyframe.addresses import with_port
from jellyframe.errors import OptionsError, shortened
from jellyframe.grpc import protocol
from jellyframe.grpc.config import ServerSettings, TopicSettings
from jellyframe.grpc.logs import LOGGER_NAME
from jellyframe.grpc.metrics import Metrics
from jellyframe.grpc.retention.opening import folder_of_topic, open_store, topics_below
from jellyframe.grpc.security import Access, Certificates
from jellyframe.grpc.services import Services
from jellyframe.grpc.status_page import StatusPage
from jellyframe.grpc.topics import QueueSettings, Topic, TopicNotFoundError, Topics

_log = logging.getLogger(LOGGER_NAME)


class Server:
    """A gRPC server of Jelly streams, for use in a program.

        async with Server(topics={"sensors": "replay"}) as server:
            print(server.address)
            await server.wait()

    Args:
        listen: the address, as HOST:PORT; port 0 for any free port
        topics: the retention of each topic: `live`, `replay`, `log:FOLDER`, `file:PATH`, `kafka://…` or `none`
        default_topic: the same for all other topics
        settings: all settings; `listen`, `topics` and `default_topic` override them
    """

    def __init__(
        self,
        listen: str | None = None,
        *,
        topics: Mapping[str, str | TopicSettings] | None = None,
        default_topic: str | TopicSettings | None = None,
        settings: ServerSettings | None = None,
    ) -> None:
        settings = settings or ServerSettings(listen="127.0.0.1:0")
        if listen is not None:
            settings = replace(settings, listen=listen)
        if topics is not None:
            settings = replace(settings, topics={name: _topic_settings(how) for name, how in topics.items()})
        if default_topic is not None:
            settings = replace(settings, default_topic=_topic_settings(default_topic))
        self.settings = settings
        self._limits = settings.limits.for_streams()
        limits = settings.limits
        self._topics = Topics(self._open_topic, max_topics=limits.max_topics, max_name_bytes=limits.max_topic_bytes)
        self._certificates = None if settings.tls is None else Certificates(settings.tls)
        self._server: grpc.aio.Server | None = None
        self._services: Services | None = None
        self._health: HealthServicer | None = None
        self._port = 0
        self._page: StatusPage | None = None
        self.metrics = Metrics(lambda: self._topics)
        self._is_stopping = False

    @property
    def address(self) -> str:
        """The address that the server listens on, with its port."""
        return with_port(self.settings.listen, self._port)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._port

    @property
    def web_address(self) -> str | None:
        """The address of the status page, with its port; None if there is none."""
        return None if self._page is None else self._page.address

    @property
    def topics(self) -> list[protocol.TopicInfo]:
        """Descriptions of the open topics."""
        return [topic.info() for topic in self._topics]

    # ---- starting and stopping ----

    async def start(self) -> None:
        """Open the topics that are named in the settings, and start to listen."""
        settings = self.settings
        services = Services(
            self._topics,
            Access(settings.tokens),
            self._limits,
            max_streams=settings.limits.max_streams,
            dialect=settings.dialect,
        )
        server = grpc.aio.server(options=_channel_options(settings))
        server.add_generic_rpc_handlers(services.handlers())
        self._health = HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if settings.reflection:
            _enable_reflection(server)
        services.on_call_end = self.metrics.count_call
        try:
            named = [name for name, how in settings.topics.items() if how.retention != "none"]
            for name in (*named, *topics_below(settings.default_topic)):
                await self._topics.get(name)
            self._port = self._listen(server)
            if settings.web is not None:
                self._page = StatusPage(settings.web, lambda: self.topics, self.metrics)
        except BaseException:
            await self._topics.close()
            raise
        await server.start()
        self._server, self._services = server, services
        for name in ("", protocol.SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def _listen(self, server: grpc.aio.Server) -> int:
        """Open the port and return its number."""
        address = self.settings.listen
        try:
            if self._certificates is None:
                return int(server.add_insecure_port(address))
            return int(server.add_secure_port(address, self._certificates.credentials()))
        except RuntimeError:
            raise OptionsError(
                f"cannot listen on {address}: the address is in use, or not one of this machine"
            ) from None

    async def stop(self, grace: float | None = None) -> None:
        """Stop: refuse new calls, let publications end, send queued frames, and close the topics.

        Args:
            grace: seconds that calls have to end; by default those of the settings
        """
        if self._server is None or self._services is None or self._is_stopping:
            return
        self._is_stopping = True
        seconds = self.settings.drain if grace is None else grace
        if self._health is not None:
            await self._health.enter_graceful_shutdown()
        deadline = asyncio.get_running_loop().time() + seconds
        await self._services.drain(seconds)
        await self._server.stop(max(0.0, deadline - asyncio.get_running_loop().time()))
        await self._topics.close()
        if self._page is not None:
            await asyncio.to_thread(self._page.close)
            self._page = None

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        if self._server is not None:
            await self._server.wait_for_termination()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.stop(grace=0.5)

    def reload(self, settings: ServerSettings | None = None) -> None:
        """Reload the certificates, and use the tokens of new settings.

        Args:
            settings: the new settings, of which only the tokens are used; None to keep the tokens

        Raises OptionsError, and changes nothing, if they are not usable, or if they would remove the last token.
        """
        services = self._services
        if settings is not None and services is not None and services.access.tokens and not settings.tokens:
            raise OptionsError(
                "the settings have no tokens any more, and without any everybody may do everything: "
                "restart the server if that is intended"
            )
        if self._certificates is not None:
            self._certificates.reload()
        if settings is not None and services is not None:
            services.access = Access(settings.tokens)
        _log.info("certificates and tokens were reloaded")

    # ---- topics ----

    def _open_topic(self, name: str) -> Topic:
        settings = self.settings.topics.get(name)
        if settings is None:
            settings = self.settings.default_topic
            if settings.retention == "log" and settings.path is not None:
                settings = replace(settings, path=folder_of_topic(settings.path, name))
        if settings.retention == "none":
            raise TopicNotFoundError(f"there is no topic {shortened(name)} on this server")
        store = open_store(settings, name, self._limits)
        return Topic(name, store, self._limits, QueueSettings(settings.queue_bytes, settings.slow))


def _topic_settings(how: str | TopicSettings) -> TopicSettings:
    return TopicSettings.parse(how) if isinstance(how, str) else how


def _channel_options(settings: ServerSettings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.limits.max_frame_bytes),
        ("grpc.max_send_message_length", -1),
        # A second server on the same port would take half of the connections.
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", settings.keepalive * 1000),
        ("grpc.keepalive_timeout_ms", settings.keepalive_timeout * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
    ]


def _enable_reflection(server: grpc.aio.Server) -> None:
    from grpc_reflection.v1alpha import reflection

    # Importing them registers the messages for reflection.
    from jellyframe.proto import grpc_pb2, topics_pb2  # noqa: F401
    from jellyframe.proto.messages import POOL

    reflection.enable_server_reflection((protocol.SERVICE, protocol.TOPICS_SERVICE), server, POOL)
