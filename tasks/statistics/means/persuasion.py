"""How far each kind of context persuades, about the query's entity or about others.

Groups: relevant and irrelevant contexts, by kind and together. Unit of analysis: a prompt within a relation; over all
relations, a relation with its mean. Beside them, how many of a query's contexts are
relevant; unit of analysis: a query.
"""

import math

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import named, sorted_by, weighted_means
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, RELATION, TYPE, summaries

QUANTITY = "persuasion"
COUNT = "relevant_contexts"
KEYS = (*RELATION, "relevant", "kind")


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the persuasion of each relation, and for its queries' numbers of relevant contexts."""
    frame = _sorted(frames)
    return [
        *summaries(_kinds(frame), KEYS, QUANTITY, unit_of_analysis="prompt", others=_of_prompts),
        *summaries(_relevant(frame), RELATION, COUNT, unit="", unit_of_analysis="query", quantiles=True),
    ]


def over_relations(rows: list[Row]) -> list[Row]:
    """The rows of single relations, and those of `Summary` for the persuasion over all relations."""
    import pandas as pd

    kinds = pd.DataFrame(
        {**{name: row[name] for name in RELATION}, **dict(zip(row["grouped_by"], row["group_values"], strict=True)),
         QUANTITY: row["mean"], "queries": row["items"], "weight": row["prompts"]}
        for row in rows if row["quantity"] == QUANTITY
    )  # fmt: skip
    kinds = sorted_by(kinds, KEYS)
    counts = pd.DataFrame(
        {**{name: row[name] for name in MODEL}, QUANTITY: math.nan,
         "queries": row["n"] if row["quantity"] == COUNT else 0, "weight": row["prompts"] or 0}
        for row in rows
    )  # fmt: skip
    relations = weighted_means(kinds, [*RELATION, "relevant"], QUANTITY, "weight")
    return [
        *rows,
        *summaries(
            kinds, [*TYPE, "relevant", "kind"], QUANTITY, unit_of_analysis="relation", interval=True, others=_counts
        ),
        *summaries(relations, [*TYPE, "relevant"], QUANTITY, unit_of_analysis="relation", interval=True),
        *summaries(counts, MODEL, QUANTITY, unit_of_analysis="prompt", skip_missing=True, others=_of_prompts),
    ]


def _sorted(frames: Frames) -> Frame:
    frame = frames["persuasion_by_kind"]
    frame = frame.assign(relevant=named(frame["relevant"], "relevant", "irrelevant"))
    return sorted_by(frame, [*KEYS, "query_id"])


def _kinds(frame: Frame) -> Frame:
    """The mean persuasion of each kind of context in a relation, with the numbers of queries and prompts."""
    queries = frame.groupby(list(KEYS), as_index=False, sort=True, observed=True)["query_id"].nunique()
    return weighted_means(frame, KEYS, QUANTITY, "contexts").assign(queries=queries["query_id"])


def _relevant(frame: Frame) -> Frame:
    """How many contexts of each query mention its entity, none included."""
    counts = frame["contexts"].where(frame["relevant"] == "relevant", 0)
    queries = frame.assign(**{COUNT: counts}).groupby([*RELATION, "query_id"], as_index=False, sort=True, observed=True)
    return queries[[COUNT]].sum()


def _counts(kinds: Frame) -> Row:
    return {"items": int(kinds["queries"].sum()), "prompts": int(kinds["weight"].sum())}


def _of_prompts(kind: Frame) -> Row:
    counts = _counts(kind)
    return {"n": counts["prompts"], **counts}


STATISTIC = Statistic(
    "persuasion_means", 4, Summary, ("persuasion_by_kind",), of_relations=of_relations, finish=over_relations
)
