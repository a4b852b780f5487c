from dataclasses import replace
from pathlib import Path

from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.attempt import Outcome, attempt
from swaymeter.flows.graph.step import Run, Step, StepId

STEP = Step(StepId("score", "capital", "persuasion"), lambda step, run: None, {}, {})


def leave(step: Step, run: Run) -> None:
    """A step in whose middle the workspace goes away."""
    run.workspace.rename(run.workspace.with_name("away"))


def test_a_workspace_away_is_named_and_not_made_anew(tmp_path: Path) -> None:
    run = Run(tmp_path / "study")
    with Workspace(run.workspace).lock():
        pass
    for step in (replace(STEP, function=leave), STEP):
        outcome = attempt(step, run)
        assert outcome.may_pass
        assert str(outcome.failed).startswith(f"the workspace {run.workspace} is away: ")
        assert not run.workspace.exists()
    run.workspace.with_name("away").rename(run.workspace)
    assert attempt(STEP, run) == Outcome()
