"""Thresholds of the headline numbers of an audit or a study, and their JUnit file."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from swaymeter.data.errors import UsageError, WorkFailed, nearest
from swaymeter.data.escaping import xml
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, FEWEST_SAMPLES, SHARE
from swaymeter.data.sources.own.named_file import RowProblem
from swaymeter.reports.estimates import distinct_numbers, estimate, number, plural
from swaymeter.reports.frames import records
from swaymeter.reports.words import THRESHOLD_NAMES
from swaymeter.tasks.statistics.models import UNRELATED

if TYPE_CHECKING:
    import pandas as pd

QUANTITIES: Mapping[str, str] = {name: quantity for quantity, name in THRESHOLD_NAMES.items()}
"""Quantities of swaymeter.tasks.statistics.models, by their names in thresholds."""
IN_NATS = ("persuasion", "unchanged")
"""Quantities in nats; all others are shares. `unchanged` is the noise floor of `persuasion`."""
MIXED_QUANTITIES = ("prefer_right", "prefer_wrong", "name_both")
"""Quantities of contexts with a right and a wrong passage."""
_THRESHOLD = re.compile(
    r"(?P<quantity>[a-z_]+)(?:\.(?P<group>(?!(?:low|high)=)[a-z_]+))?(?:\.(?P<end>low|high))?"
    r"=(?P<value>-?\d+(?:\.\d+)?)(?P<percent>%?)",
    re.ASCII,
)
"""A threshold such as follow.supporting=0.9, refuse.none.high=10% or persuasion=0.2."""


QUANTITIES_COUNTING_REFUSALS = ("resist_wrong", "abstain", "keep", "refuse")
"""Quantities to which a refusal contributes 1; an empty reply counts as a refusal."""
QUANTITIES_COUNTING_NEITHER = ("resist_wrong", "keep")
"""Quantities to which a reply contributes 1 if its verdict is `neither`; undecided replies have this verdict, too."""
CONDITIONS_OF_ALL: Mapping[str, tuple[str, ...]] = {
    "follow_right": ("supporting", "mixed"),
    "resist_wrong": ("conflicting", "mixed"),
    "abstain": ("irrelevant", "neutral"),
}
"""Conditions (kinds of contexts) in the group `all`, by quantity."""


@dataclass(frozen=True)
class MeasuredQuantity:
    """Mean of a quantity over n replies of a model, and its 95% interval over questions.

    Attributes:
        model: Label and dtype of the variant.
        quantity: Name of the quantity in thresholds.
        group: Condition (kind of context), such as supporting; `none`: closed-book; `all`: see CONDITIONS_OF_ALL.
        n: Number of replies.
        clusters: Number of independent questions or subjects, over which the interval is computed.
        over: Noun for a cluster, such as question.
        mean: Mean, in `unit`.
        low: Lower end of the interval; None for too few clusters.
        high: Upper end of the interval; None for too few clusters.
        unit: share or nats.
        empty: Greedy replies of the group that have no text.
        undecided: Greedy replies of the group without a decision.
        missing: Greedy replies of the group that a filter withheld or whose thoughts are unfinished; not part of `n`.
    """

    model: str
    quantity: str
    group: str
    n: int
    clusters: int
    over: str
    mean: float
    low: float | None
    high: float | None
    unit: str
    empty: int = 0
    undecided: int = 0
    missing: int = 0

    @property
    def name(self) -> str:
        """Name of the quantity and the group in thresholds."""
        return f"{self.quantity}.{self.group}"

    def worst_mean(self, *, at_least: bool) -> float:
        """Return the mean as it would be if every reply without an answer counted against the threshold."""
        if self.unit != SHARE:
            return self.mean
        counted = self.n * self.mean
        counts_empty = self.quantity in QUANTITIES_COUNTING_REFUSALS  # True: `counted` has the empty replies
        counts_undecided = self.quantity in QUANTITIES_COUNTING_NEITHER  # True: `counted` has the undecided replies
        if at_least:
            counted -= self.empty * counts_empty + self.undecided * counts_undecided
        else:
            counted += self.empty * (not counts_empty) + self.undecided * (not counts_undecided) + self.missing
        total = self.n + self.missing
        return min(max(counted, 0.0), total) / total

    @property
    def no_answer_counts(self) -> str:
        """Counts of replies without an answer, such as "2 empty, 1 undecided"; "" if every reply has an answer."""
        counts = {"empty": self.empty, "undecided": self.undecided, "missing": self.missing}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)

    @property
    def words(self) -> str:
        """Mean with its interval."""
        return estimate(asdict(self))

    @property
    def fraction_or_mean(self) -> str:
        """Mean with its interval, or a fraction such as "3 of 5" for a share without an interval."""
        return f"{round(self.n * self.mean)} of {self.n}" if self.low is None and self.unit == SHARE else self.words

    @property
    def counts(self) -> str:
        """Numbers of replies and of questions, such as "40 answers to 20 questions"."""
        return f"{plural(self.n, 'answer')} to {plural(self.clusters, self.over)}"


@dataclass(frozen=True)
class Threshold:
    """Bound of the mean of a quantity, or of an end of its interval, for every model.

    Attributes:
        quantity: Name of the quantity.
        group: Group of a measured quantity, such as supporting; None for every group.
        value: The bound, as a share or in nats.
        at_least: True for a lower bound, False for an upper bound.
        end: low or high, an end of the interval; empty for the mean.
    """

    quantity: str
    group: str | None
    value: float
    at_least: bool
    end: str = ""

    @classmethod
    def parse(cls, text: str, *, at_least: bool) -> "Threshold":
        """Parse the text of an option, such as follow.supporting=0.9.

        Raises:
            UsageError: The text is not a threshold.
        """
        match = _THRESHOLD.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"{text!r} is not a threshold; write a threshold such as follow.supporting=0.9 or refuse.none=0.1"
            )
        quantity = match["quantity"]
        if quantity not in QUANTITIES:
            raise UsageError(f"{text!r}: no quantity is named {quantity!r}; {nearest(quantity, QUANTITIES)}")
        value = float(match["value"]) / (100 if match["percent"] else 1)
        if quantity in IN_NATS and match["percent"]:
            raise UsageError(f"{text!r}: {quantity} is in nats, not a share; write a value without %, such as 0.2")
        if quantity not in IN_NATS and not 0 <= value <= 1:
            raise UsageError(f"{text!r}: {quantity} is a share, from 0 to 1; write a value such as 0.9 or 90%")
        return cls(quantity, match["group"], value, at_least, match["end"] or "")

    def __str__(self) -> str:
        """Return the threshold as text, such as "follow.supporting >= 0.9"."""
        name = ".".join(filter(None, (self.quantity, self.group, self.end)))
        return f"{name} {'>=' if self.at_least else '<='} {self.value:.12g}"

    @property
    def bound(self) -> str:
        """The bound in words, such as ">= 90%"."""
        value = f"{self.value:.12g}" if self.quantity in IN_NATS else f"{100 * self.value:.12g}%"
        return f"{self.end} {'>=' if self.at_least else '<='} {value}".strip()

    def unmet(self, row: MeasuredQuantity) -> str:
        """Return a message with the mean and the bound; empty if the threshold is met."""
        measured = float(getattr(row, self.end or "mean"))
        if self._is_met_by(measured):
            worst = row.worst_mean(at_least=self.at_least)
            # If replies without an answer count against the threshold, an end of the interval moves as far as the mean.
            if not row.no_answer_counts or self._is_met_by(measured + worst - row.mean):
                return ""
            return (
                f"{self} is not met by {row.model}: {row.name} is {row.words} over {row.counts} only because replies "
                f"state nothing ({row.no_answer_counts}); if these replies counted against the threshold, {row.name} "
                f"would be {number(worst, row.unit)}"
            )
        limit, value = distinct_numbers(self.value, measured, row.unit)  # as texts with enough digits to differ
        exact_value = "" if value == number(measured, row.unit) else f", and is {value}"
        unit = "" if row.unit == SHARE else f" {row.unit}"
        subject = f"the {self.end} end of its interval" if self.end else "it"
        side = "least" if self.at_least else "most"
        statement = f"{row.name} of {row.model} is {row.words} over {row.counts}"
        return f"{statement}, and {subject} has to be at {side} {limit}{unit}{exact_value}"

    def _is_met_by(self, value: float) -> bool:
        return value >= self.value if self.at_least else value <= self.value

    def check(self, conditions: Set[str]) -> None:
        """Check that the file of questions has contexts for the threshold.

        Args:
            conditions: Conditions (kinds) of the contexts in the file of questions.

        Raises:
            UsageError: The file has no contexts for the threshold's group.
        """
        # Groups of a quantity in a file with these conditions. A quantity without an entry has a group per condition.
        groups: Set[str] = {
            "follow": conditions - {"irrelevant", "neutral", "mixed"},
            **_passage_groups(conditions),
            "keep": conditions & {*UNRELATED},
            "correct": {"none"},
            "refuse": conditions | {"none"},
            "context_bias": conditions & {"conflicting"},
            "prior_bias": conditions & {"supporting"},
        }.get(self.quantity, conditions)
        if not groups or (self.group is not None and self.group not in groups):
            names = [f"{self.quantity}.{group}" for group in sorted(groups)]
            near = get_close_matches(f"{self.quantity}.{self.group}", names, n=1, cutoff=0.8)
            advice = f"with this file, use {', '.join(names)}" if names else "choose another quantity"
            advice = f"did you mean {near[0]!r}?" if near else advice
            if self.group in (None, "mixed") and "mixed" not in conditions and self.quantity in MIXED_QUANTITIES:
                advice = (
                    "the threshold needs contexts with a right and a wrong passage: add --set supporting+conflicting"
                )
            raise UsageError(f"{self}: the file has no contexts for this threshold; {advice}")

    def bounded(self, measured: Iterable[MeasuredQuantity]) -> list[MeasuredQuantity]:
        """Return the measured quantities that the threshold bounds.

        Raises:
            WorkFailed: A model lacks the quantity, or the interval that the threshold bounds.
        """
        rows = list(measured)
        bounded = [row for row in rows if row.quantity == self.quantity and self.group in (None, row.group)]
        models_without = sorted({row.model for row in rows} - {row.model for row in bounded})
        if not bounded or models_without:
            models = ", ".join(models_without) if bounded else "any model"
            raise WorkFailed(f"{self} could not be tested for {models}: {self._reason_without_rows}")
        if self.end and (row := next((row for row in bounded if row.low is None), None)):
            raise WorkFailed(
                f"{self} could not be tested for {row.model}: {row.counts} are too few for an interval; leave "
                f".{self.end} out of the threshold, or ask at least {FEWEST_FOR_INTERVAL} {row.over}s"
            )
        return bounded

    @property
    def _reason_without_rows(self) -> str:
        if self.quantity in IN_NATS:
            fewest = FEWEST_SAMPLES * (2 if self.quantity == "unchanged" else 1)
            return f"fewer than {fewest} sampled answers ended, with the context or without; raise --samples"
        if self.quantity in ("context_bias", "prior_bias"):
            closed_book = "right" if self.quantity == "context_bias" else "wrong"
            return f"no question of this quantity is answered {closed_book} without a context"
        return "no answer for this threshold has a verdict; ask more questions, or leave the threshold out"


def _passage_groups(conditions: Set[str]) -> Mapping[str, Set[str]]:
    groups: dict[str, Set[str]] = {
        quantity: {"all"} if conditions & {*conditions_of_all} else set()
        for quantity, conditions_of_all in CONDITIONS_OF_ALL.items()
    }
    return groups | dict.fromkeys(MIXED_QUANTITIES, conditions & {"mixed"})


ThresholdOutcomes = Sequence[tuple[Threshold, MeasuredQuantity, str]]
"""Each threshold with a measured quantity, and the reason why the threshold is not met; "" if it is met."""
Case = tuple[str, str, str, str]
"""A test case of JUnit: class name, name, and the tag and text of an element in the case.

The tag is error, failure, skipped or system-out. A case with the text "" has no element.
"""


def compare_with_thresholds(thresholds: Iterable[Threshold], measured: Sequence[MeasuredQuantity]) -> ThresholdOutcomes:
    """Return each threshold with each measured quantity that it bounds, and the reason if it is not met."""
    return [(threshold, row, threshold.unmet(row)) for threshold in thresholds for row in threshold.bounded(measured)]


def measured_quantities(means: "pd.DataFrame", silent_replies: "pd.DataFrame") -> list[MeasuredQuantity]:
    """Return the measured quantities of an audit or a study.

    Args:
        means: The rows of the named query models_side_by_side.
        silent_replies: The rows of the named query silent_replies.
    """
    measured = []
    for row in records(means[means["quantity"].isin(THRESHOLD_NAMES)]):
        low, high = (float(row[end]) if math.isfinite(row[end]) else None for end in ("low", "high"))
        quantity = THRESHOLD_NAMES[row["quantity"]]
        conditions = CONDITIONS_OF_ALL.get(quantity, (row["group"],))
        is_of_variant = (silent_replies["model"] == row["model"]) & (silent_replies["dtype"] == row["dtype"])
        replies = silent_replies[is_of_variant & silent_replies["condition"].isin(conditions)]
        measured.append(
            MeasuredQuantity(
                model=f"{row['model']} ({row['dtype']})",
                quantity=quantity,
                group=row["group"],
                n=int(row["n"]),
                clusters=int(row["clusters"]),
                over=row["interval_over"],
                mean=float(row["mean"]),
                low=low,
                high=high,
                unit=str(row["unit"]),
                **{name: int(replies[name].sum()) for name in ("empty", "undecided", "missing")},
            )
        )
    return measured


MAX_REASONS = 2
"""Number of unmet thresholds that an error message states in full."""


def refuse_unmet(outcomes: ThresholdOutcomes, failure: str = "") -> None:
    """Raise WorkFailed if a threshold is not met, or there is another failure; the message has the first reasons."""
    reasons = [reason for reason in (failure, *(reason for _, _, reason in outcomes)) if reason]
    if reasons:
        more = f"; {len(reasons) - MAX_REASONS} more" if len(reasons) > MAX_REASONS else ""
        raise WorkFailed("; ".join(reasons[:MAX_REASONS]) + more)


def thresholds_of(under: Iterable[str], over: Iterable[str]) -> list[Threshold]:
    """Return the thresholds of the options --fail-under and --fail-over."""
    return [
        *(Threshold.parse(text, at_least=True) for text in under),
        *(Threshold.parse(text, at_least=False) for text in over),
    ]


BOUND = re.compile(r"\s*(?P<side>[<>]=)\s*(?P<value>\S+)\s*")
"""A bound such as \">= 0.9\"."""


def thresholds_of_bounds(bounds: Mapping[str, str]) -> list[Threshold]:
    """Return the thresholds of the section `thresholds` of a study, such as {follow.supporting: ">= 0.9, <= 1"}.

    Raises:
        UsageError: A bound or a name is invalid.
    """
    thresholds = []
    for name, text in bounds.items():
        for bound in text.split(","):
            match = BOUND.fullmatch(bound)
            if match is None:
                raise UsageError(f"{name}: {bound!r} is not a bound; write a bound such as '>= 0.9' or '<= 10%'")
            thresholds.append(Threshold.parse(f"{name}={match['value']}", at_least=match["side"] == ">="))
    return thresholds


def bounds_of_thresholds(thresholds: Iterable[Threshold]) -> dict[str, str]:
    """Return these thresholds as the section `thresholds` of a study."""
    bounds: dict[str, list[str]] = {}
    for threshold in thresholds:
        name, _, bound = str(threshold).partition(" ")
        bounds.setdefault(name, []).append(bound)
    return {name: ", ".join(texts) for name, texts in bounds.items()}


def write_junit(
    file: Path,
    name: str,
    outcomes: ThresholdOutcomes,
    *,
    unused: Sequence[RowProblem] = (),
    compared: Iterable[Case] = (),
    notes: Sequence[str] = (),
    error: str = "",
) -> None:
    """Write the thresholds as JUnit XML, with a test case for each threshold and model.

    Args:
        file: The file to write.
        name: The name of the audit.
        outcomes: Each threshold with the quantity of each model; each pair is a case.
        unused: Locations and problems of unusable rows; each row is a skipped case.
        compared: The cases of a comparison with an earlier run.
        notes: Lines on the replies, such as the number of empty replies, for the element system-out of the suite.
        error: Reason why the audit failed, as a separate case; empty for none.

    Raises:
        UsageError: The file cannot be written.
    """
    cases = [("swaymeter", "audit", "error", error)] if error else []
    cases += [
        (row.model, f"{row.name}: {threshold}", "failure" if unmet else "system-out", unmet or row.no_answer_counts)
        for threshold, row, unmet in outcomes
    ]
    cases += compared
    cases += [("rows that are not used", row, "skipped", problem) for row, problem in unused]
    tags = [tag for *_, tag, message in cases if message]
    tags_of_attributes = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite = ElementTree.Element(
        "testsuite",
        {attribute: str(tags.count(tag)) for attribute, tag in tags_of_attributes.items()},
        name=xml(f"swaymeter audit {name}"),
        tests=str(len(cases)),
    )
    for texts in cases:
        classname, title, tag, message = map(xml, texts)
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=title)
        if message and tag == "system-out":
            ElementTree.SubElement(case, tag).text = message
        elif message:
            ElementTree.SubElement(case, tag, message=message)
    if notes:
        ElementTree.SubElement(suite, "system-out").text = xml("\n".join(notes))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as problem:
        raise UsageError(f"{file} cannot be written: {problem.strerror}; name another file") from None
