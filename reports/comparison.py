"""Texts and pages of a comparison: "since the last run", the page "over time", and the page of two runs.

Facts, questions and replies come from the web and from models: texts are escaped for a terminal, templates escape all.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from swaymeter.data.dataset.comparison import (
    DOWN,
    UP,
    Comparison,
    FlippedReply,
    Snapshot,
    compare_items,
    group_of,
    model_pairs,
    models_of,
)
from swaymeter.data.dataset.differences import Change, Changed, Difference, RelationDifference, Value
from swaymeter.data.escaping import visible
from swaymeter.data.records import OWN_CONDITIONS, Question
from swaymeter.data.records.findings import StudyCard
from swaymeter.reports.estimates import estimate, number, verdict
from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.models import HISTORY_PAGE, Model, in_short, question_address
from swaymeter.reports.page.shell import cell, heading, numeric, template, written
from swaymeter.reports.words import CONDITION_NAMES, quantities

CHANGES, NUMBERS, RUNS = "changes_since_last_run", "headline_numbers_over_time", "runs_over_time"
HISTORY_QUERIES = (CHANGES, NUMBERS, RUNS)
PAGE = "swaymeter.reports.page"
MAX_LINES, MAX_REPLIES = 40, 400
"""Changes of one sort on the page of a study, and flipped replies on the page of two runs."""
LONGEST = 160
"""Characters of a text that are shown; a longer text is cut, and its length shown."""
COMMON = 40
"""Characters that are shown before the first in which two long texts differ."""
MISSING = "none"
NAMES = {
    "subject": "name", "subject_id": "Wikidata id", "object_id": "object's Wikidata id", "subject_uri": "IRI",
    "object_uri": "object's IRI", "other_objects": "further objects", "subject_degree": "degree",
    "subject_relation_degree": "degree in the relation", "object_degree": "object's degree",
    "object_relation_degree": "object's degree in the relation", "property_id": "property's Wikidata id",
    "replacement": "counter-memory answer", "replacement_id": "counter-memory answer's Wikidata id",
    "original_context": "context", "counter_memory_context": "counter-memory context",
    "hidden_edits": "hidden edits", "subject_popularity": "page views", "object_popularity": "object's page views",
}  # fmt: skip
"""Labels of the fields of a fact or a question that differ from the field's name."""
NOTE = (
    "n: replies (or queries) of both runs, and the number of subjects (questions without a subject; entities) that "
    "intervals are over. larger, smaller: p is at most 0.05 after Benjamini-Hochberg, over the verdicts on right and "
    "wrong passages, and over all others; equal: the interval lies within the margin; undecided: neither is shown."
)


@dataclass(frozen=True)
class Reply:
    """A flipped reply as text.

    Attributes:
        question: The question.
        condition: Type of the context.
        models: The model, or both models.
        before: The reply before, or in A.
        verdict_before: Its verdict.
        after: The reply now, or in B.
        verdict: Its verdict.
        addresses: Addresses of both replies on pages of answers; empty without a page.
    """

    question: str
    condition: str
    models: str
    before: str
    verdict_before: str
    after: str
    verdict: str
    addresses: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class NumberTable:
    """The paired differences of two models as texts.

    Attributes:
        title: Title of the table.
        columns: Names of the columns.
        rows: A row for each headline number.
        moved: Number of rows that are larger or smaller.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    moved: int


class RunChanges(NamedTuple):
    """The changes of a completed run of a study.

    Attributes:
        run: Number of the run.
        before: Time of the run before.
        comparison: The changes.
    """

    run: int
    before: str
    comparison: Comparison


# ---- texts -----------------------------------------------------------------------------------------------------------


def short(text: str) -> str:
    """Return the visible text, cut if it is long."""
    return visible(text) if len(text) <= LONGEST else f"{visible(text[:LONGEST])}… ({len(text)} characters)"


def settings(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return the settings that differ: name, value before, value after."""
    rows = []
    for change in comparison.settings:
        texts = (MISSING if value is None else str(json.loads(value)) for value in (change.before, change.after))
        before, after = _from_first_difference(*texts)
        rows.append((change.name, short(before), short(after)))
    return rows


def sources(difference: Difference) -> dict[str, list[tuple[str, str]]]:
    """Return the changes of facts and questions by relation, each a sign and a line."""
    lines = {
        f"{kind}: {relation.relation}": list(source_lines(relation))
        for kind, relations in (("facts", difference.relations), ("questions", difference.questions))
        for relation in relations
    }
    return {relation: changes for relation, changes in lines.items() if changes}


def source_lines(relation: RelationDifference) -> Iterator[tuple[str, str]]:
    """Yield the changes of a relation: a sign (- gone, + added, ~ changed) and a line."""
    for sign, rows in (("-", relation.gone), ("+", relation.added)):
        for row in rows:
            partition = f" ({row.partition})" if isinstance(row, Question) else ""
            yield sign, f"{short(row.subject)} → {short(row.object)}{partition}"
    for changed in sorted(relation.changed, key=_only_counts):
        row = changed.old  # a page may have several disputes, so that a dispute is named with its answer
        disputed = isinstance(row, Question) and row.partition == "disputable"
        subject = short(f"{row.subject} ({row.object})" if disputed else row.subject)
        yield "~", f"{subject}: {'; '.join(map(_change_text, changed.changes))}"


def _only_counts(changed: Changed) -> bool:
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


def _change_text(change: Change) -> str:
    """Return a field's old and new value, or the names that were added to a list and removed from it."""
    name, old, new = NAMES.get(change.field, change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {short(value)}" for value in old if value not in new]
        signed += [f"+ {short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        old, new = _from_first_difference(old, new)
    return f"{name} {_value(old)} → {_value(new)}"


def _from_first_difference(old: str, new: str) -> tuple[str, str]:
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))
    return (f"…{old[same - COMMON :]}", f"…{new[same - COMMON :]}") if same > LONGEST - COMMON else (old, new)


def _value(value: Value) -> str:
    return MISSING if value is None else short(str(value))


def replies(comparison: Comparison, reports: tuple[str, str] = ("", "")) -> list[Reply]:
    """Return the flipped replies; reports: addresses of the folders of both reports, empty without a report."""
    return [_reply(flip, reports) for flip in comparison.flips]


def _reply(flip: FlippedReply, reports: tuple[str, str]) -> Reply:
    models = Model(*flip.before), Model(*flip.after)
    addresses = (
        f"{report}/{question_address(flip.question_id, model)}" if report else ""
        for report, model in zip(reports, models, strict=True)
    )
    before, after = (short(text) or "empty" for text in (flip.reply_before, flip.reply))
    return Reply(
        flip.question, flip.condition, ", ".join(dict.fromkeys(map(str, models))), before, flip.verdict_before, after,
        flip.verdict, (next(addresses), next(addresses)),
    )  # fmt: skip


def sentence(row: dict[str, Any], name: str) -> str:
    """Return how a headline number moved; name: label of the number."""
    unit, over = row["unit"], f"{int(row['n'])} {'queries' if row['quantity'] == 'susceptibility' else 'answers'}"
    before, after = (number(row[column], unit) for column in ("against_mean", "mean"))
    return f"{name}: {before} before, {after} now: {estimate(row, 'difference', signed=True)}, on the same {over}"


def number_tables(
    rows: Iterable[Mapping[str, Any]], name_of: Callable[[str, str], str], runs: tuple[str, str] = ("", "")
) -> list[NumberTable]:
    """Return a table of paired differences for every two models.

    Args:
        rows: Rows of `ModelDifference`.
        name_of: Function that names a quantity in a group.
        runs: Text before the names of the models.
    """
    by_pair: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        models = Model(row["model"], row["dtype"]), Model(row["against_model"], row["against_dtype"])
        by_pair.setdefault((f"{runs[0]}{models[0]}", f"{runs[1]}{models[1]}"), []).append(row)
    tables = []
    for pair, pair_rows in by_pair.items():
        cells = [
            (
                name_of(row["quantity"], group_of(row)),
                str(row["n"]) if row["clusters"] == row["n"] else f"{row['n']} in {row['clusters']}",
                number(row["mean"], row["unit"]), number(row["against_mean"], row["unit"]),
                estimate(row, "difference", signed=True), verdict(row),
            )
            for row in pair_rows
        ]  # fmt: skip
        names = in_short(pair)
        columns = ("quantity", "n", *(names.names[name] for name in pair), "difference [95%]", "verdict")
        moved = sum(row["verdict"] in (UP, DOWN) for row in pair_rows)
        tables.append(NumberTable(names.titled(" against ".join(columns[2:4])), columns, cells, moved))
    return tables


# ---- one study over time ---------------------------------------------------------------------------------------------


def changes_of_run(changes: pd.DataFrame, numbers: pd.DataFrame) -> RunChanges | None:
    """Return the changes of a run; None for the first run.

    Args:
        changes: Rows of `changes_of_runs` of the run.
        numbers: Rows of `headline_numbers_over_time`.
    """
    rows = records(changes.astype(object).where(changes.notna(), None))
    states = {"state_before": dict[Any, str](), "state": dict[Any, str]()}
    for row in rows:
        for column, items in states.items():
            if row[column]:
                items[row["kind"], row["model"], row["dtype"], row["item"]] = row[column]
    run = next((row for row in rows if row["kind"] == "run"), None)
    if run is None:
        return None
    before, now = (json.loads(run[column] or "{}") for column in states)
    rows_of_runs = [records(numbers[numbers["run"] == run.get("run")]) for run in (before, now)]
    models = (  # an unchanged model has no changes, but headline numbers
        models_of(items) | {(row["model"], row["dtype"]) for row in rows}
        for items, rows in zip(states.values(), rows_of_runs, strict=True)
    )
    pairs = model_pairs(*models, over_time=True)
    paired = [_paired(row) for row in rows_of_runs[1] if not pd.isna(row["change"])]
    snapshots = [Snapshot.from_items(items) for items in states.values()]
    comparison = compare_items(snapshots[0], snapshots[1], pairs, paired)
    return RunChanges(now["run"], before.get("completed_at", ""), comparison)


def _paired(row: dict[str, Any]) -> dict[str, Any]:
    """Return the paired difference of a stored headline number, in the columns of `Comparison.numbers`."""
    return {
        **{name: row[name] for name in ("model", "dtype", "quantity", "group", "unit", "p", "p_adjusted", "verdict")},
        "against_model": row["model"], "against_dtype": row["dtype"], "n": row["same"],
        "mean": row["mean_before"] + row["change"], "against_mean": row["mean_before"], "difference": row["change"],
        "low": row["change_low"], "high": row["change_high"], "margin": None, "untestable": None,
    }  # fmt: skip


def _in_words(row: dict[str, Any]) -> str:
    names = quantities(own=row["group"] in OWN_CONDITIONS)
    quantity, group = names.get(row["quantity"], row["quantity"]), CONDITION_NAMES.get(row["group"], row["group"])
    return sentence(row, f"{Model(row['model'], row['dtype'])} {quantity} ({group})")


def section(frames: Frames) -> Markup:
    """Return the section "since the last run" of the page; empty without a run before."""
    if frames[CHANGES].empty or (changes := changes_of_run(frames[CHANGES], frames[NUMBERS])) is None:
        return Markup()
    comparison = changes.comparison
    words = template(PAGE, "since.html", {"sentence": _in_words})
    return Markup(words.render(
        before=changes.before, comparison=comparison, settings=settings(comparison),
        sources=sources(comparison.sources), replies=replies(comparison), most=MAX_LINES, page=HISTORY_PAGE,
    ))  # fmt: skip


def write_history(frames: Frames, folder: Path, card: StudyCard, pictures: Sequence[tuple[Drawn, Pictures]]) -> str:
    """Write the page "over time" into `folder` and return its name; "" without a second run."""
    if frames[CHANGES].empty:
        return ""
    filters = {"cell": cell, "heading": heading, "numeric": numeric}
    written(
        PAGE, "history.html", "", filters, card=card, pictures=pictures, runs=frames[RUNS],
        numbers=frames[NUMBERS], since=section(frames), most=MAX_LINES * 10,
    ).dump(str(folder / HISTORY_PAGE), encoding="utf-8")  # fmt: skip
    return HISTORY_PAGE


# ---- two runs --------------------------------------------------------------------------------------------------------


def write_two_runs(
    file: Path, comparison: Comparison, tables: Sequence[NumberTable], rejected: Sequence[str],
    names: tuple[str, str], reports: tuple[str, str],
) -> None:  # fmt: skip
    """Write the page of two runs.

    Args:
        file: The page; its folder exists.
        comparison: The changes from A to B.
        tables: A table for every two models.
        rejected: Lines on the items that only one run has.
        names: Names of A and B.
        reports: Addresses of the folders of both reports, from the page; empty without a report.

    Raises:
        OSError: The page cannot be written.
    """
    written(
        PAGE, "two_runs.html", "", {}, card={"name": " and ".join(names)}, runs=names, reports=reports,
        replies=replies(comparison, reports), others=comparison.others, tables=tables, settings=settings(comparison),
        sources=sources(comparison.sources), rejected=rejected, note=NOTE, most=MAX_REPLIES,
    ).dump(str(file), encoding="utf-8")  # fmt: skip
