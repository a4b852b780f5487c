"""A model server that fails in the middle of a run: the run goes on or names the server, and no reply is paid twice."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from tests.data.sources.servers.faults import Asked, Say
from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import TinyStudy, until
from tests.faults.case import Case, as_in_a_terminal
from tests.tasks.models.endpoints.made_up import MadeUp, made_up

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


@dataclass
class Server:
    """A server with a fault in some of its responses."""

    reply: Reply | None = None
    first: int = 0
    """Requests before the fault."""
    left: int = 0
    """Faulty responses that are still to come."""
    requests: int = 0
    probes: int = 0
    """Requests of the probe."""
    reached: threading.Event = field(default_factory=threading.Event)
    """Event of the first faulty response."""
    repeated: list[bytes] = field(default_factory=list)
    """Requests that came again after a right response."""
    answered: set[bytes] = field(default_factory=set)

    def before(self, asked: Asked) -> Say | None:
        """Return the response in place of the right one, or None."""
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
            return self.reply(RIGHT.answer(asked)) if self.reply else Say(drop=True)
        if not is_probe:
            self.answered.add(asked.body)
        return None


RIGHT = MadeUp(frozenset(), "openai")


@contextmanager
def listening(server: Server, port: int) -> Iterator[None]:
    """Serve at a port."""
    with made_up(dialect="openai", before=server.before, port=port):
        yield


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, api: str) -> tuple[TinyStudy, Server, int]:
    """A finished study of a served model, the server of its run, and the port."""
    folder, server, port = tmp_path_factory.mktemp("served"), Server(), free_port()
    address = f"http://127.0.0.1:{port}/ask"
    model = {"name": "made-up", "endpoint": address, "requests_in_flight": IN_FLIGHT, "timeout_s": TIMEOUT_SECONDS}
    study = TinyStudy.of(folder / "served.yaml", folder / "workspace", api, {
        "name": "tiny",
        "seed": 1,
        "facts": {"relations": ["capital"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1},
        "models": [model],
        "questions": {"partitions": ["static", "disputable"], "per_partition": 4},
        "measures": {"answers": {"samples": 3, "max_new_tokens": 4}, "whose_answer": {}, "accuracy": {}},
    })  # fmt: skip
    with listening(server, port):
        run = study.run("run", before=as_in_a_terminal)
    assert run.code == 0, run.said
    return study, server, port


@pytest.fixture
def case(served: tuple[TinyStudy, Server, int], tmp_path: Path, generator: random.Random) -> Iterator[Case]:
    """The study of a served model in an empty workspace."""
    case = Case(served[0].elsewhere(tmp_path / "workspace", with_files=False), served[0], tmp_path, generator)
    yield case
    for process in case.study.processes():
        process.kill()


@pytest.mark.faults
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_outlasts_a_faulty_server(
    fault: str, draw: int, case: Case, served: tuple[TinyStudy, Server, int]
) -> None:
    _, usual, port = served
    first = case.generator.randrange(usual.probes, usual.requests - 1)
    left = case.generator.choice((1, 3) if fault in SLOW else (1, 3, 9, FOR_GOOD))
    server = Server(FAULTS[fault], first, left)
    with listening(server, port):
        with case.study.start("run", before=as_in_a_terminal) as running:
            case.check_end(running, f"made-up (http://127.0.0.1:{port}", codes=(0, 1, 2))
        if not server.reached.is_set():
            pytest.skip("the run was over before the fault")
        server.left = 0
        case.complete()
    assert server.repeated == []


@pytest.mark.faults
@pytest.mark.parametrize("seconds", [2.0, 6.0, None])
def test_a_run_outlasts_a_server_that_goes_away(
    seconds: float | None, draw: int, case: Case, served: tuple[TinyStudy, Server, int]
) -> None:
    _, usual, port = served
    server = Server(None, case.generator.randrange(usual.probes, usual.requests - 1), FOR_GOOD)
    with ExitStack() as later, ExitStack() as now:
        now.enter_context(listening(server, port))
        with case.study.start("run", before=as_in_a_terminal) as running:
            until(server.reached.is_set, running)
            now.close()
            server.left = 0
            if seconds is not None:
                timer = threading.Timer(seconds, lambda: later.enter_context(listening(server, port)))
                later.callback(timer.join)
                timer.start()
            case.check_end(running, f"made-up (http://127.0.0.1:{port}", codes=(0, 1, 2))
        if seconds is None:
            later.enter_context(listening(server, port))
        else:
            timer.join()
        case.complete()
    assert server.repeated == []


@pytest.mark.faults
def test_a_kill_repeats_only_requests_in_flight(draw: int, case: Case, served: tuple[TinyStudy, Server, int]) -> None:
    _, usual, port = served
    server = Server()
    with listening(server, port):
        with case.study.start("run", before=as_in_a_terminal) as running:
            last = case.generator.randrange(usual.probes, usual.requests)
            until(lambda: server.requests >= last, running)
            running.process.kill()
        case.complete()
    assert len(server.repeated) <= IN_FLIGHT
