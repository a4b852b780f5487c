"""Mean persuasion of contexts, within each relation and over all relations.

    persuasion_means   by type of context, for relevant contexts (about the query's entity) and irrelevant contexts;
                       also the number of relevant contexts of a query. Unit of analysis within a relation: a prompt
    followed_means     by the answer that the greedy reply gives: the context's answer, the query's original answer, or
                       neither. Unit of analysis within a relation: a reply. A reply without a persuasion score is
                       counted, but is in no mean

Over all relations, the unit of analysis is a relation with its mean.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import name_flags, sort_frame, weighted_means
from swaymeter.tasks.statistics.statistic import Frame, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, QUERY_TYPE, RELATION, Mean

if TYPE_CHECKING:
    import pandas as pd

QUANTITY, RELEVANT = "persuasion", "relevant_contexts"
KIND_COLUMNS = (*RELATION, "relevant", "kind")
"""Columns of groups by relevance and kind of context."""
KIND_AND_FOLLOWED_COLUMNS = (*RELATION, "kind", "conflict", "follows")
"""Columns of groups by kind of context, conflict and followed answer."""
FOLLOWED_COLUMNS = (*RELATION, "follows")
"""Columns of groups by followed answer alone."""
CONTEXTS: Mapping[str, tuple[str, ...]] = {
    "every context": ("substitution", "negation", "none"),
    "in conflict: substitution": ("substitution",),
    "in conflict: negation": ("negation",),
    "not in conflict": ("none",),
}
"""Values of the column `conflict` in each group of contexts over all relations."""


def _groups_of(rows: Iterable[Row], **columns: str) -> "pd.DataFrame":
    """Return rows of `Summary` as a frame with a column for each name in `grouped_by`.

    `columns` selects and renames further columns of `Summary`: weight="prompts" makes the column `weight` of `prompts`.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            **{name: row[name] for name in RELATION},
            **dict(zip(row["grouped_by"], row["group_values"], strict=True)),
            **{name: row[column] for name, column in columns.items()},
        }
        for row in rows
    )


def persuasion_of_relations(frame: Frame) -> list[Row]:
    """Return the rows of `Summary` for persuasion in each relation, and the number of a query's relevant contexts."""
    frame = frame.assign(relevant=name_flags(frame["relevant"], "relevant", "irrelevant"))
    frame = sort_frame(frame, [*KIND_COLUMNS, "query_id"])
    queries = frame.groupby(list(KIND_COLUMNS), as_index=False, sort=True, observed=True)["query_id"].nunique()
    kinds = weighted_means(frame, KIND_COLUMNS, QUANTITY, "contexts").assign(queries=queries["query_id"])
    counts = frame.assign(**{RELEVANT: frame["contexts"].where(frame["relevant"] == "relevant", 0)})
    counts = counts.groupby([*RELATION, "query_id"], as_index=False, sort=True, observed=True)[[RELEVANT]].sum()
    return [
        *Mean(QUANTITY, KIND_COLUMNS, "prompt", extra_columns=_counts_with_n).rows(kinds),
        *Mean(RELEVANT, RELATION, "query", "", quantiles=True).rows(counts),
    ]


def persuasion_over_relations(rows: list[Row]) -> list[Row]:
    """Append rows of `Summary` for the persuasion over all relations to the rows of single relations."""
    import pandas as pd

    kind_rows = (row for row in rows if row["quantity"] == QUANTITY)
    kinds = sort_frame(_groups_of(kind_rows, persuasion="mean", queries="items", weight="prompts"), KIND_COLUMNS)
    # The rows of totals only count queries and prompts of a model, without a mean. A relation's number of queries is
    # `n` of its row with the quantity RELEVANT.
    totals = pd.DataFrame(
        {
            **{name: row[name] for name in MODEL},
            QUANTITY: math.nan,
            "queries": row["n"] if row["quantity"] == RELEVANT else 0,
            "weight": row["prompts"] or 0,
        }
        for row in rows
    )
    relations = weighted_means(kinds, [*RELATION, "relevant"], QUANTITY, "weight")
    relevance = (*QUERY_TYPE, "relevant")
    return [
        *rows,
        *Mean(QUANTITY, (*relevance, "kind"), "relation", interval=True, extra_columns=_counts).rows(kinds),
        *Mean(QUANTITY, relevance, "relation", interval=True).rows(relations),
        *Mean(QUANTITY, MODEL, "prompt", skip_missing=True, extra_columns=_counts_with_n).rows(totals),
    ]


def _counts(group: Frame) -> Row:
    return {"items": int(group["queries"].sum()), "prompts": int(group["weight"].sum())}


def _counts_with_n(group: Frame) -> Row:
    """Return `_counts`, and the number of prompts as `n`, in place of the number of averaged rows."""
    counts = _counts(group)
    return {"n": counts["prompts"], **counts}


def followed_of_relations(frame: Frame) -> list[Row]:
    """Return the rows of `Summary` for persuasion in each relation, by the answer that the reply followed."""
    # A row of the frame has the mean persuasion of its replies. `answers` counts all of these replies, `scored` the
    # replies with a persuasion score.
    answers = frame["answers"].astype("float64")
    frame = frame.assign(
        conflict=frame["conflict"].astype(object).fillna("none"),
        persuasion=frame[QUANTITY].astype("float64"),
        answers=answers,
        scored=answers.where(frame[QUANTITY].notna(), 0.0),
    )

    def counts(group: Frame) -> Row:
        return {"n": int(group["scored"].sum()), "prompts": int(group["answers"].sum())}

    by_kind, by_followed_answer = (
        Mean(QUANTITY, keys, "answer", skip_missing=True, extra_columns=counts)
        for keys in (KIND_AND_FOLLOWED_COLUMNS, FOLLOWED_COLUMNS)
    )
    return [*by_kind.rows(frame), *by_followed_answer.rows(_means_by_followed_answer(frame))]


def followed_over_relations(rows: list[Row]) -> list[Row]:
    """Append rows of `Summary` by the followed answer, over all relations, to the rows of single relations."""
    # The rows by followed answer alone, which are means of the other rows, are left out.
    kind_rows = (row for row in rows if len(row["grouped_by"]) > 1)
    frame = _groups_of(kind_rows, persuasion="mean", scored="n", answers="prompts").astype({QUANTITY: "float64"})

    def share(relations: Frame) -> Row:
        answers = int(relations["answers"].sum())
        return {"prompts": answers, "share": answers / int(relations["type_answers"].iloc[0])}

    mean = Mean(
        QUANTITY,
        (*QUERY_TYPE, "contexts", "follows"),
        "relation",
        interval=True,
        skip_missing=True,
        extra_columns=share,
    )
    pooled = {
        name: _means_by_followed_answer(frame[frame["conflict"].isin(conflicts)])
        for name, conflicts in CONTEXTS.items()
    }
    return [*rows, *(row for name, group in pooled.items() for row in mean.rows(group.assign(contexts=name)))]


def _means_by_followed_answer(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean persuasion of each relation's replies by followed answer; NaN if no reply has a score.

    The column `type_answers` has the number of all replies in the frame to queries of the row's model and query type.
    """
    frame = sort_frame(frame, KIND_AND_FOLLOWED_COLUMNS)
    sums = frame.assign(total=frame[QUANTITY].fillna(0.0) * frame["scored"])
    groups = sums.groupby(list(FOLLOWED_COLUMNS), as_index=False, sort=True, observed=True)
    sums = groups[["answers", "scored", "total"]].sum()
    type_totals = sums.groupby(list(QUERY_TYPE), observed=True)["answers"].transform("sum")
    return sums.assign(persuasion=sums["total"] / sums["scored"], type_answers=type_totals)


PERSUASION = Statistic(
    "persuasion_means",
    5,
    Summary,
    ("persuasion_by_kind",),
    lambda frames, seed: persuasion_over_relations(persuasion_of_relations(frames["persuasion_by_kind"])),
)
FOLLOWED_MEANS = Statistic(
    "followed_means",
    4,
    Summary,
    ("followed",),
    lambda frames, seed: followed_over_relations(followed_of_relations(frames["followed"])),
)
