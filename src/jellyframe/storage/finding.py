"""Find the files of a name, a pattern, a folder or a URI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow.fs

from jellyframe.errors import StorageError, display_name
from jellyframe.storage.names import NameTest, first_glob, glob_expression, is_hidden, is_pattern
from jellyframe.storage.stores import DataFile, Storage, locate
from jellyframe.storage.types import FileSystem, Path


def find_files(
    paths: Iterable[Path],
    is_data: NameTest | None = None,
    *,
    may_be_empty: bool = False,
    filesystem: FileSystem | None = None,
) -> list[DataFile]:
    """Return the files of paths, each once.

    Args:
        paths: files, folders, patterns of either, and URIs of them
        is_data: selects the files in a folder by their names; by default Jelly files
        may_be_empty: whether a pattern may match nothing
        filesystem: a file system of pyarrow or fsspec, if the paths are in it

    Raises:
        StorageError: if there is nothing at a path
    """
    found: list[DataFile] = []
    for path in paths:
        storage, inner = locate(path, filesystem)
        info = storage.info(inner.rstrip("/") or inner)
        if info.type != pyarrow.fs.FileType.NotFound:
            infos = [info]
        elif is_pattern(inner):
            infos = list(_matches(storage, inner))
            if not infos and not may_be_empty:
                raise StorageError(f"{display_name(path)}: no file has such a name")
        else:
            raise StorageError(f"{display_name(path)}: there is no such file or folder")
        for info in infos:
            if info.type == pyarrow.fs.FileType.Directory:
                found += storage.data_files(info.path, is_data)
            else:
                found.append(DataFile.of(storage, info))
    # Patterns and lists may name a file twice.
    return list(dict.fromkeys(found))


def _matches(storage: Storage, pattern: str) -> Iterator[pyarrow.fs.FileInfo]:
    """Yield the files and folders that match a pattern."""
    before = pattern[: pattern.rfind("/", 0, first_glob(pattern)) + 1]
    wanted = glob_expression(pattern[len(before) :])
    recursive = "/" in pattern[len(before) :]
    root = before.rstrip("/") or before
    folders: list[str] = []
    for info in storage.children(root, recursive=recursive):
        name = info.path[len(before) :]
        if not wanted.fullmatch(name) or is_hidden(name) or any(info.path.startswith(folder) for folder in folders):
            continue
        if info.type == pyarrow.fs.FileType.Directory:
            folders.append(f"{info.path}/")
        yield info


def fixed_folder(storage: Storage, path: str) -> str:
    """Return the folder that contains, directly or in subfolders, all files of a path or pattern."""
    if storage.info(path.rstrip("/") or "/").type == pyarrow.fs.FileType.Directory:
        return path.rstrip("/")
    return path[: path.rindex("/", 0, first_glob(path))]
