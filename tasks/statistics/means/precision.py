"""What a reduced precision costs: how far scores differ from those in the reference precision.

Groups: open, closed and all sampled queries. Unit of analysis: a query, with the size of the difference of its
susceptibility, and with the mean and the largest size of the difference of its contexts' persuasion.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, TYPE, summaries

SCORES = ["susceptibility", "susceptibility_reference", "largest_difference", "mean_difference"]


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for both differences."""
    frame = sorted_by(frames["precision_of_queries"], [*TYPE, "relation", "query_id"]).dropna(subset=SCORES)
    frame = frame.assign(difference=(frame["susceptibility"] - frame["susceptibility_reference"]).abs())
    rows = []
    for keys in (TYPE, MODEL):
        rows += summaries(
            frame, keys, "difference", quantity="difference_of_susceptibility", unit_of_analysis="query",
            others=lambda group: {"largest": float(group["difference"].max())},
        )  # fmt: skip
        rows += summaries(
            frame, keys, "mean_difference", quantity="difference_of_persuasion", unit_of_analysis="query",
            others=lambda group: {"largest": float(group["largest_difference"].max())},
        )  # fmt: skip
    return rows


STATISTIC = Statistic("precision_cost", 1, Summary, ("precision_of_queries",), compute)
