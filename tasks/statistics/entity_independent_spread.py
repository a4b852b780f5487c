"""How far contexts persuade whatever the entity asked about: the spread of entity-independent persuasion.

Groups: kinds of context of a relation and query type, all kinds of it together, and each kind over all relations. Unit
of analysis: a context before a query form. There is no test.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = "entity_independent_persuasion"
GROUPS = (
    ("model", "dtype", "relation", "query_type", "kind"),
    ("model", "dtype", "relation", "query_type"),
    ("model", "dtype", "query_type", "kind"),
    ("model", "dtype"),
)


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for entity-independent persuasion, and for the entities that it is over."""
    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    columns = ["model", "dtype", "relation", "query_type", "form", "kind", "context_id", "entities", QUANTITY]
    frame = sorted_by(frames["entity_independent_of_contexts"][columns], columns[:7])
    rows = []
    for keys in GROUPS:
        for of, group in by(frame, keys):
            grouped = {"kind": of.pop("kind")} if "kind" in of else {}
            about: dict[str, Any] = {
                "unit_of_analysis": "context before a query form",
                "quantiles": True,
                "grouped_by": grouped,
            }
            items = int(group["context_id"].nunique())
            rows.append(summary(QUANTITY, "nats", of, group[QUANTITY], items=items, **about))
            if len(keys) == 2:
                rows.append(summary("entities", "", of, group["entities"].astype("float64"), **about))
    return rows


STATISTIC = Statistic("entity_independent_spread", 1, Summary, ("entity_independent_of_contexts",), compute)
