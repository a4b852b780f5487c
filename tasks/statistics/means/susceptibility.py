"""How easily a relation's real and invented entities are swayed.

Groups: real and invented entities of a relation and query type. Unit of analysis: an entity with the mean over its
forms; over all relations, a relation with its mean, so that one with many queries does not weigh more. Beside them, the
distribution of each query form alone, where the unit of analysis is a query.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import means, named, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import RELATION, TYPE, summaries

QUANTITY = "susceptibility"
KEYS = (*RELATION, "entities")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the susceptibility over all relations."""
    relations = means(_sorted(frames), KEYS, QUANTITY)
    return summaries(relations, [*TYPE, "entities"], QUANTITY, unit_of_analysis="relation", interval=True)


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the susceptibility of each relation."""
    entities = means(_sorted(frames), [*KEYS, "entity"], QUANTITY)
    forms = (*RELATION, "form", "entities")
    queries = sorted_by(_sorted(frames), [*forms, "query_id"])
    return [
        *summaries(entities, KEYS, QUANTITY, unit_of_analysis="entity", interval=True),
        *summaries(queries, forms, QUANTITY, unit_of_analysis="query", interval=True, quantiles=True),
    ]


def _sorted(frames: Frames) -> Frame:
    frame = frames["susceptibility_of_queries"]
    frame = frame.assign(entities=named(frame["invented"], "invented", "real"))
    return sorted_by(frame, [*KEYS, "entity", "query_id"])


STATISTIC = Statistic("susceptibility_means", 3, Summary, ("susceptibility_of_queries",), compute, of_relations)
