"""A real browser, driven over its debugging socket."""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
PATIENCE = 120.0
"""Seconds to wait for the browser; a busy machine may stand still for a minute."""
TROUBLE = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")


class Browser:
    """A page driven over the browser's debugging socket."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.ids, self.events = socket, count(1), list[dict[str, Any]]()
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.ids)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        answer = self._until(lambda message: message.get("id") == number)
        assert "error" not in answer, f"{method}: {answer}"
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a page, with an empty history.

        The blank page comes first because a change of the fragment alone loads nothing. The history is emptied because
        the browser drops pages without a user's action from a full history.
        """
        self.call("Page.resetNavigationHistory")
        for address in ("about:blank", path.as_uri() + fragment):
            self.events.clear()
            self.call("Page.navigate", url=address)
            if not any(event["method"] == "Page.loadEventFired" for event in self.events):
                self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        wait_until(lambda: self.ask(expression), PATIENCE)

    def emulate(self, width: int, theme: str, media: str = "screen") -> None:
        """Set the width of the window in pixels, the theme that the reader prefers, and the medium."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        preference = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", media=media, features=[preference])

    def press(self, key: str) -> None:
        text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
        code = 13 if key == "Enter" else 0
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def choose(self, control: str, value: str) -> None:
        """Choose from a list, or type into the search, and send the event."""
        event = "input" if control == "search" else "change"
        self.ask(
            f"(one => {{ one.value = {json.dumps(value)}; one.dispatchEvent(new Event('{event}')) }})"
            f"(document.getElementById('{control}'))"
        )

    def trouble(self) -> list[dict[str, Any]]:
        """Return errors and console messages since the page was opened, and its requests to servers."""
        requests = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event for event in self.events if event["method"] in TROUBLE] + [
            event for event in requests if not event["params"]["request"]["url"].startswith(("file:", "data:"))
        ]

    def _until(self, condition: Any) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
            if "method" in message:
                self.events.append(message)
            if condition(message):
                return message


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yield a running browser, whose profile was empty at its start."""
    home = tmp_path_factory.mktemp("browser")
    client = pytest.importorskip("websockets.sync.client")
    process = subprocess.Popen(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={home}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    port_file = home / "DevToolsActivePort"

    def debugging_port() -> list[str]:
        assert process.poll() is None, "chromium ended early"
        return port_file.read_text().split()[:1] if port_file.exists() else []

    try:
        (port,) = wait_until(debugging_port, PATIENCE)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            targets = json.load(answer)
        address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
        with client.connect(address, max_size=None) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait(timeout=20)
