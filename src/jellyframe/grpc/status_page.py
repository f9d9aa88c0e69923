"""A status page with the topics of a server, and its metrics, over HTTP: for operators, on this machine."""

from __future__ import annotations

import asyncio
import html
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jellyframe.addresses import is_loopback, join_address, split_address
from jellyframe.errors import OptionsError
from jellyframe.grpc.metrics import CONTENT_TYPE, Metrics
from jellyframe.grpc.protocol import TopicInfo

# Seconds that the server has to answer.
_PATIENCE = 10.0
_HOST = re.compile(r"(127(\.[0-9]+){3}|localhost|\[::1\])(:[0-9]+)?", re.IGNORECASE)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Jelly topics</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ padding: .35rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) {{ text-align: left; }}
td:first-child {{ max-width: 14rem; overflow: hidden; text-overflow: ellipsis; }}
#scroll {{ overflow-x: auto; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #181818; color: #ddd; }} th, td {{ border-color: #444; }} }}
</style></head><body>
<h1>Jelly topics</h1>
<p id="summary">{summary}</p>
<div id="scroll">
<table><thead><tr><th>topic</th><th>retention</th><th>publishers</th><th>subscribers</th><th>statements</th>
<th>statements/s</th><th>received</th><th>sent</th><th>kept frames</th><th>next offset</th></tr></thead>
<tbody id="topics">{rows}</tbody></table></div>
<p><a href="/metrics">metrics</a> · <a href="/topics.json">JSON</a></p>
<script>
let before = null;
function cell(row, text) {{ row.insertCell().textContent = text; }}
async function refresh() {{
  const state = await (await fetch("/topics.json")).json();
  const body = document.getElementById("topics");
  body.replaceChildren();
  for (const topic of state.topics) {{
    const row = body.insertRow();
    const last = before && before.topics.find(other => other.name === topic.name);
    const rate = last ? (topic.statements - last.statements) / (state.time - before.time) : 0;
    const number = value => Math.round(value).toLocaleString("en");
    cell(row, topic.name || "(empty)");
    row.cells[0].title = topic.name;
    cell(row, topic.retention);
    for (const value of [topic.publishers, topic.subscribers, topic.statements, rate, topic.bytes_in, topic.bytes_out,
                         topic.next_offset - topic.first_offset]) cell(row, number(value));
    cell(row, topic.next_offset);
  }}
  document.getElementById("summary").textContent = state.summary;
  before = state;
}}
refresh(); setInterval(refresh, 2000);
</script></body></html>
"""


class StatusPage:
    """An HTTP server in a thread: `/` is the page, `/topics.json` its data, `/metrics` the metrics.

    Args:
        address: where it listens, as HOST:PORT
        topics: returns information about the topics; called in the event loop
        metrics: the metrics, which are collected in the event loop
    """

    def __init__(self, address: str, topics: Callable[[], list[TopicInfo]], metrics: Metrics) -> None:
        self._topics = topics
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        host, port = split_address(address)
        try:
            self._server = _http_server(host)((host, port), self._handler(check_host=is_loopback(host)))
        except OSError as error:
            raise OptionsError(f"cannot listen on {address}: {error.strerror or error}") from None
        self._server.daemon_threads = True
        self.address = join_address(host, self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="jelly-status-page")
        self._thread.start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def page(self) -> bytes:
        """Return the page, with the current state for browsers without JavaScript."""
        infos = self._topics()
        rows = "".join(_row(info) for info in infos)
        return _PAGE.format(summary=html.escape(_summary(infos)), rows=rows).encode()

    def state(self) -> bytes:
        """Return the data of the page, as JSON."""
        infos = self._topics()
        state = {"time": time.monotonic(), "summary": _summary(infos), "topics": [asdict(info) for info in infos]}
        return json.dumps(state).encode()

    def _handler(self, *, check_host: bool) -> type[BaseHTTPRequestHandler]:
        answers: dict[str, tuple[str, Callable[[], bytes]]] = {
            "/": ("text/html; charset=utf-8", self.page),
            "/topics.json": ("application/json", self.state),
            "/metrics": (CONTENT_TYPE, self._metrics.text),
        }
        in_loop = self._in_loop

        class Handler(BaseHTTPRequestHandler):
            timeout = _PATIENCE

            def do_GET(self) -> None:  # the name that http.server requires
                # Other sites must not read this page under a name of theirs (DNS rebinding).
                if check_host and not _HOST.fullmatch(self.headers.get("Host", "")):
                    self.send_error(403, "ask for 127.0.0.1 or localhost")
                    return
                answer = answers.get(self.path.partition("?")[0])
                if answer is None:
                    self.send_error(404)
                    return
                kind, make = answer
                body = in_loop(make)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name in http.server
                return

        return Handler

    def _in_loop(self, make: Callable[[], bytes]) -> bytes:
        """Call a function in the event loop of the topics, and return its result."""
        done: Future[bytes] = Future()

        def call() -> None:
            try:
                done.set_result(make())
            except Exception as error:
                done.set_exception(error)

        self._loop.call_soon_threadsafe(call)
        return done.result(_PATIENCE)


def _http_server(host: str) -> type[ThreadingHTTPServer]:
    class HttpServer(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    return HttpServer


def _summary(infos: list[TopicInfo]) -> str:
    publishers, subscribers = (sum(getattr(info, name) for info in infos) for name in ("publishers", "subscribers"))
    return f"{len(infos)} topics, {publishers} publishers, {subscribers} subscribers"


def _row(info: TopicInfo) -> str:
    numbers = (info.publishers, info.subscribers, info.statements, "", info.bytes_in, info.bytes_out)
    cells = (info.name or "(empty)", info.retention, *numbers, info.next_offset - info.first_offset, info.next_offset)
    return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"
