"""Publish the files of a stream's batches, those of each batch once.

A batch is run again if it is unknown whether it was done. So a commit first records, in a small
file named after query and batch, which files make up the batch: from then on that is decided. Only then are the files
moved to their places. A later run of the same batch finds the record, completes it if necessary, and
drops its own files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from jellyframe.errors import StorageError
from jellyframe.storage.commit import Target
from jellyframe.storage.locks import folder_lock

NOTES_FOLDER = "_jelly-commits"
# As many batches as Spark keeps by default.
NOTES_KEPT = 100


class StreamBatch:
    """One batch of one query, to be published in a folder.

    Tasks write to folders of `target`, and the driver calls `commit` with the files, or `abort`. Both may be called
    again, also in another process.
    """

    def __init__(self, path: str, query: str, number: int) -> None:
        self._query = query
        self._number = number
        self.target = Target.of(path, f"{query}-{number}")

    def is_decided(self) -> bool:
        """Return whether the files of the batch have been recorded."""
        return self.target.storage.exists(self._note(self._number))

    def commit(self, staged: Sequence[str]) -> None:
        """Publish the files of the batch, unless others were recorded before."""
        if not self.is_decided():
            self.target.require(staged)
            note = [path[len(self.target.path) + 1 :] for path in staged]
            self.target.storage.write_new(self._note(self._number), json.dumps(note).encode())
        self._finish()

    def abort(self) -> None:
        """Drop the files written for the batch; if it is decided, only those that do not belong to it."""
        if self.is_decided():
            self._finish()
        else:
            self.target.discard()

    def _note(self, number: int) -> str:
        return f"{self.target.path}/{NOTES_FOLDER}/{self._query}-{number}.json"

    def _finish(self) -> None:
        storage, folder = self.target.storage, self.target.path
        try:
            with storage.fs.open_input_stream(self._note(self._number)) as stream:
                note = json.loads(stream.read())
            with folder_lock(storage, folder) as lock:
                for staged in note:
                    lock.refresh()
                    # Files that are missing here have been moved to their places, and may have been removed since.
                    if storage.exists(f"{folder}/{staged}"):
                        storage.fs.move(f"{folder}/{staged}", f"{folder}/{staged.rpartition('/')[2]}")
        except OSError as error:
            raise StorageError(
                f"batch {self._number} is not all in place: {error}; start the query again to finish it"
            ) from error
        self.target.remove_staging()
        old = self._note(self._number - NOTES_KEPT)
        if storage.exists(old):
            storage.fs.delete_file(old)
