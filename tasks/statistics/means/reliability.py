"""How far scores vary between samples and between query forms, over all relations; see `tasks.statistics.reliability`.

Groups: measure and what it varies over, of a query type. Unit of analysis: a relation with the mean of its variances.
Beside it in `items` how many variances these are.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import TYPE, summaries

KEYS = (*TYPE, "measure", "over")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the variance."""
    rows = sorted_by(frames["reliability_of_relations"], [*KEYS, "relation"]).dropna(subset=["variance"])
    return summaries(
        rows, KEYS, "variance", unit="squared nats", unit_of_analysis="relation", interval=True, quantiles=True,
        others=lambda group: {"items": int(group["n"].sum())},
    )  # fmt: skip


STATISTIC = Statistic("reliability_means", 2, Summary, ("reliability_of_relations",), compute)
