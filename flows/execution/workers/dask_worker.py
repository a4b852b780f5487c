"""Worker process: it checks that it fits the run, and computes one step at a time.

It keeps the models of the last step loaded, and unloads them if a step needs another: its GPU has room for one.
"""

import functools
import os
import threading
from collections.abc import Sequence
from importlib.metadata import version

from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.execution.workers.base import Outcome, attempt
from swaymeter.flows.graph.step import RunSettings, Step
from swaymeter.tasks.models.loading import forget_models
from swaymeter.tasks.models.machine import keep_freed_memory

_compute_lock = threading.Lock()
"""One step at a time, because a model and its tokenizer are for one thread and a worker may have several threads."""

_loaded = ("", "")


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
