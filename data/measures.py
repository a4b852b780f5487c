"""The registry of measures: name, version, unit, columns, and what each needs.

A family is the set of measures that one pass over a relation yields together; it is what a Prefect task run computes.
Study files, `status`, the database and the page read this registry; `tasks.measurement` says how a family is computed.
"""

from data.answer_measures import ANSWER_MEASURES
from data.errors import UnknownName
from data.next_token_measures import NEXT_TOKEN_MEASURES
from data.registry import Measure

__all__ = ["FAMILIES", "MEASURES", "Measure", "measure"]

MEASURES: dict[str, Measure] = {one.name: one for one in (*NEXT_TOKEN_MEASURES, *ANSWER_MEASURES)}
"""Every measure by its name; a measure comes after those that it needs."""

FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(one.family for one in MEASURES.values()))


def measure(name: str) -> Measure:
    """The registered measure of a name; UnknownName with the nearest one otherwise."""
    if name not in MEASURES:
        raise UnknownName("measure", name, MEASURES)
    return MEASURES[name]
