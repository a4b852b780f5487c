"""Runs of studies of an invented world: with parts that fail at first, killed, and refreshed after changes."""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.faults import Say, ServedRequest
from tests.data.sources.servers.wiki_world import Served, Views, World, serving_world
from tests.end_to_end.tiny_study import Run, TinyStudy, until
from tests.end_to_end.wiki_studies import Holding, WikiStudies, kind_of, of_disputes, rows

SKIRMISH, LEVY, VELM = "Skirmish of Ostrel", "Tidewater levy", 'Who owns "Velm"? / Question & answer'
BROKEN: Mapping[str, tuple[str, Say, str]] = {
    "director": ("Q401", Say("It is broken.", status=500), "answered 500 Internal Server Error"),
    LEVY: (LEVY, Say("<!DOCTYPE html><title>Wikimedia Error</title>"), "answered with something that is not JSON"),
    VELM: (VELM, Say('{"batchcomplete":true,"query":{"pages":[{"pageid":1,"ns'), "answered with JSON cut short"),
}
"""Parts that fail at first: the page whose history cannot be had, what is answered in its place, and the reason."""
KILLED_AT = ((4, "items"), (3, "history", "page"), (4, "views"))
"""Which answers are held back at each kill: the so-maniest of a kind since the kill before, and those after it."""
AT_A_TIME = 3


@dataclass(frozen=True)
class AtFirst:
    """What was said and done while some parts failed."""

    run: Run
    status: Run
    failed: tuple[ServedRequest, ...]
    scored: frozenset[str]
    pages: frozenset[str]
    written: Mapping[Path, int]


@dataclass(frozen=True)
class Done:
    """A study that was run to its end, after some parts failed at first; its workspace is not to be changed.

    received: what was answered until then.
    """

    study: TinyStudy
    at_first: AtFirst
    run: Run
    received: tuple[ServedRequest, ...]
    world: World
    served: Served
    holding: Holding


@dataclass(frozen=True)
class Killed:
    """A study that was killed while answers were held back, and then run to its end; asked: what was answered."""

    study: TinyStudy
    run: Run
    received: tuple[ServedRequest, ...]
    held: tuple[ServedRequest, ...]


@contextmanager
def failing_at_first(studies: WikiStudies) -> Iterator[Done]:
    """A study that is run while parts fail, and once more when that is mended."""
    world, holding = wiki_world.world(), Holding()
    broken = {title: say for title, say, _ in BROKEN.values()}
    failed: list[ServedRequest] = []

    def before(asked: ServedRequest) -> Say | None:
        say = broken.get(asked.form.get("titles", "")) if kind_of(asked) == "history" else None
        if say:
            failed.append(asked)
        return say

    with serving_world(world, before=before, after=holding) as served:
        study = studies.study(served.addresses)
        run, status = study.run("run"), study.run("status")
        scored = frozenset(row["relation"] for row in rows(study, "answers"))
        at_first = AtFirst(run, status, tuple(failed), scored, frozenset(of_disputes(study)), study.written())
        broken.clear()
        run = study.run("run")
        asked = tuple(one for one in served.received if one not in failed)
        yield Done(study, at_first, run, asked, world, served, holding)


def killed_fetch(studies: WikiStudies) -> Killed:
    """A study whose fetch is killed three times."""
    holding = Holding()
    with serving_world(wiki_world.world(), after=holding) as served:
        study = studies.study(served.addresses)
        for held in KILLED_AT:
            _kill_while_held(study, holding, held, "run", "--stage", "fetch")
        run = study.run("run", "--stage", "fetch")
        return Killed(study, run, holding.answered(served.received), tuple(holding.held))


def killed_refresh(done: Done, studies: WikiStudies) -> Killed:
    """A copy of a study, whose refresh is killed, after the world has changed.

    A lanternist was a bell tuner for a while, a film got another name, a war went on for two more turns, and people
    read other pages.
    """
    person, turns = done.world.items["Q505"], done.world.wikipedia.pages[SKIRMISH].revisions[-2:]
    person.changes("P106", "Q101", "Q103")
    person.changes("P106", "Q103", "Q101")
    done.world.items["Q405"].calls("en", "Two Doors Up")
    for turn in turns:
        done.world.wikipedia.save(SKIRMISH, turn.content, user=turn.user)
    done.world.views |= {"Adela Fenwick": Views(250), SKIRMISH: Views(900)}
    study, before, held = studies.copy(done.study), len(done.served.received), len(done.holding.held)
    _kill_while_held(study, done.holding, KILLED_AT[-1], "run", "--refresh")
    run = study.run("run")
    answered = done.holding.answered(done.served.received[before:])
    return Killed(study, run, answered, tuple(done.holding.held[held:]))


def _kill_while_held(study: TinyStudy, holding: Holding, held: tuple[int, *tuple[str, ...]], *command: str) -> None:
    """Starts a command, and kills it when every task waits for an answer: all that was answered is kept by then."""
    before = len(holding.held)
    holding.from_the(*held)
    with study.start(*command) as running:
        until(lambda: len(holding.held) == before + AT_A_TIME, running)
        os.kill(running.pid, signal.SIGKILL)
    for other in study.processes():
        other.kill()
    holding.go_on()
