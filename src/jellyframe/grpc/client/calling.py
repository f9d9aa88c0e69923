"""The interface of clients that publications and subscriptions use for their calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

_T = TypeVar("_T")


class BlockingCalls(Protocol):
    """The blocking client."""

    _publish: Any
    _subscribe: Any
    _unanswered: WeakSet[Any]

    @property
    def address(self) -> str:
        """The address of the server."""

    def _check_usable(self) -> None: ...

    def _await_subscriptions(self) -> None: ...

    def _call(self, method: Callable[..., _T], request: Any, metadata: Any, timeout: float | None) -> _T: ...


class AsyncCalls(Protocol):
    """The client for asyncio."""

    _unanswered: WeakSet[Any]

    @property
    def address(self) -> str:
        """The address of the server."""

    def _check_usable(self) -> None: ...

    async def _await_subscriptions(self) -> None: ...

    def _channel(self) -> Any: ...
