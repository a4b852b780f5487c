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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from swaymeter.data.errors import UsageError, WorkFailed, WorkspaceError, first_line
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.threads import usable_processors
from swaymeter.flows.execution.workers.elsewhere import attempt_elsewhere, here, why_not_held
from swaymeter.flows.execution.workers.roster import MARKS, SECONDS_BETWEEN_LOOKS, Roster
from swaymeter.flows.execution.workers.workers import AHEAD, AT_ONCE, INTERRUPTED, TRIES, Outcome, Workers, failed
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.tasks.measures.run import Share, Spent

log = logging.getLogger(__name__)

HERE = "127.0.0.1"

WITHOUT_GPU = 2
"""Worker processes where a machine has no GPU and nobody says how many."""

PROFILE = "distributed.worker.profile.enabled"
"""By default a worker looks a hundred times a second where its thread is, which takes a tenth of a processor."""

SHORT_SECONDS = 2.0
"""Steps that take less are begun ahead, for a worker that is at work. A longer one waits for the first that is free."""

SECONDS_TO_COME = 120
"""How long a run waits for the first worker."""

SECONDS_WITHOUT = 15.0
"""After so long without a worker, that is said."""

GONE = ("closing", "closed")
"""What a client is once its scheduler is given up: nothing that it waits for ends any more."""


class Cluster(Workers):
    """Has the steps that ask a model computed by workers of a Dask cluster, each by one or in shares by several."""

    def __init__(
        self,
        address: str | None,
        workers: int | None,
        run: Run,
        shares: int = 1,
        asked: Mapping[int, ModelPart] | None = None,
    ) -> None:
        """Nothing is connected yet; UsageError where Dask is not installed.

        address: of the scheduler; None for a cluster of this machine, of so many workers, which ends with the run.
        run: what each worker must fit. shares: in how many a step that scores is cut. asked: the models, by their place
        in the study file, that some worker must hold.
        """
        super().__init__()
        if find_spec("distributed") is None:
            raise UsageError('workers need Dask, which is not installed: pip install "swaymeter[dask]"')
        self._address = address
        self._workers, self._run, self._shares, self._asked = workers, run, shares, asked or {}
        self._local: Any = None
        self._seen = set[str]()
        self._last_took = math.inf  # seconds, of the last step that was computed
        self._choosing, self._given = threading.Lock(), Counter[str]()  # steps that each worker has
        self._missed = set[str]()  # what no worker has had for a while, as was said

    def __enter__(self) -> "Cluster":
        logging.getLogger("distributed").setLevel(logging.ERROR)  # every worker that comes or goes is a warning
        with ExitStack() as opened:
            if self._address is None:
                self._local = opened.enter_context(closing(_local(environments(self._workers))))
            try:
                client = _distributed().Client(self._local or self._address, set_as_default=False)
                self._client = opened.enter_context(closing(client))
                self._client.wait_for_workers(1, timeout=SECONDS_TO_COME)
            except (OSError, TimeoutError, TypeError) as error:  # the last where TLS is asked for and not configured
                raise UsageError(
                    f"the Dask cluster at {self._address} cannot be used: {first_line(error)}; start its scheduler and "
                    "workers, or correct `execution.address` or Dask's configuration of TLS"
                ) from None
            self._roster = opened.enter_context(closing(Roster(self._client, self._run)))
            self._roster.begin()
            self._look()
            self._check_models()
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def _check_models(self) -> None:
        """UsageError for a model that no worker with a GPU can hold."""
        workers = self._roster.fitting("GPU")
        asked = {number: model for number, model in self._asked.items() if model.device != "cpu"}
        if not (workers and asked):
            return
        # One that is gone, or cannot tell, says nothing against a model.
        answers = self._client.run(why_not_held, [*asked.values()], workers=[*workers], on_error="ignore")
        for place, number in enumerate(asked):
            if len(answers) == len(workers) and all(one[place] for one in answers.values()):
                worker, reasons = min(answers.items())
                raise UsageError(f"models.{number}: no worker of the cluster can hold it; {worker}: {reasons[place]}")

    def _look(self) -> None:
        self._roster.look()
        self._seen |= {mark for mark in MARKS if self._roster.fitting(mark)}

    def at_once(self) -> Mapping[str, int]:
        self._look()
        each = 1 + (AHEAD if self._last_took < SHORT_SECONDS else 0)
        return {**AT_ONCE, **{mark: len(self._roster.fitting(mark)) * each for mark in MARKS}}

    def place(self, step: Step) -> str:
        if not step.device:
            return step.resource
        return "CPU" if step.device == "cpu" or (step.device == "auto" and not self._roster.has("GPU")) else "GPU"

    def compute(self, step: Step, run: Run) -> Outcome:
        if not step.device:
            return super().compute(step, run)
        if self._shares == 1 or step.id.stage != "score":
            return self._compute(step, run)
        shares = [replace(run, share=Share(number, self._shares)) for number in range(self._shares)]
        with ThreadPoolExecutor(self._shares) as pool:
            outcomes = [*pool.map(self._compute, [step] * self._shares, shares)]
        if self._is_abandoned:
            return INTERRUPTED
        # What came of a share decides nothing: now the chunks that are stored are joined, and others tried again.
        whole = self._compute(step, run)
        spent = [asdict(outcome.spent) for outcome in (*outcomes, whole) if outcome.spent is not None]
        return whole if whole.failed else replace(whole, spent=Spent.on(spent))

    def _compute(self, step: Step, run: Run) -> Outcome:
        """Has one worker compute a step, or the share of it that the run names."""
        mark = self.place(step)
        if mark not in self._seen:
            reason = f"device {step.device}: no worker of the cluster has the resource {mark}; start one, or change it"
            return failed(step, run, reason)
        topic, begun, away = f"{step.id} {uuid4()}", 0, 0
        while begun < TRIES:
            if outcome := self._tried(step, run, mark, topic):
                self._last_took = outcome.spent.seconds if outcome.spent else self._last_took
                away += outcome.is_away
                if not outcome.is_away or away == TRIES or self._away(run):
                    return outcome
                topic, begun = f"{step.id} {uuid4()}", 0  # its worker lost the folder, which says nothing of the step
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

    def _tried(self, step: Step, run: Run, mark: str, topic: str) -> Outcome | None:
        """None where the worker that was to compute it is gone, or the scheduler is."""
        began = time.monotonic()
        while not (workers := self._roster.fitting(mark)):
            if self._is_abandoned or self._client.status in GONE:
                return None
            if away := self._away(run):  # none fits before it is back
                return away
            if time.monotonic() - began > SECONDS_WITHOUT:
                with self._choosing:
                    is_said, self._missed = mark in self._missed, self._missed | {mark}
                if not is_said:
                    log.warning("no worker with the resource %s is left; the run waits for one: start it", mark)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self._look()
        self._missed.discard(mark)
        with self._choosing:  # Dask knows nothing of steps, and would give two to one worker and none to another
            chosen = min(sorted(workers), key=self._given.__getitem__)
            self._given[chosen] += 1
        try:
            return self._by(chosen, step, run, mark, topic)
        finally:
            with self._choosing:
                self._given[chosen] -= 1

    def _by(self, worker: str, step: Step, run: Run, mark: str, topic: str) -> Outcome | None:
        """None where that worker is gone, or the scheduler is."""
        distributed = _distributed()
        try:
            future = self._client.submit(
                _attempt, step, run, here(), topic,
                key=f"{step.id} {uuid4()}", pure=False, resources={mark: 1}, workers=[worker],
            )  # fmt: skip
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
                if worker not in self._roster.fitting(mark) or self._client.status in GONE:
                    return None
            if raised is not None and not isinstance(raised, distributed.KilledWorker):  # such as what cannot be read
                return failed(step, run, f"{type(raised).__name__}: {first_line(raised)}", may_pass=True)
            outcome = self._fetched(future)
        finally:
            future.release()  # what a worker keeps of it is computed again where that worker dies
        if outcome and outcome.is_away:
            self._roster.ask_again(worker)
        return outcome

    def _fetched(self, future: Any) -> Outcome | None:
        """What a step gave; None where that is gone with its worker, or the scheduler is.

        Not `future.result()`: without a timeout it waits for ever, as that worker alone may compute the step again; and
        where a timeout ends it, the calls of other threads fail, which share a task with it.
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

    def _away(self, run: Run) -> Outcome | None:
        """What comes of a step while the workspace cannot be seen where this process runs; None where it can."""
        try:
            Workspace(run.workspace).check_is_there()
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


def _local(of_each: list[dict[str, str]]) -> Any:
    """A cluster on this machine, whose workers end with this process; WorkFailed where they do not start."""
    for tries in range(1, TRIES + 1):
        try:
            return _started(of_each)
        except RuntimeError as error:  # one worker that was killed while it started ends them all
            reason = first_line(error.__cause__ or error)
            log.warning("the workers of Dask did not start: %s (try %d of %d)", reason, tries, TRIES)
    raise WorkFailed(
        f"the workers of Dask do not start on this machine: {reason}; use fewer workers, or --runner threads"
    )


def _started(of_each: list[dict[str, str]]) -> Any:
    distributed = _distributed()
    # Whoever reaches a worker can have it do anything, and a machine may have many users.
    listening = {
        "host": HERE, "protocol": "tls://", "security": distributed.Security.temporary(),
        "dashboard_address": f"{HERE}:0",
    }  # fmt: skip

    def options(variables: Mapping[str, str]) -> dict[str, Any]:
        marks = MARKS if "CUDA_VISIBLE_DEVICES" in variables else ("CPU",)
        return {
            **listening, "nthreads": 1, "resources": dict.fromkeys(marks, 1), "env": variables, "memory_limit": None,
            "silence_logs": logging.ERROR,
        }  # fmt: skip

    workers = {n: {"cls": distributed.Nanny, "options": options(variables)} for n, variables in enumerate(of_each)}
    scheduler = {"cls": distributed.Scheduler, "options": {**listening, "port": 0}}
    with import_module("dask").config.set({PROFILE: False}):
        return distributed.SpecCluster(
            workers=workers, scheduler=scheduler, security=listening["security"], silence_logs=logging.ERROR
        )


def environments(workers: int | None) -> list[dict[str, str]]:
    """The variables of each worker process of this machine: its GPU, or its share of the processors."""
    gpus = visible_gpus()
    count = workers or len(gpus) or WITHOUT_GPU
    threads = str(max(1, usable_processors() // count))
    own_gpus = [{"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {} for number in range(count)]
    return [{"OMP_NUM_THREADS": threads, **gpu} for gpu in own_gpus]


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


def _attempt(step: Step, run: Run, wanted: str, topic: str) -> Outcome:
    """What came of a step in the worker that tries it."""
    worker = _distributed().get_worker()
    worker.log_event(topic, "begun")  # Dask counts as lost with a worker also what only waited for it
    return attempt_elsewhere(step, run, wanted, worker.address)


def _distributed() -> Any:
    return import_module("distributed")  # nobody has it who did not ask for the extra
