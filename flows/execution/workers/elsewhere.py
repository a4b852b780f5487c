"""What a worker does in its own process: it sees that it fits the run, and computes one step at a time.

It keeps the models of the last step loaded, and unloads them when a step needs another: its GPU has room for one.
"""

import functools
import os
import threading
from collections.abc import Sequence
from importlib.metadata import version

from swaymeter.flows.execution.workers.workers import Outcome, attempt
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.study.sections import ModelPart
from swaymeter.tasks.models.loading import forget_models
from swaymeter.tasks.models.machine import keep_freed_memory

_one_at_a_time = threading.Lock()
"""A model and its tokenizer are for one thread; somebody may start a worker with several."""

_kept = ("", "")


@functools.cache
def here() -> str:
    """The version of this package where this is called."""
    return version("swaymeter")


def why_not(run: Run, wanted: str) -> str:
    """Why a worker does not fit a run: it has another version of the package, or does not see the workspace."""
    if here() != wanted:
        return f"it has swaymeter {here()}, and the run has {wanted}; install the same version there"
    if not os.path.exists(run.workspace / "workspace.json"):  # Path.exists raises where a file server does not answer
        return (
            f"it does not see the workspace {run.workspace}; put it in a folder that all workers share, under one path"
        )
    return ""


def why_not_held(models: Sequence[ModelPart]) -> list[str | None]:
    """Why the GPUs of a worker cannot hold each of these models; None where they can."""
    from swaymeter.tasks.models.size import misfit_reason

    return [
        misfit_reason(model.source, model.dtype, model.device) if model.is_local else None for model in models
    ]


def attempt_elsewhere(step: Step, run: Run, wanted: str) -> Outcome:
    """Computes a step in a worker that fits; wanted: the version of the package that gave the step its key."""
    if reason := why_not(run, wanted):
        return Outcome(failed=reason, may_pass=True, is_away=True)
    keep_freed_memory()
    global _kept
    with _one_at_a_time:
        asked = (step.id.model, step.id.dtype)
        if asked != _kept:
            forget_models()
        _kept = asked
        return attempt(step, run)
