"""Errors as gRPC statuses: the code that the protocol requires, and the message of the error."""

from __future__ import annotations

import errno

import grpc

from jellyframe.errors import JellyError, LimitError, StorageError, one_line
from jellyframe.grpc.retention.store import OffsetError, ReadOnlyError
from jellyframe.grpc.security import AccessError
from jellyframe.grpc.subscribers import Ending
from jellyframe.grpc.topics import TopicNotFoundError
from jellyframe.grpc.wording import words_for_clients

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def status_of(error: Exception) -> Ending:
    """Return the status that a call ends with after an error."""
    if isinstance(error, AccessError):
        return Ending(error.code, error.message)
    if isinstance(error, OSError) and not isinstance(error, StorageError):
        if error.errno in _NO_SPACE:
            return Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, f"the server cannot keep frames: {error.strerror}")
        return Ending(grpc.StatusCode.INTERNAL, f"the server cannot keep or read frames: {error.strerror or error}")
    if not isinstance(error, JellyError):
        return Ending(grpc.StatusCode.INTERNAL, f"a mistake in the server: {type(error).__name__}")
    return Ending(_code_of(error), one_line(error.describe(words_for_clients)))


def _code_of(error: JellyError) -> grpc.StatusCode:
    if isinstance(error, LimitError):
        return grpc.StatusCode.RESOURCE_EXHAUSTED
    if isinstance(error, OffsetError):
        return grpc.StatusCode.OUT_OF_RANGE
    if isinstance(error, TopicNotFoundError):
        return grpc.StatusCode.NOT_FOUND
    if isinstance(error, ReadOnlyError):
        return grpc.StatusCode.FAILED_PRECONDITION
    if isinstance(error, StorageError):
        return grpc.StatusCode.INTERNAL
    return grpc.StatusCode.INVALID_ARGUMENT
