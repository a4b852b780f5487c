"""Tables that put models side by side, and say where two of them differ."""

import pandas as pd

from reports.frames import Frames
from reports.style import CONDITION_NAMES
from reports.tables.table import Table

QUANTITIES = {
    "follows": "states the context's answer",
    "keeps": "stays as it was, with an irrelevant context",
    "correct": "states the original answer, without a context",
    "refuses": "declines or says nothing",
    "context_bias": "gives up its right answer for a wrong context's",
    "prior_bias": "keeps its wrong answer against a right context",
    "coherent_persuasion": "coherent persuasion",
    "susceptibility": "susceptibility",
}


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


SIDE_BY_SIDE = Table(
    "models-side-by-side",
    "The models side by side",
    "Means with 95% bootstrap intervals. Shares are of greedy answers, by their words; a group is the context before "
    "the question, or the type of a query. n counts questions, for susceptibility entities. The rows of a "
    "right and of a wrong answer count the questions that the model answers so without a context.",
    ("models_side_by_side",),
    lambda frames: _in_words(frames["models_side_by_side"], "group"),
)
DIFFERENCES = Table(
    "differences-between-models",
    "Where two models differ",
    "The model's mean minus the other's, over the n items that both have, with the 95% bootstrap interval; questions, "
    "and entities with all their queries, are drawn whole. p by turning signs, two-sided, after Benjamini-Hochberg "
    "over the models and groups of a quantity. Tied: the interval holds 0, or p is over 0.05.",
    ("model_differences",),
    _differences,
)
