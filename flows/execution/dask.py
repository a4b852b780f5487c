"""Workers of Dask: of a cluster by its scheduler's address, processes of this machine, or SLURM's jobs.

A worker has one unit of the resource `GPU` or, without a GPU, of `CPU`. A step with a model takes one unit, so that a
worker computes one step at a time, and only steps for its kind of device. If a worker dies, Dask starts the step again
on another worker, and the workspace keeps the chunks of both once. A worker keeps the models of the last step loaded,
and unloads them if a step needs another: its GPU has room for one.

The jobs of SLURM, which dask-jobqueue starts, and their scheduler speak TLS, because a cluster has many users. The key
is the key of Dask's configuration, or a key for the run, which lies in files of the workspace that only the user can
read.
"""

import functools
import logging
import math
import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from swaymeter.data.errors import UsageError, WorkFailed, WorkspaceError, first_line
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.execution.task import AT_ONCE, INTERRUPTED, TRIES, Outcome, Workers, attempt, failed
from swaymeter.flows.execution.threads import usable_processors
from swaymeter.flows.graph.graph import Node, RunSettings, Step
from swaymeter.tasks.models.loading import forget_models
from swaymeter.tasks.models.machine import keep_freed_memory

log = logging.getLogger(__name__)

MARKS = ("GPU", "CPU")
"""The resources of workers."""

LOCALHOST = "127.0.0.1"

WITHOUT_GPU = 2
"""Default number of worker processes on a machine without a GPU."""

NO_PAGES: Mapping[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Routes of Dask's pages: none, because the pages are unencrypted and visible to other users of this machine."""

DASK_SETTINGS = {
    # By default a worker looks a hundred times a second where its thread is, which takes a tenth of a processor.
    "distributed.worker.profile.enabled": False,
    # A worker whose run was killed, or whose neighbour was, would write tracebacks of its connections.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    **NO_PAGES,
}

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

PLACEHOLDER = "tls://SCHEDULER:8786"
"""A placeholder for the scheduler's address before the start of the scheduler."""

KEY = ".dask-jobqueue.worker.KEY"
"""A placeholder for the files of the cluster's key, which are written at the start of the cluster."""

SCHEDULER = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Options of the scheduler: no page, because the page would be unencrypted."""

_compute_lock = threading.Lock()
"""One step at a time, because a model and its tokenizer are for one thread and a worker may have several threads."""

_loaded = ("", "")


# ---- in a worker -----------------------------------------------------------------------------------------------------


@functools.cache
def worker_mark() -> str:
    """Return the version of this package in the calling process."""
    return version("swaymeter")


def why_not(run: RunSettings, mark: str) -> str:
    """Return the reason why a worker does not fit a run: its version of the package, or no access to the workspace."""
    if worker_mark() != mark:
        return f"it has swaymeter {worker_mark()}, and the run has {mark}; install the same version there"
    if not os.path.exists(run.workspace / "workspace.json"):  # Path.exists raises where a file server does not answer
        return (
            f"it does not see the workspace {run.workspace}; put it in a folder that all workers share, under one path"
        )
    return ""


def unfit_models(models: Sequence[ModelPart]) -> list[str | None]:
    """Return, for each model, the reason why the worker's GPUs cannot hold it; None without a reason."""
    from swaymeter.tasks.models.size import misfit_reason

    return [misfit_reason(model.source, model.dtype, model.device) if model.is_local else None for model in models]


def attempt_elsewhere(step: Step, run: RunSettings, mark: str) -> Outcome:
    """Compute a step in a worker, if the worker fits; `mark` is the package's version that gave the step its key."""
    if reason := why_not(run, mark):
        return Outcome(failed=reason, may_pass=True, is_away=True)
    keep_freed_memory()
    global _loaded
    with _compute_lock:
        step_model = (step.id.model, step.id.dtype)
        if step_model != _loaded:
            forget_models()
        _loaded = step_model
        return attempt(step, run)


# ---- worker processes of this machine --------------------------------------------------------------------------------


def local_cluster(workers: int | None) -> Any:
    """Return a cluster with this number of workers, or one for each GPU; WorkFailed if the workers do not start."""
    settings = environments(workers)
    for tries in range(1, TRIES + 1):
        try:
            return _started(settings)
        except RuntimeError as error:  # one worker that was killed while it started ends them all
            reason = first_line(error.__cause__ or error)
            log.warning("the workers of Dask did not start: %s (try %d of %d)", reason, tries, TRIES)
    raise WorkFailed(
        f"the workers of Dask do not start on this machine: {reason}; use fewer workers, or --runner threads"
    )


def _started(settings: list[dict[str, str]]) -> Any:
    distributed = _distributed()
    # Workers execute any code that they receive, so connections of other users of the machine must be refused.
    listening = {
        "host": LOCALHOST,
        "protocol": "tls://",
        "security": distributed.Security.temporary(),
        "dashboard_address": f"{LOCALHOST}:0",
    }

    def options(variables: Mapping[str, str]) -> dict[str, Any]:
        marks = MARKS if "CUDA_VISIBLE_DEVICES" in variables else ("CPU",)
        return {
            **listening,
            "nthreads": 1,
            "resources": dict.fromkeys(marks, 1),
            "env": variables,
            "memory_limit": None,
            "silence_logs": logging.ERROR,
        }

    workers = {n: {"cls": distributed.Nanny, "options": options(variables)} for n, variables in enumerate(settings)}
    scheduler = {"cls": distributed.Scheduler, "options": {**listening, "port": 0}}
    with import_module("dask").config.set(DASK_SETTINGS):
        return distributed.SpecCluster(
            workers=workers, scheduler=scheduler, security=listening["security"], silence_logs=logging.ERROR
        )


def environments(workers: int | None) -> list[dict[str, str]]:
    """Return the variables of each worker process of this machine: its GPU, or its share of the processors."""
    gpus = visible_gpus()
    count = workers or len(gpus) or WITHOUT_GPU
    threads = str(max(1, usable_processors() // count))
    own_gpus = [{"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {} for number in range(count)]
    return [{"OMP_NUM_THREADS": threads, **gpu} for gpu in own_gpus]


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, in the notation of CUDA_VISIBLE_DEVICES."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


# ---- the workers of a run --------------------------------------------------------------------------------------------


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


# ---- jobs of SLURM ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Jobs:
    """Resources of each SLURM job; a job is one worker.

    `folder` is a folder that all nodes share, with the files of the cluster's key while the jobs run. `gpus` is 0 for a
    worker that computes on processors.
    """

    name: str
    folder: Path
    gpus: int = 1
    cores: int = 4
    memory: str = "32GB"
    walltime: str = "24:00:00"
    partition: str | None = None
    account: str | None = None

    def script(self) -> str:
        """Return the job script for sbatch, with a placeholder for the scheduler's address."""
        slurm, written = _jobqueue().slurm, str(self.folder / KEY)
        key = {"tls_ca_file": written, "tls_worker_cert": written, "tls_worker_key": written}
        security = _configured() or import_module("distributed").Security(**key)
        job = slurm.SLURMJob(PLACEHOLDER, name=self.name, protocol="tls://", security=security, **self._options())
        return str(job.job_script())

    @contextmanager
    def started(self, workers: int) -> Iterator[None]:
        """Start a scheduler in this process, submit jobs, and enter the block once the first job has begun.

        Runs with the runner dask use the scheduler within the block.
        """
        if shutil.which("sbatch") is None:
            raise UsageError("sbatch was not found; run this on a machine that submits jobs, or look at --dry-run")
        security = _configured() or import_module("distributed").Security.temporary()
        tls = {
            "require-encryption": True,
            "tls.ca-file": security.tls_ca_file,
            "tls.client.cert": security.tls_client_cert,
            "tls.client.key": security.tls_client_key,
        }
        try:
            with import_module("dask").config.set(NO_PAGES):
                cluster = _jobqueue().SLURMCluster(
                    scheduler_options=SCHEDULER,
                    protocol="tls://",
                    security=security,
                    shared_temp_directory=str(self.folder),
                    **self._options(),
                )
        except OSError as error:
            reason = f"the folder {self.folder} that jobs share cannot be written ({first_line(error)})"
            raise WorkspaceError(f"{reason}; choose another --workspace") from None
        client_settings = {f"distributed.comm.{key}": setting for key, setting in tls.items()}
        with cluster, import_module("dask").config.set(client_settings):
            cluster.scale(jobs=workers)
            cluster.wait_for_workers(1)
            os.environ["DASK_SCHEDULER_ADDRESS"] = cluster.scheduler_address
            try:
                yield
            finally:
                del os.environ["DASK_SCHEDULER_ADDRESS"]

    def _options(self) -> dict[str, Any]:
        mark = "GPU" if self.gpus else "CPU"
        return {
            "job_name": self.name,
            "queue": self.partition,
            "account": self.account,
            "walltime": self.walltime,
            "job_cpu": self.cores,
            "memory": self.memory,
            "python": sys.executable,
            "cores": 1,
            "processes": 1,  # one worker process in a job, which computes one step at a time
            "worker_extra_args": ["--memory-limit", "0", "--resources", f"{mark}=1"],  # the last limit counts
            "job_script_prologue": [f"export OMP_NUM_THREADS={self.cores}"],
            "job_extra_directives": [f"--gres=gpu:{self.gpus}"] if self.gpus else [],
        }


def _configured() -> Any:
    """Return the TLS settings of Dask's configuration; None without a certificate."""
    security = import_module("distributed").Security()
    return security if security.tls_ca_file else None


def _jobqueue() -> Any:
    if find_spec("dask_jobqueue") is None:
        raise UsageError(
            'a cluster of SLURM needs dask-jobqueue, which is not installed: pip install "swaymeter[dask]"'
        )
    return import_module("dask_jobqueue")
