"""The page: one HTML file that loads no other file.

All texts are escaped, because texts come from models and from the web.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.catalog import paper_items, papers
from swaymeter.data.digests import integrity
from swaymeter.data.records.findings import Findings, StudyCard
from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import EQUIVALENCE, MAX_NAMED, stand_in_words
from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.figures.rendering import Pictures
from swaymeter.reports.figures.susceptibility import BY_RELATION
from swaymeter.reports.findings import FINDINGS, basis
from swaymeter.reports.frames import Frames, are_own, records
from swaymeter.reports.models import (
    EVERY_MODEL,
    RUNS,
    Model,
    base_model,
    by_size,
    models,
    query_address,
    question_address,
    relation_address,
    rows_of,
)
from swaymeter.reports.page.bars import groups, legend
from swaymeter.reports.page.shell import asset, cell, heading, linked, numeric, page_stream, template
from swaymeter.reports.page.tooltips import question_texts, tooltips
from swaymeter.reports.tables import FilledTable
from swaymeter.reports.words import CONDITION_NAMES, outcome

__all__ = ["MAX_ROWS", "cell", "heading", "in_common", "linked", "page"]

MAX_ROWS = 40
"""Upper bound on rows of a table; the CSV has all rows."""
MAX_LINES = 3
"""Upper bound on findings at the top of the page; a finding has one line."""
OPEN_CAVEATS = 2
"""Number of caveats that are not folded."""
MAX_PASSAGE = 700
"""Upper bound on characters of a passage beside a reply; the page of answers has the whole passage."""


@dataclass(frozen=True)
class Question:
    """A question on the page, such as "Which kind of context persuades most?", with a figure of each model."""

    text: str
    pictures: Sequence[tuple[DrawnFigure, Pictures]]
    shared: str
    """Sentences that all captions share."""
    captions: Sequence[str]
    """Caption of each figure without the shared sentences."""


def page(
    card: StudyCard,
    findings: Findings,
    pictures: Sequence[tuple[DrawnFigure, Pictures]],
    omitted: Sequence[str],
    tables: Sequence[FilledTable],
    frames: Frames,
    *,
    example: str = "",
    answers: str = "",
    queries: str = "",
    since: str = "",
) -> str:
    """Return the page as HTML.

    Args:
        card: Settings of the study.
        findings: Headline, details and caveats.
        pictures: The drawn figures and their pictures.
        omitted: Questions of figures that are not drawn.
        tables: The tables with their rows.
        frames: Frames by named query.
        example: Part of the page with the example, as HTML.
        answers: File of the page of answers; empty without one.
        queries: File of the page of queries; empty without one.
        since: Part of the page on changes since the last run, as HTML.
    """
    overview = next(iter(records(frames["overview"])), {})
    relations = frozenset(frames["chosen_queries"].get("relation", ()))
    kinds, (runs_alike, runs) = _kinds(frames), _shared_and_different(frames[RUNS])
    filters = {
        "cell": cell,
        "linked": linked,
        "numeric": numeric,
        "relation_address": relation_address,
        "without_empty": _without_empty,
        "heading": _users_heading if kinds["own"] else heading,
        "outcome": partial(outcome, own=kinds["own"]),
    }
    shown, folded = _open_and_folded(pictures, own=kinds["own"])
    scored = [str(model) for model in models_of(frames)]
    several = len({drawn.model for drawn, _ in pictures} - {EVERY_MODEL}) > 1
    mark_tooltips = {drawn.name: texts for drawn, picture in pictures if (texts := tooltips(drawn, picture))}
    script = asset("swaymeter.reports.page", "page.js")
    lines = [claim.line for claim in findings.headline if not claim.pictured][:MAX_LINES]
    css = asset("swaymeter.reports.page", "headline.css")
    pieces = page_stream(
        "swaymeter.reports.page",
        "page.html",
        css,
        filters,
        card=card,
        findings=findings,
        lines=lines,
        headline=headline(findings),
        worst=worst(frames, answers, several=len(scored) > 1),
        models=scored,
        base_models=[*dict.fromkeys(map(base_model, scored))],
        shown=shown,
        papers=folded,
        omitted=omitted,
        tables=tables,
        overview=overview,
        runs=runs,
        runs_alike=runs_alike,
        readings=frames["readings"],
        stand_ins=frames["stand_ins"],
        example=example,
        answers=answers,
        queries=queries,
        relations=relations,
        most_rows=MAX_ROWS,
        open_caveats=OPEN_CAVEATS,
        most_named=MAX_NAMED,
        several=several,
        basis=basis(frames),
        kinds=kinds,
        tooltips=mark_tooltips,
        question_texts=question_texts(frames),
        script=Markup(script),
        script_hash=integrity(script),
        since=since,
    )
    return "".join(pieces)


def headline(findings: Findings) -> Markup:
    """Return the headline figure as a part of the page; empty without one."""
    chart = findings.figure
    if chart is None:
        return Markup()
    largest = max((part.high or part.mean for bar in chart.bars for part in bar.parts), default=0.0)
    return Markup(
        template("swaymeter.reports.page", "headline.html", {}).render(
            chart=chart,
            groups=groups(chart),
            legend=legend(chart),
            stacked=chart.unit == SHARE,
            largest=largest,
            whiskers=any(part.low is not None for bar in chart.bars for part in bar.parts),
            several=any(bar.variant for bar in chart.bars),
            named=any(bar.name or bar.threshold for bar in chart.bars),
        )
    )


WORST_QUERIES = ("worst_replies",)
ANOTHER_ANSWER = "another answer or none"
"""Reason of an undecided verdict: the reply has the words of no expected answer."""


def worst(frames: Frames, answers: str, *, several: bool) -> Markup:
    """Return the worst replies with their passages as a part of the page; empty without such replies.

    Args:
        frames: Frames of `WORST_QUERIES`.
        answers: File of the page of answers; empty without one.
        several: True if replies come from several variants.
    """
    rows = _plain(frames["worst_replies"])
    if not rows or not answers:
        return Markup()
    filters = {"clipped": clipped, "question_address": lambda row: question_address(row["question_id"], _model(row))}
    return Markup(
        template("swaymeter.reports.page", "worst.html", filters).render(
            worst=rows, several=several, another_answer=ANOTHER_ANSWER
        )
    )


def clipped(text: str, length: int = MAX_PASSAGE) -> str:
    """Return a text, cut to `length` characters if it is longer."""
    return text if len(text) <= length else f"{text[:length].rstrip()} …"


def models_of(frames: Frames) -> list[Model]:
    """Return the models that have scores, by size."""
    names = {name for finding in FINDINGS for name in finding.queries} - {RUNS}
    return by_size({model for name in names for model in models(frames[name])})


def _kinds(frames: Frames) -> dict[str, bool]:
    """Return True for each kind of content that the study has, such as own questions."""
    query_frames = "susceptibility_summary", "persuasion_summary", "fisher_of_queries", "memorization_summary"
    return {
        "queries": any(len(frames[name]) for name in query_frames),
        "questions": len(frames["outcomes"]) > 0,
        "own": are_own(frames["outcomes"]),
        "labels": len(frames["susceptibility_by_label"]) > 0,
    }


_USERS_GROUPS = {"partition": "group", "relation": "group", "relations": "groups"}
"""Words of headings for a user's own questions."""


def _users_heading(column: str, unit: str = "") -> str:
    return heading(_USERS_GROUPS.get(column, column), unit)


def _without_empty(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.loc[:, ~rows.isna().all()] if len(rows) else rows


def _shared_and_different(rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return the values that all rows share, in words, and the frame without these columns; one row shares none."""
    rows = _without_empty(rows)
    alike = [str(name) for name in rows if len(rows) > 1 and rows[name].nunique(dropna=False) == 1]
    words = [f"{heading(name)} {cell(rows[name].iloc[0])}" for name in alike]
    return ", ".join(words), rows.drop(columns=alike)


def in_common(captions: Sequence[str]) -> tuple[str, list[str]]:
    """Return the sentences that all captions share, and the rest of each caption; a single caption shares nothing."""
    if len(captions) < 2:
        return "", list(captions)
    sentences = [re.split(r"(?<=\.)(?<!et al\.)(?<!Fig\.) ", caption) for caption in captions]
    shared = [sentence for sentence in sentences[0] if all(sentence in others for others in sentences)]
    return " ".join(shared), [" ".join(sentence for sentence in texts if sentence not in shared) for texts in sentences]


FIRST = (
    "front-of-variants",
    "susceptibility-by-label",
    "susceptibility-by-label-and-set",
    "persuasion-by-strength",
    "susceptibility-by-frequency",
    "fisher-against-susceptibility",
    "susceptibility-by-relation",
    "coherent-persuasion",
    "persuasion-by-kind",
    "entropy-without-against-persuasion",
)
"""Names of the most telling figures, the best first."""
_LABEL_FIGURE = "susceptibility-by-label"
MAX_OPEN = 3
"""Upper bound on questions whose figures are open; further figures are folded."""
FoldedQuestions = tuple[str, list[Question]]
"""A heading, and the folded questions below the heading."""


def _open_and_folded(
    pictures: Sequence[tuple[DrawnFigure, Pictures]], *, own: bool
) -> tuple[list[Question], list[FoldedQuestions]]:
    """Return the questions whose figures are open, the most preferred first, and the other questions by paper."""
    titles = {key: f"{paper.short}: {paper.title}" for key, paper in papers().items()}
    titles[""] = "More figures" if own else "Beyond the papers"
    names = list(dict.fromkeys(drawn.figure.name for drawn, _ in pictures))
    preferred = [name for name in FIRST if name in names]
    # Beside figures by label, figures outside FIRST and the figure by relation are folded, because they tell less.
    if not any(name.startswith(_LABEL_FIGURE) for name in preferred):
        preferred += [name for name in names if name not in FIRST]
    elif BY_RELATION.name in preferred:
        preferred.remove(BY_RELATION.name)
    shown: list[Question] = []
    by_paper: dict[str, list[Question]] = {key: [] for key in titles}
    for figure, pairs in groupby(pictures, key=lambda picture: picture[0].figure):
        pictures_of_models = list(pairs)
        question = Question(
            figure.question, pictures_of_models, *in_common([drawn.caption for drawn, _ in pictures_of_models])
        )
        paper = paper_items()[figure.items[0]].paper.key if figure.items and not own else ""
        (shown if figure.name in preferred[:MAX_OPEN] else by_paper[paper]).append(question)
    shown.sort(key=lambda question: preferred.index(question.pictures[0][0].figure.name))
    return shown, [(titles[key], questions) for key, questions in by_paper.items() if questions]


EXAMPLE_QUERIES = ("worked_query", "worked_question")
_FOLLOWS = {"context": "the context's", "original": "the original one", "other": "another one"}
"""Words for the answer that a greedy reply to a query begins with, by the column `follows`."""


def example(frames: Frames, answers: str, queries: str) -> Markup:
    """Return the example as a part of the page; empty without scores.

    Args:
        frames: Frames by named query.
        answers: File of the page of answers; empty without one.
        queries: File of the page of queries; empty without one.
    """
    query_rows, question_rows = (_plain(frames[name]) for name in EXAMPLE_QUERIES)
    log_contexts = math.log(query_rows[0]["contexts"]) if query_rows else 0.0  # upper bound on susceptibility, in nats
    own = are_own(frames["worked_question"])
    stand_in = (
        stand_in_words(rows_of(frames["stand_ins"], _model(question_rows[0])), EQUIVALENCE) if question_rows else ""
    )
    filters: dict[str, Callable[..., Any]] = {
        "cell": cell,
        "nats": _nats,
        "question_address": lambda row: question_address(row["question_id"], _model(row)),
        "query_address": query_address,
    }
    return Markup(
        template("swaymeter.reports.page", "example.html", filters).render(
            query=query_rows,
            question=question_rows,
            answers=answers,
            queries=queries,
            most=log_contexts,
            query_reply=_query_reply,
            question_reply=_question_reply,
            judge=stand_in,
            names=CONDITION_NAMES,
            unfinished=any(map(_is_cut_off, question_rows)),
            own=own,
            outcome=partial(outcome, own=own),
        )
    )


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: None if pd.isna(value) else value for name, value in row.items()} for row in records(frame)]


def _nats(value: float | None) -> str | None:
    return None if value is None else f"{cell(float(value))} nats"


def _query_reply(row: dict[str, Any]) -> str | None:
    if row["greedy"] is None:
        return None
    follows = f" ({_FOLLOWS[row['follows']]})" if row["follows"] in _FOLLOWS else ""
    return f"{row['greedy'] or 'empty'}{follows}"


def _question_reply(row: dict[str, Any]) -> str | None:
    if row["greedy"] is None:
        return None
    return f"{row['greedy']} … (unfinished)" if _is_cut_off(row) else row["greedy"] or "empty"


def _is_cut_off(row: dict[str, Any]) -> bool:
    return row["greedy"] is not None and row["state"] == "truncated"


def _model(row: dict[str, Any]) -> Model:
    return Model(row["model"], row["dtype"])
