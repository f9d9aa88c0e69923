"""A page in a real browser that is operated: clicked, typed into, looked at. It is driven through a pipe."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.browsers import FLAGS


class Tab:
    """A tab of the browser. `problems` has what the page logged as errors."""

    def __init__(self, to_browser: Any, from_browser: Any) -> None:
        self._to, self._from = to_browser, from_browser
        self._last = 0
        self._session: str | None = None
        self.problems: list[str] = []
        target = self._do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._do(f"{domain}.enable")

    def _do(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what is wrong with the page. That a server refuses a request is none of its faults."""
        is_refusal = event.get("params", {}).get("entry", {}).get("source") == "network"
        if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded") and not is_refusal:
            self.problems.append(json.dumps(event["params"]))

    def _read(self) -> dict[str, Any]:
        data = bytearray()
        while not data.endswith(b"\0"):
            byte = self._from.read(1)
            assert byte, "the browser has ended"
            data += byte
        found: dict[str, Any] = json.loads(data[:-1])
        return found

    def open(self, url: str, width: int = 1300, height: int = 900) -> None:
        self._do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._do("Page.navigate", url=url)

    def dark(self) -> None:
        """As on a system that is set to dark."""
        self._do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def run(self, script: str) -> Any:
        """The value of an expression, for which a promise is awaited."""
        found = self._do("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> Any:
        """Wait until an expression is true, looking whenever the page is drawn; gives its value."""
        return self.run(
            "new Promise((done, fail) => { const start = Date.now(); const look = () => { let found;"
            f" try {{ found = {condition}; }} catch (error) {{ found = null; }}"
            " if (found) done(found); else if (Date.now() - start > 30000) fail(new Error(document.body.innerText));"
            " else setTimeout(look, 20); }; look(); })"
        )

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "Tab": 9, "Home": 36, "End": 35}.get(key, 0)
        self._do("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self._do("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._do("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browsing(browser: str, folder: Path) -> Iterator[Tab]:
    """Start a browser and give a tab of it."""
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    as_root = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    command = [browser, *FLAGS, *as_root, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    # The browser reads commands from its descriptor 3 and writes answers to 4.
    place = (
        "import fcntl, os, sys; "
        f"reading, writing = (fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in ({to_browser}, {to_us})); "
        "os.dup2(reading, 3); os.dup2(writing, 4); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", place, *command],
        pass_fds=(to_browser, to_us),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(to_us)
    try:
        with os.fdopen(from_us, "wb") as writing, os.fdopen(from_browser, "rb") as reading:
            yield Tab(writing, reading)
    finally:
        process.terminate()
        process.wait(30)
