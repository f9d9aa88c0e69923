"""Operation of the server: health, reflection, metrics, status page, logs, graceful shutdown, settings file."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from jellyframe import OptionsError, StreamOptions
from jellyframe.cli.main import main
from jellyframe.errors import SettingError
from jellyframe.grpc.config import ServerLimits, ServerSettings, TopicSettings, parse_topic
from jellyframe.grpc.config_file import ConfigError, read_changed_config, read_config
from support.browsers import find_browser, opened_at
from support.grpc_process import ServerProcess
from support.grpc_server import (
    SERVICE,
    OpenPublication,
    PlainClient,
    Received,
    RunningServer,
    frames_of,
    status,
    triples,
)

FRAMES = frames_of(triples(20), 4, StreamOptions.small(stream_name="t"))


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    settings = ServerSettings(listen="127.0.0.1:0", web="127.0.0.1:0", reflection=True)
    with RunningServer(settings=settings, topics={"t": "replay", "<b>&": "live"}) as running:
        with PlainClient(running.address) as client:
            client.publish(FRAMES)
        yield running


def fetched(server: RunningServer, path: str, **headers: str) -> str:
    request = urllib.request.Request(f"http://{server.server.web_address}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        text: str = answer.read().decode()
        return text


def test_the_health_service_reports_serving(server: RunningServer) -> None:
    with PlainClient(server.address) as client:
        stub = health_pb2_grpc.HealthStub(client.channel)
        for service in ("", SERVICE):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection_is_there_when_asked_for(server: RunningServer) -> None:
    def asked(address: str) -> list[str]:
        with PlainClient(address) as client:
            stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)
            requests = [
                reflection_pb2.ServerReflectionRequest(list_services=""),
                reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
            ]
            listed, described = stub.ServerReflectionInfo(iter(requests), timeout=10)
            assert described.file_descriptor_response.file_descriptor_proto
            return [service.name for service in listed.list_services_response.service]

    assert SERVICE in asked(server.address)
    with RunningServer() as silent:
        assert status(lambda: asked(silent.address))[0] is grpc.StatusCode.UNIMPLEMENTED


def test_metrics_count_calls_and_topics(server: RunningServer) -> None:
    text = fetched(server, "/metrics")
    assert 'jelly_topic_statements_received_total{topic="t"} 20.0' in text
    assert 'jelly_topic_subscribers{topic="t"} 0.0' in text
    assert 'jelly_calls_total{call="publish",code="OK"} 1.0' in text


def test_the_status_page_shows_topics(server: RunningServer) -> None:
    state = json.loads(fetched(server, "/topics.json"))
    assert {topic["name"]: topic["statements"] for topic in state["topics"]} == {"t": 20, "<b>&": 0}
    page = fetched(server, "/")
    assert "<td>t</td><td>replay</td>" in page
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetched(server, "/other")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        fetched(server, "/topics.json", Host="evil.example.org")


def test_the_status_page_checks_the_host_also_on_ipv6() -> None:
    settings = ServerSettings(listen="127.0.0.1:0", web="[::1]:0")
    with RunningServer(settings=settings) as server:
        address = server.server.web_address
        assert address is not None
        assert json.loads(fetched(server, "/topics.json"))["topics"] == []
        for host in ("[::1]", "localhost:80"):
            fetched(server, "/topics.json", Host=host)
        for host in ("::1.example.org", "localhost.example.org:80", "127.0.0.1.example.org", ""):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                fetched(server, "/topics.json", Host=host)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "example.org:80"])
def test_the_status_page_is_local_unless_insecure_is_set(address: str) -> None:
    with pytest.raises(OptionsError, match="the status page on"):
        ServerSettings(web=address)
    assert ServerSettings(web=address, insecure=True).web == address


def test_status_page_in_a_browser(server: RunningServer, tmp_path: Path) -> None:
    address = f"http://{server.server.web_address}/"
    dom = opened_at(find_browser(), address, tmp_path, "--virtual-time-budget=3000", "--dump-dom")
    assert "<td>replay</td>" in dom
    # Written by the script: numbers of today, and no markup from a name.
    assert ">&lt;b&gt;&amp;</td>" in dom
    assert "<td>&lt;b&gt;&amp;</td>" not in dom
    assert "2 topics, 0 publishers, 0 subscribers" in dom


def test_a_stopping_server_drains_publications_and_ends_subscriptions() -> None:
    server = RunningServer()
    with PlainClient(server.address) as client:
        subscription = client.subscribe("t")
        publication = OpenPublication(client)
        publication.send(FRAMES[0])
        got = subscription.take(1)
        stopping = threading.Thread(target=server.stop, args=(20,))
        stopping.start()
        # New calls are refused as soon as it begins to stop.
        while True:
            try:
                client.subscribe("t").cancel()
                client.publish(FRAMES)
                got += subscription.take(len(FRAMES))
            except grpc.RpcError as error:
                refused = error
                break
        assert refused.code() is grpc.StatusCode.UNAVAILABLE
        publication.send(*FRAMES[1:])
        assert publication.finish() == b""
        got += subscription.take(4)
        assert Received(got).statements[-20:][-16:] == triples(16, 4)
        ended = subscription.error()
        assert ended.code() is grpc.StatusCode.UNAVAILABLE
        assert "server is stopping" in ended.details()
        stopping.join(30)


def test_logs_are_structured() -> None:
    server = ServerProcess("--listen", "127.0.0.1:0", "--log-level", "info", "--log-format", "json")
    with PlainClient(server.address) as client:
        status(lambda: client.publish([]))
    code, lines = server.end()
    assert code == 0
    entries = [json.loads(line) for line in lines.splitlines()]
    refused = [entry for entry in entries if entry["code"] == "INVALID_ARGUMENT"]
    assert refused
    assert refused[0]["call"] == "publish"
    assert refused[0]["level"] == "info"


TOPIC_OF_LOGS = 'a b\ncode=OK "c"'


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_logs_name_the_caller_and_the_topic(tmp_path: Path, log_format: str) -> None:
    digest = hashlib.sha256(b"secret").hexdigest()
    tokens = f'[[tokens]]\nname = "gateway"\nsha256 = "{digest}"\npublish = ["*"]\n'
    config = tmp_path / "server.toml"
    config.write_text(f'listen = "127.0.0.1:0"\nlog_level = "info"\nlog_format = "{log_format}"\n{tokens}')
    server = ServerProcess("--config", str(config))
    with PlainClient(server.address) as client:
        named = StreamOptions.small(stream_name=TOPIC_OF_LOGS)
        client.publish(frames_of(triples(4), 4, named), [("authorization", "Bearer secret")])
        config.write_text("colour = 1\n")
        server.process.send_signal(signal.SIGHUP)
        assert server.process.stderr is not None
        published, failed = (server.process.stderr.readline() for _ in range(2))
    assert server.end()[0] == 0
    if log_format == "json":
        entry = json.loads(published)
        told = {key: entry[key] for key in ("message", "call", "code", "token", "topic")}
        expected = {"message": "publish ended", "call": "publish", "code": "OK", "token": "gateway"}
        assert told == {**expected, "topic": TOPIC_OF_LOGS}
        assert entry["peer"].startswith("ipv4:127.0.0.1:")
        assert json.loads(failed)["level"] == "error"
        assert "there is no setting colour" in json.loads(failed)["message"]
    else:
        assert " info publish ended call=publish code=OK peer=" in published
        assert published.endswith('token=gateway topic="a b code=OK \\"c\\""\n'), published
        assert " error nothing was reloaded: " in failed


def test_sighup_reloads_and_logs_mistakes(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text('listen = "127.0.0.1:0"\n')
    server = ServerProcess("--config", str(config))
    with PlainClient(server.address) as client:
        client.publish(FRAMES)
        digest = "0" * 64
        config.write_text(f'listen = "127.0.0.1:0"\n[[tokens]]\nname = "a"\nsha256 = "{digest}"\n')
        server.process.send_signal(signal.SIGHUP)
        while True:
            # A signal is handled when it is; then nobody without a token may publish.
            try:
                client.publish(FRAMES)
            except grpc.RpcError as error:
                refused = error
                break
        assert refused.code() is grpc.StatusCode.UNAUTHENTICATED
        config.write_text("listen = 5\n")
        server.process.send_signal(signal.SIGHUP)
        assert server.process.stderr is not None
        assert "nothing was reloaded" in server.process.stderr.readline()
    assert server.end() == (0, "")


FULL = """
listen = "0.0.0.0:9443"
default_topic = "none"
web = "127.0.0.1:9444"
reflection = true
keepalive = "2min"
drain = 10
log_level = "info"
log_format = "json"

[tls]
certificate = "server.pem"
key = "server.key"

[limits]
max_streams = 100
max_frame_bytes = "1MiB"

[[tokens]]
name = "gateway"
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
publish = ["sensors/*"]

[topics]
people = "file:people.jelly"

[topics."sensors/室温"]
retention = "log"
path = "kept"
max_bytes = "10G"
max_age = "7d"
slow = "block"
"""


def test_settings_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_text(FULL)
    settings = read_config(path)
    assert settings.tls is not None
    assert settings.tls.certificate == str(tmp_path / "server.pem")
    assert settings.limits.max_frame_bytes == 1 << 20
    assert settings.keepalive == 120
    assert settings.tokens[0].publish == ("sensors/*",)
    log = settings.topics["sensors/室温"]
    assert (log.path, log.max_bytes, log.max_age, log.slow) == (str(tmp_path / "kept"), 10 << 30, 7 * 86400, "block")
    assert settings.topics["people"].path == str(tmp_path / "people.jelly")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("listen = ", "not TOML"),
        ("port = 1", "there is no setting port"),
        ("listen = 1", "must be a string"),
        ("drain = -1", "must be a whole number"),
        ('drain = "soon"', "it must be a whole number"),
        ("reflection = 1", "must be true or false"),
        ("topics = 1", "topics must be a table"),
        ('topics.a = "log"', "is not one of live"),
        ('topics.a = {retention = "log"}', "needs a path"),
        ('topics.a = {retention = "live", slow = "panic"}', "must be one of end, block"),
        ("limits = {max_frames = 1}", "there is no setting limits.max_frames"),
        ('tls = {certificate = "a"}', "tls lacks key"),
        ('tokens = [{name = "a", sha256 = "b"}]', "64 hexadecimal digits"),
        ('tokens = [{name = "a"}]', "tokens lacks sha256"),
        ('log_level = "loud"', "must be one of debug"),
    ],
)
def test_each_mistake_in_the_settings_is_reported(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "server.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"server\.toml(, line 1)?: ") as caught:
        read_config(path)
    assert reason in str(caught.value)
    assert len(caught.value.problems) == 1


MISTAKEN = """\
listen = "0.0.0.0:9090"
colour = "red"
keepalive = "100000d"
web = "0.0.0.0:9091"
drain = 1.5

[limits]
max_streams = 0
max_frame_bytes = "4GiB"
max_topic = 10

[topics]
a = "lgo:x"
b = {retention = "lgo", slow = "stop"}

[topics."c.d"]
retention = "log"
segment_bytes = 0

[tls]
certificate = "server.pem"

[[tokens]]
name = "first"
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

[[tokens]]
name = "second"
publish = [
  "a",
  5,
]
sha256 = "secret"
"""


def test_all_mistakes_in_a_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_text(MISTAKEN)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    found = [problem.removeprefix(f"{path}, line ").partition(": ")[::2] for problem in caught.value.problems]
    expected = [
        (2, "there is no setting colour; there are listen, "),
        (3, "keepalive is 8640000000, and must be at most 2147483"),
        (4, "the status page on 0.0.0.0:9091 can be reached from other machines"),
        (5, "drain is '1.5', and must be a whole number"),
        (8, "limits: max_streams is 0, and must be at least 1"),
        (9, "limits: max_frame_bytes is 4294967296, and must be at most 2147483647"),
        (10, "there is no setting limits.max_topic"),
        (13, "topics.a: 'lgo:x' is not one of live"),
        (14, "topics.b: retention is 'lgo', and must be one of live"),
        (14, "topics.b: slow is 'stop', and must be one of end, block"),
        (16, "topics.c.d: a topic of the retention log needs a path"),
        (18, "topics.c.d: segment_bytes is 0, and must be at least 1"),
        (20, "tls lacks key"),
        (27, "tokens: the sha256 of the token 'second' is not 64 hexadecimal digits"),
        (32, "tokens.publish must be a list of strings"),
    ]
    assert [int(line) for line, _message in found] == [line for line, _message in expected]
    for (_line, message), (_expected_line, beginning) in zip(found, expected, strict=True):
        assert message.startswith(beginning)


def test_the_command_line_overrides_a_file_that_is_not_valid_without_it(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_text('listen = "0.0.0.0:0"\n[topics]\na = "live"\n')
    with pytest.raises(ConfigError, match=r"line 1: .* there is no TLS"):
        read_config(path)
    assert read_changed_config(path, {"insecure": True}).listen == "0.0.0.0:0"
    changed = read_changed_config(path, {"listen": "127.0.0.1:0", "topics": {"b": TopicSettings("replay")}})
    assert (changed.listen, sorted(changed.topics)) == ("127.0.0.1:0", ["a", "b"])
    with pytest.raises(SettingError, match=r"^log_level is 'loud'"):
        read_changed_config(path, {"insecure": True, "log_level": "loud"})
    for option in ("--insecure", "--listen=127.0.0.1:0"):
        assert main(["grpc", "serve", "--config", str(path), option, "--check-config"]) == 0


@pytest.mark.parametrize(("kind", "table"), [(ServerLimits, "limits"), (TopicSettings, "default_topic")])
def test_every_number_of_bytes_may_have_a_unit(kind: Any, table: str, tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    names = [one.name for one in fields(kind) if one.name.endswith("_bytes")]
    assert names
    path.write_text("".join(f'{table}.{name} = "64k"\n' for name in names))
    made = getattr(read_config(path), table)
    assert [getattr(made, name) for name in names] == [65_536] * len(names)


def test_a_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_bytes(b'listen = "127.0.0.1:0"\nweb = "\xff"\n')
    with pytest.raises(ConfigError, match="line 2: not TOML: it is not UTF-8"):
        read_config(tmp_path / "server.toml")


def test_check_config_reports_all_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.toml").write_text('topics.a = "replay"\n')
    (tmp_path / "bad.toml").write_text("colour = 1\n")
    (tmp_path / "worse.toml").write_text("colour = 1\ndrain = -1\n")
    for name, code, lines in (("good.toml", 0, 1), ("bad.toml", 2, 1), ("worse.toml", 2, 2)):
        assert main(["grpc", "serve", "--config", str(tmp_path / name), "--check-config"]) == code
        assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=live", ("a", TopicSettings())),
        ("=replay", ("", TopicSettings("replay"))),
        ("a=b=log:x=y", ("a=b", TopicSettings("log", "x=y"))),
        ("a=file:log:b", ("a", TopicSettings("file", "log:b"))),
    ],
)
def test_topics_are_parsed_from_the_command_line(text: str, expected: tuple[str, TopicSettings]) -> None:
    assert parse_topic(text) == expected
