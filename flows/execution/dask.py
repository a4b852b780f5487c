"""Workers of Dask: processes of this machine, a cluster with a scheduler's address, or jobs of SLURM.

A worker with a GPU has one unit of the resource `GPU`. A worker without a GPU, and every worker process of this
machine, has one unit of `CPU`. A step with a model takes one unit of the resource for its device, and a worker gets one
step at a time. If a worker dies, the step starts again on another worker, which continues from the stored chunks. A
worker keeps the models of a step loaded for the next step. If the next step has another model, the worker first forgets
the loaded models, because a GPU has room for the models of one step.

dask-jobqueue starts the jobs of SLURM. The jobs and their scheduler use TLS, because a cluster has many users. The TLS
key is the key of Dask's configuration, or a new key in files of the workspace that only the user can read.
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
from swaymeter.flows.execution.task import CAPACITIES, INTERRUPTED, TRIES, Outcome, Workers, attempt, record_failure
from swaymeter.flows.execution.threads import usable_processors
from swaymeter.flows.graph.graph import PlannedStep, RunSettings, Step
from swaymeter.tasks.models.machine import keep_freed_memory
from swaymeter.tasks.models.pretrained import forget_models

log = logging.getLogger(__name__)

RESOURCES = ("GPU", "CPU")
"""Names of the resources of Dask's workers. A step with a model takes one unit of one resource."""

LOCALHOST = "127.0.0.1"

DEFAULT_CPU_WORKERS = 2
"""Default number of worker processes on a machine without a GPU."""

NO_PAGES: Mapping[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Routes of Dask's web pages: none, because other users of this machine could read the unencrypted pages."""

DASK_SETTINGS = {
    # The profiler samples a worker's thread a hundred times a second, which takes a tenth of a processor.
    "distributed.worker.profile.enabled": False,
    # This keeps tracebacks of broken connections out of a worker's log after the run or another worker is killed.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    **NO_PAGES,
}

SECONDS_BETWEEN_UPDATES = 2.0
"""Seconds for which the list of workers is reused."""

SECONDS_REFUSED = 10.0
"""Seconds after which an unfit worker gets a step again, because the worker may see the workspace by then."""

SECONDS_FOR_FIRST_WORKER = 120
"""Seconds that a run waits for the first worker."""

SECONDS_WITHOUT_WORKER = 15.0
"""Seconds without a worker after which a warning is logged."""

ENDED_CLIENT = ("closing", "closed")
"""Statuses of a client without a scheduler; the calls of such a client would never end."""

SCHEDULER_PLACEHOLDER = "tls://SCHEDULER:8786"
"""Placeholder for the scheduler's address in a job script that is printed before the scheduler starts."""

KEY_PLACEHOLDER = ".dask-jobqueue.worker.KEY"
"""Placeholder for the files of the cluster's TLS key in a job script that is printed before these files are written."""

SCHEDULER_OPTIONS = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Options of the scheduler of SLURM's jobs: no page, because the page would be unencrypted."""

_compute_lock = threading.Lock()
"""Lock for one step at a time: a worker may have several threads, and a tokenizer serves only one thread."""

_last_model = ("", "")
"""Name and dtype of the model of the last step of this worker."""


# ---- in a worker -----------------------------------------------------------------------------------------------------


@functools.cache
def package_version() -> str:
    """Return the version of this package in the calling process."""
    return version("swaymeter")


def misfit_of_worker(settings: RunSettings, planned_version: str) -> str:
    """Return the reason why this worker does not fit a run, such as another version of the package; "" if it fits."""
    if package_version() != planned_version:
        return (
            f"it has swaymeter {package_version()}, and the run has {planned_version}; install the same version there"
        )
    workspace = settings.workspace
    if not os.path.exists(workspace / "workspace.json"):  # Path.exists raises if a file server does not answer
        return f"it cannot see the workspace {workspace}; use a --workspace that all workers see under the same path"
    return ""


def misfits_of_models(models: Sequence[ModelPart]) -> list[str | None]:
    """Return for each model the reason why the GPUs of this worker cannot hold it; None if they can."""
    from swaymeter.tasks.models.size import misfit_reason

    return [misfit_reason(model.source, model.dtype, model.device) if model.is_local else None for model in models]


def attempt_in_worker(step: Step, settings: RunSettings, planned_version: str) -> Outcome:
    """Compute a step if this worker fits the run; `planned_version` is the package's version in the run's process."""
    if reason := misfit_of_worker(settings, planned_version):
        return Outcome(failed=reason, may_pass=True, is_misfit=True)
    keep_freed_memory()
    global _last_model
    with _compute_lock:
        step_model = (step.id.model, step.id.dtype)
        if step_model != _last_model:
            forget_models()
        _last_model = step_model
        return attempt(step, settings)


# ---- worker processes of this machine --------------------------------------------------------------------------------


def local_cluster(workers: int | None) -> Any:
    """Return a cluster of this machine; WorkFailed if the workers do not start.

    Args:
        workers: Number of workers; None for one worker for each GPU. On a machine without a GPU, None means
            DEFAULT_CPU_WORKERS.
    """
    variables_of_workers = environments(workers)
    for tries in range(1, TRIES + 1):
        try:
            return _start_cluster(variables_of_workers)
        except RuntimeError as error:  # if one worker is killed during the start, all workers end
            reason = first_line(error.__cause__ or error)
            log.warning("the workers of Dask did not start: %s (try %d of %d)", reason, tries, TRIES)
    raise WorkFailed(
        f"the workers of Dask do not start on this machine: {reason}; use fewer workers, or --runner threads"
    )


def _start_cluster(variables_of_workers: list[dict[str, str]]) -> Any:
    distributed = _distributed()
    # Workers execute any code that they receive, so connections of other users of the machine must be refused.
    connections = {
        "host": LOCALHOST,
        "protocol": "tls://",
        "security": distributed.Security.temporary(),
        "dashboard_address": f"{LOCALHOST}:0",
    }

    def options(variables: Mapping[str, str]) -> dict[str, Any]:
        resources = RESOURCES if "CUDA_VISIBLE_DEVICES" in variables else ("CPU",)
        return {
            **connections,
            "nthreads": 1,
            "resources": dict.fromkeys(resources, 1),
            "env": variables,
            "memory_limit": None,
            "silence_logs": logging.ERROR,
        }

    workers = {
        index: {"cls": distributed.Nanny, "options": options(variables)}
        for index, variables in enumerate(variables_of_workers)
    }
    scheduler = {"cls": distributed.Scheduler, "options": {**connections, "port": 0}}
    with import_module("dask").config.set(DASK_SETTINGS):
        return distributed.SpecCluster(
            workers=workers, scheduler=scheduler, security=connections["security"], silence_logs=logging.ERROR
        )


def environments(workers: int | None) -> list[dict[str, str]]:
    """Return the environment variables of each worker process of this machine: number of threads, and GPU if any."""
    gpus = visible_gpus()
    count = workers or len(gpus) or DEFAULT_CPU_WORKERS
    threads = str(max(1, usable_processors() // count))
    gpu_variables = [{"CUDA_VISIBLE_DEVICES": gpus[index % len(gpus)]} if gpus else {} for index in range(count)]
    return [{"OMP_NUM_THREADS": threads, **gpu_variable} for gpu_variable in gpu_variables]


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, in the notation of CUDA_VISIBLE_DEVICES."""
    import torch

    devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return devices.split(",")[:count] if devices else [str(index) for index in range(count)]


# ---- the workers of a run --------------------------------------------------------------------------------------------


class Cluster(Workers):
    """Workers of a Dask cluster for the steps with a model."""

    def __init__(
        self,
        address: str | None,
        workers: int | None,
        settings: RunSettings,
        models: Mapping[int, ModelPart] | None = None,
    ) -> None:
        """Prepare a cluster without connecting.

        Args:
            address: Address of the scheduler; None for a cluster of this machine, which ends with the run.
            workers: Number of workers of this machine; None for the default.
            settings: Settings that each worker must fit.
            models: Models by their position in the study file. For each model, one worker must be able to load it.

        Raises:
            UsageError: Dask is not installed.
        """
        super().__init__()
        if find_spec("distributed") is None:
            raise UsageError('workers need Dask, which is not installed: pip install "swaymeter[dask]"')
        self._address = address
        self._workers, self._models = workers, models or {}
        self._settings = settings
        self._local: Any = None
        self._resources: dict[str, set[str]] = {}  # by address of a present worker
        self._seen_resources = set[str]()  # resources that a worker of the run has or had
        self._fit_workers = set[str]()  # addresses of workers that once fitted the run
        # By address of an unfit worker: the time until which it gets no step, and the reason.
        self._refused: dict[str, tuple[float, str]] = {}
        self._update_lock, self._updated_at = threading.Lock(), -math.inf
        self._lock, self._occupied = threading.Condition(), set[str]()  # addresses of workers that have a step
        self._warned_resources = set[str]()  # resources without a worker, about which a warning was logged

    def __enter__(self) -> "Cluster":
        logging.getLogger("distributed").setLevel(logging.ERROR)  # Dask warns of every worker that comes or goes
        with ExitStack() as opened:
            if self._address is None:
                self._local = opened.enter_context(closing(local_cluster(self._workers)))
            try:
                client = _distributed().Client(self._local or self._address, set_as_default=False)
                self._client = opened.enter_context(closing(client))
                self._client.wait_for_workers(1, timeout=SECONDS_FOR_FIRST_WORKER)
            except (OSError, TimeoutError, TypeError) as error:  # TypeError: TLS without a configuration
                raise UsageError(
                    f"the Dask cluster at {self._address} cannot be used: {first_line(error)}; start its scheduler and "
                    "workers, or correct `execution.address` or Dask's configuration of TLS"
                ) from None
            self._update_workers()
            self._check_workers()
            self._check_models()
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._opened.close()
        except Exception:  # for example, the scheduler is lost; results are stored, and the reason was logged
            log.debug("the cluster could not be closed", exc_info=True)

    def _check_workers(self) -> None:
        """Raise UsageError if a worker does not fit the run."""
        answers = self._client.run(misfit_of_worker, self._settings, package_version(), on_error="return")
        for address, answer in answers.items():
            if isinstance(answer, OSError):  # the worker has ended; its successor may fit
                answers[address] = None
            elif isinstance(answer, Exception):  # for example, the worker cannot import this package
                answers[address] = f"{first_line(answer)}; install swaymeter {package_version()} there"
            if not self._resources.get(address, RESOURCES):
                answers[address] = "it has no resource; start it with --resources GPU=1, or --resources CPU=1"
        if problems := [f"worker {address} cannot be used: {reason}" for address, reason in answers.items() if reason]:
            raise UsageError("; ".join(problems))
        self._fit_workers = {*answers}

    def _check_models(self) -> None:
        """Raise UsageError for a model that exceeds the GPUs of every worker."""
        workers = self._usable_workers("GPU")
        models = {position: model for position, model in self._models.items() if model.device != "cpu"}
        if not (workers and models):
            return
        # A model is refused only if every worker answers and refuses it.
        answers = self._client.run(misfits_of_models, [*models.values()], workers=[*workers], on_error="ignore")
        for index, position in enumerate(models):
            if len(answers) == len(workers) and all(answer[index] for answer in answers.values()):
                worker, reasons = min(answers.items())
                raise UsageError(
                    f"models.{position}: no worker of the cluster can hold the model; for example, the worker {worker} "
                    f"reports: {reasons[index]}"
                )

    def _update_workers(self) -> None:
        with self._update_lock:
            if time.monotonic() - self._updated_at < SECONDS_BETWEEN_UPDATES:
                return
            self._updated_at = time.monotonic()
            try:  # not by Client.scheduler_info, which may return a heartbeat's answer without the list of workers
                workers = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
            except Exception:  # the scheduler does not answer, and the last list stays
                log.debug("the list of workers could not be read", exc_info=True)
                return
            self._resources = {address: {*RESOURCES} & entry["resources"].keys() for address, entry in workers.items()}
            self._seen_resources |= set[str]().union(*self._resources.values())

    def _usable_workers(self, resource: str) -> set[str]:
        """Return the addresses of the workers that have a resource and are not refused at this time."""
        return {
            address
            for address, resources in self._resources.items()
            if resource in resources and time.monotonic() > self._refused.get(address, (0.0, ""))[0]
        }

    def _record_fit(self, address: str, outcome: Outcome) -> None:
        """Record that a worker fits, or refuse it for SECONDS_REFUSED; log each change once."""
        with self._lock:
            _, earlier_reason = self._refused.get(address, (0.0, ""))
            if outcome.is_misfit:
                self._refused[address] = (time.monotonic() + SECONDS_REFUSED, str(outcome.failed))
            else:
                self._refused.pop(address, None)
                self._fit_workers.add(address)
        if outcome.is_misfit and outcome.failed != earlier_reason:
            has_worker = any(map(self._usable_workers, RESOURCES))
            consequence = "goes on without this worker" if has_worker else "waits for a worker that can be used"
            log.warning("worker %s cannot be used: %s; the run %s", address, outcome.failed, consequence)
        elif earlier_reason and not outcome.is_misfit:
            log.warning("worker %s can be used again", address)

    def capacities(self) -> Mapping[str, int]:
        self._update_workers()
        # 1 for a resource that no worker has had, so that its tasks start: `compute_step` records why they fail.
        return {
            **CAPACITIES,
            **{name: len(self._usable_workers(name)) if name in self._seen_resources else 1 for name in RESOURCES},
        }

    def queue(self, step: Step | PlannedStep) -> str:
        if not step.device:
            return super().queue(step)
        # A refused worker counts only if it once fitted: after SECONDS_REFUSED, it may fit again.
        candidates = self._fit_workers | (self._resources.keys() - self._refused.keys())
        has_gpu = any("GPU" in self._resources.get(address, ()) for address in candidates)
        return "CPU" if step.device == "cpu" or (step.device == "auto" and not has_gpu) else "GPU"

    def compute_step(self, step: Step, settings: RunSettings) -> Outcome:
        if not step.device:
            return super().compute_step(step, settings)
        resource = self.queue(step)
        if resource not in self._seen_resources:
            reason = (
                f"device {step.device}: no worker of the cluster has the resource {resource}; start a worker with "
                f"--resources {resource}=1, or change the device"
            )
            return record_failure(step, settings, reason)
        # Workers log each start of the step as an event of `topic`.
        topic, starts, misfits = f"{step.id} {uuid4()}", 0, 0
        while starts < TRIES:
            if outcome := self._compute_on_free_worker(step, settings, resource, topic):
                misfits += outcome.is_misfit
                if not outcome.is_misfit or self._failure_if_unmounted(settings):
                    return outcome
                if misfits == TRIES:
                    return record_failure(step, settings, str(outcome.failed), may_pass=True)
                topic, starts = f"{step.id} {uuid4()}", 0  # an unfit worker has not died, so its start does not count
                continue
            if self._is_abandoned:
                return INTERRUPTED
            while self._client.status == "connecting":  # the client tries to connect again for half a minute
                time.sleep(0.5)
            if self._client.status != "running":
                reason = (
                    f"the Dask scheduler {self._address} ended during the run; start it and its workers again, then "
                    "run the study again: stored results are kept"
                    if self._address
                    else "the Dask workers on this machine ended; run the study again: stored results are kept"
                )
                return record_failure(step, settings, reason)
            if (starts_now := self._count_starts(topic)) > starts:
                log.warning("%s: its worker ended, or cannot be used any more; the step starts again", step.id)
            starts = starts_now
        reason = (
            f"the worker of the step ended {TRIES} times without an error, perhaps because memory ran out; free memory "
            "or use fewer workers or a smaller model"
        )
        return record_failure(step, settings, reason)

    def _compute_on_free_worker(self, step: Step, settings: RunSettings, resource: str, topic: str) -> Outcome | None:
        """Compute a step on a free worker; None if the worker or the scheduler is lost, or the run is interrupted."""
        unavailable_since = time.monotonic()
        while not (worker := self._occupy_worker(resource)):
            if self._is_abandoned or self._client.status in ENDED_CLIENT:
                return None
            without_worker = not self._usable_workers(resource)
            unavailable_since = unavailable_since if without_worker else time.monotonic()
            # An unmounted workspace makes every worker unfit; this process then cannot see the workspace, either.
            if without_worker and (failure := self._failure_if_unmounted(settings)):
                return failure
            if without_worker and time.monotonic() - unavailable_since > SECONDS_WITHOUT_WORKER:
                with self._lock:
                    is_repeated = resource in self._warned_resources
                    self._warned_resources.add(resource)
                if not is_repeated:
                    message = "no worker with the resource %s is left; start one, because the run waits for it"
                    log.warning(message, resource)
            with self._lock:
                self._lock.wait(SECONDS_BETWEEN_UPDATES)
            self._update_workers()
        self._warned_resources.discard(resource)
        try:
            outcome = self._compute_on(worker, step, settings, resource, topic)
        finally:
            with self._lock:
                self._occupied.discard(worker)
                self._lock.notify_all()
        if outcome and outcome.is_misfit and (failure := self._failure_if_unmounted(settings)):
            return failure
        if outcome:
            self._record_fit(worker, outcome)
        return outcome

    def _occupy_worker(self, resource: str) -> str | None:
        """Return a fitting worker that has no step, and record it as occupied; None without such a worker.

        Dask itself could give two steps to one worker. If one step then killed the worker, both steps would be lost.
        """
        with self._lock:
            worker = min(self._usable_workers(resource) - self._occupied, default=None)
            if worker:
                self._occupied.add(worker)
            return worker

    def _compute_on(self, worker: str, step: Step, settings: RunSettings, resource: str, topic: str) -> Outcome | None:
        distributed = _distributed()
        try:
            future = self._client.submit(
                _log_start_and_attempt,
                step,
                settings,
                package_version(),
                topic,
                key=f"{step.id} {uuid4()}",
                pure=False,
                resources={resource: 1},
                workers=[worker],
            )
        except Exception:
            log.debug("%s", step.id, exc_info=True)
            return None
        try:
            while True:
                try:
                    raised = future.exception(SECONDS_BETWEEN_UPDATES)
                    break
                except TimeoutError:  # the worker still computes the step, or has died with the result
                    self._update_workers()
                except Exception:  # the client is closed
                    log.debug("%s", step.id, exc_info=True)
                    return None
                if worker not in self._usable_workers(resource) or self._client.status in ENDED_CLIENT:
                    return None
            # An error of the step itself is in its outcome. `raised` is another error, such as an unpicklable outcome.
            if raised is not None and not isinstance(raised, distributed.KilledWorker):
                reason = f"{type(raised).__name__}: {first_line(raised)}; install swaymeter {package_version()} there"
                return Outcome(failed=reason, may_pass=True, is_misfit=True)
            return self._fetch_outcome(future)
        finally:
            future.release()  # otherwise Dask would compute the result again if the worker dies

    def _fetch_outcome(self, future: Any) -> Outcome | None:
        """Return the outcome of a step; None if the outcome is lost with the worker or the scheduler.

        Without a timeout, `future.result()` could wait for ever, because only the lost worker may compute the step
        again. With a timeout, `future.result()` would cancel an asyncio task for which other threads may wait, too.
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

    def _failure_if_unmounted(self, settings: RunSettings) -> Outcome | None:
        try:
            Workspace(settings.workspace).check_mounted()
        except WorkspaceError as error:
            return Outcome(failed=str(error), may_pass=True, is_misfit=True)
        return None

    def _count_starts(self, topic: str) -> int:
        try:
            return len(self._client.get_events(topic) or ())
        except Exception:  # a broken connection, which the next call notices
            return 0

    def abandon(self) -> None:
        super().abandon()
        nannies: list[Any] = [*self._local.workers.values()] if self._local else []
        for nanny in nannies:  # kill each worker, because it may compute for minutes
            nanny.close_gracefully()  # so that the nanny starts no other worker
            if nanny.pid:
                with suppress(OSError):
                    os.kill(nanny.pid, signal.SIGKILL)
        self._client.close()


def _log_start_and_attempt(step: Step, settings: RunSettings, planned_version: str, topic: str) -> Outcome:
    worker = _distributed().get_worker()
    worker.log_event(topic, "begun")  # Dask's own count includes steps that never began on a worker that died
    return attempt_in_worker(step, settings, planned_version)


def _distributed() -> Any:
    return import_module("distributed")  # only the extra `dask` installs it


# ---- jobs of SLURM ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Jobs:
    """Resources of each SLURM job; a job is one worker.

    Attributes:
        name: Name of the jobs.
        folder: Folder that all nodes share; the folder has the files of the TLS key while jobs run.
        gpus: Number of GPUs; 0 for a worker that computes on processors.
        cores: Number of processors.
        memory: Memory, such as 32GB.
        walltime: Limit of the time of a job, as hours:minutes:seconds.
        partition: Partition of SLURM; None for the default.
        account: Account of SLURM; None for the default.
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
        slurm, key_file = _jobqueue().slurm, str(self.folder / KEY_PLACEHOLDER)
        key_files = dict.fromkeys(("tls_ca_file", "tls_worker_cert", "tls_worker_key"), key_file)
        security = _configured_tls() or import_module("distributed").Security(**key_files)
        job = slurm.SLURMJob(
            SCHEDULER_PLACEHOLDER, name=self.name, protocol="tls://", security=security, **self._options()
        )
        return str(job.job_script())

    @contextmanager
    def started(self, workers: int) -> Iterator[None]:
        """Start a scheduler in this process, submit jobs, and enter the block once the first job has begun.

        Within the block, every run with the runner `dask` uses this scheduler.
        """
        if shutil.which("sbatch") is None:
            raise UsageError(
                "sbatch was not found; run Swaymeter on a machine that submits SLURM jobs, or print a job with "
                "--dry-run"
            )
        security = _configured_tls() or import_module("distributed").Security.temporary()
        tls = {
            "require-encryption": True,
            "tls.ca-file": security.tls_ca_file,
            "tls.client.cert": security.tls_client_cert,
            "tls.client.key": security.tls_client_key,
        }
        try:
            with import_module("dask").config.set(NO_PAGES):
                cluster = _jobqueue().SLURMCluster(
                    scheduler_options=SCHEDULER_OPTIONS,
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
        resource = "GPU" if self.gpus else "CPU"
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
            # dask-jobqueue writes a --memory-limit before these arguments; the last limit counts.
            "worker_extra_args": ["--memory-limit", "0", "--resources", f"{resource}=1"],
            "job_script_prologue": [f"export OMP_NUM_THREADS={self.cores}"],
            "job_extra_directives": [f"--gres=gpu:{self.gpus}"] if self.gpus else [],
        }


def _configured_tls() -> Any:
    """Return the TLS settings of Dask's configuration; None without a certificate."""
    security = import_module("distributed").Security()
    return security if security.tls_ca_file else None


def _jobqueue() -> Any:
    if find_spec("dask_jobqueue") is None:
        raise UsageError(
            'a cluster of SLURM needs dask-jobqueue, which is not installed: pip install "swaymeter[dask]"'
        )
    return import_module("dask_jobqueue")
