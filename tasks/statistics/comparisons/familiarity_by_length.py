"""Are queries about invented entities swayed more easily, names of equal length compared?

A regression of susceptibility on whether the entity is invented and on its name's length in characters, one-sided.
Invented names are longer than those of well-known entities, and length alone may sway a model. Groups: queries about
invented and real entities. Unit of analysis: a query; those about one entity are a cluster, whose errors may depend on
each other. It stands beside the published comparison, `familiarity`.
"""

from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics.comparison import ENTITY, TESTED, adjusted
from swaymeter.tasks.statistics.comparisons.of_scores import FAMILIARITY
from swaymeter.tasks.statistics.formulas.adjusted_difference import adjusted_difference
from swaymeter.tasks.statistics.frames import by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic

LENGTH = "name length"
REGRESSION = f"regression with {LENGTH}"


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `GroupTest` but for p_adjusted."""
    queries = FAMILIARITY.queries(frames[FAMILIARITY.query])
    rows, tested = [], list(FAMILIARITY.groups(queries))
    read = (ENTITY, FAMILIARITY.measure, "group")
    for (about, of_relation), groups in zip(by(queries, TESTED, read), tested, strict=True):
        names = [str(name) for name in of_relation[ENTITY]]
        result, effect = adjusted_difference(
            of_relation[FAMILIARITY.measure], of_relation["group"] == 0, (LENGTH, [len(name) for name in names]), names
        )
        (row,) = FAMILIARITY.rows([(about, groups[1])], [result], REGRESSION, "query")
        rows.append(row | {"effect_size": effect})
    return rows


STATISTIC = Statistic(
    "familiarity_by_length", 1, GroupTest, (FAMILIARITY.query,), of_relations=of_relations, finish=adjusted
)
