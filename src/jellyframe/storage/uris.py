"""Names of files that are URIs, and the path of a `file:` URI."""

from __future__ import annotations

import os
import re

from jellyframe.errors import StorageError
from jellyframe.storage.types import Path

# Compiled when they are first used: every command imports this module, but few use a URI.
_URI = r"[A-Za-z][A-Za-z0-9+.-]+://|(file|hdfs):/"
_FILE_URI = r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)"


def is_uri(path: Path) -> bool:
    """Return whether a name is a URI. One letter and a colon are a drive of Windows."""
    return isinstance(path, str) and re.match(_URI, path, re.IGNORECASE) is not None


def is_file_uri(path: Path) -> bool:
    """Return whether a name is a `file:` URI."""
    return isinstance(path, str) and path[:6].lower() == "file:/"


def is_http_uri(path: Path) -> bool:
    """Return whether a name is an `http:` or `https:` URI."""
    return isinstance(path, str) and path[:8].lower().startswith(("http://", "https://"))


def path_of_http_uri(uri: str) -> str:
    """Return the path of an `http:` or `https:` URI, without the query and the fragment; other names unchanged.

    The extension is that of the path: `https://host/data.nt.gz?version=2` is a `.nt.gz`.
    """
    if not is_http_uri(uri):
        return uri
    from urllib.parse import unquote

    place = re.split(r"[?#]", uri.partition("://")[2], maxsplit=1)[0]
    return unquote("/" + place.partition("/")[2])


def path_of_file_uri(uri: str) -> str:
    """Return the local path of a `file:` URI: `file:///a%20b` is `/a b`.

    If a file with exactly this name exists, percent signs included, that is the path.
    """
    found = re.fullmatch(_FILE_URI, uri, re.IGNORECASE | re.DOTALL)
    if found is None or (found["host"] or "").lower() not in ("", "localhost"):
        raise StorageError(f"{uri}: a file URI has the form file:///path, without a host")
    plain = found["path"]
    if "%" not in plain or os.path.lexists(plain):
        return plain
    from urllib.parse import unquote

    return unquote(plain, errors="surrogateescape")
