"""The workers of a Dask cluster that fit a run: each is asked, also one that comes while the run goes on.

One that fits is asked again where a step found that it does not any more, and one that does not, every few seconds.
"""

import logging
import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from swaymeter.data.errors import UsageError, first_line
from swaymeter.flows.execution.workers.elsewhere import check, here
from swaymeter.flows.graph.step import Run

log = logging.getLogger(__name__)

MARKS = ("GPU", "CPU")
"""The resources by which workers say what they have."""

SECONDS_BETWEEN_LOOKS = 2.0
"""How long it is taken as known which workers there are."""

SECONDS_REFUSED = 10.0
"""How long a refusal counts: then the worker is asked again, as a folder may be mounted again."""


class Roster:
    """Which workers there are, what they have, and why some of them are refused."""

    def __init__(self, client: Any, run: Run) -> None:
        """Nobody is asked yet; client: of the cluster; run: what each worker must fit."""
        self._client, self._run = client, run
        self._answers: dict[str, Future[str | None]] = {}
        self._asked_at: dict[str, float] = {}
        self._told: dict[str, str] = {}
        self._have_fitted = set[str]()
        self._marks: dict[str, set[str]] = {}
        self._lock, self._looked_at, self._is_begun = threading.Lock(), -math.inf, False
        self._pool = ThreadPoolExecutor(16, "roster")

    def begin(self) -> None:
        """Asks all workers that are there; UsageError where one of them does not fit."""
        self.look()
        if reasons := [*filter(None, (answer.result() for answer in self._answers.values()))]:
            raise UsageError("; ".join(reasons))
        self._is_begun = True

    def look(self) -> None:
        """Asks workers that have come, and forgets those that are gone, unless that was just done."""
        with self._lock:
            if time.monotonic() - self._looked_at < SECONDS_BETWEEN_LOOKS:
                return
            self._looked_at = time.monotonic()
            try:  # not scheduler_info: what that gives may be of a heartbeat, which names no workers
                workers = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
            except Exception:  # they are as they were, while the scheduler does not answer
                log.debug("no roster", exc_info=True)
                return
            self._marks = {address: {*MARKS} & worker["resources"].keys() for address, worker in workers.items()}
            self._answers = {address: answer for address, answer in self._answers.items() if address in workers}
            for gone in self._asked_at.keys() - workers.keys():
                del self._asked_at[gone]
                self._told.pop(gone, None)
                self._have_fitted.discard(gone)
            for address in workers:
                answer = self._answers.get(address)
                is_refused = answer and answer.done() and answer.result() is not None
                asked_long_ago = time.monotonic() - self._asked_at.get(address, 0.0) > SECONDS_REFUSED
                if answer is None or (self._is_begun and is_refused and asked_long_ago):
                    self._ask(address)

    def ask_again(self, address: str) -> None:
        """Asks a worker with which a step failed; it gets no other until it has answered that it fits."""
        with self._lock:
            if address in self._answers:
                self._ask(address)

    def _ask(self, address: str) -> None:
        with suppress(RuntimeError):  # it is closed
            answer = self._pool.submit(self._why_not, address, self._marks[address])
            self._asked_at[address] = time.monotonic()
            self._answers = {**self._answers, address: answer}  # another thread may be reading them

    def fitting(self, mark: str) -> set[str]:
        """The addresses of the workers with that mark that fit the run."""
        fit = {address for address, answer in self._answers.items() if answer.done() and answer.result() is None}
        return {address for address in fit if mark in self._marks.get(address, ())}

    def has(self, mark: str) -> bool:
        """Whether a worker with that mark is there that fits the run, or did and may again."""
        return any(mark in self._marks.get(address, ()) for address in [*self._have_fitted])

    def close(self) -> None:
        """Asks nobody any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _why_not(self, address: str, marks: set[str]) -> str | None:
        """Why a worker cannot be used; said once where the run goes on without it."""
        try:
            (reason,) = self._client.run(_why_not, self._run, here(), workers=[address]).values()
        except Exception as error:  # such as a worker that cannot import what it is asked for
            reason = f"{first_line(error)}; install swaymeter {here()} there"
        if not marks:
            reason = "it has no resource; start it with --resources GPU=1, or --resources CPU=1"
        if not reason:
            self._have_fitted.add(address)
            if self._told.pop(address, None):
                log.warning("worker %s can be used again", address)
            return None
        refusal = f"worker {address} cannot be used: {reason}"
        is_there = address in self._marks and self._client.status == "running"
        if self._is_begun and is_there and refusal != self._told.get(address):
            self._told[address] = refusal
            has_others = any(map(self.fitting, MARKS))
            log.warning(
                "%s; the run %s", refusal, "goes on without it" if has_others else "waits for one that can be used"
            )
        return refusal


def _why_not(run: Run, wanted: str) -> str | None:
    try:
        check(run, wanted)
    except UsageError as error:
        return str(error)
    return None
