"""`jellyframe grpc serve`, as a process."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

import pytest

from jellyframe import StreamOptions
from jellyframe.cli.main import main
from support.examples import help_examples, make_files, page_commands, run_command
from support.grpc_process import ServerProcess
from support.grpc_server import PlainClient, Received, frames_of, triples

SHOWN = [*help_examples(), *page_commands("docs/grpc.md"), *page_commands("README.md")]
EXAMPLES = list(dict.fromkeys(one.command for one in SHOWN if one.command.startswith("jellyframe grpc serve")))


def test_the_command_listens_serves_and_stops(tmp_path: Path) -> None:
    server = ServerProcess("--listen", "127.0.0.1:0", "--topic", "kept=replay")
    with PlainClient(server.address) as client:
        client.publish(frames_of(triples(8), 4, StreamOptions.small(stream_name="kept")))
        subscription = client.subscribe("kept", metadata=[("jelly-from", "earliest")])
        assert Received(subscription.take(2)).statements == triples(8)
        subscription.cancel()
    assert server.end() == (0, "")


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_example_runs(command: str, tmp_path: Path) -> None:
    make_files(tmp_path)
    if "--check-config" in command:
        run_command(command, tmp_path)
        return
    words = [word for word in shlex.split(command, comments=True)[3:] if word not in ("--listen", "127.0.0.1:9090")]
    server = ServerProcess(*words, "--listen", "127.0.0.1:0", cwd=tmp_path)
    assert server.address
    code, notes = server.end(signal.SIGINT)
    assert code == 0
    assert ("the status page is http://127.0.0.1:" in notes) == ("--web" in words)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--listen", "nowhere"], "is not an address"),
        (["--listen", "0.0.0.0:0"], "there is no TLS"),
        (["--topic", "t"], "is not a topic"),
        (["--default-topic", "log"], "is not one of live"),
        (["--tls-key", "key.pem"], "go together"),
        (["--config", "missing.toml"], "No such file"),
    ],
)
def test_arguments_that_cannot_be_served_are_an_error_of_one_line(
    arguments: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["grpc", "serve", *arguments]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1
