"""The page in a real browser: no error, no request, no sideways scrolling, both themes."""

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

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
TROUBLE = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
LOOK = """[document.documentElement.scrollWidth, innerWidth, getComputedStyle(document.documentElement).backgroundColor,
[...document.images].every(image => image.complete && image.naturalWidth > 0), document.images.length]"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")


class Browser:
    """A page driven over the browser's debugging socket."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.ids, self.events = socket, count(1), list[dict[str, Any]]()
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        at = next(self.ids)
        self.socket.send(json.dumps({"id": at, "method": method, "params": parameters}))
        return self._until(lambda message: message.get("id") == at).get("result", {})

    def open(self, path: Path) -> None:
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        if not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def _until(self, wanted: Any) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=30))
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    client = pytest.importorskip("websockets.sync.client")
    home = tmp_path_factory.mktemp("browser")
    process = subprocess.Popen(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={home}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        told, deadline = home / "DevToolsActivePort", time.monotonic() + 30
        while not (told.exists() and told.read_text().strip()):
            assert process.poll() is None, "chromium ended early"
            assert time.monotonic() < deadline, "chromium did not start"
            time.sleep(0.05)
        port = told.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            targets = json.load(answer)
        address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
        with client.connect(address, max_size=None) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_has_no_error_no_request_and_scrolls_only_downwards(
    browser: Browser, report: Path, width: int, theme: str
) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    browser.call(
        "Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": theme}]
    )
    browser.open(report / "index.html")
    browser.call("Runtime.evaluate", expression="document.querySelectorAll('details').forEach(one => one.open = true)")
    found = browser.call("Runtime.evaluate", expression=LOOK, returnByValue=True)["result"]["value"]
    scroll, inner, paper, complete, pictures = found
    assert scroll <= inner == width
    assert (paper == "rgb(20, 23, 28)") is (theme == "dark")
    assert complete
    assert pictures == 14
    assert [event for event in browser.events if event["method"] in TROUBLE] == []
    asked = [
        event["params"]["request"]["url"] for event in browser.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert all(address.startswith(("file:", "data:")) for address in asked)
