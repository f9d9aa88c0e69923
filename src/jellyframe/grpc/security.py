"""Authentication and authorization: certificates, and tokens with rights by topic."""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

import grpc

from jellyframe.errors import JellyError, OptionsError, shortened
from jellyframe.grpc.protocol import CallMetadata

Right: TypeAlias = Literal["publish", "subscribe"]
_DIGEST = re.compile(r"[0-9a-f]{64}")
_DIGEST_OF_NOTHING = hashlib.sha256(b"").hexdigest()
_BEARER = "bearer "


class AccessError(JellyError):
    """A call without a valid token, or without permission for the request."""

    def __init__(self, message: str, code: grpc.StatusCode = grpc.StatusCode.PERMISSION_DENIED) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Token:
    """A token of clients, and its rights.

    Args:
        name: the name of the client in logs
        sha256: the digest of the token, 64 hexadecimal digits; the server does not store the token itself
        publish: patterns of the topics that may be published to, such as `sensors/*`
        subscribe: patterns of the topics that may be subscribed to
    """

    name: str
    sha256: str
    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _DIGEST.fullmatch(self.sha256):
            raise OptionsError(
                f"the sha256 of the token {shortened(self.name)} is not 64 hexadecimal digits: "
                "make it with `printf %s TOKEN | sha256sum`"
            )

        if self.sha256 == _DIGEST_OF_NOTHING:
            raise OptionsError(
                f"the sha256 of the token {shortened(self.name)} is that of an empty token, which anybody has"
            )

    def allows(self, right: Right, topic: str) -> bool:
        """Return whether the token has a `right`, to publish or to subscribe, to a `topic`."""
        return any(fnmatchcase(topic, pattern) for pattern in getattr(self, right))


ANYBODY = Token("anybody", "0" * 64, ("*",), ("*",))


@dataclass(frozen=True)
class Access:
    """Decides what calls may do. Without tokens everybody may do everything."""

    tokens: Sequence[Token] = field(default_factory=tuple)

    def authenticate(self, metadata: CallMetadata) -> Token:
        """Return the token of a call. Raises AccessError if the server does not know it."""
        if not self.tokens:
            return ANYBODY
        given = next((value for key, value in metadata if key == "authorization"), "")
        text = given if isinstance(given, str) else given.decode("latin-1")
        if not text.lower().startswith(_BEARER):
            raise AccessError("this server requires a token, as `authorization: Bearer …`", _UNAUTHENTICATED)
        digest = hashlib.sha256(text[len(_BEARER) :].strip().encode("utf-8", "surrogateescape")).hexdigest()
        found = [token for token in self.tokens if hmac.compare_digest(token.sha256, digest)]
        if not found:
            raise AccessError("this server does not know the token", _UNAUTHENTICATED)
        return found[0]


_UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED


def require(token: Token, right: Right, topic: str) -> None:
    """Raise AccessError unless a token has a right to a topic."""
    if not token.allows(right, topic):
        raise AccessError(f"the token {shortened(token.name)} may not {right} {shortened(topic)}")


@dataclass(frozen=True)
class TlsSettings:
    """The files of the server's certificate.

    Args:
        certificate: the certificate chain, in PEM
        key: its private key, in PEM
        client_ca: the authorities that must have signed the certificates of clients; None if clients need none
    """

    certificate: str
    key: str
    client_ca: str | None = None


class Certificates:
    """The certificates of a server, which can be reloaded while it runs."""

    def __init__(self, settings: TlsSettings) -> None:
        self._settings = settings
        self._configuration = self._read()
        self._changed = False

    def reload(self) -> None:
        """Reload the files, for new connections. Raises if they have no usable certificate."""
        self._configuration = self._read()
        self._changed = True

    def credentials(self) -> grpc.ServerCredentials:
        """Return the server credentials for a port."""
        return grpc.dynamic_ssl_server_credentials(
            self._configuration,
            self._fetch,
            require_client_authentication=self._settings.client_ca is not None,
        )

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Return the certificates for a new connection; None if they have not changed."""
        if not self._changed:
            return None
        self._changed = False
        return self._configuration

    def _read(self) -> grpc.ServerCertificateConfiguration:
        settings = self._settings
        _check(settings)
        key, chain = _read_pem(settings.key, "PRIVATE KEY"), _read_pem(settings.certificate, "CERTIFICATE")
        authority = None if settings.client_ca is None else _read_pem(settings.client_ca, "CERTIFICATE")
        return grpc.ssl_server_certificate_configuration([(key, chain)], root_certificates=authority)


def _check(settings: TlsSettings) -> None:
    """Raise OptionsError if gRPC would refuse the files, which it reports on standard error only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Clients decide how strong a key has to be.
    context.set_ciphers("ALL:@SECLEVEL=0")
    _read_pem(settings.certificate, "CERTIFICATE")
    _read_pem(settings.key, "PRIVATE KEY")
    try:
        # Without a password, OpenSSL would ask at the terminal.
        context.load_cert_chain(settings.certificate, settings.key, password="")
    except ssl.SSLError as error:
        raise OptionsError(
            f"{settings.certificate} and {settings.key} are not a certificate and its own private key, in PEM and "
            f"without a password{_reason(error)}"
        ) from None
    if settings.client_ca is not None:
        _read_pem(settings.client_ca, "CERTIFICATE")
        try:
            context.load_verify_locations(settings.client_ca)
        except ssl.SSLError as error:
            raise OptionsError(f"{settings.client_ca}: there are no valid certificates in it{_reason(error)}") from None


def _reason(error: ssl.SSLError) -> str:
    return f" ({error.reason.lower().replace('_', ' ')})" if error.reason else ""


def _read_pem(path: str, kind: str) -> bytes:
    data = Path(path).read_bytes()
    if b"-----BEGIN " not in data or kind.encode() not in data:
        raise OptionsError(f"{path}: there is no {kind.lower()} in PEM in it")
    return data
