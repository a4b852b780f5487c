"""What has changed since the last run, and over all runs: the section of the report, and the page "over time".

What a study asked and was answered comes from models and from the web: the templates escape all of it.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.differences import difference
from swaymeter.data.records import OWN_CONDITIONS, Fact, Question, of_row
from swaymeter.data.records.findings import StudyCard
from swaymeter.data.records.row import table_of
from swaymeter.reports.changes import lines_of, short, told_apart
from swaymeter.reports.estimates import estimate, number
from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.models import HISTORY_PAGE, Model
from swaymeter.reports.page.shell import cell, heading, numeric, template, written
from swaymeter.reports.words import CONDITION_NAMES, quantities

CHANGES, NUMBERS, RUNS = "changes_since_last_run", "headline_numbers_over_time", "runs_over_time"
HISTORY_QUERIES = (CHANGES, NUMBERS, RUNS)
MOVED = ("larger", "smaller")
MOST_LINES = 40
"""Changes of one sort that the page shows; the database has all of them."""


@dataclass(frozen=True)
class Flip:
    """A greedy answer to the same texts whose verdict is another one than in the run before."""

    model: Model
    question: str
    condition: str
    before: str
    now: str
    verdict_before: str
    verdict: str


@dataclass(frozen=True)
class Since:
    """What a run has that the run before had not.

    settings: what was asked with, or answered, under another version: its name, as it was, as it is. sources: lines on
    facts and questions, by relation, each with its sign. counts: answers that changed otherwise, by how. moved, still:
    rows of `history`: headline numbers that moved by more than their interval, and the others that were compared.
    """

    run: int
    at: str
    at_before: str
    settings: list[tuple[str, str, str]] = field(default_factory=list)
    sources: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    flips: list[Flip] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    moved: list[dict[str, Any]] = field(default_factory=list)
    still: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_the_same(self) -> bool:
        """Whether nothing at all changed."""
        return not (self.settings or self.sources or self.flips or self.counts or self.moved)


NOT_NOTED = "not noted"
"""A setting of a run that has none by that name, as it was made before the name."""


def since(changes: pd.DataFrame, numbers: pd.DataFrame) -> Since | None:
    """What changed in a run, of its rows of `changes_of_runs` and of `headline_numbers_over_time`.

    None where there is no run before.
    """
    of_kind: dict[str, list[dict[str, Any]]] = {}
    for row in records(changes.astype(object).where(changes.notna(), None)):
        of_kind.setdefault(row["kind"], []).append(row)
    if not of_kind.get("run"):
        return None
    before, now = _both(of_kind["run"][0])
    found = Since(int(now["run"]), now["completed_at"], before.get("completed_at", ""))
    for row in of_kind.get("setting", ()):
        texts = (json.loads(row[name]) if row[name] else NOT_NOTED for name in ("state_before", "state"))
        found.settings.append((row["item"], *told_apart(*map(str, texts))))
    _sources(found, of_kind)
    for row in of_kind.get("answer", ()):
        _answer(found, row)
    for row in records(numbers[numbers["run"] == found.run]):
        if not pd.isna(row["change"]):
            (found.moved if row["verdict"] in MOVED else found.still).append(row)
    return found


def _both(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    before, now = (json.loads(row[name]) if row[name] else {} for name in ("state_before", "state"))
    return before, now


def _sources(found: Since, of_kind: dict[str, list[dict[str, Any]]]) -> None:
    """Adds the lines on facts and questions; an item is what one says, so that a change is one gone and one new."""
    sides = []
    for place in ("state_before", "state"):
        other = "state" if place == "state_before" else "state_before"
        facts, questions = (
            tuple(_record(kind, row[place]) for row in of_kind.get(name, ()) if row[place] and not row[other])
            for name, kind in (("fact", Fact), ("question", Question))
        )
        sides.append(Dataset(Path(), facts, (), questions))
    compared = difference(*sides)
    for what, relations in (("facts", compared.relations), ("questions", compared.questions)):
        for relation in relations:
            if lines := list(lines_of(relation)):
                found.sources[f"{what}: {relation.relation}"] = lines


def _record(kind: type, state: str) -> Any:
    """The fact or question of a state; what of it does not count is empty."""
    columns = table_of(kind).columns
    empty = {c.name: None if c.nullable else [] if c.type.endswith("[]") else "" for c in columns}
    return of_row(kind, {**empty, **json.loads(state)})


def _answer(found: Since, row: dict[str, Any]) -> None:
    before, now = _both(row)
    if not before or not now:
        found.counts["asked for the first time" if now else "asked no more"] += 1
    elif before["asked"] != now["asked"]:
        found.counts["asked with other texts"] += 1
    elif before.get("verdict") != now.get("verdict"):
        verdicts = (str(one.get("verdict", "not judged")) for one in (before, now))
        said = (short(str(one.get("answer", ""))) or "empty" for one in (before, now))
        model = Model(row["model"], row["dtype"])
        found.flips.append(Flip(model, now["question"], now["condition"], *said, *verdicts))
    elif before.get("answer") != now.get("answer"):
        found.counts["said in other words"] += 1
    else:
        found.counts["with other sampled answers"] += 1


def sentence(row: dict[str, Any], name: str) -> str:
    """How a headline number moved, in one sentence; name: what it is called."""
    unit, over = row["unit"], f"{int(row['same'])} {'queries' if row['quantity'] == 'susceptibility' else 'answers'}"
    now = number(row["mean_before"] + row["change"], unit)
    change = estimate(row | {"low": row["change_low"], "high": row["change_high"]}, "change", signed=True)
    return f"{name}: {number(row['mean_before'], unit)} before, {now} now: {change}, on the same {over}"


def _in_words(row: dict[str, Any]) -> str:
    names = quantities(own=row["group"] in OWN_CONDITIONS)
    quantity, group = names.get(row["quantity"], row["quantity"]), CONDITION_NAMES.get(row["group"], row["group"])
    return sentence(row, f"{Model(row['model'], row['dtype'])} {quantity} ({group})")


def section(frames: Frames) -> Markup:
    """The section "since the last run" as a part of the page; empty where there is no run before."""
    if frames[CHANGES].empty or (found := since(frames[CHANGES], frames[NUMBERS])) is None:
        return Markup()
    words = template(__name__, "since.html", {"sentence": _in_words})
    return Markup(words.render(since=found, most=MOST_LINES, page=HISTORY_PAGE))


def write_history(
    frames: Frames, folder: Path, card: StudyCard, pictures: Sequence[tuple[Drawn, Pictures]]
) -> str:  # fmt: skip
    """Writes the page "over time" into `folder` and returns its name; without a second run nothing, and ""."""
    if frames[CHANGES].empty:
        return ""
    filters = {"cell": cell, "heading": heading, "numeric": numeric}
    written(
        __name__, "history.html", "", filters, card=card, pictures=pictures, runs=frames[RUNS],
        numbers=frames[NUMBERS], since=section(frames), most=MOST_LINES * 10,
    ).dump(str(folder / HISTORY_PAGE), encoding="utf-8")  # fmt: skip
    return HISTORY_PAGE
