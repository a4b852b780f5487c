"""Runs of studies of an invented world: with faulty responses at first, with kills, and after changes."""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.servers.wiki_world import Served, World, serving_world, world
from tests.end_to_end.tiny_study import Run, TinyStudy, wait_until
from tests.end_to_end.wiki_studies import NewStudy, ResponseGate, request_kind

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
"""Parts that fail at first: title of the page without a history, response in its place, and reason of the failure."""
KILLED_AT = ((4, "items"), (3, "history", "page"), (4, "views"))
"""Arguments of `ResponseGate.close` before each kill."""
PARALLEL_REQUESTS = 3


@dataclass(frozen=True)
class Done:
    """A study that was run twice: while some parts failed, and to its end.

    Attributes:
        study: the study, whose workspace tests must not change.
        broken_study: a copy of the study before the repair.
        broken_run: the first run.
        failed: requests with a faulty response.
        run: the second run.
        received: requests with a right response until its end.
        world: the world.
        served: addresses and requests of its server.
        gate: the gate of its responses.
    """

    study: TinyStudy
    broken_study: TinyStudy
    broken_run: Run
    failed: tuple[ServedRequest, ...]
    run: Run
    received: tuple[ServedRequest, ...]
    world: World
    served: Served
    gate: ResponseGate


@dataclass(frozen=True)
class Killed:
    """A study that was killed while responses were held back, and then run to its end.

    Attributes:
        study: the study.
        run: the last run.
        received: requests with a response.
        unanswered: requests without a response.
    """

    study: TinyStudy
    run: Run
    received: tuple[ServedRequest, ...]
    unanswered: tuple[ServedRequest, ...]


@contextmanager
def run_before_and_after_repair(new_study: NewStudy) -> Iterator[Done]:
    """Run a study while parts fail, and once more after their repair."""
    invented, gate = world(), ResponseGate()
    broken = {title: response for title, response, _ in BROKEN.values()}
    failed: list[ServedRequest] = []

    def before(request: ServedRequest) -> ServedResponse | None:
        response = broken.get(request.form.get("titles", "")) if request_kind(request) == "history" else None
        if response:
            failed.append(request)
        return response

    with serving_world(invented, before=before, after=gate) as served:
        study = new_study(served.addresses)
        broken_run = study.run("run")
        broken_study = study.copy(study.workspace.with_name("before-repair"))
        broken.clear()
        run = study.run("run")
        received = tuple(request for request in served.received if request not in failed)
        yield Done(study, broken_study, broken_run, tuple(failed), run, received, invented, served, gate)


def kill_fetch(new_study: NewStudy) -> Killed:
    """Kill the fetch of a study three times, and run it to its end."""
    gate = ResponseGate()
    with serving_world(world(), after=gate) as served:
        study = new_study(served.addresses)
        for moment in KILLED_AT:
            _kill_while_waiting(study, gate, moment, "run", "--stage", "fetch")
        run = study.run("run", "--stage", "fetch")
        return Killed(study, run, gate.answered(served.received), tuple(gate.unanswered))


def kill_refresh(done: Done, workspace: Path) -> Killed:
    """Change the world, kill the refresh of a study that is copied to a workspace, and run it to its end.

    A lanternist was a bell tuner for a while, a film gets another name, an edit war has two more edits, and two
    pages have other views.
    """
    person, turns = done.world.items["Q505"], done.world.wikipedia.pages[SKIRMISH].revisions[-2:]
    for trade in ("Q103", "Q101"):
        person.edit(f"/* wbsetclaimvalue:1| */ [[Property:P106]]: [[{trade}]]", values={"P106": trade})
    done.world.items["Q405"].edit("/* wbsetlabel-set:1|en */ Two Doors Up", label="Two Doors Up")
    for turn in turns:
        done.world.wikipedia.save(SKIRMISH, turn.content, user=turn.user)
    done.world.views |= {"Adela Fenwick": [250], SKIRMISH: [900]}
    study, before, unanswered = done.study.copy(workspace), len(done.served.received), len(done.gate.unanswered)
    _kill_while_waiting(study, done.gate, KILLED_AT[-1], "run", "--refresh")
    run = study.run("run")
    answered = done.gate.answered(done.served.received[before:])
    return Killed(study, run, answered, tuple(done.gate.unanswered[unanswered:]))


def _kill_while_waiting(
    study: TinyStudy, gate: ResponseGate, moment: tuple[int, *tuple[str, ...]], *command: str
) -> None:
    """Start a command, and kill it when every task waits for a response and has stored all earlier responses."""
    before = len(gate.unanswered)
    gate.close(*moment)
    with study.start(*command) as running:
        wait_until(lambda: len(gate.unanswered) == before + PARALLEL_REQUESTS, running)
        os.kill(running.pid, signal.SIGKILL)
    for other in study.processes():
        other.kill()
    gate.open()
