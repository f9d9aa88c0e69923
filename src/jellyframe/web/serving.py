"""The app that serves data: files and folders, in the requested format."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

from jellyframe import formats
from jellyframe.errors import EncodeError, JellyError, display_name, one_line
from jellyframe.formats import Format
from jellyframe.storage.types import COMPRESSIONS, Compression
from jellyframe.web.asgi import Receive, Request, RequestError, Response, Scope, Send, page_response, text_response
from jellyframe.web.bodies import converted_body, file_body
from jellyframe.web.folders import SERVED_FORMATS, Root, ServedFile
from jellyframe.web.guard import HostGuard
from jellyframe.web.index_page import index_page
from jellyframe.web.negotiation import choose_encoding, choose_format, quality_values, wants_page
from jellyframe.web.ranges import NoSuchRangeError, parse_range

_ENCODINGS: tuple[Compression, ...] = ("zstd", "gzip")


def data_app(
    data: str | os.PathLike[str],
    *,
    hosts: Sequence[str] | None = None,
    on_error: Callable[[str], object] | None = None,
) -> DataApp:
    """Return an ASGI app that serves a folder of data, or one file.

    Args:
        data: the folder or the file. Nothing outside of it is served, and only files whose names tell the format.
        hosts: the allowed values of `Host`; by default any. A server on a loopback address should set them, so that
            pages of other sites cannot reach it through a name of theirs.
        on_error: called with a line for each response that fails after it has started.
    """
    return DataApp(Root(data), HostGuard(hosts), on_error or (lambda _message: None))


class DataApp:
    """An ASGI app that serves files and folders; `data_app` creates one."""

    def __init__(self, root: Root, guard: HostGuard, on_error: Callable[[str], object]) -> None:
        self._root = root
        self._guard = guard
        self._on_error = on_error

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        is_begun = False

        async def sending(message: Any) -> None:
            nonlocal is_begun
            is_begun = True
            await send(message)

        try:
            try:
                request = Request.of(scope)
                response = self._answer(request)
                await response.send(sending, with_body=scope["method"] != "HEAD")
            except RequestError as problem:
                await text_response(problem.status, problem.message, problem.headers).send(
                    send, with_body=scope["method"] != "HEAD"
                )
            except EncodeError as error:
                if is_begun:
                    raise
                await text_response(406, _public(error)).send(send)
            except JellyError as error:
                if is_begun:
                    raise
                self._on_error(f"{scope['path']}: {error}")
                await text_response(500, _public(error)).send(send)
        except JellyError as error:
            # The response has started and cannot be completed: it is cut off.
            self._on_error(f"{scope['path']}: {error}")
        except OSError as error:
            # A file that cannot be read. A client that disconnects is not an error.
            if error.filename is not None:
                self._on_error(f"{scope['path']}: {error.strerror}")
                if not is_begun:
                    await text_response(500, "the file cannot be read").send(send)

    # ---- requests ----

    def _answer(self, request: Request) -> Response:
        self._guard.check(request)
        path = self._root.find(request.path)
        if path is None:
            raise RequestError(404, "there is no such file or folder of data here")
        if os.path.isdir(path):
            return self._folder(request, path)
        file = ServedFile.at(path)
        if file is None:
            raise RequestError(404, "there is no such file or folder of data here")
        return self._data(request, [file])

    def _folder(self, request: Request, path: str) -> Response:
        accept = request.headers.get("accept")
        wanted = quality_values(accept or "*/*")
        is_asked = request.first("format") is not None or any(
            wanted.get(media_type, 0) > 0 for known in SERVED_FORMATS for media_type in known.media_types
        )
        if not is_asked:
            if wanted.get("application/json", 0) > wanted.get("text/html", 0):
                return self._listing(path)
            if wants_page(accept) or "*/*" in wanted or "text/*" in wanted:
                if not request.path.endswith("/"):
                    # Links on the page are relative to the folder.
                    return Response(308, {"Location": f"/{request.path.strip('/')}/"})
                return page_response(index_page(self._name(path), list(self._root.entries(path))))
        return self._data(request, self._root.files_below(path))

    def _listing(self, path: str) -> Response:
        entries = [
            {"name": display_name(name), "type": "folder"}
            if file is None
            else {"name": display_name(name), "type": "file", "format": file.format.name, "size": file.state.size}
            for name, file in self._root.entries(path)
        ]
        body = json.dumps({"entries": entries}, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Response(200, {"Content-Type": "application/json", "Cache-Control": "no-cache"}, body)

    def _name(self, path: str) -> str:
        inner = os.path.relpath(path, self._root.path)
        return "/" if inner == os.curdir else f"/{inner}/"

    # ---- data ----

    def _data(self, request: Request, files: Sequence[ServedFile]) -> Response:
        if not files:
            raise RequestError(404, "there is no file of data in this folder")
        target = _target(request, files)
        # A stored file can be sent unchanged, also in ranges.
        is_as_stored = len(files) == 1 and files[0].can_be_sent_as(target)
        encoding = choose_encoding(request.headers.get("accept-encoding"), _ENCODINGS)
        stored: Compression | None = files[0].compression if is_as_stored else None
        if is_as_stored and _asked_range(request) is not None and stored is None:
            encoding = None
        if stored is not None and stored in quality_values(request.headers.get("accept-encoding", "")):
            # It is already compressed, with a coding that the client accepts.
            encoding = stored
        is_raw = is_as_stored and encoding == stored
        headers = {
            "Content-Type": target.media_types[0] + ("" if target.is_binary else "; charset=utf-8"),
            "Vary": "Accept, Accept-Encoding",
            "Cache-Control": "no-cache",
            "ETag": _etag(files, target, encoding, is_raw=is_raw),
            "Last-Modified": formatdate(max(file.state.modified for file in files) // 10**9, usegmt=True),
            "Accept-Ranges": "bytes" if is_raw else "none",
        }
        if encoding is not None:
            headers["Content-Encoding"] = encoding
        if _is_known(request, headers):
            return Response(304, {name: headers[name] for name in ("ETag", "Vary", "Cache-Control", "Last-Modified")})
        if not is_raw:
            return Response(200, headers, converted_body(files, target, encoding))
        return _stored(request, files[0], headers)


def _target(request: Request, files: Sequence[ServedFile]) -> Format:
    """Return the requested format, from its name or from media types."""
    is_one = len(files) == 1
    targets = files[0].target_formats if is_one else SERVED_FORMATS
    named = request.first("format")
    if named is not None:
        try:
            return formats.format_by_name(named, targets)
        except JellyError as error:
            raise RequestError(400, error.message) from None
    known = list(dict.fromkeys((files[0].format, *targets) if is_one else targets))
    found = choose_format(request.headers.get("accept"), known)
    if found is None:
        types = ", ".join(found.media_types[0] for found in known)
        raise RequestError(406, f"none of the requested media types is available; there are {types}")
    return found


def _stored(request: Request, file: ServedFile, headers: dict[str, str]) -> Response:
    """Return an unchanged file, or a range of it."""
    size = file.state.size
    asked = _asked_range(request)
    condition = request.headers.get("if-range")
    if condition is not None and condition not in (headers["ETag"], headers["Last-Modified"]):
        asked = None
    try:
        found = parse_range(asked, size)
    except NoSuchRangeError:
        range_headers = {"Content-Range": f"bytes */{size}", "ETag": headers["ETag"]}
        raise RequestError(416, f"the range begins after the end, at {size}", range_headers) from None
    start, stop = found or (0, size)
    headers["Content-Length"] = str(stop - start)
    if found is not None:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return Response(206 if found else 200, headers, file_body(file, start, stop))


def _asked_range(request: Request) -> str | None:
    """Return the Range header of a request, which only GET has."""
    return request.headers.get("range") if request.method == "GET" else None


def _etag(files: Sequence[ServedFile], target: Format, encoding: str | None, *, is_raw: bool) -> str:
    """Return the ETag: strong if the same bytes are sent again, weak if the same statements are."""
    digest = hashlib.blake2b(digest_size=12)
    for file in files:
        digest.update(f"{file.path}\0{tuple(file.state)}\0".encode("utf-8", "surrogateescape"))
    digest.update(f"{target.name} {encoding}".encode())
    return f'{"" if is_raw else "W/"}"{digest.hexdigest()}"'


def _is_known(request: Request, headers: dict[str, str]) -> bool:
    """Return whether the client already has this version."""
    given = request.headers.get("if-none-match")
    if given is not None:
        tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
        return "*" in tags or headers["ETag"].removeprefix("W/") in tags
    since = request.headers.get("if-modified-since")
    if since is None:
        return False
    try:
        return parsedate_to_datetime(headers["Last-Modified"]) <= parsedate_to_datetime(since)
    except (TypeError, ValueError):
        return False


def _public(error: JellyError) -> str:
    """Return the text of an error without local paths."""
    return one_line(error.message)


assert set(_ENCODINGS) == set(COMPRESSIONS)
