"""Tables that put the two susceptibilities of models side by side: their means, and how long they took."""

import pandas as pd

from reports.frames import Frames, models, records, rows_of, span, where
from reports.published import with_published
from reports.tables.table import Table

_MEASURE = "susceptibility"


def _means(frames: Frames) -> pd.DataFrame:
    """A row for each model: means over all queries, closed and open ones, each with its interval."""
    rows = []
    for model in models(known := where(frames["both_susceptibilities_in_short"], measure=_MEASURE)):
        means = rows_of(known, model)
        of_type = {row["query_type"]: row for row in records(means[means["grouped_by"].isna()])}
        asked = records(rows_of(frames["coverage_of_susceptibility"], model))[0]
        cells = {kind: _with_interval(of_type[kind]) if kind in of_type else "" for kind in ("closed", "open")}
        rows.append(
            {
                "model": model.name, "dtype": model.dtype,
                "contexts": span(asked["fewest_contexts"], asked["most_contexts"]),
                "queries": of_type["all"]["queries"], "all": _with_interval(of_type["all"]), **cells,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _with_interval(row: dict[str, float]) -> str:
    mean, low, high = (f"{row[name]:.3f}" for name in ("mean", "low", "high"))
    return mean if pd.isna(row["low"]) else f"{mean} [{low}, {high}]"


MEANS = Table(
    "mean-susceptibility-of-models",
    "How far contexts sway each model",
    "Mean susceptibility over contexts (Monte Carlo) in nats, over all queries, closed and open ones, whatever their "
    "relation, with the 95% bootstrap interval, entities drawn whole. Contexts are those before a query: values from "
    "different numbers of them are not to be compared, for none can pass the logarithm of that number.",
    ("both_susceptibilities_in_short", "coverage_of_susceptibility"),
    _means,
    items=("liu-table-2",),
)
RUNTIME = Table(
    "runtime-of-susceptibilities",
    "How much faster is Fisher susceptibility?",
    "Time spent on the same queries by the same device: on susceptibility over contexts (their persuasion is what "
    "takes it), on Fisher susceptibility, and the first in multiples of the second. It grows with the contexts a "
    "query is asked with, and falls with the draws that estimate the whole vocabulary. Loading a model is not counted.",
    ("runtime_of_susceptibilities",),
    lambda frames: with_published(frames["runtime_of_susceptibilities"], "liu-runtime", "times_faster"),
    items=("liu-runtime",),
)
