"""A client for servers of data: lists their files, and reads statements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Unpack
from urllib.parse import quote

from jellyframe import formats
from jellyframe.errors import StorageError, display_name
from jellyframe.storage.http import HttpFile
from jellyframe.storage.http_requests import HttpSettings
from jellyframe.storage.sources import CHUNK_BYTES
from jellyframe.stream.reader import JellyReader, ReaderSettings, open_reader
from jellyframe.stream.tables import TableSettings, read_table

if TYPE_CHECKING:
    import pyarrow as pa

_LISTING_BYTES = 64 << 20


class Entry(NamedTuple):
    """An entry of a folder: the `name` of a file with its `format` and `size`, or of a folder (`is_folder`)."""

    name: str
    is_folder: bool
    format: str | None = None
    size: int | None = None


class HttpClient:
    """A client for `jellyframe http serve`, and for other servers that can send Jelly.

    Args:
        url: the address of the server, or of a folder on it
        settings: time limits, retries, redirects and further headers
    """

    def __init__(self, url: str, settings: HttpSettings | None = None) -> None:
        self.url = url.rstrip("/")
        self._settings = settings

    def entries(self, folder: str = "") -> list[Entry]:
        """Return the entries of a folder.

        Args:
            folder: its path; by default the root
        """
        with HttpFile(self.address(folder), accept="application/json", settings=self._settings) as file:
            data = b"".join(_bounded(file))
        try:
            found = json.loads(data)["entries"]
            return [
                Entry(entry["name"], entry["type"] == "folder", entry.get("format"), entry.get("size"))
                for entry in found
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise StorageError(f"{display_name(self.address(folder))}: the answer is not a list of files") from None

    @contextmanager
    def open(self, path: str = "", **settings: Unpack[ReaderSettings]) -> Iterator[JellyReader]:
        """Open a file, or all files of a folder, as one Jelly stream, for a `with` block.

        Args:
            path: its path on the server; by default the root
            settings: arguments of `open_reader`
        """
        with self.open_bytes(path) as file, open_reader(file, **settings) as reader:
            yield reader

    def read_table(self, path: str = "", **settings: Unpack[TableSettings]) -> pa.Table:
        """Read a file, or all files of a folder, into an Arrow table.

        Args:
            path: its path on the server; by default the root
            settings: arguments of `read_table`
        """
        with self.open_bytes(path) as file:
            return read_table(file, **settings)

    def open_bytes(self, path: str = "", format_name: str = "jelly") -> HttpFile:
        """Open a file, or all files of a folder, as a binary file object of some format.

        Args:
            path: its path on the server; by default the root
            format_name: the format to request: jelly, nq, nt, trig or ttl
        """
        accept = formats.accept_header((formats.format_by_name(format_name),))
        return HttpFile(self.address(path), accept=accept, settings=self._settings)

    def address(self, path: str = "") -> str:
        """Return the address of a path.

        Args:
            path: names separated by slashes, without escapes
        """
        return f"{self.url}/{quote(path.lstrip('/'))}"


def _bounded(file: HttpFile) -> Iterator[bytes]:
    left = _LISTING_BYTES
    while data := file.read(CHUNK_BYTES):
        left -= len(data)
        if left < 0:
            raise StorageError(f"{file.name}: the list of files has more than {_LISTING_BYTES} bytes")
        yield data
