"""Context managers that are closed or discarded at the end of the block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closeable(ABC):
    """A context manager that is closed at the end of the block, whether or not the block raises."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


class DiscardableOutput(ABC):
    """A context manager that is closed at the end of the block, or discarded if the block raises."""

    @abstractmethod
    def close(self) -> None:
        """Finish the output."""

    @abstractmethod
    def discard(self) -> None:
        """Discard the output."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
