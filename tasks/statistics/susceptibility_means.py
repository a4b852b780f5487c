"""How easily a relation's real and invented entities are swayed: mean susceptibility.

Groups: real and invented entities of a relation and query type. Unit of analysis: an entity with the mean over its
forms; over all relations, a relation with the mean over its queries, so that one with many queries does not weigh more.
The means of relations have bootstrap intervals. There is no test; see `familiarity`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for susceptibility; see the module."""
    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    columns = ["model", "dtype", "relation", "query_type", "invented", "entity", "query_id", "susceptibility"]
    frame = sorted_by(frames["susceptibility_of_queries"][columns], columns[:-1])
    frame = frame.assign(invented=frame["invented"].astype(bool))
    keys, rows = columns[:5], []
    entities = frame.groupby(columns[:6], sort=True, observed=True)["susceptibility"].mean().reset_index()
    for of, group in by(entities, keys):
        known = {"entities": "invented" if of.pop("invented") else "real"}
        values = group["susceptibility"]
        rows.append(
            summary("susceptibility", "nats", of, values, unit_of_analysis="entity", grouped_by=known, interval=True)
        )
    relations = frame.groupby(keys, sort=True, observed=True)["susceptibility"].mean().reset_index()
    for of, group in by(relations, ["model", "dtype", "query_type", "invented"]):
        known = {"entities": "invented" if of.pop("invented") else "real"}
        rows.append(
            summary(
                "susceptibility", "nats", of, group["susceptibility"], unit_of_analysis="relation", grouped_by=known
            )
        )
    return rows


STATISTIC = Statistic("susceptibility_means", 1, Summary, ("susceptibility_of_queries",), compute)
