"""A model server that fails from one of its requests on, and counts requests that come again after a right response."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.data.sources.servers.faults import Say, ServedRequest, serving
from tests.docker.test_docker import free_port
from tests.tasks.models.endpoints.made_up import MadeUp

IN_FLIGHT = 4
TIMEOUT_SECONDS = 3.0
FOR_GOOD = 1_000_000
PROBE_TEXT = b"the first sentence of a story"
"""Text in the requests of a probe, which are repeated by intention."""
HTML, JSON = {"Content-Type": "text/html"}, {"Content-Type": "application/json"}
OVERLOADED = b'{"error": {"message": "The engine is overloaded", "type": "server_error"}}'
Reply = Callable[[Say], Say]
"""Response of the faulty server, made from the right one."""


def instead(**fields: Any) -> Reply:
    """Return another response."""
    return lambda right: Say(**fields)


def retry_after_date(right: Say) -> Say:
    """Return a refusal whose Retry-After is a date."""
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    return Say(status=429, headers={"Retry-After": later})


def fewer_choices(right: Say) -> Say:
    """Return the right response without its last choice."""
    content = json.loads(right.body)
    return replace(right, body=json.dumps({**content, "choices": content["choices"][:-1]}))


FAULTS: dict[str, dict[str, Reply]] = {
    "refusing": {
        "429": instead(status=429),
        "429, Retry-After in seconds": instead(status=429, headers={"Retry-After": "2"}),
        "429, Retry-After is a date": retry_after_date,
        **{str(status): instead(status=status, body=OVERLOADED) for status in (500, 502, 503, 529)},
        "redirect to another host": instead(status=307, headers={"Location": "http://localhost:1/other"}),
        "redirects to itself": instead(status=307, headers={"Location": "/ask/chat/completions"}),
        "key refused": instead(status=401, body=b'{"error": {"message": "Incorrect API key"}}', headers=JSON),
        "another model": instead(status=404, body=b'{"error": "The model does not exist"}', headers=JSON),
    },
    "broken": {
        "connection closed": instead(drop=True),
        "connection reset": instead(reset=True),
        "half a body": lambda right: replace(right, sent=len(right.body) // 2),
        "chunked without an end": lambda right: replace(right, chunked=True, sent=len(right.body)),
        "JSON cut short": lambda right: replace(right, body=right.body[: len(right.body) // 2]),
        "gzip that is none": lambda right: replace(right, headers={"Content-Encoding": "gzip"}),
    },
    "slow": {
        "endless body": instead(raw=b"HTTP/1.1 200 OK\r\n\r\n{", endless=b" " * 64, pause_s=0.05),
        "a byte now and then": lambda right: replace(right, pause_s=0.2),
        "silence": instead(delay_s=60.0),
        "more than 64 MiB": instead(body=b" " * (65 * 2**20)),
    },
    "wrong": {
        "a page in HTML": instead(body="<html><body>Welcome</body></html>", headers=HTML),
        "an error inside a 200": instead(body=OVERLOADED, headers=JSON),
        "no JSON object": instead(body=b"[5]", headers=JSON),
        "no choices": instead(body=b'{"choices": []}', headers=JSON),
        "choices are no list": instead(body=b'{"choices": "none"}', headers=JSON),
        "a text is a number": instead(body=b'{"choices": [{"message": {"content": 5}}]}', headers=JSON),
        "a number is none": instead(body=b'{"choices": [{"message": {"content": "a"}, "index": NaN}]}', headers=JSON),
        "fewer choices": fewer_choices,
    },
}
RIGHT = MadeUp(frozenset(), "openai")


def a_letter(request: ServedRequest) -> Say:
    """Return the right response of a judge."""
    if b"Answer with one letter" not in request.body:
        return RIGHT.answer(request)
    right = RIGHT.answer(request)
    content = json.loads(right.body)
    content["choices"][0]["message"]["content"] = "AB"[len(request.body) % 2]
    return replace(right, body=json.dumps(content))


@dataclass
class Server:
    """A server with a fault in some of its responses.

    Attributes:
        right: returns the right response.
        port: the port.
        reply: returns the faulty response; None for a dropped connection.
        first: number of requests before the fault.
        left: number of faulty responses that are still to come.
        requests: number of requests.
        probes: number of requests of the probe.
        reached: the event of the first faulty response.
        answered: requests with a right response.
        repeated: requests that came again after a right response.
    """

    right: Callable[[ServedRequest], Say] = RIGHT.answer
    port: int = field(default_factory=free_port)
    reply: Reply | None = None
    first: int = 0
    left: int = 0
    requests: int = field(default=0, init=False)
    probes: int = field(default=0, init=False)
    reached: threading.Event = field(default_factory=threading.Event, init=False)
    answered: set[bytes] = field(default_factory=set, init=False)
    repeated: list[bytes] = field(default_factory=list, init=False)

    @property
    def address(self) -> str:
        """The address of the model."""
        return f"http://127.0.0.1:{self.port}/ask"

    def with_fault(self, generator: random.Random, reply: Reply | None, left: int = FOR_GOOD) -> "Server":
        """Return the server of another run, with faulty responses from a random request on."""
        return Server(self.right, self.port, reply, generator.randrange(self.probes, self.requests - IN_FLIGHT), left)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Serve at the port."""
        with serving(play=self._play, port=self.port):
            yield

    def _play(self, request: ServedRequest) -> Say:
        self.requests += 1
        if request.path.endswith("/tokenize"):
            return Say(status=404)
        is_probe = request.method == "GET" or PROBE_TEXT in request.body
        self.probes += is_probe
        if not is_probe and request.body in self.answered:
            self.repeated.append(request.body)
        if self.requests > self.first and self.left > 0:
            self.reached.set()
            self.left -= 1
            return self.reply(self.right(request)) if self.reply else Say(drop=True)
        if not is_probe:
            self.answered.add(request.body)
        return self.right(request)
