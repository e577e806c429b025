"""Chromium without a window, driven over the pipe of its DevTools protocol by plain Python."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")

SECONDS = 60.0
"""Longest wait for an answer; a loaded machine is slow."""

# Chromium reads commands from file 3 and writes answers to file 4
START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Browser:
    """One tab.

    Attributes:
        complaints: texts of the console, exceptions and refused loads, in the order in which they came.
        requests: addresses of everything that was asked for.
    """

    def __init__(self, reading: int, writing: int):
        self._reading, self._writing = reading, writing
        self._left, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        command |= {"sessionId": self._session} if self._session else {}
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._writing, data) :]
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def _message(self) -> dict[str, Any]:
        until = time.monotonic() + SECONDS
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._reading], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._reading, 1 << 16)
            assert data, "the browser is gone"
            self._left += data
        line, self._left = self._left.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, facts: dict[str, Any]) -> None:
        if event == "Log.entryAdded":
            self.complaints.append(facts["entry"]["text"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(facts["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(facts["args"]))
        elif event == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])

    def open(self, page: Path, width: int = 1280, dark: bool = False, script: bool = True, place: str = "") -> None:
        """Loads a page in a window of that width, and waits until it is there."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}  # else clicks would miss what scrolls
        self("Emulation.setEmulatedMedia", features=[scheme, still])
        self("Emulation.setScriptExecutionDisabled", value=not script)
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=page.as_uri() + place)
        address = json.dumps(page.as_uri())
        self.wait(f"location.href.startsWith({address}) && document.readyState === 'complete'")

    def __getitem__(self, expression: str) -> Any:
        """The value of an expression of JavaScript, as JSON has it."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true."""
        until = time.monotonic() + SECONDS
        while not self[expression]:
            assert time.monotonic() < until, expression
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Clicks with the mouse into the middle of the first element of a selector, which must be seen there."""
        where = self[
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            " found.scrollIntoView({block: 'center', behavior: 'instant'}); const box = found.getBoundingClientRect();"
            " const x = box.x + box.width / 2, y = box.y + box.height / 2, seen = document.elementFromPoint(x, y);"
            " return [x, y, seen !== null && (found.contains(seen) || seen.contains(found))]; })()"
        ]
        assert where[2], f"{selector} is hidden"
        button = {"x": where[0], "y": where[1], "button": "left", "clickCount": 1}
        self("Input.dispatchMouseEvent", type="mousePressed", **button)
        self("Input.dispatchMouseEvent", type="mouseReleased", **button)

    def type(self, text: str) -> None:
        """Types into what has the focus."""
        self("Input.insertText", text=text)

    def choose(self, selector: str, value: str) -> None:
        """Chooses an option of a list."""
        chosen = f"document.querySelector({json.dumps(selector)})"
        assert (
            self[
                f"(() => {{ const list = {chosen}; list.value = {json.dumps(value)};"
                " list.dispatchEvent(new Event('change', {bubbles: true})); return list.value; })()"
            ]
            == value
        ), value

    def picture(self, path: Path, whole: bool = True) -> None:
        """Writes what is seen, or the whole page, as PNG."""
        found = self("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile is in a folder.

    Args:
        folder: for the files of the browser.
    """
    assert CHROMIUM is not None
    theirs, writing = os.pipe()
    reading, answers = os.pipe()
    given = [fcntl.fcntl(file, fcntl.F_DUPFD, 10) for file in (theirs, answers)]  # out of the way of 3 and 4
    command = [sys.executable, "-c", START, *map(str, given), CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}", "--no-first-run", "about:blank"]
    process = subprocess.Popen(
        command, pass_fds=given, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for file in (theirs, answers, *given):
        os.close(file)
    try:
        page = Browser(reading, writing)
        yield page
        page("Browser.close")
        process.wait(SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
