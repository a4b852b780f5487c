"""A model server that fails from one of its requests on, and lists requests that come again after a right response."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, serving
from tests.docker.test_docker import free_port
from tests.tasks.models.endpoints.letter_server import LetterServer

IN_FLIGHT = 4
TIMEOUT_SECONDS = 3.0
FOR_GOOD = 1_000_000
"""More faulty responses than a run requests."""
PROBE_TEXT = b"the first sentence of a story"
"""Text in the requests of a probe, which are repeated by intention."""
HTML, JSON = {"Content-Type": "text/html"}, {"Content-Type": "application/json"}
OVERLOADED = b'{"error": {"message": "The engine is overloaded", "type": "server_error"}}'
Fault = ServedResponse | Callable[[ServedResponse], ServedResponse]
"""A faulty response, or a function that makes it from the right response."""


def fewer_choices(right: ServedResponse) -> ServedResponse:
    """Return the right response without its last choice."""
    content = json.loads(right.body)
    return replace(right, body=json.dumps({**content, "choices": content["choices"][:-1]}))


FAULTS: dict[str, dict[str, Fault]] = {
    "refusing": {
        "429": ServedResponse(status=429),
        "429, Retry-After in seconds": ServedResponse(status=429, headers={"Retry-After": "2"}),
        "429, Retry-After is a date": lambda right: ServedResponse(
            status=429, headers={"Retry-After": formatdate(time.time() + 2, usegmt=True)}
        ),
        **{str(status): ServedResponse(status=status, body=OVERLOADED) for status in (500, 502, 503, 529)},
        "redirect to another host": ServedResponse(status=307, headers={"Location": "http://localhost:1/other"}),
        "redirects to itself": ServedResponse(status=307, headers={"Location": "/ask/chat/completions"}),
        "key refused": ServedResponse(status=401, body=b'{"error": {"message": "Incorrect API key"}}', headers=JSON),
        "another model": ServedResponse(status=404, body=b'{"error": "The model does not exist"}', headers=JSON),
    },
    "broken": {
        "connection closed": ServedResponse(drop=True),
        "connection reset": ServedResponse(reset=True),
        "half a body": lambda right: replace(right, sent=len(right.body) // 2),
        "chunked without an end": lambda right: replace(right, chunked=True, sent=len(right.body)),
        "JSON cut short": lambda right: replace(right, body=right.body[: len(right.body) // 2]),
        "no gzip": lambda right: replace(right, headers={"Content-Encoding": "gzip"}),
    },
    "slow": {
        "endless body": ServedResponse(raw=b"HTTP/1.1 200 OK\r\n\r\n{", endless=b" " * 64, pause_s=0.05),
        "a byte now and then": lambda right: replace(right, pause_s=0.2),
        "silence": ServedResponse(delay_s=60.0),
        "more than 64 MiB": ServedResponse(body=b" " * (65 * 2**20)),
    },
    "wrong": {
        "a page in HTML": ServedResponse(body="<html><body>Welcome</body></html>", headers=HTML),
        "an error inside a 200": ServedResponse(body=OVERLOADED, headers=JSON),
        "no JSON object": ServedResponse(body=b"[5]", headers=JSON),
        "no choices": ServedResponse(body=b'{"choices": []}', headers=JSON),
        "choices are no list": ServedResponse(body=b'{"choices": "none"}', headers=JSON),
        "a text is a number": ServedResponse(body=b'{"choices": [{"message": {"content": 5}}]}', headers=JSON),
        "a number is NaN": ServedResponse(
            body=b'{"choices": [{"message": {"content": "a"}, "index": NaN}]}', headers=JSON
        ),
        "fewer choices": fewer_choices,
    },
}
LETTER_SERVER = LetterServer(frozenset(), "openai")


def right_response(request: ServedRequest) -> ServedResponse:
    """Return the response of a model, or one letter to the question of a judge."""
    right = LETTER_SERVER.answer(request)
    if b"Answer with one letter" not in request.body:
        return right
    content = json.loads(right.body)
    content["choices"][0]["message"]["content"] = "AB"[len(request.body) % 2]
    return replace(right, body=json.dumps(content))


@dataclass
class Server:
    """A server with a fault in some of its responses.

    Attributes:
        port: the port.
        fault: the faulty response, or a function that makes it.
        right_count: number of right responses before the fault, without responses to a probe.
        faults_left: number of faulty responses that are still to come.
        reached: the event of the first faulty response.
        answered: requests with a right response.
        repeated: requests that came again after a right response.
    """

    port: int = field(default_factory=free_port)
    fault: Fault = field(default_factory=ServedResponse)
    right_count: int = 0
    faults_left: int = 0
    reached: threading.Event = field(default_factory=threading.Event, init=False)
    answered: set[bytes] = field(default_factory=set, init=False)
    repeated: list[bytes] = field(default_factory=list, init=False)

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """The address of the model."""
        return f"{self.host}/ask"

    def with_fault(self, generator: random.Random, fault: Fault, fault_count: int = FOR_GOOD) -> "Server":
        """Return the server of another run, with faulty responses from a random request on."""
        return Server(self.port, fault, generator.randrange(len(self.answered) - IN_FLIGHT), fault_count)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Serve at the port."""
        with serving(play=self._play, port=self.port):
            yield

    def _play(self, request: ServedRequest) -> ServedResponse:
        if request.path.endswith("/tokenize"):
            return ServedResponse(status=404)
        if request.method == "GET" or PROBE_TEXT in request.body:
            return right_response(request)
        if request.body in self.answered:
            self.repeated.append(request.body)
        if len(self.answered) >= self.right_count and self.faults_left > 0:
            self.reached.set()
            self.faults_left -= 1
            return self.fault if isinstance(self.fault, ServedResponse) else self.fault(right_response(request))
        self.answered.add(request.body)
        return right_response(request)
