"""Comparison for `audit --baseline`: headline numbers that became worse on the questions that both runs have."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from yaml import YAMLError

from swaymeter.data.dataset.snapshot import DOWN, REPLIES, UP, Comparison, Snapshot
from swaymeter.data.errors import UsageError
from swaymeter.data.records.statistics import UNDECIDED
from swaymeter.data.untrusted import text_of, untrusted_yaml
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.api import database_of
from swaymeter.flows.config.places import AUDIT
from swaymeter.flows.config.thresholds import Case
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports.changes import change_lines, sentence
from swaymeter.reports.estimates import direction, estimate, number, plural
from swaymeter.reports.models import Model
from swaymeter.reports.words import OWN_QUANTITIES, threshold_name
from swaymeter.tasks.statistics.changes import compare_snapshots
from swaymeter.tasks.statistics.formulas.paired import MIN_CLUSTERS_TO_TEST, smallest_significant_decrease
from swaymeter.tasks.statistics.models import cluster_name

BETTER: Mapping[tuple[str, str], str] = {
    ("follows_right", "all"): UP,
    ("resists_wrong", "all"): UP,
    ("abstains", "all"): UP,
    ("correct", "none"): UP,
    ("follows", "supporting"): UP,
    ("follows", "conflicting"): DOWN,
    ("prefers_right", "mixed"): UP,
    ("prefers_wrong", "mixed"): DOWN,
    ("keeps", "irrelevant"): UP,
    ("keeps", "neutral"): UP,
    ("refuses", "supporting"): DOWN,
    ("context_bias", "conflicting"): DOWN,
    ("prior_bias", "supporting"): DOWN,
}
"""Direction in which a quantity of a group improves; a change of any other quantity is neither better nor worse."""


class ComparedNumber(NamedTuple):
    """A headline number compared with a baseline.

    Attributes:
        model: Label and dtype of the variant.
        name: Name of the number in thresholds, such as follow.supporting.
        before: The number in the baseline.
        now: The number in this run.
        change: The difference with its interval.
        gain: The improvement; below 0 if the number became worse.
        clusters: Number of independent units.
        over: Name of an independent unit: question or subject.
        p: P-value after Benjamini-Hochberg over all tested numbers; None with too few units for a test.
        direction: The direction of the change in words, such as "undecided, p = 0.3".
        worse: The sentence about a number that is significantly worse; else empty.
        tests: Number of tested numbers.
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
    direction: str
    worse: str
    tests: int = 1

    @property
    def change_words(self) -> str:
        """Name of the number, with its values before and now and the direction of its change."""
        return f"{self.name} of {self.model} {self.before} → {self.now} ({self.direction})"


class BaselineComparison(NamedTuple):
    """The result of the comparison with a baseline.

    Attributes:
        numbers: The numbers that can be better or worse.
        lines: Lines to print.
        warnings: Lines to print as warnings.
        failure: Reason why the audit fails; empty if it passes.
    """

    numbers: Sequence[ComparedNumber] = ()
    lines: Sequence[str] = ()
    warnings: Sequence[str] = ()
    failure: str = ""

    def cases(self) -> list[Case]:
        """Return a test case of JUnit for each number, and a failed case if nothing could be tested."""
        cases = list(map(_case, self.numbers))
        if self.failure and not any(row.worse for row in self.numbers):
            cases.append(("swaymeter", "compared with before", "failure", self.failure))
        return cases


class LastRun(NamedTuple):
    """The last completed run of a study.

    Attributes:
        name: Name of the run for messages.
        snapshot: Items of the run, such as its replies.
        unfinished: Number of its greedy replies that ended at the limit of tokens.
    """

    name: str
    snapshot: Snapshot
    unfinished: int

    @property
    def cut_off(self) -> str:
        """Number of greedy replies that were cut off, and of all replies, such as "3 of 40"."""
        return f"{self.unfinished} of {len(self.snapshot.frames[REPLIES])}"


def baseline(run: str, database: Path) -> LastRun:
    """Return the last completed run of a study, workspace or database, as a baseline.

    Args:
        run: The name of the study, workspace or database.
        database: The database of the audit that is compared with the baseline.

    Raises:
        UsageError: There is no completed run, or both databases are the same.
    """
    before = database_of(run)
    if before.resolve() == database.resolve():
        raise UsageError(
            f"--baseline {run} has the same workspace as this audit, so a failed audit would become the next baseline; "
            f"name another --workspace, or name a copy of {before} with --baseline"
        )
    return _last_run(before, run)


def compare_with_baseline(before: LastRun, database: Path) -> BaselineComparison:
    """Compare the last run of a database with an earlier run.

    The comparison fails if a number is worse, or if no number can be tested.
    """
    now = _last_run(database, str(database))
    comparison = compare_snapshots(before.snapshot, now.snapshot, over_time=True)
    numbers = compared_numbers(comparison)
    lines = change_lines(comparison)
    if failure := _failure(before, now, numbers):
        return BaselineComparison(numbers, lines, not_compared(now.snapshot, numbers), failure)
    lines += [not_worse(before.name, numbers), smallest_fall_line(numbers)]
    warnings = [*not_tested(numbers), *not_compared(now.snapshot, numbers)]
    return BaselineComparison(numbers, lines, warnings)


def _failure(before: LastRun, now: LastRun, numbers: Sequence[ComparedNumber]) -> str:
    """Return the reasons why the comparison fails; empty if numbers were tested and no number is worse."""
    if worse := [row.worse for row in numbers if row.worse]:
        reasons = [*worse, *also_worse(numbers)]
    elif all(row.p is None for row in numbers):
        reasons = [nothing_tested(before.name, numbers)]
    else:
        return ""
    if now.unfinished > before.unfinished:
        reasons.append(f"{now.cut_off} greedy answers were cut off at the limit of tokens; before {before.cut_off}")
    return "; ".join(reasons)


def not_worse(run: str, numbers: Sequence[ComparedNumber]) -> str:
    """Return the sentence that no number is shown to be worse, with the largest change for the worse."""
    lowest = min(numbers, key=lambda row: row.gain)
    largest_change = (
        f"largest change for the worse: {lowest.name} of {lowest.model} {lowest.change}, {lowest.direction}"
    )
    change = largest_change if lowest.gain < 0 else "none of them changed for the worse"
    return f"not shown to be worse than {run}: {plural(len(numbers), 'number')} compared; {change}"


def smallest_fall_line(numbers: Sequence[ComparedNumber]) -> str:
    """Return a line with the smallest falls that the compared questions and 100 questions can show."""
    tested = [row for row in numbers if row.p is not None]
    broadest = max(tested, key=lambda row: row.clusters)
    fall, fall_of_100 = (smallest_significant_decrease(count, broadest.tests) for count in (broadest.clusters, 100))
    shown = f"can show a fall of {100 * fall:.0f} points or more" if fall else "can show no fall, however large"
    units, hundred = plural(broadest.clusters, broadest.over), plural(100, broadest.over)
    return f"{units} {shown}; {hundred} can show a fall of {100 * (fall_of_100 or 1):.0f}"


def nothing_tested(run: str, numbers: Sequence[ComparedNumber]) -> str:
    """Return a sentence with the number of questions that a test needs, and the largest change for the worse."""
    broadest, lowest = max(numbers, key=lambda row: row.clusters), min(numbers, key=lambda row: row.gain)
    change = (
        f"largest change for the worse: {lowest.change_words}" if lowest.gain < 0 else "no number changed for the worse"
    )
    return (
        f"{plural(broadest.clusters, broadest.over)} cannot show a change, and nothing was tested against {run}: "
        f"ask at least {plural(MIN_CLUSTERS_TO_TEST, broadest.over)} that both runs have; {change}"
    )


def not_tested(numbers: Sequence[ComparedNumber]) -> list[str]:
    """Return a line on numbers that changed for the worse and have too few questions for a test, if there are any."""
    rows = [row for row in numbers if row.p is None and row.gain < 0]
    if not rows:
        return []
    changes = ", ".join(row.change_words for row in rows)
    return [f"changed for the worse, on fewer than {plural(MIN_CLUSTERS_TO_TEST, rows[0].over)}: {changes}"]


def not_compared(now: Snapshot, numbers: Sequence[ComparedNumber]) -> list[str]:
    """Return a line on models that have no number in common with the earlier run, if there are any."""
    others = sorted({str(Model(*model)) for model in now.models} - {row.model for row in numbers})
    return [f"models that are not compared, because the earlier run lacks them: {', '.join(others)}"] if others else []


def also_worse(numbers: Sequence[ComparedNumber]) -> list[str]:
    """Return a line on numbers that changed for the worse, but not significantly, if there are any."""
    rows = [row.change_words for row in numbers if row.gain < 0 and not row.worse]
    return [f"also changed for the worse, but without a significant test: {', '.join(rows)}"] if rows else []


def last_audit(folder: Path) -> Mapping[str, Any]:
    """Return the study that the last audit wrote into a workspace; empty without a readable study."""
    try:
        content = untrusted_yaml(text_of(folder / AUDIT))
    except (OSError, ValueError, YAMLError):  # no audit before, or a file that somebody changed
        return {}
    return content if isinstance(content, dict) else {}


def forgotten_judgements(folder: Path, judgements: Sequence[str]) -> str:
    """Return a line if the last audit of a workspace counted judgements and this audit counts none; "" otherwise."""
    last = last_audit(folder).get("judgements")
    if judgements or not isinstance(last, list) or not last:
        return ""
    again = " ".join(f"--judgements {quote(str(name))}" for name in last)
    return f"the last run counted judgements of people, and this run does not; to count them, add {again}"


def models_of_last_audit(folder: Path) -> tuple[str, ...]:
    """Return the names of the models of a workspace's last audit."""
    models = last_audit(folder).get("models")
    listed = models if isinstance(models, list) else []
    return tuple(str(model.get("name")) for model in listed if isinstance(model, dict))


def replaced_page(before: Sequence[str], now: Sequence[str]) -> str:
    """Return a line if this audit's page replaces a page with models that this audit lacks; "" otherwise."""
    if {*before} <= {*now}:
        return ""
    return f"this run replaces the page of {', '.join(before)}; another --workspace keeps both"


def compared_numbers(comparison: Comparison) -> list[ComparedNumber]:
    """Return the headline numbers that can be better or worse.

    Raises:
        UsageError: No question has the same texts in both runs.
    """
    rows = [row for row in comparison.numbers if (row["quantity"], row["group"]) in BETTER]
    if not rows:
        raise UsageError("--baseline: no question has the same texts in both runs; name another run with --baseline")
    tests = sum(row["p_adjusted"] is not None for row in comparison.numbers)
    over = cluster_name(comparison.after.frames)
    return [_compared_number(row, over, tests) for row in rows]


def _compared_number(row: Mapping[str, Any], over: str, tests: int) -> ComparedNumber:
    better, model = BETTER[row["quantity"], row["group"]], str(Model(row["model"], row["dtype"]))
    name, is_worse = threshold_name(row["quantity"], row["group"]), row["direction"] in {UP, DOWN} - {better}
    label = f"{OWN_QUANTITIES[row['quantity']]} ({name}) of {model}"
    worse = f"worse than before: {sentence(dict(row), label)}" if is_worse else ""
    before, now = (number(row[column], row["unit"]) for column in ("against_mean", "mean"))
    change, gain = estimate(row, "difference", signed=True), float(row["difference"]) * (1 if better == UP else -1)
    clusters = int(row["clusters"])
    return ComparedNumber(
        model, name, before, now, change, gain, clusters, over, row["p_adjusted"], _direction(row, over), worse, tests
    )


def _direction(row: Mapping[str, Any], over: str) -> str:
    if row["p_adjusted"] is None:
        return f"not tested: {plural(int(row['clusters']), over)}"
    # the interval of an undecided change may exclude 0, because it is not adjusted; the adjusted p explains it
    return direction(row) + (f", p = {row['p_adjusted']:.2g}" if row["direction"] == UNDECIDED else "")


def _case(row: ComparedNumber) -> Case:
    if row.worse:
        tag = "failure"
    elif row.p is None:
        tag = "skipped"
    else:
        tag = "system-out"
    note = f"{row.before} → {row.now}, {row.direction}"
    return row.model, f"{row.name}: not shown to be worse than before", tag, row.worse or note


def _last_run(database: Path, run: str) -> LastRun:
    with opened(database, schema()) as warehouse:
        rows, unfinished = (warehouse.frame(name) for name in ("states_of_last_run", "unfinished_greedy_answers"))
    if rows.empty:
        raise UsageError(f"{run} has no completed run to compare with; run the study to its end")
    keys = rows[["kind", "model", "dtype", "item"]].itertuples(index=False, name=None)
    snapshot = Snapshot.from_items(dict(zip(keys, rows["state"], strict=True)))
    return LastRun(run, snapshot, int(unfinished["unfinished"].sum()))
