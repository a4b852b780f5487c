"""Changes between two runs: lines and tables for the terminal, JSON, two pages, and a section of a study's page.

The page "over time" has all runs, the page "two runs" compares runs A and B, and the section is "since the last run".

Facts, questions and replies come from the web and from models. This module escapes them for the terminal, and the
templates escape them for HTML.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import (
    DOWN,
    UP,
    ChangedRow,
    Comparison,
    DatasetChanges,
    FieldChange,
    FlippedReply,
    Pair,
    RelationChanges,
    RunChanges,
    Value,
    group_of,
)
from swaymeter.data.escaping import visible
from swaymeter.data.records import OWN_CONDITIONS, Fact, Question, as_row
from swaymeter.data.records.findings import StudyCard
from swaymeter.reports.estimates import direction, estimate, number
from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.frames import Frames, records, where
from swaymeter.reports.models import HISTORY_PAGE, Model, question_address, short_names
from swaymeter.reports.page.shell import cell, heading, numeric, page_stream, template
from swaymeter.reports.words import CONDITION_NAMES, quantities, threshold_name

LAST_CHANGES, NUMBERS, RUNS_OVER_TIME = "changes_since_last_run", "headline_numbers_over_time", "runs_over_time"
HISTORY_QUERIES = (LAST_CHANGES, NUMBERS, RUNS_OVER_TIME)
"""Named queries with the changes since the last run, the headline numbers of all runs, and all runs."""
PAGE = "swaymeter.reports.page"
MAX_PAGE_LINES, MAX_REPLIES = 40, 400
"""Upper bounds: changes of one kind on the page of a study, and flipped replies on the page of two runs."""
MAX_TERMINAL_LINES = 20
"""Upper bound on changes of one kind in the terminal."""
MAX_TEXT = 160
"""Upper bound on characters of a text; a longer text is cut, and its length shown."""
SHARED_PREFIX = 40
"""Characters that are shown before the first difference of two long texts."""
MISSING = "none"
"""Text of a setting or field without a value."""
NAMES = {
    "subject": "name",
    "subject_id": "Wikidata id",
    "object_id": "object's Wikidata id",
    "subject_uri": "IRI",
    "object_uri": "object's IRI",
    "other_objects": "further objects",
    "subject_degree": "degree",
    "subject_relation_degree": "degree in the relation",
    "object_degree": "object's degree",
    "object_relation_degree": "object's degree in the relation",
    "property_id": "property's Wikidata id",
    "replacement": "counter-memory answer",
    "replacement_id": "counter-memory answer's Wikidata id",
    "original_context": "context",
    "counter_memory_context": "counter-memory context",
    "hidden_edits": "hidden edits",
    "subject_popularity": "page views",
    "object_popularity": "object's page views",
}
"""Names shown for fields of facts and questions. A field without an entry is shown under its own name."""
NOTE = (
    "n: the number of replies (or queries) that both runs have; 40 in 20 are 40 replies of 20 units. Intervals are "
    "over units. A unit of replies is a subject, or a question without a subject; a unit of queries is an entity. "
    "difference: A - B. larger, smaller: A's mean is larger or smaller than B's, and p is at most 0.05 after "
    "Benjamini-Hochberg, which is applied to the numbers on right and wrong passages, and separately to all other "
    "numbers; equal: the interval lies within the margin; undecided: neither a difference nor equality is demonstrated."
)
"""Note below the tables of the page of two runs, A and B."""


@dataclass(frozen=True)
class Reply:
    """A flipped reply as text.

    Attributes:
        question: The question.
        condition: Type of the context.
        models: The model; both models if the models of the two runs differ.
        before: The reply in the previous run, or in run A.
        verdict_before: Verdict of `before`.
        after: The reply in the last run, or in run B.
        verdict: Verdict of `after`.
        addresses: Addresses of `before` and `after` on pages of answers; empty texts without a page.
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
    """A table of texts, such as the paired differences of two models.

    Attributes:
        title: Title of the table.
        columns: Names of the columns.
        rows: Cells of each row.
        moved: Number of rows with the direction "larger" or "smaller".
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    moved: int = 0


# ---- texts -----------------------------------------------------------------------------------------------------------


def short(text: str) -> str:
    """Return the text with control characters made visible, cut if it is long."""
    return visible(text) if len(text) <= MAX_TEXT else f"{visible(text[:MAX_TEXT])}… ({len(text)} characters)"


def settings(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return the name of each setting that differs, its value before and its value after."""
    rows = []
    for change in comparison.settings:
        texts = (MISSING if value is None else str(json.loads(value)) for value in (change.before, change.after))
        before, after = _from_first_difference(*texts)
        rows.append((change.name, short(before), short(after)))
    return rows


def source_changes(dataset_changes: DatasetChanges) -> dict[str, list[tuple[str, str]]]:
    """Return changed facts and questions by kind and relation, such as "facts: capital"; see `source_lines`."""
    lines = {
        f"{kind}: {relation.relation}": list(source_lines(relation))
        for kind, relations in (("facts", dataset_changes.relations), ("questions", dataset_changes.questions))
        for relation in relations
    }
    return {relation: changes for relation, changes in lines.items() if changes}


def source_lines(relation: RelationChanges) -> Iterator[tuple[str, str]]:
    """Yield the changes of a relation at its source: a sign (- gone, + added, ~ changed) and a line."""
    for sign, rows in (("-", relation.gone), ("+", relation.added)):
        for row in rows:
            partition = f" ({row.partition})" if isinstance(row, Question) else ""
            yield sign, f"{short(_subject_or_question(row))} → {short(row.object)}{partition}"
    for changed in sorted(relation.changed, key=_has_only_new_counts):  # rows with only new counts come last
        row = changed.old
        subject = _subject_or_question(row)
        if isinstance(row, Question) and row.partition == "disputable":  # a page may have several disputes
            subject = f"{row.subject} ({row.object})"
        yield "~", f"{short(subject)}: {'; '.join(map(_change_text, changed.changes))}"


def _subject_or_question(row: Fact | Question) -> str:
    return row.subject or (row.question if isinstance(row, Question) else "")


def _has_only_new_counts(changed: ChangedRow) -> bool:
    """Return True if only degrees or page views changed."""
    return all(change.field.endswith(("degree", "popularity")) for change in changed.changes)


def _change_text(change: FieldChange) -> str:
    name, old, new = NAMES.get(change.field, change.field), change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        signed = [f"- {short(value)}" for value in old if value not in new]
        signed += [f"+ {short(value)}" for value in new if value not in old]
        return f"{name} {', '.join(signed)}"
    if isinstance(old, str) and isinstance(new, str):
        old, new = _from_first_difference(old, new)
    return f"{name} {_value(old)} → {_value(new)}"


def _from_first_difference(old: str, new: str) -> tuple[str, str]:
    """Return two texts without a long common beginning, so that `short` keeps their first difference."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    if common <= MAX_TEXT - SHARED_PREFIX:
        return old, new
    start = common - SHARED_PREFIX
    return f"…{old[start:]}", f"…{new[start:]}"


def _value(value: Value) -> str:
    return MISSING if value is None else short(str(value))


def replies(comparison: Comparison, reports: tuple[str, str] = ("", "")) -> list[Reply]:
    """Return the flipped replies as texts.

    Args:
        comparison: The changes between two runs.
        reports: Addresses of the folders of both reports; empty without a report.
    """
    return [_reply(flip, reports) for flip in comparison.flips]


def _reply(flip: FlippedReply, reports: tuple[str, str]) -> Reply:
    models = Model(*flip.before), Model(*flip.after)
    addresses = (
        f"{report}/{question_address(flip.question_id, model)}" if report else ""
        for report, model in zip(reports, models, strict=True)
    )
    before, after = (short(text) or "empty" for text in (flip.reply_before, flip.reply))
    return Reply(
        flip.question,
        flip.condition,
        ", ".join(dict.fromkeys(map(str, models))),
        before,
        flip.verdict_before,
        after,
        flip.verdict,
        (next(addresses), next(addresses)),
    )


def change_lines(comparison: Comparison, limit: int = MAX_TERMINAL_LINES) -> list[str]:
    """Return lines on the settings, facts, questions and replies that changed; at most `limit` of a kind."""
    changes_of_kind = {"setting": [f"{name}: {before} → {after}" for name, before, after in settings(comparison)]}
    for relation, rows in source_changes(comparison.dataset_changes).items():
        changes_of_kind[relation] = [f"{sign} {line}" for sign, line in rows]
    changes_of_kind["flipped reply"] = [
        f"{reply.question} ({reply.condition}, {reply.models}): {reply.before} ({reply.verdict_before}) → "
        f"{reply.after} ({reply.verdict})"
        for reply in replies(comparison)
    ]
    lines = []
    for kind, changes in changes_of_kind.items():
        lines += [f"{kind}: {line}" for line in changes[:limit]]
        if len(changes) > limit:
            lines.append(f"{kind}: … and {len(changes) - limit} more; --json has all")
    return lines + [f"replies {kind}: {count}" for kind, count in comparison.other_replies.items()]


def unmatched_lines(unmatched: Mapping[Pair, Mapping[str, Sequence[tuple[str, str]]]]) -> list[str]:
    """Return lines on the items that only one of two runs has, with the headline numbers that leave them out.

    Args:
        unmatched: For each pair of models and each reason, such as "3 of 5 in A not asked in B", the quantities and
            groups of the headline numbers. Pairs of models with equal reasons and numbers share a line.
    """
    pairs_by_text: dict[str, list[str]] = {}
    for models, reasons in unmatched.items():
        texts = (f"{reason} ({', '.join(threshold_name(*row) for row in rows)})" for reason, rows in reasons.items())
        pair = " against ".join(f"{run}: {Model(*model)}" for run, model in zip("AB", models, strict=True))
        pairs_by_text.setdefault("; ".join(texts), []).append(pair)
    return [f"{' and '.join(pairs)}: {text}" for text, pairs in pairs_by_text.items()]


def sentence(row: dict[str, Any], name: str) -> str:
    """Return a sentence on the change of a headline number.

    Args:
        row: Row of the change; `against_mean` has the mean before the change.
        name: Name of the headline number in the sentence.
    """
    unit, items = row["unit"], f"{int(row['n'])} {'queries' if row['quantity'] == 'susceptibility' else 'answers'}"
    before, after = (number(row[column], unit) for column in ("against_mean", "mean"))
    return f"{name}: {before} before, {after} now: {estimate(row, 'difference', signed=True)}, on the same {items}"


def number_tables(rows: Iterable[Mapping[str, Any]], runs: tuple[str, str] = ("", "")) -> list[NumberTable]:
    """Return a table of paired differences for each pair of models.

    Args:
        rows: Rows of `ModelDifference`.
        runs: Texts before the names of the two models, such as "A: " and "B: ".
    """
    by_pair: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        models = Model(row["model"], row["dtype"]), Model(row["against_model"], row["against_dtype"])
        by_pair.setdefault((f"{runs[0]}{models[0]}", f"{runs[1]}{models[1]}"), []).append(row)
    tables = []
    for pair, pair_rows in by_pair.items():
        cells = [
            (
                threshold_name(row["quantity"], group_of(row)),
                str(row["n"]) if row["clusters"] == row["n"] else f"{row['n']} in {row['clusters']}",
                number(row["mean"], row["unit"]),
                number(row["against_mean"], row["unit"]),
                estimate(row, "difference", signed=True),
                direction(row),
            )
            for row in pair_rows
        ]
        names = short_names(pair)
        columns = ("quantity", "n", *(names.names[name] for name in pair), "difference [95%]", "direction")
        moved = sum(row["direction"] in (UP, DOWN) for row in pair_rows)
        tables.append(NumberTable(names.titled(" against ".join(columns[2:4])), columns, cells, moved))
    return tables


# ---- one study over time ---------------------------------------------------------------------------------------------


def _change_sentence(row: dict[str, Any]) -> str:
    names = quantities(own=row["group"] in OWN_CONDITIONS)
    quantity, group = names.get(row["quantity"], row["quantity"]), CONDITION_NAMES.get(row["group"], row["group"])
    return sentence(row, f"{Model(row['model'], row['dtype'])} {quantity} ({group})")


def history_tables(frames: Frames, run: int) -> tuple[NumberTable, list[NumberTable]]:
    """Return a table of all runs, and for each model a table of the headline numbers of the run numbered `run`."""
    runs = frames[RUNS_OVER_TIME].astype(object).where(frames[RUNS_OVER_TIME].notna(), "")
    runs["completed_at"] = [str(moment)[:16].replace("T", " ") for moment in runs["completed_at"]]
    cells = [tuple(map(str, row)) for row in runs.itertuples(index=False)]
    all_runs = NumberTable("", tuple(str(name).replace("_", " ") for name in runs), cells)
    columns = ("headline number", "n", "mean [95%]", "paired change [95%]", "direction")
    rows: dict[str, list[tuple[str, ...]]] = {}
    for row in records(where(frames[NUMBERS], run=run)):
        name = threshold_name(row["quantity"], row["group"])
        cells_of_number = (name, str(row["n"]), estimate(row), *number_change(row))
        rows.setdefault(str(Model(row["model"], row["dtype"])), []).append(cells_of_number)
    return all_runs, [NumberTable(f"Run {run}, {model}", columns, cells) for model, cells in rows.items()]


def run_lines(run: int, changes: RunChanges | None) -> Iterator[str]:
    """Yield lines on the changes of one run since the previous run; `changes` is None for the first run."""
    if changes is None:
        yield f"run {run} is the first: nothing to compare it with"
    elif not changes.comparison.differs:
        yield f"since the run of {changes.before}: nothing has changed"
    else:
        yield f"since the run of {changes.before}:"
        moved = [f"moved: {sentence(row, number_name(row))}" for row in changes.comparison.moved]
        numbers = moved or ["no headline number moved significantly"]
        yield from (f"  {line}" for line in (*numbers, *change_lines(changes.comparison)))


def number_name(row: Mapping[str, Any]) -> str:
    """Return the name of a headline number and its model."""
    return f"{threshold_name(row['quantity'], row['group'])} of {Model(row['model'], row['dtype'])}"


def number_change(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the change of a headline number and its direction in words; two empty texts without a comparison."""
    if pd.isna(row["change"]):
        return "", ""
    if row["change"] == 0 and pd.isna(row["change_low"]):
        return "nothing changed", ""
    ends = {"low": row["change_low"], "high": row["change_high"]}
    return estimate({**row, **ends}, "change", signed=True), direction({**row, "margin": None, "untestable": None})


def section(changes: RunChanges | None) -> Markup:
    """Return the section "since the last run" of the page.

    The section is empty for the first run. It is also empty if the runs differ, but no headline number can be compared,
    no reply flipped, and no fact or question changed.
    """
    if changes is None:
        return Markup()
    comparison = changes.comparison
    if comparison.differs and not (
        comparison.numbers or replies(comparison) or source_changes(comparison.dataset_changes)
    ):
        return Markup()
    since = template(PAGE, "since.html", {"sentence": _change_sentence})
    return Markup(
        since.render(
            before=changes.before,
            comparison=comparison,
            settings=settings(comparison),
            sources=source_changes(comparison.dataset_changes),
            replies=replies(comparison),
            limit=MAX_PAGE_LINES,
            page=HISTORY_PAGE,
        )
    )


def write_history(
    frames: Frames, folder: Path, card: StudyCard, pictures: Sequence[tuple[DrawnFigure, Pictures]], changes: RunChanges
) -> str:
    """Write the page "over time" into `folder` and return its name."""
    filters = {"cell": cell, "heading": heading, "numeric": numeric}
    page_stream(
        PAGE,
        "history.html",
        "",
        filters,
        card=card,
        pictures=pictures,
        runs=frames[RUNS_OVER_TIME],
        numbers=frames[NUMBERS],
        since=section(changes),
        limit=MAX_PAGE_LINES * 10,  # rows of a table of all runs
    ).dump(str(folder / HISTORY_PAGE), encoding="utf-8")
    return HISTORY_PAGE


# ---- JSON ------------------------------------------------------------------------------------------------------------


def comparison_json(comparison: Comparison | None, **others: object) -> str:
    """Return a comparison and other values as JSON in ASCII, so that no text can control the terminal."""
    changes = {} if comparison is None else _comparison_dict(comparison)
    return json.dumps({**others, **changes}, indent=2, default=str)


def _comparison_dict(comparison: Comparison) -> dict[str, Any]:
    dataset_changes = comparison.dataset_changes
    settings = [
        {"name": name, "before": before and json.loads(before), "after": after and json.loads(after)}
        for name, before, after in comparison.settings
    ]
    return {
        "differs": comparison.differs,
        "settings": settings,
        "facts": _sources_dict(dataset_changes.relations, dataset_changes.not_compared),
        "questions": _sources_dict(dataset_changes.questions, dataset_changes.questions_not_compared),
        "flipped_replies": [flip._asdict() for flip in comparison.flips],
        "other_replies": comparison.other_replies,
        "numbers": comparison.numbers,
    }


def _sources_dict(relations: Sequence[RelationChanges], not_compared: Sequence[str]) -> dict[str, Any]:
    return {"not_compared": not_compared, "relations": {each.relation: _relation_dict(each) for each in relations}}


def _relation_dict(relation: RelationChanges) -> dict[str, Any]:
    rows = {name: [as_row(row) for row in getattr(relation, name)] for name in ("added", "gone")}
    return {**rows, "changed": [_changed_dict(changed) for changed in relation.changed], "same": relation.same}


def _changed_dict(changed: ChangedRow) -> dict[str, Any]:
    identity = ("subject_id", "property_id", "page", "object", "partition")
    names = ("subject", *(("subject_uri",) if isinstance(changed.new, Fact) else identity))
    changes = [{"field": change.field, "from": change.old, "to": change.new} for change in changed.changes]
    return {**{name: getattr(changed.new, name) for name in names}, "changes": changes}


def dataset_rows(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Return the path, counts, version and sources of both datasets, for JSON."""
    return {side: _dataset_dict(snapshot.dataset) for side, snapshot in zip("ab", comparison.snapshots, strict=True)}


def _dataset_dict(dataset: Dataset) -> dict[str, Any]:
    counts = {"facts": len(dataset.facts), "questions": len(dataset.questions)}
    about = {name: getattr(dataset, name) for name in ("version", "sources", "retrieved", "warnings")}
    return {"path": str(dataset.path), **counts, **about}


def history_json(frames: Mapping[str, pd.DataFrame], changes: RunChanges | None) -> str:
    """Return every run, the headline numbers of all runs, and the changes of one run as JSON."""
    rows = {
        name: records(frames[name].astype(object).where(frames[name].notna(), None))
        for name in (RUNS_OVER_TIME, NUMBERS)
    }
    last = None
    if changes is not None:
        last = {"run": changes.run, "before": changes.before, **_comparison_dict(changes.comparison)}
    return comparison_json(None, runs=rows[RUNS_OVER_TIME], numbers=rows[NUMBERS], changes=last)


# ---- two runs --------------------------------------------------------------------------------------------------------


def write_two_runs(
    file: Path,
    comparison: Comparison,
    tables: Sequence[NumberTable],
    unmatched: Sequence[str],
    names: tuple[str, str],
    reports: tuple[str, str],
) -> None:
    """Write the page of two runs.

    Args:
        file: The page; its folder exists.
        comparison: The changes from A to B. A difference of two headline numbers is A - B.
        tables: A table for each pair of models.
        unmatched: Lines on the items that only one run has.
        names: Names of A and B.
        reports: Addresses of the folders of both reports, relative to the page; empty without a report.

    Raises:
        OSError: The page cannot be written.
    """
    page_stream(
        PAGE,
        "two_runs.html",
        "",
        {},
        card={"name": " and ".join(names)},
        runs=names,
        reports=reports,
        replies=replies(comparison, reports),
        other_replies=comparison.other_replies,
        tables=tables,
        settings=settings(comparison),
        sources=source_changes(comparison.dataset_changes),
        unmatched=unmatched,
        note=NOTE,
        limit=MAX_REPLIES,
    ).dump(str(file), encoding="utf-8")
