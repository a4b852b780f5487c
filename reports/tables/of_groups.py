"""Tables about entities in groups: the tests between them, and the most and least susceptible ones."""

import pandas as pd

from swaymeter.reports.frames import Frames, units
from swaymeter.reports.tables.table import Table


def _comparisons(frames: Frames) -> pd.DataFrame:
    rows = frames["group_comparisons"]
    shown = rows.drop(columns=["unit", "statistic"])
    shown.attrs["units"] = units(rows)
    return shown


COMPARISONS = Table(
    "tests-of-groups",
    "Every test between groups, sets and kinds of contexts",
    "A row of a test is an entity, a name or a pair, with the mean over its queries; all tests are two-sided. Between "
    "labels and types, permutations deal the entities; between sets of contexts, and between contexts of one label or "
    "strength and another, both about the queried entity, they turn the signs of the entities' differences. p is "
    "adjusted by Benjamini-Hochberg over the tests of a model, query type and comparison; d is Cohen's, above zero "
    "where the first group's mean is larger.",
    ("group_comparisons",),
    _comparisons,
    folded=True,
)
ENTITIES = Table(
    "entities-of-groups",
    "Every entity of the groups",
    "A row is an entity, a name or a pair, with its label, its type where it has one, and the mean susceptibility over "
    "its queries of a type.",
    ("susceptibility_of_labelled_entities",),
    lambda frames: frames["susceptibility_of_labelled_entities"],
    folded=True,
    items=("du-table-1",),
)
EXTREMES = Table(
    "most-and-least-susceptible",
    "The most and the least susceptible entities",
    "The five entities, names or pairs, that contexts of a set sway furthest, and the five that they sway least, by "
    "the mean over the queries of a type.",
    ("most_and_least_susceptible",),
    lambda frames: frames["most_and_least_susceptible"],
)
