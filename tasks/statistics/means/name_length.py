"""How long the names of real and of invented entities are, in characters and in words; see `familiarity_by_length`.

Groups: real and invented entities of a relation, and of all relations. Unit of analysis: an entity of a relation whose
queries have a susceptibility.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import named, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, summaries

KEYS = (*MODEL, "relation", "entities")


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the lengths over all relations."""
    return _lengths(frames, (*MODEL, "entities"))


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for the lengths in each relation."""
    return _lengths(frames, KEYS)


def _lengths(frames: Frames, keys: tuple[str, ...]) -> list[Row]:
    names = _names(frames["susceptibility_of_queries"])
    rows = []
    for unit, pieces in (("characters", list), ("words", str.split)):
        rows += summaries(
            names.assign(length=[len(pieces(name)) for name in names["entity"]]), keys, "length",
            quantity="name_length", unit=unit, unit_of_analysis="entity", quantiles=True,
        )  # fmt: skip
    return rows


def _names(frame: Frame) -> Frame:
    """A row for each entity of a relation."""
    keys = [*MODEL, "relation", "entity", "invented"]
    names = frame[keys].drop_duplicates().astype({"entity": str})
    names = names.assign(entities=named(names["invented"], "invented", "real"))
    return sorted_by(names, [*KEYS, "entity"])


STATISTIC = Statistic("name_lengths", 1, Summary, ("susceptibility_of_queries",), compute, of_relations)
