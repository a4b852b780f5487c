"""A model server that fails from one of its requests on, and counts requests that come again after a right response."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.data.sources.servers.faults import Say, ServedRequest, serving
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


def changed(change: Callable[[Any], object]) -> Reply:
    """Return the right response with another content."""

    def reply(right: Say) -> Say:
        content = json.loads(right.body)
        change(content)
        return replace(right, body=json.dumps(content).replace('"1e999"', "1e999"))

    return reply


def choices(change: Callable[[Any], object]) -> Reply:
    """Return the right response with other choices."""
    return changed(lambda content: [change(choice) for choice in content["choices"]])


def log_prob(value: Any) -> Reply:
    """Return the right response with another log-probability of the first token."""
    return choices(lambda choice: choice["logprobs"]["content"][0].update(logprob=value))


def retry_after_date(right: Say) -> Say:
    """Return a refusal whose Retry-After is a date."""
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    return Say(status=429, headers={"Retry-After": later})


FAULTS: dict[str, Reply] = {
    "429": instead(status=429),
    "429, Retry-After in seconds": instead(status=429, headers={"Retry-After": "2"}),
    "429, Retry-After is a date": retry_after_date,
    **{str(status): instead(status=status, body=OVERLOADED) for status in (500, 502, 503, 529)},
    "connection closed": instead(drop=True),
    "connection reset": instead(reset=True),
    "half a body": lambda right: replace(right, sent=len(right.body) // 2),
    "chunked without an end": lambda right: replace(right, chunked=True, sent=len(right.body)),
    "endless body": instead(raw=b"HTTP/1.1 200 OK\r\n\r\n{", endless=b" " * 64, pause_s=0.05),
    "a byte now and then": lambda right: replace(right, pause_s=0.2),
    "silence": instead(delay_s=60.0),
    "more than 64 MiB": instead(body=b" " * (65 * 2**20)),
    "JSON cut short": lambda right: replace(right, body=right.body[: len(right.body) // 2]),
    "a page in HTML": instead(body="<html><body>Welcome</body></html>", headers=HTML),
    "gzip that is none": lambda right: replace(right, headers={"Content-Encoding": "gzip"}),
    "an error inside a 200": instead(body=OVERLOADED, headers=JSON),
    "redirect to another host": instead(status=307, headers={"Location": "http://localhost:1/other"}),
    "redirects to itself": instead(status=307, headers={"Location": "/ask/chat/completions"}),
    "key refused": instead(status=401, body=b'{"error": {"message": "Incorrect API key"}}', headers=JSON),
    "another model": instead(status=404, body=b'{"error": "The model does not exist"}', headers=JSON),
    "no JSON object": instead(body=b"[5]", headers=JSON),
    "no choices": changed(lambda content: content.update(choices=[])),
    "fewer choices": changed(lambda content: content["choices"].pop()),
    "choices are no list": changed(lambda content: content.update(choices="none")),
    "a text is a number": choices(lambda choice: choice["message"].update(content=5)),
    "a text is a list": choices(lambda choice: choice["message"].update(content=["Oslo"])),
    "log-probability NaN": log_prob(float("nan")),
    "log-probability 1e999": log_prob("1e999"),
}
SLOW = {"endless body", "a byte now and then", "silence", "more than 64 MiB"}
RIGHT = MadeUp(frozenset(), "openai")


def a_letter(asked: ServedRequest) -> Say:
    """Return the right response of a judge."""
    if b"Answer with one letter" not in asked.body:
        return RIGHT.answer(asked)
    letter = "AB"[len(asked.body) % 2]
    return choices(lambda choice: choice["message"].update(content=letter))(RIGHT.answer(asked))


@dataclass
class Server:
    """A server with a fault in some of its responses."""

    reply: Reply | None = None
    first: int = 0
    """Requests before the fault."""
    left: int = 0
    """Faulty responses that are still to come."""
    right: Callable[[ServedRequest], Say] = RIGHT.answer
    requests: int = 0
    probes: int = 0
    """Requests of the probe."""
    reached: threading.Event = field(default_factory=threading.Event)
    """Event of the first faulty response."""
    repeated: list[bytes] = field(default_factory=list)
    """Requests that came again after a right response."""
    answered: set[bytes] = field(default_factory=set)

    def play(self, asked: ServedRequest) -> Say:
        """Return the next response."""
        self.requests += 1
        if asked.path.endswith("/tokenize"):
            return Say(status=404)
        is_probe = asked.method == "GET" or PROBE_TEXT in asked.body
        self.probes += is_probe
        if not is_probe and asked.body in self.answered:
            self.repeated.append(asked.body)
        if self.requests > self.first and self.left > 0:
            self.reached.set()
            self.left -= 1
            return self.reply(self.right(asked)) if self.reply else Say(drop=True)
        if not is_probe:
            self.answered.add(asked.body)
        return self.right(asked)


@contextmanager
def listening(server: Server, port: int) -> Iterator[None]:
    """Serve at a port."""
    with serving(play=server.play, port=port):
        yield
