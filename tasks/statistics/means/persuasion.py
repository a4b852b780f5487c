"""How far each kind of context persuades, about the query's entity or about others.

Groups: relevant and irrelevant contexts, by kind and together. Unit of analysis: a prompt within a relation; over all
relations, a relation with its mean. Beside them, how many of a query's contexts are
relevant; unit of analysis: a query.
"""

import math

from data.records.statistics import Summary
from tasks.statistics.frames import named, sorted_by, weighted_means
from tasks.statistics.statistic import Frame, Frames, Row, Statistic
from tasks.statistics.summary import MODEL, RELATION, TYPE, summaries

QUANTITY = "persuasion"
COUNT = "relevant_contexts"
KEYS = (*RELATION, "relevant", "kind")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the persuasion over all relations."""
    frame = _sorted(frames)
    kinds = _kinds(frame)
    relations = weighted_means(frame, [*RELATION, "relevant"], QUANTITY, "contexts")
    no_mean = frame.assign(persuasion=math.nan)
    return [
        *summaries(
            kinds, [*TYPE, "relevant", "kind"], QUANTITY, unit_of_analysis="relation", interval=True, others=_counts
        ),
        *summaries(relations, [*TYPE, "relevant"], QUANTITY, unit_of_analysis="relation", interval=True),
        *summaries(no_mean, MODEL, QUANTITY, unit_of_analysis="prompt", skip_missing=True, others=_of_model),
    ]


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the persuasion of each relation, and for its queries' numbers of relevant contexts."""
    frame = _sorted(frames)
    return [
        *summaries(_kinds(frame), KEYS, QUANTITY, unit_of_analysis="prompt", others=_of_relation),
        *summaries(_relevant(frame), RELATION, COUNT, unit="", unit_of_analysis="query", quantiles=True),
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


def _of_relation(kind: Frame) -> Row:
    counts = _counts(kind)
    return {"n": counts["prompts"], **counts}


def _of_model(rows: Frame) -> Row:
    pairs = int(rows["contexts"].sum())
    return {"n": pairs, "items": int(rows["query_id"].nunique()), "prompts": pairs}


STATISTIC = Statistic("persuasion_means", 3, Summary, ("persuasion_by_kind",), compute, of_relations)
