"""The app of `view`: pages of statements, frames, lookup tables and plots of files, for one user."""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from jellyframe.batch.batch import POSITIONS
from jellyframe.errors import JellyError, one_line
from jellyframe.ops.browsing.frames import frame_list, lookup_state, sample
from jellyframe.ops.browsing.pages import FROM_END, BrowsedFile, Place
from jellyframe.ops.filters import parse_term
from jellyframe.ops.survey import inspect
from jellyframe.report.history import FrameHistory
from jellyframe.report.inspection import released_options
from jellyframe.report.stream import stream_figures
from jellyframe.web.asgi import Receive, Request, RequestError, Response, Scope, Send, page_response, text_response
from jellyframe.web.guard import HostGuard
from jellyframe.web.view_page import SCRIPT_HASH, view_page
from jellyframe.web.view_terms import term_document

FRAMES_ON_A_PAGE = 100
_MOST_ROWS = 1000

Document: TypeAlias = dict[str, Any]


class ViewApp:
    """An ASGI app for the page of some files. All requests must have the token, which only the user knows.

    Args:
        files: the files to show
        token: the secret that is in the address of the page
        hosts: the allowed values of `Host`
    """

    def __init__(self, files: Sequence[BrowsedFile], token: str, hosts: Sequence[str]) -> None:
        self._files = list(files)
        # A file is for one thread at a time.
        self._locks = [threading.Lock() for _ in files]
        self._token = token
        self._guard = HostGuard(hosts)
        self._routes: dict[str, Callable[[Request], Document]] = {
            "/api/files": self._describe_files,
            "/api/page": self._page,
            "/api/term": self._term,
            "/api/frames": self._frames,
            "/api/lookups": self._lookups,
            "/api/plots": self._plots,
        }

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        try:
            response = await self._answer(Request.of(scope))
        except RequestError as error:
            response = text_response(error.status, error.message, error.headers)
        except (JellyError, OSError) as error:
            words = error.reason() if isinstance(error, JellyError) else error.strerror or str(error)
            response = text_response(422, one_line(words))
        await response.send(send, with_body=scope["method"] != "HEAD")

    async def _answer(self, request: Request) -> Response:
        self._guard.check(request)
        given = request.headers.get("x-token") or request.first("token") or ""
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            raise RequestError(403, "the address must contain the token that the command printed")
        if request.path == "/":
            return page_response(view_page(), script_hash=SCRIPT_HASH)
        route = self._routes.get(request.path)
        if route is None:
            raise RequestError(404, "there is nothing here")
        document = await asyncio.to_thread(route, request)
        # Data may hold any text; JSON in ASCII cannot be mistaken for markup.
        body = json.dumps(document).encode()
        return Response(200, {"Content-Type": "application/json", "Cache-Control": "no-store"}, body)

    # ---- requests ----

    def _file(self, request: Request) -> tuple[BrowsedFile, threading.Lock]:
        number = _number(request, "file", 0)
        if not 0 <= number < len(self._files):
            raise RequestError(404, f"there is no file {number}")
        return self._files[number], self._locks[number]

    def _describe_files(self, _request: Request) -> Document:
        return {"files": [_file_document(file) for file in self._files]}

    def _page(self, request: Request) -> Document:
        file, lock = self._file(request)
        filters = {name: [text] for name in POSITIONS if (text := (request.first(name) or "").strip())}
        for name, texts in filters.items():
            parse_term(texts[0], name)
        with lock:
            page = file.page(
                _place(request, file), filters, rows=min(max(_number(request, "rows", 100), 1), _MOST_ROWS), seconds=0.7
            )
        return {
            "rows": [
                {
                    "place": row.place,
                    "number": row.number,
                    "frame": row.frame,
                    "terms": [term_document(term) for term in row.statement],
                }
                for row in page.rows
            ],
            "next": page.next,
            "previous": None if filters else page.previous,
            "full": page.is_full,
            "reached": page.reached,
        }

    def _term(self, request: Request) -> Document:
        """Return the whole of a term that is too long for the table."""
        file, lock = self._file(request)
        with lock:
            statement = file.statement_at(_place(request, file))
        position = _number(request, "position", 0)
        if not 0 <= position < len(statement):
            raise RequestError(404, "there is no such term")
        return {"text": str(statement[position])}

    def _frames(self, request: Request) -> Document:
        file, lock = self._file(request)
        with lock:
            place = _place(request, file)
            listed = frame_list(file, place.anchor, _number(request, "first", 0), FRAMES_ON_A_PAGE)
            before = None if file.anchors is None else file.anchors.before(place.anchor)
            after = None if file.anchors is None else file.anchors.after(place.anchor)
        return {
            "anchor": place.anchor,
            "frames": [
                {
                    "number": frame.number,
                    "offset": frame.offset,
                    "size": frame.size,
                    "rows": frame.counts.all_rows,
                    "statements": frame.counts.statements,
                    "entries": [frame.counts.rows(kind) for kind in ("name", "prefix", "datatype")],
                    "metadata": {key: value.decode(errors="replace")[:200] for key, value in frame.metadata.items()},
                }
                for frame in listed.frames
            ],
            "more": listed.has_more,
            "before": before,
            "after": after,
        }

    def _lookups(self, request: Request) -> Document:
        file, lock = self._file(request)
        with lock:
            tables = lookup_state(file, _number(request, "anchor", 0), _number(request, "frame", 0))
        return {
            name: [[number, text[:1000]] for number, text in sorted(table.items())] for name, table in tables.items()
        }

    def _plots(self, request: Request) -> Document:
        file, lock = self._file(request)
        with lock:
            found = sample(file)
        history = FrameHistory()
        delimited = None if file.is_delimited else False
        survey = inspect(
            found.data,
            content=True,
            delimited=delimited,
            dialect="released",
            limits=file.limits,
            on_frame=history.add,
        )
        return {
            "figures": stream_figures(survey, history, file.size if found.is_all else None),
            "sampled": None if found.is_all else len(found.data),
            "places": found.places,
        }


def _number(request: Request, name: str, default: int) -> int:
    given = request.first(name)
    if given is None:
        return default
    try:
        number = int(given[:20])
    except ValueError:
        raise RequestError(400, f"{name} is not a number") from None
    if not -1 <= number < 1 << 62:
        raise RequestError(400, f"{name} is out of range")
    return number


def _place(request: Request, file: BrowsedFile) -> Place:
    """Return the requested place: a name, a fraction of the file, a statement number, or a restart point."""
    at = request.first("at")
    if at == "last":
        return file.last_place()
    if at is not None and at.startswith("number:"):
        try:
            return file.place_of(int(at[7:27]))
        except ValueError as error:
            if isinstance(error, JellyError):
                raise
            raise RequestError(400, "at is not a number") from None
    if at is not None:
        try:
            return file.place_at(float(at[:20]))
        except ValueError:
            raise RequestError(400, "at is not a part of the file") from None
    return Place(max(_number(request, "anchor", 0), 0), max(_number(request, "skip", 0), FROM_END))


def _file_document(file: BrowsedFile) -> Document:
    anchors = file.anchors
    return {
        "name": file.name,
        "size": file.size,
        "statements": file.statements,
        "compression": file.compression,
        "graphs": file.options.has_graph,
        "options": [[key, str(value)] for key, value in released_options(file.options).items()],
        "jumps": anchors is not None and anchors.after(0) is not None,
        "indexed": anchors is not None and anchors.is_indexed,
    }
