"""How far each kind of context persuades, about the query's entity or about others: mean persuasion.

Groups: kinds of context, relevant and irrelevant ones apart; and relevant and irrelevant ones of every kind. Unit of
analysis: a prompt within a relation; over all relations, a relation with its mean. The mean over relations of a kind
has a bootstrap interval. There is no test; see `relevance`, `assertiveness` and `negation`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = ("persuasion", "nats")


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for persuasion; see the module."""
    from tasks.statistics.frames import by, sorted_by, weighted_means
    from tasks.statistics.summary import summary

    about = ["model", "dtype", "relation", "query_type", "relevant"]
    columns = [*about, "kind", "query_id"]
    frame = sorted_by(frames["persuasion_by_kind"][[*columns, "contexts", "persuasion"]], columns)
    frame = frame.assign(relevant=frame["relevant"].astype(object).map({True: "relevant", False: "irrelevant"}))
    keys, rows = columns[:-1], []
    queries = frame.groupby(keys, sort=True, observed=True)["query_id"].nunique().reset_index(name="queries")
    means = weighted_means(frame, keys, "persuasion", "contexts").assign(queries=queries["queries"])
    for row in means.to_dict("records"):
        of = {name: row[name] for name in about[:4]}
        grouped = {name: row[name] for name in ("relevant", "kind")}
        counts: dict[str, Any] = {"n": int(row["weight"]), "items": int(row["queries"]), "prompts": int(row["weight"])}
        rows.append(
            summary(*QUANTITY, of, [row["persuasion"]], unit_of_analysis="prompt", grouped_by=grouped, **counts)
        )
    for of, group in by(means, ["model", "dtype", "query_type", "relevant", "kind"]):
        grouped = {name: of.pop(name) for name in ("relevant", "kind")}
        counts = {"items": int(group["queries"].sum()), "prompts": int(group["weight"].sum())}
        rows.append(
            summary(
                *QUANTITY, of, group["persuasion"], unit_of_analysis="relation", grouped_by=grouped, interval=True,
                **counts,
            )
        )  # fmt: skip
    for of, group in by(weighted_means(frame, about, "persuasion", "contexts"), [*about[:2], *about[3:]]):
        grouped = {"relevant": of.pop("relevant")}
        rows.append(summary(*QUANTITY, of, group["persuasion"], unit_of_analysis="relation", grouped_by=grouped))
    for of, group in by(frame, ["model", "dtype"]):
        pairs = int(group["contexts"].sum())
        counts = {"n": pairs, "items": int(group["query_id"].nunique()), "prompts": pairs}
        rows.append(summary(*QUANTITY, of, [], unit_of_analysis="prompt", **counts))
    return rows


STATISTIC = Statistic("persuasion_means", 1, Summary, ("persuasion_by_kind",), compute)
