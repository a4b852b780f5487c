"""A server on 127.0.0.1 that plays a script: good answers, slow, broken or none; and that notes what was asked.

    with serving(Say(status=503, headers={"Retry-After": "1"}), Say(b"[]")) as server:
        ...                          # the first request gets 503, every later one []
    server.received[0].form             # what was asked

A script may also be a function of what was asked: `serving(play=lambda asked: Say(...))`.
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
class Say:
    """One answer: status, body and headers; after delay_s, or not before `hold` is set.

    sent: only so many bytes of the body come, though all are promised; pause_s: seconds after each byte; chunked: in
    chunks, whose end is missing where `sent` cuts; drop: no answer, the connection is closed; reset: it is reset.
    raw: sent in place of status, headers and body; endless: sent after it, again and again, pause_s apart.
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
    """One request: method, path, the fields of its address or body, headers (names in small letters), body, when."""

    method: str
    path: str
    form: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float


def says(content: Any, **other: Any) -> Say:
    return Say(json.dumps(content), headers={"Content-Type": "application/json", **other.pop("headers", {})}, **other)


def gzipped(body: bytes, **other: Any) -> Say:
    return Say(gzip.compress(body), headers={"Content-Encoding": "gzip"}, **other)


def recorded(name: str) -> Say:
    """An answer as a real server gave it: `answers/NAME`, with status and headers in `answers/NAME.http`."""
    lines = (ANSWERS / f"{name}.http").read_text().strip().splitlines()
    status = next(line.split()[1] for line in lines if line.startswith(("HTTP/", "STATUS ")))
    headers = dict(found.groups() for found in map(_HEADER.fullmatch, lines) if found)
    return Say((ANSWERS / name).read_bytes(), status=int(status), headers=headers)


class FaultServer(ThreadingHTTPServer):
    """The server; `asked` lists all requests in order of arrival, `most_at_once` how many were answered at a time."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, play: Callable[[ServedRequest], Say], port: int = 0) -> None:
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

    def waits_for(self, requests: int, seconds: float = 20.0) -> None:
        """Returns when so many requests have come; AssertionError when they do not."""
        last = time.monotonic() + seconds
        while len(self.received) < requests:
            assert time.monotonic() < last, f"{len(self.received)} of {requests} requests came within {seconds} s"
            time.sleep(0.005)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: clients go away in the middle, and that is meant."""


@contextmanager
def serving(*script: Say, play: Callable[[ServedRequest], Say] | None = None, port: int = 0) -> Iterator[FaultServer]:
    """A running server that plays the script, whose last answer is given to all that follow; port: 0 for any."""
    left = list(script)
    with FaultServer(play or (lambda asked: left.pop(0) if len(left) > 1 else left[0]), port) as server:
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
    disable_nagle_algorithm = True  # headers and body are written apart, which would cost 40 ms a request
    server: FaultServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        form = dict(parse_qsl(parts.query or body.decode(), keep_blank_values=True))
        headers = {name.lower(): said for name, said in self.headers.items()}
        asked = ServedRequest(self.command, parts.path, form, headers, body, time.monotonic())
        with self.server.lock:
            self.server.received.append(asked)
            say = self.server.play(asked)
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self._answer(say)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    do_POST = do_HEAD = do_GET  # noqa: N815

    def _answer(self, say: Say) -> None:
        self.server.stopped.wait(say.delay_s)
        while say.hold is not None and not say.hold.is_set() and not self.server.stopped.is_set():
            say.hold.wait(0.02)
        if say.drop or say.reset:
            if say.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        if say.raw or say.endless:
            self.wfile.write(say.raw)
            while say.endless and not self.server.stopped.wait(say.pause_s):
                self.wfile.write(say.endless)
            return
        body = say.body.encode() if isinstance(say.body, str) else say.body
        self.send_response(say.status)
        for header, said in say.headers.items():
            self.send_header(header, said)
        self.send_header(*(("Transfer-Encoding", "chunked") if say.chunked else ("Content-Length", str(len(body)))))
        self.end_headers()
        if self.command != "HEAD":
            self._send(body[: say.sent], say)
        if say.sent is not None:
            self.close_connection = True
        elif say.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, body: bytes, say: Say) -> None:
        pieces = [body[place : place + 1] for place in range(len(body))] if say.pause_s else [body]
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if say.chunked else piece)
            if self.server.stopped.wait(say.pause_s):
                return

    def log_message(self, format: str, *args: object) -> None:
        pass
