"""A guard for objects that one thread at a time may use: a second thread gets an error, and no state is corrupted."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Iterator
from typing import Generic, TypeVar

from jellyframe.errors import UsageError

_T = TypeVar("_T")


class Exclusive:
    """A context manager for code that only one thread may be in; another one gets an error at once.

    `what` names the object in the message, as in "the reader".
    """

    __slots__ = ("_lock", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = allocate_lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise UsageError(
                f"{self._what} is in use: it was used by two threads at the same time, or by its own callback; "
                "use one for each thread, or a lock"
            )

    def __exit__(self, *_exception: object) -> None:
        self._lock.release()


class ExclusiveIterator(Iterator[_T], Generic[_T]):
    """An iterator that takes each step under a guard."""

    __slots__ = ("_guard", "_items")

    def __init__(self, guard: Exclusive, items: Iterator[_T]) -> None:
        self._guard = guard
        self._items = items

    def __next__(self) -> _T:
        with self._guard:
            return next(self._items)
