"""How far each kind of context persuades, about the query's entity or about others.

Groups: relevant and irrelevant contexts, by kind and together. Unit of analysis: a prompt within a relation; over all
relations, a relation with its mean.
"""

import math
from typing import TYPE_CHECKING

from data.records.statistics import Summary
from tasks.statistics.frames import sorted_by, weighted_means
from tasks.statistics.statistic import Frames, Row, Statistic
from tasks.statistics.summary import MODEL, RELATION, TYPE, summaries

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = "persuasion"


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for persuasion."""
    frame = frames["persuasion_by_kind"]
    frame = frame.assign(relevant=frame["relevant"].astype(object).map({True: "relevant", False: "irrelevant"}))
    about, keys = [*RELATION, "relevant"], [*RELATION, "relevant", "kind"]
    frame = sorted_by(frame, [*keys, "query_id"])
    queries = frame.groupby(keys, as_index=False, sort=True, observed=True)["query_id"].nunique()
    kinds = weighted_means(frame, keys, QUANTITY, "contexts").assign(queries=queries["query_id"])
    relations = weighted_means(frame, about, QUANTITY, "contexts")
    no_mean = frame.assign(persuasion=math.nan)
    return [
        *summaries(kinds, keys, QUANTITY, unit_of_analysis="prompt", others=_of_relation),
        *summaries(
            kinds, [*TYPE, "relevant", "kind"], QUANTITY, unit_of_analysis="relation", interval=True, others=_counts
        ),
        *summaries(relations, [*TYPE, "relevant"], QUANTITY, unit_of_analysis="relation"),
        *summaries(no_mean, MODEL, QUANTITY, unit_of_analysis="prompt", skip_missing=True, others=_of_model),
    ]


def _counts(kinds: "pd.DataFrame") -> Row:
    return {"items": int(kinds["queries"].sum()), "prompts": int(kinds["weight"].sum())}


def _of_relation(kind: "pd.DataFrame") -> Row:
    counts = _counts(kind)
    return {"n": counts["prompts"], **counts}


def _of_model(rows: "pd.DataFrame") -> Row:
    pairs = int(rows["contexts"].sum())
    return {"n": pairs, "items": int(rows["query_id"].nunique()), "prompts": pairs}


STATISTIC = Statistic("persuasion_means", 1, Summary, ("persuasion_by_kind",), compute)
