"""Whether a run is worse than an earlier one: its headline numbers, paired on the items of both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from swaymeter.data.errors import UsageError
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.views.compare import database_of
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.steps.history import with_change
from swaymeter.reports.history import named, sentence
from swaymeter.reports.models import Model
from swaymeter.tasks.statistics.history import frames_of, models_of, moved
from swaymeter.tasks.statistics.statistic import Frames

UP, DOWN = "larger", "smaller"
BETTER: Mapping[tuple[str, str], str] = {
    ("follows_right", "all"): UP, ("resists_wrong", "all"): UP, ("abstains", "all"): UP, ("correct", "none"): UP,
    ("follows", "supporting"): UP, ("follows", "conflicting"): DOWN, ("prefers_right", "mixed"): UP,
    ("prefers_wrong", "mixed"): DOWN, ("keeps", "irrelevant"): UP, ("keeps", "neutral"): UP,
    ("refuses", "supporting"): DOWN, ("context_bias", "conflicting"): DOWN, ("prior_bias", "supporting"): DOWN,
}  # fmt: skip
"""Which verdict on a quantity in a group is for the better; of what is not here nobody says which is."""


class Compared(NamedTuple):
    """A headline number that was compared with that of a baseline; worse: how, where it is; else empty."""

    model: str
    name: str
    worse: str


def baseline(run: str) -> Frames:
    """The answers and queries of the last completed run of a study, workspace or database; UsageError without one.

    They are read now: a run in the same workspace will be another one's baseline.
    """
    return _last_run(database_of(run), run)


def against(before: Frames, database: Path) -> list[Compared]:
    """The headline numbers of the last run of a database, each with how it is worse than before."""
    return compared(before, _last_run(database, str(database)))


def compared(before: Frames, now: Frames) -> list[Compared]:
    """The headline numbers of a run, each with how it is worse than before.

    Models are compared with those of the same name; where there is one in each, with that. UsageError where no question
    with the same texts was asked before.
    """
    models = [models_of(frames) for frames in (before, now)]
    if not {*models[0]} & {*models[1]} and len(models[0]) == len(models[1]) == 1:
        model, dtype = models[1][0]
        before = {name: frame.assign(model=model, dtype=dtype) for name, frame in before.items()}
    rows = [with_change(row) for row in moved(before, now, 0)]
    known = [row for row in rows if row["same"] and (row["quantity"], row["group"]) in BETTER]
    if not known:
        raise UsageError("--fail-if-worse-than: no question of it was asked with the same texts now; name another run")
    return [Compared(str(Model(row["model"], row["dtype"])), named(row), _worse(row)) for row in known]


def _worse(row: Mapping[str, Any]) -> str:
    is_worse = row["verdict"] in (UP, DOWN) and row["verdict"] != BETTER[row["quantity"], row["group"]]
    return f"worse than before: {sentence(dict(row))}" if is_worse else ""


def _last_run(database: Path, run: str) -> Frames:
    with opened(database, schema()) as warehouse:
        rows = warehouse.frame("states_of_last_run")
    if rows.empty:
        raise UsageError(f"{run} has no completed run to compare with; run it to its end")
    keys = rows[["kind", "model", "dtype", "item"]].itertuples(index=False, name=None)
    return frames_of(dict(zip(keys, rows["state"], strict=True)))
