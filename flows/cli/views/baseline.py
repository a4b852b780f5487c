"""Whether a run is worse than an earlier one: its headline numbers, paired on the items of both."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from yaml import YAMLError

from swaymeter.data.errors import UsageError
from swaymeter.data.records.statistics import UNDECIDED
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.views.compare import database_of
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.steps.history import with_change
from swaymeter.flows.study.places import AUDIT
from swaymeter.flows.study.thresholds import Case, name_of
from swaymeter.reports.changes import told_apart
from swaymeter.reports.estimates import estimate, number, plural, verdict
from swaymeter.reports.frames import where
from swaymeter.reports.history import sentence
from swaymeter.reports.history.side_by_side import Apart
from swaymeter.reports.models import Model
from swaymeter.reports.words import OWN_QUANTITIES
from swaymeter.tasks.statistics.formulas.paired import FEWEST_TO_TEST, smallest_shown_fall
from swaymeter.tasks.statistics.history import frames_of, models_of, moved
from swaymeter.tasks.statistics.models import over_what
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

    before, now: what it was and is. change: the difference with its interval. gain: how far it moved for the better,
    below 0 for the worse. clusters: how many `over` there are, which are questions or subjects. p: after
    Benjamini-Hochberg over all that both runs have; None where these are too few for a test. worse: how it is, where it
    is; else empty. tests: how many p is adjusted over.
    """

    model: str
    name: str
    before: str
    now: str
    change: str
    gain: float
    clusters: int
    over: str
    p: float | None
    verdict: str
    worse: str
    tests: int = 1

    @property
    def in_short(self) -> str:
        """What it was and is, and what is known of that."""
        return f"{self.name} of {self.model} {self.before} → {self.now} ({self.verdict})"


class Comparison(NamedTuple):
    """A run beside its baseline: each number, lines to print and to warn of, and why it fails; empty where not."""

    numbers: Sequence[Compared] = ()
    lines: Sequence[str] = ()
    warnings: Sequence[str] = ()
    failure: str = ""

    def cases(self) -> list[Case]:
        """A test case for each number, and one for all of them where none could be tested."""
        cases = list(map(_case, self.numbers))
        if self.failure and not any(row.worse for row in self.numbers):
            cases.append(("swaymeter", "compared with before", "failure", self.failure))
        return cases


class LastRun(NamedTuple):
    """The last completed run: its name, its answers and queries, what it was asked with, as JSON, and what was cut off.

    unfinished: how many of its greedy answers ended at the limit of tokens.
    """

    name: str
    frames: Frames
    settings: Mapping[str, str]
    unfinished: int

    @property
    def cut_off(self) -> str:
        """How many of how many."""
        return f"{self.unfinished} of {len(self.frames['answers_of_questions'])}"


def baseline(run: str, database: Path) -> LastRun:
    """The last completed run of a study, workspace or database; UsageError without one, or where it is `database`.

    database: where the run goes that is compared with it.
    """
    before = database_of(run)
    if before.resolve() == database.resolve():
        raise UsageError(
            f"--baseline {run}: this run goes to the same workspace, and would be the next one's baseline, "
            f"also where it fails; name another --workspace, or a copy of {before}"
        )
    return _last_run(before, run)


def against(before: LastRun, database: Path) -> Comparison:
    """The headline numbers of the last run of a database, each compared with before.

    It fails where one is worse, and where none could be tested. The lines: settings and versions that are not the
    same; and, where it does not fail, how many were compared.
    """
    now = _last_run(database, str(database))
    numbers = compared(before.frames, now.frames)
    apart = settings_apart(before.settings, now.settings)
    lines = [f"not the same: {name}: {first} before, {second} now" for name, first, second in apart]
    cut_off = f"{now.cut_off} greedy answers were cut off at the limit of tokens; before {before.cut_off}"
    worse = [row.worse for row in numbers if row.worse]
    tested = any(row.p is not None for row in numbers)
    if worse or not tested:
        why = [*worse, *also_worse(numbers)] if worse else [nothing_tested(before.name, numbers)]
        failure = "; ".join(why + [cut_off] * (now.unfinished > before.unfinished))
        return Comparison(numbers, lines, not_compared(now.frames, numbers), failure)
    lines += [not_worse(before.name, numbers), power(numbers)]
    warnings = [*not_tested(numbers), *not_compared(now.frames, numbers)]
    return Comparison(numbers, lines, warnings)


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


def power(numbers: Sequence[Compared]) -> str:
    """Return the smallest fall that the questions can show, and that of 100 questions, in words."""
    tested = [row for row in numbers if row.p is not None]
    most = max(tested, key=lambda row: row.clusters)
    counts = [(most.clusters, plural(most.clusters, most.over)), (100, plural(100, most.over))]
    falls = [(named, smallest_shown_fall(count, most.tests)) for count, named in counts]
    (here, fall), (many, of_many) = falls
    shown = f"can show a fall of {100 * fall:.0f} points or more" if fall else "can show no fall, however large"
    return f"{here} {shown}; {many} one of {100 * (of_many or 1):.0f}"


def nothing_tested(run: str, numbers: Sequence[Compared]) -> str:
    """That the questions are too few for any test, how many it takes, and what moved furthest for the worse."""
    most, last = max(numbers, key=lambda row: row.clusters), min(numbers, key=lambda row: row.gain)
    changed = f"largest change for the worse: {last.in_short}" if last.gain < 0 else "no number changed for the worse"
    return (
        f"{plural(most.clusters, most.over)} cannot show a change, and nothing was tested against {run}: ask at least "
        f"{plural(FEWEST_TO_TEST, most.over)} that both runs have; {changed}"
    )


def not_tested(numbers: Sequence[Compared]) -> list[str]:
    """That numbers changed for the worse of which there are too few questions for a test; empty where none did."""
    rows = [row for row in numbers if row.p is None and row.gain < 0]
    named = ", ".join(row.in_short for row in rows)
    few = f"fewer than {plural(FEWEST_TO_TEST, rows[0].over)}" if rows else ""
    return [f"changed for the worse, on {few}: {named}"] if rows else []


def not_compared(now: Frames, numbers: Sequence[Compared]) -> list[str]:
    """That models have no number of which the earlier run has the same; empty where all have one."""
    others = sorted({str(Model(*model)) for model in models_of(now)} - {row.model for row in numbers})
    return [f"not compared, as the earlier run has nothing of a model of that name: {', '.join(others)}"] * bool(others)


def also_worse(numbers: Sequence[Compared]) -> list[str]:
    """The numbers that changed for the worse, too, but are not shown to be worse; empty where none did."""
    rows = [row.in_short for row in numbers if row.gain < 0 and not row.worse]
    return [f"also changed for the worse, but not shown: {', '.join(rows)}"] if rows else []


def last_audit(folder: Path) -> Mapping[str, Any]:
    """Return the study that the last audit wrote into a workspace; empty without one that can be read."""
    try:
        content = untrusted_yaml(text_of(folder / AUDIT))
    except (OSError, ValueError, YAMLError):  # no audit before, or a file that somebody changed
        return {}
    return content if isinstance(content, dict) else {}


def forgotten_verdicts(folder: Path, verdicts: str | None) -> str:
    """That the last audit of a workspace counted verdicts by hand, and this one does not; empty where it is not so."""
    last = last_audit(folder).get("verdicts")
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
        raise UsageError("--baseline: no question of it was asked with the same texts now; name another run")
    about = {"over": over_what(now), "tests": sum(row["p_adjusted"] is not None for row in rows)}
    return [_compared({**row, **about}) for row in known]


def _compared(row: Mapping[str, Any]) -> Compared:
    better, model = BETTER[row["quantity"], row["group"]], str(Model(row["model"], row["dtype"]))
    name, is_worse = name_of(row["quantity"], row["group"]), row["verdict"] in {UP, DOWN} - {better}
    change = estimate({**row, "low": row["change_low"], "high": row["change_high"]}, "change", signed=True)
    called = f"{OWN_QUANTITIES[row['quantity']]} ({name}) of {model}"
    worse = f"worse than before: {sentence(dict(row), called)}" if is_worse else ""
    before, now = (number(value, row["unit"]) for value in (row["mean_before"], row["mean_before"] + row["change"]))
    gain, of = float(row["change"]) * (1 if better == UP else -1), (int(row["clusters"]), row["over"])
    return Compared(model, name, before, now, change, gain, *of, row["p_adjusted"], _verdict(row), worse, row["tests"])


def _verdict(row: Mapping[str, Any]) -> str:
    """How a number changed, in words; of one that is undecided with p, as its interval alone can be beside 0."""
    if row["p_adjusted"] is None:
        return f"not tested: {plural(int(row['clusters']), row['over'])}"
    return verdict(row) + (f", p = {row['p_adjusted']:.2g}" if row["verdict"] == UNDECIDED else "")


def _case(row: Compared) -> Case:
    """The test case of a number: it failed, or was skipped as it was not tested, or what it was and is."""
    kind = "failure" if row.worse else "skipped" if row.p is None else "system-out"
    note = f"{row.before} → {row.now}, {row.verdict}"
    return row.model, f"{row.name}: not shown to be worse than before", kind, row.worse or note


def _last_run(database: Path, run: str) -> LastRun:
    with opened(database, schema()) as warehouse:
        rows, unfinished = (warehouse.frame(name) for name in ("states_of_last_run", "unfinished_greedy_answers"))
    if rows.empty:
        raise UsageError(f"{run} has no completed run to compare with; run it to its end")
    keys = rows[["kind", "model", "dtype", "item"]].itertuples(index=False, name=None)
    asked_with = where(rows, kind="setting")
    settings = dict(zip(asked_with["item"], asked_with["state"], strict=True))
    frames = frames_of(dict(zip(keys, rows["state"], strict=True)))
    return LastRun(run, frames, settings, int(unfinished["unfinished"].sum()))
