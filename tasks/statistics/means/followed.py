"""How far contexts persuade, by what the greedy answer followed: the context, the query's original answer, or neither.

Groups: greedy answers by whose they are, over every context, and by how the context conflicts with the query's answer.
Unit of analysis: an answer within a relation; over all relations, a relation with its mean. An answer without a
persuasion score is counted and is in no mean.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import RELATION, TYPE, summaries

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = "persuasion"
EVERY = "every context"
KEYS = [*RELATION, "kind", "conflict", "follows"]
FOLLOWS = [*RELATION, "follows"]
CONTEXTS: Mapping[str, tuple[str, ...]] = {
    EVERY: ("substitution", "negation", "none"),
    "in conflict: substitution": ("substitution",),
    "in conflict: negation": ("negation",),
    "not in conflict": ("none",),
}


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for persuasion by what was followed in each relation."""
    frame = frames["followed"]
    answers = frame["answers"].astype("float64")
    frame = frame.assign(
        conflict=frame["conflict"].astype(object).fillna("none"),
        persuasion=frame[QUANTITY].astype("float64"),
        answers=answers,
        scored=answers.where(frame[QUANTITY].notna(), 0.0),
    )
    return [*_of_answers(frame, KEYS), *_of_answers(_pooled(frame, FOLLOWS), FOLLOWS)]


def over_relations(rows: list[Row]) -> list[Row]:
    """The rows of single relations, and those of `Summary` for persuasion by what was followed over all relations."""
    import pandas as pd

    frame = pd.DataFrame(
        {**{name: row[name] for name in RELATION}, **dict(zip(row["grouped_by"], row["group_values"], strict=True)),
         QUANTITY: row["mean"], "scored": row["n"], "answers": row["prompts"]}
        for row in rows if len(row["grouped_by"]) > 1
    ).astype({QUANTITY: "float64"})  # fmt: skip
    rows = list(rows)
    for contexts, conflicts in CONTEXTS.items():
        pooled = _pooled(frame[frame["conflict"].isin(conflicts)], FOLLOWS).assign(contexts=contexts)
        rows += summaries(
            pooled, [*TYPE, "contexts", "follows"], QUANTITY, unit_of_analysis="relation", interval=True,
            skip_missing=True, others=_share,
        )  # fmt: skip
    return rows


def _pooled(frame: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":
    """The mean persuasion of a relation's answers by what they follow; NaN where no answer of them has a score."""
    frame = sorted_by(frame, KEYS)
    sums = frame.assign(total=frame[QUANTITY].fillna(0.0) * frame["scored"])
    sums = sums.groupby(keys, as_index=False, sort=True, observed=True)[["answers", "scored", "total"]].sum()
    of_type = sums.groupby(list(TYPE), observed=True)["answers"].transform("sum")
    return sums.assign(persuasion=sums["total"] / sums["scored"], of_type=of_type)


def _of_answers(frame: "pd.DataFrame", keys: list[str]) -> list[Row]:
    return summaries(
        frame, keys, QUANTITY, unit_of_analysis="answer", skip_missing=True,
        others=lambda group: {"n": int(group["scored"].sum()), "prompts": int(group["answers"].sum())},
    )  # fmt: skip


def _share(relations: "pd.DataFrame") -> Row:
    answers = int(relations["answers"].sum())
    return {"prompts": answers, "share": answers / int(relations["of_type"].iloc[0])}


STATISTIC = Statistic("followed_means", 3, Summary, ("followed",), of_relations=of_relations, finish=over_relations)
