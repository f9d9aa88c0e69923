"""`jellyframe grpc serve`: a server that clients publish to and subscribe from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jellyframe.cli.arguments import add_command, add_dialect
from jellyframe.cli.console import UsageError
from jellyframe.defaults import GRPC_ADDRESS

if TYPE_CHECKING:
    from jellyframe.grpc.config import ServerSettings, TopicSettings
    from jellyframe.grpc.server import Server

_EXAMPLES = """
jellyframe grpc serve --listen 127.0.0.1:9090
jellyframe grpc serve --topic sensors=log:sensors --topic people=file:people.jelly --web 127.0.0.1:0
jellyframe grpc serve --config server.toml --check-config
"""
_DESCRIPTION = """\
Serve Jelly streams by topic: what clients publish goes to all who subscribe. A topic is `live` (nothing is kept),
`replay` (frames are kept in memory), `log:FOLDER` (frames are kept on disk, as Jelly files) or `file:PATH` (a file or
folder to read). With --store, topics that are not named are kept in a Kafka cluster.

When the server is ready it says so on standard error, with its address. SIGTERM and SIGINT drain
the running calls and stop it; SIGHUP reloads certificates and tokens."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "serve",
        run,
        help="serve topics that clients publish and subscribe to",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_path("--config", metavar="FILE", help="a TOML file with settings; command-line options override it")
    parser.add_switch("--check-config", default=False, help="check the settings, report errors, and exit")
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help=f"the address ({GRPC_ADDRESS}); port 0 selects a free port"
    )
    parser.add_argument(
        "--topic",
        metavar="NAME=HOW",
        action="append",
        default=[],
        help="retention of a topic: live, replay, log:FOLDER or file:PATH; may be given several times",
    )
    parser.add_argument(
        "--default-topic",
        metavar="HOW",
        help="the same for other topics (live); none refuses them. log:FOLDER has a folder in it for each topic",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        help="keep topics that are not named in a Kafka cluster, as kafka://HOST:PORT, which several servers may "
        "share; the same as --default-topic URL",
    )
    parser.add_argument("--web", metavar="HOST:PORT", help="the address of a status page, and of metrics at /metrics")
    parser.add_path("--tls-certificate", metavar="FILE", help="the server's certificate chain, in PEM")
    parser.add_path("--tls-key", metavar="FILE", help="its private key, in PEM")
    parser.add_path("--tls-client-ca", metavar="FILE", help="require client certificates signed by these authorities")
    parser.add_switch("--insecure", help="listen without TLS on an address that other machines can reach")
    parser.add_switch("--reflection", help="let clients list the services")
    add_dialect(parser, "the dialect of clients that do not say theirs; released if not given", default=None)
    parser.add_named(
        "--log-level",
        metavar="LEVEL",
        values=("debug", "info", "warning", "error"),
        help="the lowest level to log (warning)",
    )
    parser.add_named(
        "--log-format", metavar="FORMAT", values=("text", "json"), help="text, or json for one object per line"
    )


def run(arguments: argparse.Namespace) -> int:
    import asyncio

    from jellyframe.grpc.config_file import ConfigError
    from jellyframe.grpc.logs import set_up
    from jellyframe.grpc.server import Server

    try:
        settings = settings_of(arguments)
    except ConfigError as error:
        *others, last = error.problems
        for problem in others:
            arguments.console.error(problem)
        raise UsageError(last) from None
    server = Server(settings=settings)
    if arguments.check_config:
        arguments.console.note("the settings are valid")
        return 0
    set_up(settings.log_level, settings.log_format)
    asyncio.run(_serve(server, arguments))
    return 0


def settings_of(arguments: argparse.Namespace) -> ServerSettings:
    """Return the settings of the file, with those of the command line in their place."""
    from jellyframe.grpc.config import ServerSettings, TopicSettings, parse_topic
    from jellyframe.grpc.config_file import read_changed_config
    from jellyframe.grpc.security import TlsSettings

    changes: dict[str, Any] = {
        name: value
        for name in ("listen", "web", "insecure", "reflection", "log_level", "log_format", "dialect")
        if (value := getattr(arguments, name)) is not None
    }
    if arguments.topic:
        changes["topics"] = dict(map(parse_topic, arguments.topic))
    if arguments.store is not None:
        if arguments.default_topic is not None:
            raise UsageError("--store and --default-topic exclude each other")
        changes["default_topic"] = _kafka_topic(arguments.store)
    if arguments.default_topic is not None:
        changes["default_topic"] = TopicSettings.parse(arguments.default_topic)
    if (arguments.tls_certificate is None) != (arguments.tls_key is None):
        raise UsageError("--tls-certificate and --tls-key go together")
    if arguments.tls_certificate is not None:
        changes["tls"] = TlsSettings(arguments.tls_certificate, arguments.tls_key, arguments.tls_client_ca)
    elif arguments.tls_client_ca is not None:
        raise UsageError("--tls-client-ca needs --tls-certificate and --tls-key")
    return ServerSettings(**changes) if arguments.config is None else read_changed_config(arguments.config, changes)


def _kafka_topic(url: str) -> TopicSettings:
    from jellyframe.grpc.config import TopicSettings
    from jellyframe.grpc.retention.kafka_cluster import KafkaAddress

    KafkaAddress.parse(url)
    return TopicSettings("kafka", url)


async def _serve(server: Server, arguments: argparse.Namespace) -> None:
    import asyncio
    import gc
    import signal

    loop = asyncio.get_running_loop()
    await server.start()
    # Imported modules stay in memory: exclude them from garbage collection.
    gc.collect()
    gc.freeze()
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        if not stopping:
            stopping.append(loop.create_task(server.stop()))

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, lambda: _reload(server, arguments))
    arguments.console.announce(f"listening on {server.address}")
    if server.web_address is not None:
        arguments.console.note(f"the status page is http://{server.web_address}/")
    await server.wait()
    for task in stopping:
        await task


def _reload(server: Server, arguments: argparse.Namespace) -> None:
    """Reload certificates and tokens. If they are not valid, log the error and keep the old ones."""
    import logging

    from jellyframe.cli.wording import describe
    from jellyframe.grpc.logs import LOGGER_NAME

    try:
        server.reload(settings_of(arguments))
    except Exception as error:
        logging.getLogger(LOGGER_NAME).error(f"nothing was reloaded: {describe(error)}")
