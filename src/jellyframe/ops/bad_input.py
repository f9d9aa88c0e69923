"""Handling of bad input: stop, skip it, or skip it and report it."""

from __future__ import annotations

from typing import Literal

from jellyframe.errors import JellyError, StorageError
from jellyframe.ops.summary import MAX_PROBLEMS
from jellyframe.storage.stores import DataFile

Mode = Literal["FAILFAST", "PERMISSIVE", "DROPMALFORMED"]
FAILFAST: Mode = "FAILFAST"
PERMISSIVE: Mode = "PERMISSIVE"
DROPMALFORMED: Mode = "DROPMALFORMED"
# The column that reports bad input, unless another name is given.
CORRUPT_COLUMN = "_corrupt_record"
MODES: tuple[Mode, ...] = (FAILFAST, PERMISSIVE, DROPMALFORMED)
# A piece with more bad lines than this is probably not such text; the others are only counted.
MAX_REPORTS = 1000


class MissingFileError(StorageError):
    """A file that was found when a read was planned no longer exists when it is read."""

    @classmethod
    def of(cls, file: DataFile) -> MissingFileError:
        return cls(
            "the file was found when the read was planned, but no longer exists: "
            "it was deleted, or its folder was rewritten in between; read again",
            source=file.name,
        )


class BadRecords:
    """Collects the bad input that a mode tolerates: the first errors, and their number."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._errors: list[JellyError] = []
        self.count = 0

    def add(self, error: JellyError) -> None:
        """Count an error; raise it instead if the mode is FAILFAST."""
        if self._mode == FAILFAST:
            raise error
        self.count += 1
        if self.count <= MAX_REPORTS:
            self._errors.append(error)

    def take(self) -> list[JellyError]:
        """Return the errors since the last call."""
        errors, self._errors = self._errors, []
        return errors

    def rest(self, source: str) -> list[JellyError]:
        """Return the last errors, and one with the number of the others."""
        errors = self.take()
        if self.count > MAX_REPORTS:
            errors.append(JellyError(f"{self.count - MAX_REPORTS} more bad records", source=source))
        return errors

    def quoted(self) -> list[str]:
        """Return the messages that a summary quotes: the first ones, in the mode that reports bad input."""
        return [str(error) for error in self.take()[:MAX_PROBLEMS]] if self._mode == PERMISSIVE else []
