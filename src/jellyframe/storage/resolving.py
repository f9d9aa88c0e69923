"""Resolve names of inputs: files, folders, patterns and URIs; local ones without pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from jellyframe.storage.names import NameTest, is_pattern
from jellyframe.storage.types import Path
from jellyframe.storage.uris import is_file_uri, is_http_uri, is_uri, path_of_file_uri

_Other = TypeVar("_Other")


def resolve_inputs(inputs: Iterable[Path | _Other], is_data: NameTest | None = None) -> list[str | _Other]:
    """Return the files of inputs, as paths and URIs that can be opened.

    A folder means the data files in it and its subfolders, Jelly by default. A pattern or a folder without files is
    an error; whether a plain name exists is checked when it is read. Inputs that are not names, such as bytes and file
    objects, are returned unchanged.
    """
    found: list[str | _Other] = []
    for given in inputs:
        if not isinstance(given, str | os.PathLike):
            found.append(given)
            continue
        name = os.fspath(given)
        path = path_of_file_uri(name) if is_file_uri(name) else name
        if is_http_uri(path):
            found.append(path)
        elif is_uri(path) or (not os.path.isfile(path) and (os.path.isdir(path) or is_pattern(path))):
            found += _find(path, is_data)
        else:
            found.append(path)
    return found


def _find(path: str, is_data: NameTest | None) -> list[str]:
    """Return the files of a path, as relative paths if it is relative."""
    from jellyframe.errors import StorageError, display_name
    from jellyframe.storage.finding import find_files

    files = find_files((path,), is_data)
    if not files:
        raise StorageError(f"{display_name(path)}: no file of data is in this folder")
    is_relative = not is_uri(path) and not os.path.isabs(path)
    return [os.path.relpath(file.path) if is_relative else file.address for file in files]
