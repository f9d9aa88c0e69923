"""Data over HTTP: an ASGI app that serves files and folders, a client for it, and the page of `view`.

from jellyframe.web import data_app

app = data_app("dumps")          # for uvicorn, or any other ASGI server
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.web.client import Entry, HttpClient
    from jellyframe.web.serving import DataApp, data_app

__all__ = ["DataApp", "Entry", "HttpClient", "data_app"]

_HOMES = {"DataApp": "serving", "Entry": "client", "HttpClient": "client", "data_app": "serving"}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES)
