"""A server on 127.0.0.1 that plays a script of good, slow, broken and missing responses, and records its requests.

    with serving(ServedResponse(status=503, headers={"Retry-After": "1"}), ServedResponse(b"[]")) as server:
        ...                          # the first request gets 503, every later request []
    server.received[0].form          # the fields of the first request

The script may also be a function of the request: `serving(play=lambda request: ServedResponse(...))`.
"""

import gzip
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

ANSWERS = Path(__file__).parents[1] / "answers"
_HEADER = re.compile("([A-Za-z0-9-]+): (.*)")


@dataclass(frozen=True)
class ServedResponse:
    """A scripted response.

    Attributes:
        body: The body.
        status: The HTTP status.
        headers: The headers, besides the length of the body.
        delay_s: Seconds before the response.
        hold: The response waits until this event is set.
        sent: Number of bytes of the body that are sent, although the headers promise all bytes.
        pause_s: Seconds after each byte of the body, and before each repetition of `endless`.
        chunked: Send the body in chunks; with `sent`, the last chunk is missing.
        drop: Close the connection without a response.
        reset: Reset the connection without a response.
        raw: Bytes in place of status, headers and body.
        endless: Bytes that follow `raw` again and again.
    """

    body: bytes | str = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    hold: threading.Event | None = None
    sent: int | None = None
    pause_s: float = 0.0
    chunked: bool = False
    drop: bool = False
    reset: bool = False
    raw: bytes = b""
    endless: bytes = b""


@dataclass(frozen=True)
class ServedRequest:
    """A request that the server received.

    Attributes:
        method: The HTTP method.
        path: The path of the address.
        form: The fields of the address; without such fields, the fields of the body.
        headers: The headers, with names in small letters.
        body: The body.
        at: The time of arrival, in seconds of time.monotonic().
    """

    method: str
    path: str
    form: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float


def json_response(content: Any, *, headers: Mapping[str, str] | None = None, **options: Any) -> ServedResponse:
    """Return a response with this content as JSON."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    return ServedResponse(json.dumps(content), headers=headers, **options)


def gzipped(body: bytes) -> ServedResponse:
    return ServedResponse(gzip.compress(body), headers={"Content-Encoding": "gzip"})


def recorded_response(name: str) -> ServedResponse:
    """Load a response of a real server: the body from `answers/NAME`, status and headers from `answers/NAME.http`."""
    lines = (ANSWERS / f"{name}.http").read_text().strip().splitlines()
    status = next(line.split()[1] for line in lines if line.startswith(("HTTP/", "STATUS ")))
    headers = dict(match.groups() for match in map(_HEADER.fullmatch, lines) if match)
    return ServedResponse((ANSWERS / name).read_bytes(), status=int(status), headers=headers)


class FaultServer(ThreadingHTTPServer):
    """A server that plays a script.

    Attributes:
        play: The function that returns the response for a request.
        received: All requests in order of arrival.
        at_once: Number of requests that are being answered.
        most_at_once: Largest value of `at_once` so far.
        lock: The lock of the counts and of the script.
        stopped: The event that ends all waits when the server stops.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, play: Callable[[ServedRequest], ServedResponse], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.play = play
        self.received: list[ServedRequest] = []
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/ask"

    def wait_for_requests(self, count: int, seconds: float = 20.0) -> None:
        """Wait until `count` requests have come.

        Raises:
            AssertionError: fewer requests came in time.
        """
        deadline = time.monotonic() + seconds
        while len(self.received) < count:
            assert time.monotonic() < deadline, f"{len(self.received)} of {count} requests came within {seconds} s"
            time.sleep(0.005)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors, because clients disconnect on purpose."""


@contextmanager
def serving(
    *script: ServedResponse, play: Callable[[ServedRequest], ServedResponse] | None = None, port: int = 0
) -> Iterator[FaultServer]:
    """Run a server that plays the script, and then repeats the script's last response. Port 0 is any free port."""
    remaining = list(script)

    def next_response(_: ServedRequest) -> ServedResponse:
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    with FaultServer(play or next_response, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def unused_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/ask"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are written separately, so Nagle's algorithm costs 40 ms
    server: FaultServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        form = dict(parse_qsl(parts.query or body.decode(), keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ServedRequest(self.command, parts.path, form, headers, body, time.monotonic())
        with self.server.lock:
            self.server.received.append(request)
            response = self.server.play(request)
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self._answer(response)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    do_POST = do_HEAD = do_GET  # noqa: N815

    def _answer(self, response: ServedResponse) -> None:
        self.server.stopped.wait(response.delay_s)
        while response.hold is not None and not response.hold.is_set() and not self.server.stopped.is_set():
            response.hold.wait(0.02)
        if response.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if response.drop or response.reset:
            self.close_connection = True
            return
        if response.raw or response.endless:
            self.wfile.write(response.raw)
            while response.endless and not self.server.stopped.wait(response.pause_s):
                self.wfile.write(response.endless)
            return
        body = response.body.encode() if isinstance(response.body, str) else response.body
        self.send_response(response.status)
        for header, value in response.headers.items():
            self.send_header(header, value)
        if response.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self._send(body[: response.sent], response)
        if response.sent is not None:
            self.close_connection = True
        elif response.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, body: bytes, response: ServedResponse) -> None:
        pieces = [body[start : start + 1] for start in range(len(body))] if response.pause_s else [body]
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if response.chunked else piece)
            if self.server.stopped.wait(response.pause_s):
                return

    def log_message(self, format: str, *args: object) -> None:
        pass
