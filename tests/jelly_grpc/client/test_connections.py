"""Connections between clients and servers: TLS, tokens, and connections without traffic."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import trustme

from jellyframe.errors import RemoteError
from jellyframe.grpc import connect
from jellyframe.grpc.config import ServerSettings
from jellyframe.grpc.security import TlsSettings, Token
from support.command import COMMAND, environment, run
from support.grpc_server import RunningServer
from support.rpc_data import triples


def write_certificate(made: trustme.LeafCert, folder: Path, name: str) -> tuple[str, str]:
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
    key.write_bytes(made.private_key_pem.bytes())
    return str(certificate), str(key)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    return authority, folder, str(folder / "ca.pem")


def test_tls(authority):
    issuer, folder, ca = authority
    certificate, key = write_certificate(issuer.issue_cert("localhost"), folder, "server")
    other = trustme.CA()
    other.cert_pem.write_to_path(str(folder / "other.pem"))
    settings = ServerSettings(listen="localhost:0", tls=TlsSettings(certificate, key))
    with RunningServer(settings=settings) as server:
        port = server.address.rpartition(":")[2]
        with connect(f"localhost:{port}", ca=ca) as client:
            assert client.publish("t", triples(1)) == 1
        # Under another name than the certificate has, and under that name.
        for name, works in ((None, False), ("localhost", True)):
            with connect(f"127.0.0.1:{port}", ca=ca, server_name=name, connect_timeout=0.2) as client:
                if works:
                    assert client.publish("t", triples(1)) == 1
                else:
                    with pytest.raises(RemoteError, match="cannot be reached"):
                        client.publish("t", triples(1))
        for wrong in ({"ca": str(folder / "other.pem")}, {}, {"tls": True}):
            with (
                connect(f"localhost:{port}", connect_timeout=0.2, **wrong) as client,
                pytest.raises(RemoteError, match="cannot be reached"),
            ):
                client.publish("t", triples(1))


def test_mutual_tls(authority):
    issuer, folder, ca = authority
    certificate, key = write_certificate(issuer.issue_cert("localhost"), folder, "mutual")
    own, own_key = write_certificate(issuer.issue_cert("client"), folder, "client")
    settings = ServerSettings(listen="localhost:0", tls=TlsSettings(certificate, key, ca))
    with RunningServer(settings=settings) as server:
        port = server.address.rpartition(":")[2]
        with connect(f"localhost:{port}", ca=ca, certificate=own, key=own_key) as client:
            assert client.publish("t", triples(1)) == 1
        with connect(f"localhost:{port}", ca=ca, connect_timeout=0.2) as client, pytest.raises(RemoteError):
            client.publish("t", triples(1))
        run("grpc", "topics", "--server", f"localhost:{port}", "--ca", ca, "--cert", own, "--key", own_key)


def test_tokens(tmp_path):
    token = Token("reader", hashlib.sha256(b"secret").hexdigest(), subscribe=("open/*",), publish=("in",))
    with RunningServer(settings=ServerSettings(listen="127.0.0.1:0", tokens=(token,))) as server:
        with connect(server.address, token="secret") as client:
            assert client.publish("in", triples(1)) == 1
            with pytest.raises(RemoteError) as caught:
                client.publish("open/x", triples(1))
            assert caught.value.status == "PERMISSION_DENIED"
            with pytest.raises(RemoteError, match="does not allow this"):
                list(client.subscribe("in"))
        for wrong in ("wrong", None):
            with connect(server.address, token=wrong) as client:
                for use in (lambda: client.publish("in", []), lambda: list(client.subscribe("open/x")), client.topics):
                    with pytest.raises(RemoteError, match="requires a token that it knows") as caught:
                        use()
                    assert caught.value.status == "UNAUTHENTICATED"
        (tmp_path / "token").write_text("secret\n")
        run("grpc", "topics", "--server", server.address, "--token-file", tmp_path / "token")
        command = [*COMMAND, "grpc", "topics", "--server", server.address]
        done = subprocess.run(command, env=environment(JELLYFRAME_TOKEN="secret"), capture_output=True, check=False)
        assert done.returncode == 0, done


class SilentProxy:
    """A proxy that stops forwarding without closing connections, as a broken network does."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._is_silent = threading.Event()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            self._sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one, other):
        try:
            while data := one.recv(65536):
                if not self._is_silent.is_set():
                    other.sendall(data)
        except OSError:
            return

    def fall_silent(self):
        self._is_silent.set()

    def close(self):
        self._listener.close()
        for one in self._sockets:
            one.close()


def test_a_silent_connection_is_noticed():
    with RunningServer(default_topic="replay") as server:
        proxy = SilentProxy(server.address)
        patience: Any = {"keepalive": 1, "connect_timeout": 1, "reconnect_timeout": 1}
        with connect(server.address) as direct, connect(proxy.address, **patience) as client:
            direct.publish("t", triples(10))
            subscription = client.subscribe("t", from_="earliest")
            batches = subscription.batches()
            assert len(next(batches)) == 10
            proxy.fall_silent()
            # Nothing tells the client, so it has to ask.
            with pytest.raises(RemoteError, match="cannot be reached, or has gone"):
                next(batches)
        proxy.close()
