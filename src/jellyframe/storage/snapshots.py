"""Snapshots of a data set in one folder, each made from the previous one and patches.

    replica/current                  a link to the data of the newest snapshot, on local file systems
    replica/_snapshots/000002.json   the manifest of snapshot 2: the place of its data, and its patches
    replica/_snapshots/000002-5f…/   the data

A snapshot exists as soon as its manifest does. The manifest is created in one step when the data is complete, and only
one run can create the manifest of a number. So a killed run leaves at most data without a manifest; the next run
starts from the newest manifest, and removes such data once there is a snapshot of the same number. Manifests and data
never change, so a reader of a snapshot is not disturbed until that snapshot is removed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pyarrow.fs

from jellyframe.errors import StorageError
from jellyframe.storage.locks import folder_lock
from jellyframe.storage.names import is_hidden
from jellyframe.storage.stores import DataFile, Storage, locate

CURRENT = "current"
_FOLDER = "_snapshots"
_MANIFEST_NAME = re.compile(r"(\d{6,})\.json")
# Data, or a manifest that was being written when its run was killed.
_REMAINS = re.compile(r"(\d{6,})-[0-9a-f]{32}|\.(\d{6,})\.json\..+")


@dataclass(frozen=True)
class HeldPatch:
    """A patch that is part of a snapshot.

    Attributes:
        name: the path or URI of the file
        size: its size in bytes
        since: the first snapshot with it
    """

    name: str
    size: int
    since: int


@dataclass(frozen=True)
class Manifest:
    """The manifest of a snapshot.

    Attributes:
        number: the first snapshot has the number 1
        data: the name of the folder with the data
        made: the time at which it was made, in UTC
        origin: the initial data of the first snapshot, if any
        statements: the number of statements
        files: the number of files
        bytes: the size of these files
        patches: the patches in it, in the order in which they were applied
    """

    number: int
    data: str
    made: str
    origin: tuple[str, ...]
    statements: int
    files: int
    bytes: int
    patches: tuple[HeldPatch, ...]

    def as_json(self) -> str:
        """Return the manifest as JSON, with one patch on each line."""
        fields = {name: value for name, value in asdict(self).items() if name != "patches"}
        patches = ",\n".join(f"    {json.dumps(asdict(patch), ensure_ascii=False)}" for patch in self.patches)
        listed = f"[\n{patches}\n  ]" if patches else "[]"
        return f'{json.dumps(fields, ensure_ascii=False, indent=2)[:-2]},\n  "patches": {listed}\n}}\n'

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read a manifest. Raises ValueError, KeyError or TypeError if it is not one."""
        fields: dict[str, Any] = json.loads(text)
        patches = tuple(HeldPatch(**patch) for patch in fields.pop("patches"))
        return cls(**{**fields, "origin": tuple(fields["origin"])}, patches=patches)


class Snapshots:
    """The snapshots in a folder, as they are when this object is created.

    Args:
        path: the folder, which need not exist yet

    Raises:
        StorageError: if the folder has other files
    """

    def __init__(self, path: str) -> None:
        self._storage, folder = locate(path)
        self._path = folder.rstrip("/")
        self._folder = f"{self._path}/{_FOLDER}"
        numbers = self._numbers()
        self.latest = self._read(numbers[-1]) if numbers else None
        if self.latest is None and any(not is_hidden(info.base_name) for info in self._storage.children(self._path)):
            raise StorageError(
                f"{self.name}: there is something in the folder, but no snapshot; name a new folder for snapshots"
            )

    @property
    def name(self) -> str:
        """The name of the folder in messages."""
        return self._storage.display(self._path)

    @property
    def number(self) -> int:
        """The number of the newest snapshot, 0 if there is none."""
        return 0 if self.latest is None else self.latest.number

    @property
    def current(self) -> str | None:
        """The path or URI of the data of the newest snapshot; None if there is none."""
        return None if self.latest is None else self._storage.address(f"{self._folder}/{self.latest.data}")

    def new_patches(self, found: Sequence[DataFile], *, allow_late: bool = False) -> list[DataFile]:
        """Return the patches, of some given in order, that are not in the newest snapshot.

        Raises:
            StorageError: if a patch has changed since it was applied; or if a new one sorts before one that was
                applied, unless `allow_late` is set
        """
        held = {} if self.latest is None else {patch.name: patch for patch in self.latest.patches}
        new: list[DataFile] = []
        for file in found:
            patch = held.get(file.name)
            if patch is None:
                new.append(file)
            elif patch.size != file.size:
                raise StorageError(
                    f"{file.name} has {file.size:,} bytes, and had {patch.size:,} when it was applied, for snapshot "
                    f"{patch.since}: patches must not change; write new changes to a new file"
                )
            elif new and not allow_late:
                raise StorageError(
                    f"{new[0].name} is new, but sorts before {file.name}, which was applied for snapshot "
                    f"{patch.since}; to apply it after those, allow late patches"
                )
        return new

    def next_folder(self) -> str:
        """Return the path or URI of a new folder for the data of the next snapshot."""
        return self._storage.address(f"{self._folder}/{self.number + 1:06d}-{uuid4().hex}")

    def commit(
        self, data: str, patches: Sequence[DataFile], *, origin: Sequence[str], statements: int, files: int, size: int
    ) -> Manifest:
        """Make the next snapshot from complete data in a folder from `next_folder`.

        Args:
            data: the path or URI of the folder
            patches: the patches that were applied for it
            origin: the initial data of the first snapshot, if any
            statements: the number of statements
            files: the number of files
            size: the size of these files

        Raises:
            StorageError: if another run has made a snapshot meanwhile
        """
        number = self.number + 1
        before = self.latest
        manifest = Manifest(
            number=number,
            data=data.partition("?")[0].rpartition("/")[2],
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            origin=tuple(origin) if before is None else before.origin,
            statements=statements,
            files=files,
            bytes=size,
            patches=(
                *(() if before is None else before.patches),
                *(HeldPatch(file.name, file.size, number) for file in patches),
            ),
        )
        self._storage.fs.create_dir(self._folder, recursive=True)
        with folder_lock(self._storage, self._folder) as lock:
            lock.require()
            is_next = self._numbers()[-1:] == ([] if before is None else [before.number])
            if not is_next or not self._storage.write_new(self._manifest(number), manifest.as_json().encode()):
                raise StorageError(
                    f"{self.name}: another run has made snapshot {number} meanwhile, so nothing was changed; "
                    "run this again for the patches that it does not hold"
                )
        self.latest = manifest
        return manifest

    def tidy(self, keep: int) -> None:
        """Point `current` to the newest snapshot, and remove all but the last `keep` and the remains of killed runs."""
        if self.latest is None:
            return
        self._link(self.latest.data)
        kept = [number for number in self._numbers() if number > self.number - keep]
        for number in self._numbers():
            if number not in kept:
                # Without its manifest the data belongs to no snapshot, and is removed now or later.
                with suppress(FileNotFoundError):
                    self._storage.fs.delete_file(self._manifest(number))
        named = {self._read(number).data for number in kept}
        for info in self._storage.children(self._folder):
            match = _REMAINS.fullmatch(info.base_name)
            # A higher number may be that of a running job.
            if match and int(match[1] or match[2]) <= self.number and info.base_name not in named:
                with suppress(FileNotFoundError):
                    if info.type == pyarrow.fs.FileType.Directory:
                        self._storage.fs.delete_dir(info.path)
                    else:
                        self._storage.fs.delete_file(info.path)

    def _link(self, data: str) -> None:
        if not self._storage.is_local:
            return
        link = f"{self._path}/{CURRENT}"
        goal = f"{_FOLDER}/{data}"
        with suppress(OSError):
            if os.readlink(link) == goal:
                return
        temporary = f"{self._path}/.{CURRENT}-{uuid4().hex}"
        try:
            os.symlink(goal, temporary, target_is_directory=True)
            os.replace(temporary, link)
        except OSError:
            # Not every file system has links. The result has the path anyway.
            with suppress(OSError):
                os.unlink(temporary)

    def _numbers(self) -> list[int]:
        names = (_MANIFEST_NAME.fullmatch(info.base_name) for info in self._storage.children(self._folder))
        return sorted(int(name[1]) for name in names if name)

    def _manifest(self, number: int) -> str:
        return f"{self._folder}/{number:06d}.json"

    def _read(self, number: int) -> Manifest:
        path = self._manifest(number)
        try:
            with self._storage.fs.open_input_stream(path) as stream:
                return Manifest.from_json(stream.read().decode())
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{self._storage.display(path)} is damaged: {error}") from error


def snapshot_data(path: str) -> str:
    """Return the path of the newest snapshot's data if there are snapshots at a path, otherwise the path itself."""
    storage, folder = locate(path)
    if not _has_snapshots(storage, folder.rstrip("/")):
        return path
    return Snapshots(path).current or path


def _has_snapshots(storage: Storage, folder: str) -> bool:
    return bool(storage.info(f"{folder}/{_FOLDER}").type == pyarrow.fs.FileType.Directory)
