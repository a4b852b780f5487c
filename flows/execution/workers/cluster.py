"""Workers of a Dask cluster: an existing cluster, by its scheduler's address, or worker processes of this machine.

A worker has one unit of the resource `GPU` or, without a GPU, of `CPU`. A step with a model takes one unit, so that a
worker computes one step at a time, and only steps for its kind of device. If a worker dies, Dask starts the step again
on another worker, and the workspace keeps the chunks of both once.
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
"""Seconds without steps for an unfit worker, which is then tried again, because a folder may be mounted again."""

SECONDS_TO_COME = 120
"""Seconds that a run waits for the first worker."""

SECONDS_WITHOUT = 15.0
"""Seconds without a worker after which a warning is logged."""

GONE = ("closing", "closed")
"""Status of a client without a scheduler; its calls never end."""


class Cluster(Workers):
    """Workers of a Dask cluster for the steps with a model."""

    def __init__(
        self,
        address: str | None,
        workers: int | None,
        run: RunSettings,
        models: Mapping[int, ModelPart] | None = None,
    ) -> None:
        """Prepare a cluster without connecting.

        Args:
            address: Address of the scheduler; None for a cluster of this machine, which ends with the run.
            workers: Number of workers of this machine; None for the default.
            run: Settings that each worker must fit.
            models: Models, by their position in the study file, that at least one worker must be able to load.

        Raises:
            UsageError: Dask is not installed.
        """
        super().__init__()
        if find_spec("distributed") is None:
            raise UsageError('workers need Dask, which is not installed: pip install "swaymeter[dask]"')
        self._address = address
        self._workers, self._run, self._models = workers, run, models or {}
        self._local: Any = None
        self._marks: dict[str, set[str]] = {}  # resources of the present workers
        self._seen, self._fitted = set[str](), set[str]()  # marks, and workers that fitted once
        self._refused: dict[str, tuple[float, str]] = {}  # end of a worker's time without steps, and the reason
        self._looking, self._looked_at = threading.Lock(), -math.inf
        self._choosing, self._loads = threading.Lock(), Counter[str]()  # steps that each worker has
        self._missed = set[str]()  # resources without a worker, for which a warning was logged

    def __enter__(self) -> "Cluster":
        logging.getLogger("distributed").setLevel(logging.ERROR)  # every worker that comes or goes is a warning
        with ExitStack() as opened:
            if self._address is None:
                self._local = opened.enter_context(closing(local_cluster(self._workers)))
            try:
                client = _distributed().Client(self._local or self._address, set_as_default=False)
                self._client = opened.enter_context(closing(client))
                self._client.wait_for_workers(1, timeout=SECONDS_TO_COME)
            except (OSError, TimeoutError, TypeError) as error:  # TypeError: TLS without a configuration
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
        except Exception:  # such as a lost scheduler; results are stored, and the reason of the end is logged already
            log.debug("the cluster could not be left", exc_info=True)

    def _check_workers(self) -> None:
        """Raise UsageError if one of the workers does not fit."""
        answers = self._client.run(why_not, self._run, worker_mark(), on_error="return")
        for address, answer in answers.items():
            if isinstance(answer, OSError):  # the worker has ended; others like it may still fit
                answers[address] = None
            elif isinstance(answer, Exception):  # such as a worker that cannot import this package
                answers[address] = f"{first_line(answer)}; install swaymeter {worker_mark()} there"
            if not self._marks.get(address, MARKS):
                answers[address] = "it has no resource; start it with --resources GPU=1, or --resources CPU=1"
        if wrong := [f"worker {address} cannot be used: {reason}" for address, reason in answers.items() if reason]:
            raise UsageError("; ".join(wrong))
        self._fitted = {*answers}

    def _check_models(self) -> None:
        """Raise UsageError for a model that exceeds the GPUs of every worker."""
        workers = self._fitting("GPU")
        models = {number: model for number, model in self._models.items() if model.device != "cpu"}
        if not (workers and models):
            return
        # A worker that is lost, or has no information, does not count against a model.
        answers = self._client.run(unfit_models, [*models.values()], workers=[*workers], on_error="ignore")
        for index, number in enumerate(models):
            if len(answers) == len(workers) and all(answer[index] for answer in answers.values()):
                worker, reasons = min(answers.items())
                raise UsageError(f"models.{number}: no worker of the cluster can hold it; {worker}: {reasons[index]}")

    def _look(self) -> None:
        """Update the list of workers, unless it is recent."""
        with self._looking:
            if time.monotonic() - self._looked_at < SECONDS_BETWEEN_LOOKS:
                return
            self._looked_at = time.monotonic()
            try:  # not scheduler_info, whose result may come from a heartbeat without workers
                workers = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
            except Exception:  # keep the last list while the scheduler does not answer
                log.debug("no workers are seen", exc_info=True)
                return
            self._marks = {address: {*MARKS} & worker["resources"].keys() for address, worker in workers.items()}
            self._seen |= set[str]().union(*self._marks.values())

    def _fitting(self, mark: str) -> set[str]:
        """Return the addresses of the workers with a resource, without refused workers."""
        return {
            address
            for address, marks in self._marks.items()
            if mark in marks and time.monotonic() > self._refused.get(address, (0.0, ""))[0]
        }

    def _judge(self, address: str, outcome: Outcome) -> None:
        """Refuse an unfit worker for a while, and log a warning once."""
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
        # A task for a resource that no worker ever had is started, and fails with the reason.
        return {**AT_ONCE, **{mark: len(self._fitting(mark)) if mark in self._seen else 1 for mark in MARKS}}

    def queue(self, step: Step | Node) -> str:
        if not step.device:
            return super().queue(step)
        fit_once = self._fitted | (self._marks.keys() - self._refused.keys())  # a refused worker may fit again later
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
        """Compute a step on a free worker; return None if the worker or the scheduler is lost."""
        began = time.monotonic()
        while not (workers := self._fitting(mark)):
            if self._is_abandoned or self._client.status in GONE:
                return None
            if away := self._away(run):  # no worker fits without a visible workspace
                return away
            if time.monotonic() - began > SECONDS_WITHOUT:
                with self._choosing:
                    is_repeated, self._missed = mark in self._missed, self._missed | {mark}
                if not is_repeated:
                    log.warning("no worker with the resource %s is left; the run waits for one: start it", mark)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()
        self._missed.discard(mark)
        with self._choosing:  # Dask could give two steps to one worker and none to another
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
        """Compute a step on a worker; return None if the worker or the scheduler is lost."""
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
            if raised is not None and not isinstance(raised, distributed.KilledWorker):  # such as an unreadable result
                reason = f"{type(raised).__name__}: {first_line(raised)}; install swaymeter {worker_mark()} there"
                return Outcome(failed=reason, may_pass=True, is_away=True)
            return self._fetched(future)
        finally:
            future.release()  # otherwise Dask would compute the result again if the worker dies

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
        except Exception:  # a broken connection shows again in the next call
            return 0

    def abandon(self) -> None:
        super().abandon()
        nannies: list[Any] = [*self._local.workers.values()] if self._local else []
        for nanny in nannies:  # its worker may be at work for minutes
            nanny.close_gracefully()  # so that it starts no other worker
            if nanny.pid:
                with suppress(OSError):
                    os.kill(nanny.pid, signal.SIGKILL)
        self._client.close()


def _attempt(step: Step, run: RunSettings, mark: str, topic: str) -> Outcome:
    """Run a step in a worker and return its outcome."""
    worker = _distributed().get_worker()
    worker.log_event(topic, "begun")  # Dask also counts steps as lost that only waited for a dead worker
    return attempt_elsewhere(step, run, mark)


def _distributed() -> Any:
    return import_module("distributed")  # only the extra `dask` installs it
