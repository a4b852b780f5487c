"""How far contexts persuade, by what the greedy answer followed: the context, the query's original answer, or neither.

Groups: greedy answers by whose they are, over every context, and by how the context conflicts with the query's answer.
Unit of analysis: an answer within a relation; over all relations, a relation with its mean, which has a bootstrap
interval there. An answer without a persuasion score is counted and is in no mean. There is no test.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = ("persuasion", "nats")
CONTEXTS = {
    "every context": ("substitution", "negation", "none"),
    "in conflict: substitution": ("substitution",),
    "in conflict: negation": ("negation",),
    "not in conflict": ("none",),
}
_ABOUT = ["model", "dtype", "relation", "query_type"]


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for persuasion by what was followed; see the module."""
    from tasks.statistics.frames import by, records, sorted_by
    from tasks.statistics.summary import summary

    frame = frames["followed"]
    frame = sorted_by(
        frame.assign(conflict=frame["conflict"].fillna("none")), [*_ABOUT, "kind", "conflict", "follows"]
    ).assign(persuasion=lambda rows: rows["persuasion"].astype("float64"))
    rows = []
    for row in records(frame):
        grouped = {name: row[name] for name in ("kind", "conflict", "follows")}
        known = [row["persuasion"]] if row["persuasion"] == row["persuasion"] else []
        rows.append(_of_answers(row, grouped, known, int(row["answers"]), int(row["answers"]) if known else 0))
    for contexts, conflicts in CONTEXTS.items():
        pooled = _pooled(frame[frame["conflict"].isin(conflicts)])
        if contexts == "every context":
            for row in records(pooled):
                known = [row["total"] / row["scored"]] if row["scored"] else []
                grouped = {"follows": row["follows"]}
                rows.append(_of_answers(row, grouped, known, int(row["answers"]), int(row["scored"])))
        answers = pooled.groupby(["model", "dtype", "query_type"], observed=True)["answers"].sum()
        for of, group in by(pooled, ["model", "dtype", "query_type", "follows"]):
            grouped = {"contexts": contexts, "follows": of.pop("follows")}
            scored = group[group["scored"] > 0]
            count = int(group["answers"].sum())
            of_type = int(answers[of["model"], of["dtype"], of["query_type"]])
            rows.append(
                summary(
                    *QUANTITY, of, scored["total"] / scored["scored"], unit_of_analysis="relation",
                    grouped_by=grouped, interval=True, prompts=count, share=count / of_type,
                )
            )  # fmt: skip
    return rows


def _of_answers(row: Row, grouped: Mapping[str, str], mean: list[float], answers: int, scored: int) -> Row:
    from tasks.statistics.summary import summary

    of = {name: row[name] for name in _ABOUT}
    return summary(*QUANTITY, of, mean, unit_of_analysis="answer", grouped_by=grouped, n=scored, prompts=answers)


def _pooled(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Answers, those with a score and the sum of these, by relation, query type and what was followed."""
    count = frame["answers"].astype("float64")
    scored = count.where(frame["persuasion"].notna(), 0.0)
    weighed = frame.assign(answers=count, scored=scored, total=frame["persuasion"].fillna(0.0) * scored)
    keys = [*_ABOUT, "follows"]
    return weighed.groupby(keys, sort=True, observed=True)[["answers", "scored", "total"]].sum().reset_index()


STATISTIC = Statistic("followed_means", 1, Summary, ("followed",), compute)
