"""Workers of a Dask cluster: one that is there, by the address of its scheduler, or one that ends with the run.

A worker says by a resource what it has: `GPU`, or `CPU` where it has none; a step that asks a model takes one of these,
so that a worker computes one step at a time, and only steps that it is made for. What becomes of a future decides
nothing: where a worker died, Dask begins the step anew on another one, and the workspace keeps the chunks of both once.
"""

import logging
import math
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from data.errors import UsageError, first_line
from flows.execution.attempt import Outcome, failed
from flows.execution.workers.elsewhere import attempt_elsewhere, check, here
from flows.execution.workers.processes import environments
from flows.execution.workers.workers import AHEAD, AT_ONCE, INTERRUPTED, TRIES, Elsewhere, lost
from flows.graph.step import Run, Step

log = logging.getLogger(__name__)

MARKS = ("GPU", "CPU")
"""The resources by which workers say what they have."""

HERE = "127.0.0.1"
"""Where a cluster of this machine listens: whoever reaches a worker can have it do anything."""

SECONDS_TO_COME = 120
"""How long a run waits for the first worker."""

SECONDS_BETWEEN_LOOKS = 2.0
"""How long the number of workers is taken as known."""


class Cluster(Elsewhere):
    """Workers of a Dask cluster for the steps that ask a model."""

    def __init__(self, address: str | None, workers: int | None, run: Run, shares: int = 1) -> None:
        """Nothing is connected yet; run: what each worker must fit. UsageError where Dask is not installed."""
        super().__init__(shares)
        if find_spec("distributed") is None:
            raise UsageError('runner dask needs Dask, which is not installed: pip install "swaymeter[dask]"')
        self._address = address or os.environ.get("DASK_SCHEDULER_ADDRESS") or None
        self._workers, self._run, self._local = workers, run, None
        self._counts, self._seen, self._looked_at = Counter[str](), set[str](), -math.inf

    def __enter__(self) -> "Cluster":
        distributed = _distributed()
        logging.getLogger("distributed").setLevel(logging.ERROR)  # every worker that comes or goes is a warning
        if self._address is None:
            self._local = _local(environments(self._workers))
        try:
            self._client = distributed.Client(self._local or self._address, set_as_default=False)
            self._client.wait_for_workers(1, timeout=SECONDS_TO_COME)
        except (OSError, TimeoutError) as error:
            self.__exit__()
            raise UsageError(
                f"the Dask cluster at {self._address} cannot be used: {first_line(error)}; start its scheduler and "
                "workers, or correct `execution.address`"
            ) from None
        try:
            self._check()
            self._look()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        for one in (getattr(self, "_client", None), self._local):
            if one is not None:
                one.close()

    def _check(self) -> None:
        """UsageError where a worker does not fit the run, or has no mark."""
        try:
            reasons = self._client.run(_why_not, self._run, here())
        except Exception as error:  # such as a worker that cannot import what it is asked for
            reasons = {"of the cluster": f"{first_line(error)}; install swaymeter {here()} there"}
        for address, worker in self._client.scheduler_info(n_workers=-1)["workers"].items():
            if not {*MARKS} & worker["resources"].keys():
                reasons[address] = "it has no resource; start it with --resources GPU=1, or --resources CPU=1"
        if wrong := [f"worker {address} cannot be used: {reason}" for address, reason in reasons.items() if reason]:
            raise UsageError("; ".join(wrong))

    def _look(self) -> None:
        """Counts the workers by their marks, unless that was just done."""
        if time.monotonic() - self._looked_at < SECONDS_BETWEEN_LOOKS:
            return
        with suppress(OSError, TimeoutError):  # the scheduler may come back; until then they are as they were
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
            self._counts = Counter(mark for worker in workers for mark in MARKS if mark in worker["resources"])
            self._seen |= {*self._counts}
        self._looked_at = time.monotonic()

    def at_once(self) -> Mapping[str, int]:
        self._look()
        return {**AT_ONCE, **{mark: self._counts[mark] + AHEAD for mark in MARKS}}

    def place(self, step: Step) -> str:
        if not step.device:
            return step.resource
        return "CPU" if step.device == "cpu" or (step.device == "auto" and not self._counts["GPU"]) else "GPU"

    def _compute(self, step: Step, run: Run) -> Outcome:
        distributed, mark = _distributed(), self.place(step)
        if mark not in self._seen:
            reason = f"device {step.device}: no worker of the cluster has the resource {mark}; start one, or change it"
            return failed(step, run, reason)
        for _ in range(TRIES):
            name = f"{step.id} {uuid4()}"
            future = self._client.submit(_attempt, step, run, here(), key=name, pure=False, resources={mark: 1})
            try:
                outcome: Outcome = future.result()
            except distributed.KilledWorker:
                log.warning("%s: its workers ended in the middle; it is begun anew", step.id)
            except distributed.client.FutureCancelledError:
                if self._is_abandoned:
                    return INTERRUPTED
                return failed(step, run, f"the Dask scheduler {self._address or ''} ended in the middle; run it again")
            except Exception as error:  # what came back could not be read, or a connection broke
                return failed(step, run, f"{type(error).__name__}: {first_line(error)}", may_pass=True)
            else:
                return outcome
            finally:
                future.release()  # what a worker keeps of it is computed again where that worker dies
        return lost(step, run)

    def abandon(self) -> None:
        super().abandon()
        self._client.close()


def _local(of_each: list[dict[str, str]]) -> Any:
    """A cluster on this machine, whose workers end with this process."""
    distributed = _distributed()

    def options(variables: Mapping[str, str]) -> dict[str, Any]:
        mark = "GPU" if "CUDA_VISIBLE_DEVICES" in variables else "CPU"
        return {
            "host": HERE,
            "nthreads": 1,
            "resources": {mark: 1},
            "env": variables,
            "memory_limit": None,
            "dashboard_address": f"{HERE}:0",
            "silence_logs": logging.ERROR,
        }

    workers = {n: {"cls": distributed.Nanny, "options": options(variables)} for n, variables in enumerate(of_each)}
    scheduler = {"cls": distributed.Scheduler, "options": {"host": HERE, "port": 0, "dashboard_address": f"{HERE}:0"}}
    return distributed.SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.ERROR)


def _attempt(step: Step, run: Run, wanted: str) -> Outcome:
    return attempt_elsewhere(step, run, wanted, _distributed().get_worker().address)


def _distributed() -> Any:
    return import_module("distributed")  # nobody has it who did not ask for the extra


def _why_not(run: Run, wanted: str) -> str | None:
    try:
        check(run, wanted)
    except UsageError as error:
        return str(error)
    return None
