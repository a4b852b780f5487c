"""Whether a run is worse than an earlier one: its headline numbers, paired on the items of both."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from yaml import YAMLError

from swaymeter.data.errors import UsageError
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.views.compare import database_of
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.steps.history import with_change
from swaymeter.flows.study.places import AUDIT
from swaymeter.flows.study.thresholds import name_of
from swaymeter.reports.changes import told_apart
from swaymeter.reports.estimates import estimate, plural, verdict
from swaymeter.reports.frames import where
from swaymeter.reports.history import sentence
from swaymeter.reports.history.side_by_side import Apart
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
    """A headline number that was compared with that of a baseline.

    change: the difference with its interval. gain: how far it moved for the better, below 0 for the worse. worse: how
    it is, where it is; else empty.
    """

    model: str
    name: str
    change: str
    gain: float
    verdict: str
    worse: str


class LastRun(NamedTuple):
    """The last completed run: its name, its answers and queries, and what it was asked with, as JSON."""

    name: str
    frames: Frames
    settings: Mapping[str, str]


def baseline(run: str) -> LastRun:
    """The last completed run of a study, workspace or database; UsageError without one.

    It is read now: a run in the same workspace will be another one's baseline.
    """
    return _last_run(database_of(run), run)


def against(before: LastRun, database: Path) -> tuple[list[Compared], list[str]]:
    """The headline numbers of the last run of a database, each compared with before; and lines on both runs.

    The lines: settings and versions that are not the same; and, where no number is worse, how many were compared.
    """
    now = _last_run(database, str(database))
    numbers = compared(before.frames, now.frames)
    apart = settings_apart(before.settings, now.settings)
    lines = [f"not the same: {name}: {first} before, {second} now" for name, first, second in apart]
    return numbers, lines if any(row.worse for row in numbers) else [*lines, not_worse(before.name, numbers)]


def settings_apart(before: Mapping[str, str], now: Mapping[str, str]) -> list[Apart]:
    """The settings of two runs that are not the same, by name."""
    differ = sorted(name for name in before.keys() & now.keys() if before[name] != now[name])
    return [(name, *told_apart(*(str(json.loads(of[name])) for of in (before, now)))) for name in differ]


def not_worse(run: str, numbers: Sequence[Compared]) -> str:
    """That no number is shown to be worse than in a run, and which came closest to it."""
    last = min(numbers, key=lambda row: row.gain)
    furthest = f"largest change for the worse: {last.name} of {last.model} {last.change}, {last.verdict}"
    changed = furthest if last.gain < 0 else "none of them changed for the worse"
    return f"not shown to be worse than {run}: {plural(len(numbers), 'number')} compared; {changed}"


def forgotten_verdicts(folder: Path, verdicts: str | None) -> str:
    """That the last audit of a workspace counted verdicts by hand, and this one does not; empty where it is not so."""
    try:
        last = untrusted_yaml(text_of(folder / AUDIT))["verdicts"]
    except (OSError, ValueError, YAMLError, TypeError, KeyError):  # no audit before, or a file that somebody changed
        return ""
    if verdicts or not last:
        return ""
    return f"the last run counted the verdicts by hand of {last}, and this one does not: --verdicts {quote(str(last))}"


def compared(before: Frames, now: Frames) -> list[Compared]:
    """The headline numbers of a run that can be better or worse, each with how it is compared with before.

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
    return list(map(_compared, known))


def _compared(row: Mapping[str, Any]) -> Compared:
    better, model = BETTER[row["quantity"], row["group"]], str(Model(row["model"], row["dtype"]))
    name, is_worse = name_of(row["quantity"], row["group"]), row["verdict"] in {UP, DOWN} - {better}
    change = estimate({**row, "low": row["change_low"], "high": row["change_high"]}, "change", signed=True)
    worse = f"worse than before: {sentence(dict(row), f'{name} of {model}')}" if is_worse else ""
    gain = float(row["change"]) * (1 if better == UP else -1)
    return Compared(model, name, change, gain, verdict({**row, "untestable": None}), worse)


def _last_run(database: Path, run: str) -> LastRun:
    with opened(database, schema()) as warehouse:
        rows = warehouse.frame("states_of_last_run")
    if rows.empty:
        raise UsageError(f"{run} has no completed run to compare with; run it to its end")
    keys = rows[["kind", "model", "dtype", "item"]].itertuples(index=False, name=None)
    asked_with = where(rows, kind="setting")
    settings = dict(zip(asked_with["item"], asked_with["state"], strict=True))
    return LastRun(run, frames_of(dict(zip(keys, rows["state"], strict=True))), settings)
