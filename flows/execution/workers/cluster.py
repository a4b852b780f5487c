"""Workers of a Dask cluster: one that is there, by the address of its scheduler, or worker processes of this machine.

A worker says by a resource what it has: `GPU`, or `CPU` where it has none; a step that asks a model takes one of these,
so that a worker computes one step at a time, and only steps that it is made for. What becomes of a future decides
nothing: where a worker died, Dask begins the step anew on another one, and the workspace keeps the chunks of both once.
"""

import logging
import math
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from swaymeter.data.errors import UsageError, WorkspaceError, first_line
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.execution.workers.base import AT_ONCE, INTERRUPTED, TRIES, Outcome, Workers, failed
from swaymeter.flows.execution.workers.dask_local import MARKS, local_cluster
from swaymeter.flows.execution.workers.dask_worker import attempt_elsewhere, unfit_models, why_not, worker_mark
from swaymeter.flows.graph.graph import Node
from swaymeter.flows.graph.step import RunSettings, Step

log = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 2.0
"""Seconds for which the list of workers is reused."""

SECONDS_REFUSED = 10.0
"""Seconds without steps for a worker that does not fit. It is tried again after them: a folder may be mounted again."""

SECONDS_TO_COME = 120
"""Seconds that a run waits for the first worker."""

SECONDS_WITHOUT = 15.0
"""After so long without a worker, that is said."""

GONE = ("closing", "closed")
"""Status of a client without a scheduler; its calls never end."""


class Cluster(Workers):
    """Has the steps that ask a model computed by workers of a Dask cluster."""

    def __init__(
        self,
        address: str | None,
        workers: int | None,
        run: RunSettings,
        models: Mapping[int, ModelPart] | None = None,
    ) -> None:
        """Nothing is connected yet; UsageError where Dask is not installed.

        address: of the scheduler; None for a cluster of this machine, of so many workers, which ends with the run.
        run: what each worker must fit. asked: the models, by their place in the study file, that some worker must
        hold.
        """
        super().__init__()
        if find_spec("distributed") is None:
            raise UsageError('workers need Dask, which is not installed: pip install "swaymeter[dask]"')
        self._address = address
        self._workers, self._run, self._models = workers, run, models or {}
        self._local: Any = None
        self._marks: dict[str, set[str]] = {}  # of the workers that are there
        self._seen, self._fitted = set[str](), set[str]()  # marks, and workers that fitted once
        self._refused: dict[str, tuple[float, str]] = {}  # until when a worker gets no steps, and why
        self._looking, self._looked_at = threading.Lock(), -math.inf
        self._choosing, self._loads = threading.Lock(), Counter[str]()  # steps that each worker has
        self._missed = set[str]()  # what no worker has had for a while, as was said

    def __enter__(self) -> "Cluster":
        logging.getLogger("distributed").setLevel(logging.ERROR)  # every worker that comes or goes is a warning
        with ExitStack() as opened:
            if self._address is None:
                self._local = opened.enter_context(closing(local_cluster(self._workers)))
            try:
                client = _distributed().Client(self._local or self._address, set_as_default=False)
                self._client = opened.enter_context(closing(client))
                self._client.wait_for_workers(1, timeout=SECONDS_TO_COME)
            except (OSError, TimeoutError, TypeError) as error:  # the last where TLS is asked for and not configured
                raise UsageError(
                    f"the Dask cluster at {self._address} cannot be used: {first_line(error)}; start its scheduler and "
                    "workers, or correct `execution.address` or Dask's configuration of TLS"
                ) from None
            self._look()
            self._check_workers()
            self._check_models()
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._opened.close()
        except Exception:  # such as a scheduler that is gone: what was computed is stored, and why a run ended is said
            log.debug("the cluster could not be left", exc_info=True)

    def _check_workers(self) -> None:
        """UsageError where one of the workers does not fit."""
        answers = self._client.run(why_not, self._run, worker_mark(), on_error="return")
        for address, answer in answers.items():
            if isinstance(answer, OSError):  # it has ended meanwhile, which says nothing of others like it
                answers[address] = None
            elif isinstance(answer, Exception):  # such as a worker that cannot import what it is asked for
                answers[address] = f"{first_line(answer)}; install swaymeter {worker_mark()} there"
            if not self._marks.get(address, MARKS):
                answers[address] = "it has no resource; start it with --resources GPU=1, or --resources CPU=1"
        if wrong := [f"worker {address} cannot be used: {reason}" for address, reason in answers.items() if reason]:
            raise UsageError("; ".join(wrong))
        self._fitted = {*answers}

    def _check_models(self) -> None:
        """UsageError for a model that no worker with a GPU can hold."""
        workers = self._fitting("GPU")
        models = {number: model for number, model in self._models.items() if model.device != "cpu"}
        if not (workers and models):
            return
        # One that is gone, or cannot tell, says nothing against a model.
        answers = self._client.run(unfit_models, [*models.values()], workers=[*workers], on_error="ignore")
        for index, number in enumerate(models):
            if len(answers) == len(workers) and all(answer[index] for answer in answers.values()):
                worker, reasons = min(answers.items())
                raise UsageError(f"models.{number}: no worker of the cluster can hold it; {worker}: {reasons[index]}")

    def _look(self) -> None:
        """Sees which workers there are, unless that was just done."""
        with self._looking:
            if time.monotonic() - self._looked_at < SECONDS_BETWEEN_LOOKS:
                return
            self._looked_at = time.monotonic()
            try:  # not scheduler_info: what that gives may be of a heartbeat, which names no workers
                workers = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
            except Exception:  # they are as they were, while the scheduler does not answer
                log.debug("no workers are seen", exc_info=True)
                return
            self._marks = {address: {*MARKS} & worker["resources"].keys() for address, worker in workers.items()}
            self._seen |= set[str]().union(*self._marks.values())

    def _fitting(self, mark: str) -> set[str]:
        """The addresses of the workers with that mark, but for those that are refused."""
        return {
            address
            for address, marks in self._marks.items()
            if mark in marks and time.monotonic() > self._refused.get(address, (0.0, ""))[0]
        }

    def _judge(self, address: str, outcome: Outcome) -> None:
        """Refuses a worker that does not fit, for a while, and says so once."""
        with self._choosing:
            _, reason = self._refused.get(address, (0.0, ""))
            if outcome.is_away:
                self._refused[address] = (time.monotonic() + SECONDS_REFUSED, str(outcome.failed))
            else:
                self._refused.pop(address, None)
                self._fitted.add(address)
        if outcome.is_away and outcome.failed != reason:
            goes_on = "goes on without it" if any(map(self._fitting, MARKS)) else "waits for one that can be used"
            log.warning("worker %s cannot be used: %s; the run %s", address, outcome.failed, goes_on)
        elif reason and not outcome.is_away:
            log.warning("worker %s can be used again", address)

    def at_once(self) -> Mapping[str, int]:
        self._look()
        # A task for a mark that no worker has had is begun, and fails with the reason.
        return {**AT_ONCE, **{mark: len(self._fitting(mark)) if mark in self._seen else 1 for mark in MARKS}}

    def queue(self, step: Step | Node) -> str:
        if not step.device:
            return super().queue(step)
        fit_once = self._fitted | (self._marks.keys() - self._refused.keys())  # one that is refused may come back
        has_gpu = any("GPU" in self._marks.get(address, ()) for address in fit_once)
        return "CPU" if step.device == "cpu" or (step.device == "auto" and not has_gpu) else "GPU"

    def compute(self, step: Step, run: RunSettings) -> Outcome:
        if not step.device:
            return super().compute(step, run)
        mark = self.queue(step)
        if mark not in self._seen:
            reason = f"device {step.device}: no worker of the cluster has the resource {mark}; start one, or change it"
            return failed(step, run, reason)
        topic, begun, away = f"{step.id} {uuid4()}", 0, 0
        while begun < TRIES:
            if outcome := self._tried(step, run, mark, topic):
                away += outcome.is_away
                if not outcome.is_away or self._away(run):
                    return outcome
                if away == TRIES:
                    return failed(step, run, str(outcome.failed), may_pass=True)
                topic, begun = f"{step.id} {uuid4()}", 0
                continue
            if self._is_abandoned:
                return INTERRUPTED
            while self._client.status == "connecting":  # for half a minute, the scheduler may come back
                time.sleep(0.5)
            if self._client.status != "running":
                reason = (
                    f"the Dask scheduler {self._address or ''} ended in the middle; start it and its workers again, "
                    "then run the study again: what is stored is kept"
                )
                return failed(step, run, reason)
            if (times := self._times_begun(topic)) > begun:
                log.warning("%s: its worker ended, or cannot be used any more; it is begun anew", step.id)
            begun = times
        reason = (
            f"the worker that computed it ended {TRIES} times without a word, as it does where memory is short; free "
            "some, or use fewer workers or a smaller model"
        )
        return failed(step, run, reason)

    def _tried(self, step: Step, run: RunSettings, mark: str, topic: str) -> Outcome | None:
        """None where the worker that was to compute it is gone, or the scheduler is."""
        began = time.monotonic()
        while not (workers := self._fitting(mark)):
            if self._is_abandoned or self._client.status in GONE:
                return None
            if away := self._away(run):  # none fits before it is back
                return away
            if time.monotonic() - began > SECONDS_WITHOUT:
                with self._choosing:
                    is_repeated, self._missed = mark in self._missed, self._missed | {mark}
                if not is_repeated:
                    log.warning("no worker with the resource %s is left; the run waits for one: start it", mark)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()
        self._missed.discard(mark)
        with self._choosing:  # Dask knows nothing of steps, and would give two to one worker and none to another
            chosen = min(sorted(workers), key=self._loads.__getitem__)
            self._loads[chosen] += 1
        try:
            outcome = self._by(chosen, step, run, mark, topic)
        finally:
            with self._choosing:
                self._loads[chosen] -= 1
        if outcome and outcome.is_away and (gone := self._away(run)):
            return gone
        if outcome:
            self._judge(chosen, outcome)
        return outcome

    def _by(self, worker: str, step: Step, run: RunSettings, mark: str, topic: str) -> Outcome | None:
        """None where that worker is gone, or the scheduler is."""
        distributed = _distributed()
        try:
            future = self._client.submit(
                _attempt,
                step,
                run,
                worker_mark(),
                topic,
                key=f"{step.id} {uuid4()}",
                pure=False,
                resources={mark: 1},
                workers=[worker],
            )
        except Exception:
            log.debug("%s", step.id, exc_info=True)
            return None
        try:
            while True:
                try:
                    raised = future.exception(SECONDS_BETWEEN_LOOKS)
                    break
                except TimeoutError:  # it goes on; or its worker died with what it gave, and alone may compute it again
                    self._look()
                except Exception:  # the client is closed
                    log.debug("%s", step.id, exc_info=True)
                    return None
                if worker not in self._fitting(mark) or self._client.status in GONE:
                    return None
            if raised is not None and not isinstance(raised, distributed.KilledWorker):  # such as what cannot be read
                reason = f"{type(raised).__name__}: {first_line(raised)}; install swaymeter {worker_mark()} there"
                return Outcome(failed=reason, may_pass=True, is_away=True)
            return self._fetched(future)
        finally:
            future.release()  # what a worker keeps of it is computed again where that worker dies

    def _fetched(self, future: Any) -> Outcome | None:
        """Return the outcome of a step; None if it is lost with its worker or the scheduler.

        `future.result()` is not used. Without a timeout it can wait for ever, because the lost worker alone may compute
        the step again. With a timeout, calls of other threads that share a task with it fail.
        """
        if future.status != "finished":
            return None
        try:
            answer = self._client.sync(self._client.scheduler.gather, keys=[future.key])
        except Exception:
            log.debug("%s", future.key, exc_info=True)
            return None
        outcomes: dict[str, Outcome] = answer.get("data", {})
        return outcomes.get(future.key)

    def _away(self, run: RunSettings) -> Outcome | None:
        """Return the outcome of a step whose workspace this process cannot see; None if the workspace is visible."""
        try:
            Workspace(run.workspace).check_mounted()
        except WorkspaceError as away:
            return Outcome(failed=str(away), may_pass=True, is_away=True)
        return None

    def _times_begun(self, topic: str) -> int:
        try:
            return len(self._client.get_events(topic) or ())
        except Exception:  # the connection broke: that is met again
            return 0

    def abandon(self) -> None:
        super().abandon()
        nannies: list[Any] = [*self._local.workers.values()] if self._local else []
        for nanny in nannies:  # its worker may be at work for minutes
            nanny.close_gracefully()  # that is: it starts no other one
            if nanny.pid:
                with suppress(OSError):
                    os.kill(nanny.pid, signal.SIGKILL)
        self._client.close()


def _attempt(step: Step, run: RunSettings, mark: str, topic: str) -> Outcome:
    """Run a step in a worker and return its outcome."""
    worker = _distributed().get_worker()
    worker.log_event(topic, "begun")  # Dask counts as lost with a worker also what only waited for it
    return attempt_elsewhere(step, run, mark)


def _distributed() -> Any:
    return import_module("distributed")  # nobody has it who did not ask for the extra
