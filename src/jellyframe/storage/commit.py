"""Publish the files of a job, all of them or none.

Tasks write into a hidden folder in the target, each attempt in its own subfolder. When all tasks are done, the
driver moves the files that they have named into the target; the rest of the hidden folder, from attempts that
failed or came second, is removed. An overwrite first moves the old files away, and deletes them when the new files
are in place, so that every failure before that can be undone. A lock on the target lets one job at a time do this: if
two jobs overwrite it at the same time, the files of one of them remain, and never a mixture.

If the driver is killed, nothing is undone: its hidden folder stays until a later job finds that it is abandoned.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import pyarrow.fs

from jellyframe.errors import Advice, StorageError
from jellyframe.storage.locks import FolderLock, folder_lock
from jellyframe.storage.names import NameTest, is_hidden
from jellyframe.storage.stores import Storage, locate

SaveMode = Literal["error", "overwrite", "append"]
ERROR: SaveMode = "error"
OVERWRITE: SaveMode = "overwrite"
APPEND: SaveMode = "append"
SAVE_MODES = (ERROR, OVERWRITE, APPEND)

STAGING_PREFIX = "_jelly-staging-"
_REPLACED = "replaced"
# It is unknown whether a job still runs, perhaps on another machine. A job with finished tasks that waits for a free
# executor may be silent for hours, but no job is for as long as this.
ABANDONED_AFTER_SECONDS = 7 * 24 * 3600
# A job that is never resumed. Batches of streams, which are resumed, have other names.
_ONE_RUN_JOB = re.compile(f"{STAGING_PREFIX}[0-9a-f]{{32}}")


@dataclass(frozen=True)
class Target:
    """The folder that a job writes to. `job` distinguishes its files from those of other jobs.

    It is the `hex` of a UUID if the job is never resumed.
    """

    storage: Storage
    path: str
    job: str
    existed: bool

    @classmethod
    def of(cls, path: str, job: str) -> Target:
        storage, folder = locate(path)
        folder = folder.rstrip("/")
        kind = storage.info(folder).type
        if kind == pyarrow.fs.FileType.File:
            raise StorageError(f"{path}: that is a file; statements are written to a folder")
        return cls(storage, folder, job, kind != pyarrow.fs.FileType.NotFound)

    @property
    def staging(self) -> str:
        return f"{self.path}/{STAGING_PREFIX}{self.job}"

    @property
    def _replaced(self) -> str:
        return f"{self.staging}/{_REPLACED}"

    def attempt_folder(self, attempt: int | str) -> str:
        """Return a folder for the files of one attempt of a task."""
        folder = f"{self.staging}/attempt-{attempt}"
        self.storage.fs.create_dir(folder, recursive=True)
        return folder

    def part_name(self, task: int) -> str:
        """Return the prefix of the names of a task's files, which is unique among tasks and jobs."""
        return f"part-{task:05d}-{self.job}"

    def file_prefix(self, task: int, attempt: int | str) -> str:
        """Return the prefix of the paths of the files of one attempt of a task."""
        return f"{self.attempt_folder(attempt)}/{self.part_name(task)}"

    def require_empty(self) -> None:
        """Raise if the target has files or folders that are not hidden."""
        if any(not is_hidden(info.base_name) for info in self.storage.children(self.path)):
            name = self.storage.display(self.path)
            raise StorageError(f"{name}: there is something already", advice=Advice("argument", "save", "'overwrite'"))

    def publish(
        self,
        staged: Sequence[str],
        save: SaveMode,
        *,
        is_data: NameTest | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        """Move files into the target, in place of the existing files or in addition to them. A failure changes nothing.

        `save` decides about existing files: `error` raises if there are any. `is_data` selects the files that an
        overwrite replaces: Jelly files by default. `places` has the places of files in the target; others
        keep their names and folders. Other jobs that publish to the target wait for this one.
        """
        self.require(staged)
        try:
            self.storage.fs.create_dir(self.path, recursive=True)
            with folder_lock(self.storage, self.path) as lock:
                if save == ERROR:
                    self.require_empty()
                old = self.storage.data_files(self.path, is_data) if save == OVERWRITE else []
                self._replace([file.path for file in old], staged, places or {}, lock)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"the files could not be put in place, so nothing was changed: {error}") from error
        self.remove_staging()
        self._remove_abandoned()

    def _replace(self, old: Sequence[str], staged: Sequence[str], places: Mapping[str, str], lock: FolderLock) -> None:
        moved: list[tuple[str, str]] = []
        try:
            if self.storage.is_local:
                # A concurrent reader may find too few files, but never a mixture of old and new ones.
                for path in old:
                    self._move(path, f"{self._replaced}/{path[len(self.path) + 1 :]}", moved, lock)
            for path, place in self._places(staged, places).items():
                self._move(path, f"{self.path}/{place}", moved, lock)
            lock.require()
        except BaseException:
            self._undo(moved)
            raise
        if not self.storage.is_local:
            # Object stores move files by copying them, which is too expensive for old data.
            self._delete(old)

    def _places(self, staged: Sequence[str], places: Mapping[str, str]) -> dict[str, str]:
        """Return the place of each file in the target. Raises if two files have the same place."""
        found = {path: places.get(path) or self._place_in_target(path) for path in staged}
        taken: dict[str, str] = {}
        for path, place in found.items():
            other = taken.setdefault(place, path)
            if other != path:
                raise StorageError(f"two files would go to {place}: {other} and {path}; their names must differ")
        return found

    def discard(self) -> None:
        """Remove the files of the job, and put back old files that it has moved away."""
        storage = self.storage
        if storage.exists(self._replaced):
            with folder_lock(storage, self.path):
                self._put_back()
        self.remove_staging()
        if not self.existed and storage.exists(self.path) and not storage.children(self.path):
            self._remove_empty()

    def _put_back(self) -> None:
        for info in self.storage.children(self._replaced, recursive=True):
            if info.type == pyarrow.fs.FileType.File:
                place = f"{self.path}/{info.path[len(self._replaced) + 1 :]}"
                if self.storage.exists(place):
                    raise StorageError(f"{info.path} was replaced, and cannot be put back: there is a {place}")
                self.storage.fs.move(info.path, place)

    def _remove_empty(self) -> None:
        if self.storage.is_local:
            # Another job may just have started to write there.
            with suppress(OSError):
                os.rmdir(self.path)
        else:
            self.storage.fs.delete_dir(self.path)

    def require(self, staged: Sequence[str]) -> None:
        """Raise unless the files of the tasks are visible here."""
        for path in staged:
            if not self.storage.exists(path):
                raise StorageError(
                    f"{path} was written by a task, but is not there: "
                    "the driver and the executors need a file system that they share"
                )

    def _place_in_target(self, staged: str) -> str:
        """Return the place of a file: subfolders of the attempt's folder are kept."""
        return staged[len(self.staging) + 1 :].partition("/")[2]

    def _move(self, source: str, place: str, moved: list[tuple[str, str]], lock: FolderLock) -> None:
        lock.refresh()
        self.storage.fs.create_dir(place.rpartition("/")[0], recursive=True)
        self.storage.fs.move(source, place)
        moved.append((source, place))

    def _undo(self, moved: list[tuple[str, str]]) -> None:
        for source, place in reversed(moved):
            try:
                self.storage.fs.move(place, source)
            except OSError as error:
                if source.startswith(self.staging) and not self.storage.exists(place):
                    # Another job has already replaced it.
                    continue
                raise StorageError(f"{place} could not be moved back to {source}: {error}; please do it") from error

    def _delete(self, old: Sequence[str]) -> None:
        left = []
        for path in old:
            try:
                self.storage.fs.delete_file(path)
            except OSError:
                if self.storage.exists(path):
                    left.append(path)
        if left:
            raise StorageError(f"the new files are in place, but old ones could not be deleted: {', '.join(left)}")

    def remove_staging(self) -> None:
        if self.storage.exists(self.staging):
            self.storage.fs.delete_dir(self.staging)

    def _remove_abandoned(self) -> None:
        """Remove the hidden folders of jobs whose driver was killed."""
        # The job is done even if this fails; another job may be doing the same.
        with suppress(OSError):
            for info in self.storage.children(self.path):
                if _ONE_RUN_JOB.fullmatch(info.base_name) and self._is_abandoned(info):
                    self.storage.fs.delete_dir(info.path)

    def _is_abandoned(self, staging: pyarrow.fs.FileInfo) -> bool:
        if self.storage.exists(f"{staging.path}/{_REPLACED}"):
            # Killed while it moved files: these are the old files, which only their owner may delete.
            return False
        return is_unchanged_for(self.storage, staging, ABANDONED_AFTER_SECONDS)


def is_unchanged_for(storage: Storage, folder: pyarrow.fs.FileInfo, seconds: float) -> bool:
    """Return whether a folder, given by its file info, and its content have not changed for that long."""
    inside = storage.children(folder.path, recursive=True)
    # In object stores folders have no times.
    times = [info.mtime_ns for info in (folder, *inside) if info.mtime_ns is not None]
    return bool(times) and max(times) < (time.time() - seconds) * 1e9
