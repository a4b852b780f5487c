"""How easily a relation's real and invented entities are swayed.

Groups: real and invented entities of a relation and query type. Unit of analysis: an entity with the mean over its
forms; over all relations, a relation with its mean, so that one with many queries does not weigh more.
"""

from data.records.statistics import Summary
from tasks.statistics.frames import means, sorted_by
from tasks.statistics.statistic import Frames, Row, Statistic
from tasks.statistics.summary import RELATION, TYPE, summaries

QUANTITY = "susceptibility"
KEYS = (*RELATION, "entities")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for susceptibility."""
    frame = frames["susceptibility_of_queries"]
    frame = frame.assign(entities=frame["invented"].astype(bool).map({True: "invented", False: "real"}))
    frame = sorted_by(frame, [*KEYS, "entity", "query_id"])
    entities, relations = (means(frame, keys, QUANTITY) for keys in ([*KEYS, "entity"], KEYS))
    rows = summaries(entities, KEYS, QUANTITY, unit_of_analysis="entity", interval=True)
    return rows + summaries(relations, [*TYPE, "entities"], QUANTITY, unit_of_analysis="relation")


STATISTIC = Statistic("susceptibility_means", 1, Summary, ("susceptibility_of_queries",), compute)
