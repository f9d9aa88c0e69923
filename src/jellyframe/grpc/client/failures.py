"""Convert gRPC status codes to our errors."""

from __future__ import annotations

from typing import Any

from jellyframe.errors import RemoteError, UsageError

_MEANINGS = {
    "CANCELLED": "the call was cancelled",
    "DEADLINE_EXCEEDED": "the timeout of the call is over",
    "FAILED_PRECONDITION": "the server cannot do this now",
    "INVALID_ARGUMENT": "the server does not accept this",
    "NOT_FOUND": "the server does not have this",
    "OUT_OF_RANGE": "the server no longer has this, or has never had it",
    "PERMISSION_DENIED": "the token does not allow this",
    "RESOURCE_EXHAUSTED": "this is more than the server, or the limits here, allow",
    "UNAUTHENTICATED": "the server requires a token that it knows",
    "UNAVAILABLE": "the server cannot be reached, or has gone",
    "UNIMPLEMENTED": "the server does not offer this",
}


def remote_error(error: Any, address: str) -> RemoteError:
    """Return our error for an error of a call: a `grpc.RpcError` that has a status."""
    status: str = error.code().name
    return failed_with(status, error.details() or "", address)


def failed_with(status: str, details: str, address: str) -> RemoteError:
    """Return the error for a status and the message of the server or of gRPC."""
    meaning = _MEANINGS.get(status, "the server has failed")
    return RemoteError(f"{meaning} ({status}){f': {details}' if details else ''}", status=status, source=address)


def acknowledged_early(address: str) -> RemoteError:
    """Return the error for a server that acknowledges a publication before its end."""
    return RemoteError(
        "the server has acknowledged the publication before its end, and did not read all of it",
        status="INTERNAL",
        source=address,
    )


def closed(what: str) -> UsageError:
    """Return the error for the use of a closed object."""
    return UsageError(f"the {what} is closed: use it before close(), or inside the with block")


def forked(what: str) -> UsageError:
    """Return the error for the use of a connection in a process that was forked after it was made."""
    return UsageError(
        f"the {what} was made before this process was forked, and gRPC connections do not survive a fork: "
        "connect in each process"
    )
