"""Tables that put models side by side, and say where two of them differ."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from data.records.statistics import FEWEST_FOR_INTERVAL
from reports.frames import EQUIVALENCE, SHARE, Frames, Model, cut_off, models, records, span, stood_in, where
from reports.style import CONDITION_NAMES
from reports.tables.table import Table

QUANTITIES = {
    "follows": "states the context's answer",
    "keeps": "stays as it was, with an irrelevant context",
    "correct": "states the original answer, without a context",
    "refuses": "declines or says nothing",
    "context_bias": "gives up its right answer for a wrong context's",
    "prior_bias": "keeps its wrong answer against a right context",
    "binary_utilisation": "begins with the context's answer",
    "continuous_utilisation": "continuous context utilisation",
    "coherent_persuasion": "coherent persuasion",
    "susceptibility": "susceptibility",
}


FEW = "too few"
"""What stands in place of a share of fewer items than have an interval."""


def _in_words(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    rows = frame.sort_values("quantity", key=lambda names: names.map(list(QUANTITIES).index), kind="stable")
    groups = rows[column].replace(dict(CONDITION_NAMES))
    rows = rows.assign(**{"quantity": rows["quantity"].map(QUANTITIES), column: groups})
    rows.attrs.update(frame.attrs)
    return rows.reset_index(drop=True)


def _differences(frames: Frames) -> pd.DataFrame:
    frame = frames["model_differences"]
    group = frame["condition"].where(frame["condition"] != "all", frame["query_type"])
    frame = frame.assign(group=group, against=frame["against_model"] + " (" + frame["against_dtype"] + ")")
    columns = ("against", "quantity", "group", "n", "mean", "against_mean", "difference", "low", "high", "unit",
               "p_adjusted", "verdict", "untestable")  # fmt: skip
    return _in_words(frame, "group")[["model", "dtype", *columns]]


def _at_a_glance(frames: Frames) -> pd.DataFrame:
    """A row for each quantity and group, a column for each model; of two models, whether they differ."""
    frame = frames["models_side_by_side"]
    means = {(row["quantity"], row["group"], str(Model(row["model"], row["dtype"]))): row for row in records(frame)}
    names = [str(model) for model in models(frame)]
    differ = {
        (row["quantity"], _group(row)): row["verdict"] or row["untestable"] or ""
        for row in records(frames["model_differences"])
    }
    rows = []
    for quantity, group in dict.fromkeys((quantity, group) for quantity, group, _ in means):
        of_models = [means.get((quantity, group, name)) for name in names]
        counts = [int(row["n"]) for row in of_models if row]
        cells = {name: _with_interval(row) if row else "" for name, row in zip(names, of_models, strict=True)}
        verdict = {"verdict": differ.get((quantity, group), "")} if len(names) == 2 else {}
        rows.append({"quantity": quantity, "group": group, **cells, "n": span(min(counts), max(counts)), **verdict})
    return _in_words(pd.DataFrame(rows), "group")


def _group(row: Mapping[str, Any]) -> str:
    return str(row["query_type"] if row["condition"] == "all" else row["condition"])


def _with_interval(row: Mapping[str, Any]) -> str:
    if row["unit"] == SHARE and row["n"] < FEWEST_FOR_INTERVAL:
        return FEW
    factor, digits, sign = (100, 0, "%") if row["unit"] == SHARE else (1, 2, "")
    mean, low, high = (f"{factor * row[name]:.{digits}f}" for name in ("mean", "low", "high"))
    return f"{mean}{sign}" if pd.isna(row["low"]) else f"{mean}{sign} [{low}, {high}]"


def _judged(frames: Frames) -> str:
    """The caption's sentence on what decided which sampled answers mean the same, if it was a stand-in."""
    scored = where(frames["models_side_by_side"], quantity="coherent_persuasion")
    judge = stood_in(frames["stand_ins"], EQUIVALENCE) if len(scored) else ""
    return f" Coherent persuasion does not compare with published values: {judge}." if judge else ""


AT_A_GLANCE = Table(
    "models-at-a-glance",
    "The models at a glance",
    "Shares of greedy answers, and means in nats, with 95% bootstrap intervals; a group is the context before the "
    "question, or the type of a query. n counts questions, for susceptibility entities; "
    f"of fewer than {FEWEST_FOR_INTERVAL} there is no interval, and of so few questions no share ({FEW}). "
    "Of two models, tied: nothing "
    "shows that they differ on the items of both.",
    ("models_side_by_side", "model_differences", "stand_ins", "unfinished_greedy_answers"),
    _at_a_glance,
    note=lambda frames: _judged(frames) + cut_off(frames["unfinished_greedy_answers"]),
    leads=True,
)
SIDE_BY_SIDE = Table(
    "models-side-by-side",
    "The models side by side",
    f"Means with 95% bootstrap intervals, none of fewer than {FEWEST_FOR_INTERVAL}. Shares are of greedy answers, by "
    "their words; a group is the context before "
    "the question, or the type of a query. n counts questions, for susceptibility entities. The rows of a "
    "right and of a wrong answer count the questions that the model answers so without a context.",
    ("models_side_by_side",),
    lambda frames: _in_words(frames["models_side_by_side"], "group"),
    folded=True,
)
DIFFERENCES = Table(
    "differences-between-models",
    "Where two models differ",
    "The model's mean minus the other's, over the n questions or entities that both have, with the 95% bootstrap "
    "interval; a question with all its contexts, or an entity with all its queries, counts once. p by turning signs, "
    "two-sided, after Benjamini-Hochberg over the models and groups of a quantity. Tied: the interval holds 0, or p is "
    "over 0.05.",
    ("model_differences",),
    _differences,
)
