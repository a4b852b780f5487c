"""Tables that put the two susceptibilities of models side by side: their means, and how long they took."""

import pandas as pd

from swaymeter.reports.estimates import span
from swaymeter.reports.frames import RUNS, Frames, in_order, models, records, rows_of, where
from swaymeter.reports.published import with_published
from swaymeter.reports.tables.table import Table

_MEASURE = "susceptibility"
_COLUMNS = ["model", "dtype", "contexts", "query_type", "queries", "mean", "low", "high", "published"]


def _means(frames: Frames) -> pd.DataFrame:
    """A row for each model and type of query: the mean with its interval."""
    rows = []
    for model in models(known := where(frames["both_susceptibilities_in_short"], measure=_MEASURE)):
        means = rows_of(known, model)
        means = in_order(means[means["grouped_by"].isna()], query_type=("all", "closed", "open"))
        asked = records(rows_of(frames["coverage_of_susceptibility"], model))[0]
        contexts = span(asked["fewest_contexts"], asked["most_contexts"])
        means = with_published(means, frames[RUNS], ("liu-table-2",), published="mean_susceptibility")
        rows.append(means.assign(contexts=contexts)[_COLUMNS])
    shown = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=_COLUMNS)
    shown.attrs["units"] = dict.fromkeys(("mean", "low", "high", "published"), "nats")
    return shown


MEANS = Table(
    "mean-susceptibility-of-models",
    "How far contexts sway each model",
    "Mean susceptibility over contexts (Monte Carlo) in nats, over all queries, closed and open ones, whatever their "
    "relation, with the 95% interval over entities. Contexts are those before a query: values from "
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
    lambda frames: frames["runtime_of_susceptibilities"],
    items=("liu-runtime",),
)
