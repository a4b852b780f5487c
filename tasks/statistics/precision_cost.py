"""What a reduced precision costs: how far scores differ from those in the reference precision.

Groups: open, closed and all sampled queries of a model. Unit of analysis: a query, with the size of the difference of
its susceptibility, and with the mean and the largest size of the difference of its contexts' persuasion. There is no
test; see `correlations` for how far the order of queries is kept.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("susceptibility", "susceptibility_reference", "largest_difference", "mean_difference")


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for both differences."""
    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    keys = ["model", "dtype", "query_type"]
    frame = sorted_by(frames["precision_of_queries"], [*keys, "relation", "query_id"]).dropna(subset=list(SCORES))
    frame = frame.assign(difference=(frame["susceptibility"] - frame["susceptibility_reference"]).abs())
    rows = []
    for columns in (keys, keys[:2]):
        for of, group in by(frame, columns):
            about: dict[str, Any] = {"unit_of_analysis": "query"}
            largest = float(group["difference"].max())
            rows.append(
                summary("difference_of_susceptibility", "nats", of, group["difference"], largest=largest, **about)
            )
            largest = float(group["largest_difference"].max())
            rows.append(
                summary("difference_of_persuasion", "nats", of, group["mean_difference"], largest=largest, **about)
            )
    return rows


STATISTIC = Statistic("precision_cost", 1, Summary, ("precision_of_queries",), compute)
