"""The worked example that a page opens with: one query and one question with their contexts, answers and scores."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.reports.estimates import EQUIVALENCE, stood_in
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.models import Model, of_query, of_question, rows_of
from swaymeter.reports.page.shell import cell, template
from swaymeter.reports.style import CONDITION_NAMES

EXAMPLE_QUERIES = ("worked_query", "worked_question")
_FOLLOWS = {"context": "the context's", "original": "the original one", "other": "another one"}


def example(frames: Frames, answers: str, queries: str) -> Markup:
    """The example as a part of the page, empty without scores; answers, queries: their pages, where there are any."""
    query, question = (_plain(frames[name]) for name in EXAMPLE_QUERIES)
    most = math.log(query[0]["contexts"]) if query else 0.0
    judge = stood_in(rows_of(frames["stand_ins"], _model(question[0])), EQUIVALENCE) if question else ""
    filters: dict[str, Callable[..., Any]] = {
        "cell": cell, "nats": _nats, "of_question": lambda row: of_question(row["question_id"], _model(row)),
        "of_query": of_query,
    }  # fmt: skip
    return Markup(
        template("swaymeter.reports.page", "example.html", filters).render(
            query=query, question=question, answers=answers, queries=queries, most=most, greedy=_greedy, said=_said,
            judge=judge, names=CONDITION_NAMES, unfinished=any(map(_is_cut_off, question)),
        )
    )  # fmt: skip


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: None if pd.isna(value) else value for name, value in row.items()} for row in records(frame)]


def _nats(value: float | None) -> str | None:
    return None if value is None else f"{cell(float(value))} nats"


def _greedy(row: dict[str, Any]) -> str | None:
    if row["greedy"] is None:
        return None
    follows = f" ({_FOLLOWS[row['follows']]})" if row["follows"] in _FOLLOWS else ""
    return f"{row['greedy'] or 'empty'}{follows}"


def _said(row: dict[str, Any]) -> str | None:
    """The greedy answer to a question, marked where the limit of tokens cut it off."""
    if row["greedy"] is None:
        return None
    return f"{row['greedy']} … (unfinished)" if _is_cut_off(row) else row["greedy"] or "empty"


def _is_cut_off(row: dict[str, Any]) -> bool:
    return row["greedy"] is not None and row["finished"] is not None and not row["finished"]


def _model(row: dict[str, Any]) -> Model:
    return Model(row["model"], row["dtype"])
