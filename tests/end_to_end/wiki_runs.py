"""Runs of a study of an invented world behind real HTTP servers: first with faulty responses, then to the end."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.servers.wiki_world.server import Served, service_of, serving_world
from tests.data.sources.servers.wiki_world.world import World, world
from tests.end_to_end.tiny_study import Run, TinyStudy

Row = dict[str, Any]
NewStudy = Callable[[Mapping[str, str]], TinyStudy]
"""A function that returns a study of a world with an empty workspace, from the addresses of services by name."""

SKIRMISH, LEVY, VELM = "Skirmish of Ostrel", "Tidewater levy", 'Who owns "Velm"? / Question & answer'
BROKEN: Mapping[str, tuple[str, ServedResponse, str]] = {
    "director": ("Q401", ServedResponse("It is broken.", status=500), "answered 500 Internal Server Error"),
    LEVY: (
        LEVY,
        ServedResponse("<!DOCTYPE html><title>Wikimedia Error</title>"),
        "answered with something that is not JSON",
    ),
    VELM: (
        VELM,
        ServedResponse('{"batchcomplete":true,"query":{"pages":[{"pageid":1,"ns'),
        "answered with JSON cut short",
    ),
}
"""Parts that fail in the first run: the id or title in the request, the faulty response, and a part of the reason."""


@dataclass
class ResponseGate:
    """A gate that sends or holds back the responses of a world; `unanswered` has requests without a response."""

    unanswered: list[ServedRequest] = field(default_factory=list)
    _left: int = 0
    _kind: str = ""
    _later_kinds: tuple[str, ...] = ()
    _event: threading.Event = field(default_factory=threading.Event)
    last_request: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self, number: int, kind: str, *later_kinds: str) -> None:
        """Hold back the response to the `number`th next request of a kind, and some later responses.

        Args:
            number: the number of the request, from 1.
            kind: the kind of the request.
            later_kinds: the kinds of later requests; without these, `kind` again.
        """
        self._left, self._kind, self._later_kinds = number, kind, later_kinds or (kind,)
        self._event = threading.Event()

    def open(self) -> None:
        """Send the responses that were held back, and every later response."""
        self._left, self._later_kinds = 0, ()
        self._event.set()

    def __call__(self, request: ServedRequest, response: ServedResponse) -> ServedResponse:
        """Return the response, which waits for `open` if it is held back."""
        kind = request_kind(request)
        with self._lock:
            self.last_request = time.monotonic()
            if self._left:
                self._left -= kind == self._kind
                is_delayed = kind == self._kind and not self._left
            else:
                is_delayed = kind in self._later_kinds
            if is_delayed:
                self.unanswered.append(request)
        return replace(response, hold=self._event) if is_delayed else response

    def answered(self, requests: Sequence[ServedRequest]) -> tuple[ServedRequest, ...]:
        """Return the requests whose responses were not held back."""
        unanswered = set(map(id, self.unanswered))
        return tuple(request for request in requests if id(request) not in unanswered)


def request_kind(request: ServedRequest) -> str:
    """Return the kind of a request, such as "history" for the edits of a page and "similar" for similar items."""
    props = request.form.get("prop", "").split("|")
    if request.form.get("action") == "wbgetentities":
        return "items"
    if "extracts" in props:
        return "page"
    if "links" in props:
        return "list"
    if "revisions" in props:
        return "contents" if "revids" in request.form else "history"
    return {"pageviews": "views", "wembedder": "similar"}[service_of(request) or ""]


@dataclass(frozen=True)
class RepairedStudy:
    """A study that was run twice: while some parts failed, and to its end.

    Attributes:
        study: the study, whose workspace tests must not change.
        broken_study: a copy of the study before the repair.
        broken_run: the first run.
        failed: requests with a faulty response.
        run: the second run.
        answered: requests with a right response until the end of the second run.
        world: the world.
        served: addresses and requests of its server.
        gate: the gate of its responses.
    """

    study: TinyStudy
    broken_study: TinyStudy
    broken_run: Run
    failed: tuple[ServedRequest, ...]
    run: Run
    answered: tuple[ServedRequest, ...]
    world: World
    served: Served
    gate: ResponseGate


@contextmanager
def run_before_and_after_repair(new_study: NewStudy) -> Iterator[RepairedStudy]:
    """Run a study while parts fail, and once more after their repair."""
    invented_world, gate = world(), ResponseGate()
    faulty_responses = {title: response for title, response, _ in BROKEN.values()}
    failed: list[ServedRequest] = []

    def before(request: ServedRequest) -> ServedResponse | None:
        response = faulty_responses.get(request.form.get("titles", "")) if request_kind(request) == "history" else None
        if response:
            failed.append(request)
        return response

    with serving_world(invented_world, before=before, after=gate) as served:
        study = new_study(served.addresses)
        broken_run = study.run("run")
        broken_study = study.copy(study.workspace.with_name("before-repair"))
        faulty_responses.clear()
        run = study.run("run")
        answered = tuple(request for request in served.received if request not in failed)
        yield RepairedStudy(study, broken_study, broken_run, tuple(failed), run, answered, invented_world, served, gate)


def rows(study: TinyStudy, table: str) -> list[Row]:
    """Return all rows of a table of the study's database."""
    with duckdb.connect(study.workspace / "study.duckdb", read_only=True) as database:
        return database.table(table).to_arrow_table().to_pylist()
