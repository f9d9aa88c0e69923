"""How operations report their progress to whoever called them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from jellyframe.batch import Batch
from jellyframe.storage.sources import InputFile


class InputProgress(Protocol):
    """Follows how much of the inputs of an operation has been read."""

    @property
    def refresh_seconds(self) -> float | None:
        """How often `show` is of use; None where nobody sees it."""

    def over(self, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """Yield the same batches, counted as they pass."""

    def show(self, bytes_read: int, statements: int) -> None:
        """Say how much of all inputs has been read, where others do the reading."""
