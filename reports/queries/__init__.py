"""The page of queries: each query with its contexts, sorted by persuasion, the models side by side, and a search.

If a study has more than 500 queries, the page shows five queries of each relation and query type. The SQL of the named
query `chosen_queries` chooses them.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.digests import integrity
from swaymeter.data.records.findings import StudyCard
from swaymeter.reports.frames import records
from swaymeter.reports.models import QUERIES_PAGE, Model, file_slug, models
from swaymeter.reports.page.shell import asset, cell, page_stream

READ_QUERIES = (
    "chosen_queries",
    "contexts_of_chosen_queries",
    "greedy_of_chosen_queries",
    "tokens_of_chosen_queries",
)
"""Named queries (SQL) whose frames the page shows."""
Key = tuple[str, str, str, Model]
"""Relation, query, context and model."""
_FOLLOWS = {"context": "● ", "original": "○ "}
"""Mark before a greedy reply that states the context's answer, or the original answer."""


def write_queries(frames: Mapping[str, pd.DataFrame], folder: Path, card: StudyCard) -> str:
    """Write the page into `folder` and return its file name; write nothing and return "" without scores of queries."""
    chosen, scored = frames["chosen_queries"], frames["contexts_of_chosen_queries"]
    if chosen.empty or scored.empty:
        return ""
    shown_models = models(scored)
    filters = {"cell": cell, "slug": file_slug}
    css, script = (asset(__name__, f"queries.{kind}") for kind in ("css", "js"))
    page_stream(
        __name__,
        "queries.html",
        css,
        filters,
        card=card,
        models=shown_models,
        relations=_by_relation(frames, shown_models),
        counts=_counts(frames),
        script=Markup(script),
        script_hash=integrity(script),
        greedy=bool(scored["greedy"].notna().any()),
        tokens=not frames["tokens_of_chosen_queries"].empty,
    ).dump(str(folder / QUERIES_PAGE), encoding="utf-8")
    return QUERIES_PAGE


def _counts(frames: Mapping[str, pd.DataFrame]) -> dict[str, int]:
    """Return the numbers of queries, and the largest numbers of contexts of a query, in the study and on the page."""
    contexts = frames["contexts_of_chosen_queries"]
    shown = contexts.groupby(["relation", "query_id"])["context_id"].nunique()
    return {
        "queries": int(frames["chosen_queries"]["queries"].max()),
        "shown": len(frames["chosen_queries"]),
        "contexts": int(contexts["places"].max()),  # `places`: the number of all contexts of the query
        "contexts_shown": int(shown.max()),
    }


def _by_relation(
    frames: Mapping[str, pd.DataFrame], shown_models: list[Model]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the queries of each relation, with their contexts (the most persuasive first) and the models' results."""
    tokens, totals = _tokens(frames["tokens_of_chosen_queries"]), _totals(frames["greedy_of_chosen_queries"])
    contexts: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in records(frames["contexts_of_chosen_queries"]):
        key, model = (row["relation"], row["query_id"]), Model(row["model"], row["dtype"])
        context = contexts[key].setdefault(row["context_id"], {**row, "of_models": {}})
        greedy = "" if pd.isna(row["greedy"]) else _FOLLOWS.get(row["follows"], "") + (row["greedy"] or "(empty)")
        next_tokens = tokens.get((*key, row["context_id"], model), "")
        context["of_models"][model] = {"persuasion": row["persuasion"], "greedy": greedy, "tokens": next_tokens}
    queries = [
        {
            **row,
            "contexts": list(contexts[key].values()),
            "totals": [totals.get((*key, model), {}) for model in shown_models],
            "closed_book": [tokens.get((*key, "none", model), "") for model in shown_models],
        }
        for row in records(frames["chosen_queries"])
        if (key := (row["relation"], row["query_id"])) in contexts
    ]
    return [(name, list(rows)) for name, rows in groupby(queries, key=lambda query: str(query["relation"]))]


def _tokens(rows: pd.DataFrame) -> dict[Key, str]:
    """Return the likeliest tokens after each query and context in one line, such as "“ Paris” 0.62, “ Lyon” 0.03"."""
    by_key: dict[Key, list[str]] = defaultdict(list)
    for row in records(rows):
        key = (row["relation"], row["query_id"], row["context_id"], Model(row["model"], row["dtype"]))
        token = row["token"].replace("\n", "↵").replace(" ", "\N{NO-BREAK SPACE}")
        by_key[key].append(f"“{token}” {row['probability']:.2f}")
    return {key: ", ".join(parts) for key, parts in by_key.items()}


def _totals(rows: pd.DataFrame) -> dict[tuple[str, str, Model], dict[str, Any]]:
    """Return the susceptibility and the most common greedy replies of each query and model, over all contexts."""
    by_query: dict[tuple[str, str, Model], dict[str, Any]] = {}
    for row in records(rows):
        key = row["relation"], row["query_id"], Model(row["model"], row["dtype"])
        totals = by_query.setdefault(key, {**row, "answers": []})
        if not pd.isna(row["times"]):
            totals["answers"].append((row["greedy"] or "(empty)", int(row["times"])))
    return by_query
