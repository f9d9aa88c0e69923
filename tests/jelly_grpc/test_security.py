"""Authentication and permissions: certificates, tokens, addresses."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from jellyframe import OptionsError, StreamOptions
from jellyframe.grpc import Server
from jellyframe.grpc.config import ServerSettings
from jellyframe.grpc.security import TlsSettings, Token
from support.grpc_server import PlainClient, Received, RunningServer, frames_of, status, triples

LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def frames(topic: str = "t") -> list[bytes]:
    return frames_of(triples(4), 4, StreamOptions.small(stream_name=topic))


class Certificates:
    """Files with a server's certificate, which can be exchanged."""

    def __init__(self, folder: Path, *, client_ca: trustme.CA | None = None) -> None:
        self.authority = trustme.CA()
        self._certificate, self._key = folder / "server.pem", folder / "server.key"
        self.renew(self.authority)
        path = None
        if client_ca is not None:
            path = str(folder / "clients.pem")
            client_ca.cert_pem.write_to_path(path)
        self.settings = TlsSettings(str(self._certificate), str(self._key), path)

    def renew(self, authority: trustme.CA, *, expired: bool = False) -> None:
        made = authority.issue_cert("localhost", not_after=LONG_AGO if expired else None)
        self._key.write_bytes(made.private_key_pem.bytes())
        self._certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))

    def server(self) -> RunningServer:
        return RunningServer(settings=ServerSettings(listen="localhost:0", tls=self.settings))


def trusting(authority: trustme.CA, own: trustme.LeafCert | None = None) -> grpc.ChannelCredentials:
    key = chain = None
    if own is not None:
        key = own.private_key_pem.bytes()
        chain = b"".join(part.bytes() for part in own.cert_chain_pems)
    return grpc.ssl_channel_credentials(authority.cert_pem.bytes(), key, chain)


def can_publish(address: str, credentials: grpc.ChannelCredentials | None) -> bool:
    with PlainClient(address, credentials) as client:
        answer = client.publish_raw.future(iter(frames()), timeout=20)
        code = answer.code()
        assert code in (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE), answer.details()
        return code is grpc.StatusCode.OK


def test_tls_with_the_right_the_wrong_and_no_certificate(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    with certificates.server() as server:
        assert can_publish(server.address, trusting(certificates.authority))
        assert not can_publish(server.address, trusting(trustme.CA()))
        assert not can_publish(server.address, None)


def test_an_expired_certificate_is_not_trusted(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    certificates.renew(certificates.authority, expired=True)
    with certificates.server() as server:
        assert not can_publish(server.address, trusting(certificates.authority))


def test_mutual_tls(tmp_path: Path) -> None:
    clients = trustme.CA()
    certificates = Certificates(tmp_path, client_ca=clients)
    authority = certificates.authority
    with certificates.server() as server:
        assert can_publish(server.address, trusting(authority, clients.issue_cert("client")))
        assert not can_publish(server.address, trusting(authority))
        assert not can_publish(server.address, trusting(authority, trustme.CA().issue_cert("client")))
        expired = clients.issue_cert("client", not_after=LONG_AGO)
        assert not can_publish(server.address, trusting(authority, expired))


def test_certificates_are_reloaded_while_the_server_runs(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    other = trustme.CA()
    with certificates.server() as server, PlainClient(server.address, trusting(certificates.authority)) as client:
        subscription = client.subscribe("t")
        certificates.renew(other)
        server.call(server.server.reload)
        assert can_publish(server.address, trusting(other))
        assert not can_publish(server.address, trusting(certificates.authority))
        # Connections that were there stay.
        assert Received(subscription.take(1)).statements == triples(4)


@pytest.fixture
def bad_pairs(tmp_path: Path) -> dict[str, tuple[bytes, bytes]]:
    """Certificates and keys that a server cannot use."""
    mine, foreign = (trustme.CA().issue_cert("localhost") for _ in range(2))
    chain, key = mine.cert_chain_pems[0].bytes(), mine.private_key_pem.bytes()
    locked = load_pem_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    return {
        "no PEM": (b"nothing", key),
        "cut": (chain[: len(chain) // 2], key),
        "garbled": (chain.replace(b"A", b"!", 3), key),
        "another key": (chain, foreign.private_key_pem.bytes()),
        "a locked key": (chain, locked),
        "exchanged": (key, chain),
    }


def test_a_bad_certificate_is_refused_at_the_start_and_by_a_reload(
    tmp_path: Path, bad_pairs: dict[str, tuple[bytes, bytes]], capfd: pytest.CaptureFixture[str]
) -> None:
    certificates = Certificates(tmp_path)
    with certificates.server() as server:
        for chain, key in bad_pairs.values():
            (tmp_path / "server.pem").write_bytes(chain)
            (tmp_path / "server.key").write_bytes(key)
            with pytest.raises(OptionsError, match=r"server\.(pem|key)"):
                server.call(server.server.reload)
            with pytest.raises(OptionsError, match=r"server\.(pem|key)"):
                Server(settings=ServerSettings(listen="localhost:0", tls=certificates.settings))
            assert can_publish(server.address, trusting(certificates.authority))
    # gRPC has not seen them: it would have complained in lines of its own.
    assert capfd.readouterr().err == ""


def test_bad_authorities_of_clients_are_refused(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path, client_ca=trustme.CA())
    settings = ServerSettings(listen="localhost:0", tls=certificates.settings)
    Server(settings=settings)
    (tmp_path / "clients.pem").write_text("-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n")
    with pytest.raises(OptionsError, match=r"clients\.pem: there are no valid certificates"):
        Server(settings=settings)


def token(name: str, publish: tuple[str, ...] = (), subscribe: tuple[str, ...] = ()) -> Token:
    return Token(name, hashlib.sha256(name.encode()).hexdigest(), publish, subscribe)


@pytest.fixture(scope="module")
def guarded() -> Iterator[PlainClient]:
    tokens = (token("writer", publish=("sensors/*",)), token("reader", subscribe=("sensors/*", "news")))
    settings = ServerSettings(listen="127.0.0.1:0", tokens=tokens)
    with RunningServer(settings=settings, default_topic="replay") as server, PlainClient(server.address) as client:
        yield client


def bearing(word: str) -> list[tuple[str, str | bytes]]:
    return [("authorization", f"Bearer {word}")]


def test_a_token_with_the_right_to_a_topic(guarded: PlainClient) -> None:
    guarded.publish(frames("sensors/a"), bearing("writer"))
    metadata = [*bearing("reader"), ("jelly-from", "earliest")]
    assert Received(guarded.subscribe("sensors/a", metadata=metadata).take(1)).statements == triples(4)


@pytest.mark.parametrize(
    ("metadata", "topic", "code"),
    [
        ([], "sensors/a", grpc.StatusCode.UNAUTHENTICATED),
        (bearing("wrong"), "sensors/a", grpc.StatusCode.UNAUTHENTICATED),
        ([("authorization", "Basic d3JpdGVyOg==")], "sensors/a", grpc.StatusCode.UNAUTHENTICATED),
        (bearing("writer"), "news", grpc.StatusCode.PERMISSION_DENIED),
        (bearing("reader"), "sensors/a", grpc.StatusCode.PERMISSION_DENIED),
    ],
)
def test_publications_without_the_right_are_refused(
    guarded: PlainClient, metadata: list[tuple[str, str | bytes]], topic: str, code: grpc.StatusCode
) -> None:
    named = ("jelly-topic-bin", topic.encode())
    assert status(lambda: guarded.publish(frames(topic), metadata))[0] is code
    assert status(lambda: guarded.publish(frames("other"), [*metadata, named]))[0] is code


@pytest.mark.parametrize("word", ["writer", "wrong"])
def test_subscriptions_without_the_right_are_refused(guarded: PlainClient, word: str) -> None:
    error = guarded.subscribe("news", metadata=bearing(word)).error()
    assert error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


def test_only_topics_that_may_be_used_are_listed(guarded: PlainClient) -> None:
    from jellyframe.grpc.protocol import LIST_TOPICS, decode_topics

    guarded.publish(frames("sensors/a"), bearing("writer"))
    listing = guarded.channel.unary_unary(LIST_TOPICS, None, None)
    assert status(lambda: listing(b"", timeout=10))[0] is grpc.StatusCode.UNAUTHENTICATED
    names = [info.name for info in decode_topics(listing(b"", metadata=tuple(bearing("reader")), timeout=10))]
    assert "sensors/a" in names


def test_tokens_are_reloaded() -> None:
    settings = ServerSettings(listen="127.0.0.1:0", tokens=(token("old", publish=("*",)),))
    with RunningServer(settings=settings) as server, PlainClient(server.address) as client:
        client.publish(frames(), bearing("old"))
        changed = ServerSettings(listen="127.0.0.1:0", tokens=(token("new", publish=("*",)),))
        server.call(lambda: server.server.reload(changed))
        client.publish(frames(), bearing("new"))
        assert status(lambda: client.publish(frames(), bearing("old")))[0] is grpc.StatusCode.UNAUTHENTICATED


def test_a_reload_does_not_open_the_server_to_everybody() -> None:
    settings = ServerSettings(listen="127.0.0.1:0", tokens=(token("old", publish=("*",)),))
    with RunningServer(settings=settings) as server, PlainClient(server.address) as client:
        with pytest.raises(OptionsError, match="no tokens any more"):
            server.call(lambda: server.server.reload(ServerSettings(listen="127.0.0.1:0")))
        assert status(lambda: client.publish(frames()))[0] is grpc.StatusCode.UNAUTHENTICATED
        client.publish(frames(), bearing("old"))


def test_patterns_and_the_empty_topic() -> None:
    assert token("t", publish=("*",)).allows("publish", "")
    assert token("t", publish=("",)).allows("publish", "")
    assert not token("t", publish=("",)).allows("publish", "a")
    assert not token("t", publish=("a/*",)).allows("publish", "a")
    assert token("t", publish=("a/*",)).allows("publish", "a/b\nc/d")
    assert not token("t", publish=("A/*",)).allows("publish", "a/b")
    assert not token("t").allows("publish", "")


def test_an_invalid_digest_is_refused() -> None:
    with pytest.raises(OptionsError, match="64 hexadecimal digits"):
        Token("t", "secret")
    with pytest.raises(OptionsError, match="an empty token"):
        Token("t", hashlib.sha256(b"").hexdigest())


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "example.org:80"])
def test_other_machines_are_not_served_without_tls_unless_insecure_is_set(address: str) -> None:
    with pytest.raises(OptionsError, match="there is no TLS"):
        ServerSettings(listen=address)
    ServerSettings(listen=address, insecure=True)
