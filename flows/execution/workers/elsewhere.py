"""What a worker does in its own process: it sees that it fits the run, and computes one step at a time.

It keeps the models of the step before, and lets go of them when a step is about another one: its GPU has room for one.
"""

import functools
import os
import threading
from collections.abc import Sequence
from importlib.metadata import version

from swaymeter.data.errors import UsageError
from swaymeter.flows.execution.workers.workers import Outcome, attempt, failed
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.tasks.models.loading import forget_models
from swaymeter.tasks.models.machine import keep_freed_memory

_one_at_a_time = threading.Lock()
"""A model and its tokenizer are for one thread; somebody may start a worker with several."""

_kept = ("", "")


@functools.cache
def here() -> str:
    """The version of this package where this is called."""
    return version("swaymeter")


def check_version(wanted: str) -> None:
    """Raises UsageError where a worker has another version of the package."""
    if here() != wanted:
        raise UsageError(f"it has swaymeter {here()}, and the run has {wanted}; install the same version there")


def check(run: Run, wanted: str) -> None:
    """Raises UsageError where a worker has another version of the package, or does not see the workspace."""
    check_version(wanted)
    if not os.path.exists(run.workspace / "workspace.json"):  # Path.exists raises where a file server does not answer
        raise UsageError(
            f"it does not see the workspace {run.workspace}; put it in a folder that all workers share, under one path"
        )


def why_not_held(models: Sequence[ModelPart]) -> list[str | None]:
    """Why the GPUs of a worker cannot hold each of these models; None where they can."""
    from swaymeter.tasks.models.size import why_not_here

    return [why_not_here(model.name, model.dtype, model.device) for model in models]


def attempt_elsewhere(step: Step, run: Run, wanted: str, name: str) -> Outcome:
    """Computes a step in a worker of that name; wanted: the version of the package that gave the step its key."""
    try:
        check_version(wanted)
    except UsageError as error:
        return failed(step, run, f"worker {name} cannot be used: {error}")
    keep_freed_memory()
    global _kept
    with _one_at_a_time:
        asked = (step.id.model, step.id.dtype)
        if asked != _kept:
            forget_models()
        _kept = asked
        return attempt(step, run)
