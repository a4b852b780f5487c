"""Comparisons of two groups of a score, relation by relation.

One test per model, dtype, relation and query type. A row of a group is a query, that is a form about an entity: with
its score, or, where the frame has several rows a query, with their mean, each context counted once. The two groups of a
persuasion comparison are thus the same queries under different contexts; the permutation test does not pair them, as
the source does not. Alpha is the reader's; p_adjusted is over the relations of a model, query type and comparison.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5 and figure 5.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from data.records.statistics import GroupTest
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

    from tasks.statistics.groups import Scores, TestResult, Untestable

Alternative = Literal["greater", "two-sided"]
FAMILY = ["model", "dtype", "query_type"]
TESTED = ["model", "dtype", "relation", "query_type"]


@dataclass(frozen=True)
class Group:
    """A group: its name, and the value of the comparison's column that its rows have."""

    name: str
    value: object


def permutation(
    pairs: "Sequence[tuple[Scores, Scores]]", alternative: Alternative, seed: int
) -> "list[TestResult | Untestable]":
    """The permutation test on Student's t, unpaired; see tasks.statistics.permutation."""
    from tasks.statistics.permutation import permutation_tests

    return permutation_tests(pairs, alternative=alternative, seed=seed)


@dataclass(frozen=True)
class Comparison:
    """Two groups of a score that are compared in every relation.

    Attributes:
        name: of the comparison.
        query: the named query of the warehouse that it reads.
        measure: the column of the query that is compared.
        column: the column that tells the groups apart.
        group_a: the group whose mean is expected to be the greater one.
        group_b: the other group.
        alternative: greater, or two-sided.
        unit: of the measure.
        unit_of_analysis: what one row of a group is; its column is <unit_of_analysis>_id.
        weight: the column that counts what a row of the frame is the mean of; empty where it has one row a unit.
        test: the test of pairs of groups; a row names it by the function's name.
        version: raised when the same frames give other rows.
    """

    name: str
    query: str
    measure: str
    column: str
    group_a: Group
    group_b: Group
    alternative: Alternative
    unit: str = "nats"
    unit_of_analysis: str = "query"
    weight: str = ""
    test: Callable[..., "list[TestResult | Untestable]"] = permutation
    version: int = 2

    @property
    def statistic(self) -> Statistic:
        """The comparison as a statistic."""
        return Statistic(self.name, self.version, GroupTest, (self.query,), self.compute)

    def compute(self, frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
        """The rows of `GroupTest`, sorted by what is tested; ScoreError for a score that is missing or not finite."""
        from tasks.statistics.effect_size import cohens_d
        from tasks.statistics.groups import Untestable, scores

        tested = self._groups(frames[self.query])
        pairs = [(scores(a), scores(b)) for _, a, b in tested]
        rows = []
        for (of, *_), (a, b), result in zip(tested, pairs, self.test(pairs, self.alternative, seed), strict=True):
            effect = cohens_d(a, b)
            rows.append(
                {
                    "comparison": self.name,
                    "measure": self.measure,
                    **of,
                    "test": self.test.__name__,
                    "unit": self.unit,
                    "unit_of_analysis": self.unit_of_analysis,
                    "group_a": self.group_a.name,
                    "group_b": self.group_b.name,
                    "n_a": len(a),
                    "n_b": len(b),
                    "mean_a": float(a.mean()) if len(a) else None,
                    "mean_b": float(b.mean()) if len(b) else None,
                    "statistic": None if isinstance(result, Untestable) else result.statistic,
                    "alternative": self.alternative,
                    "p": None if isinstance(result, Untestable) else result.p,
                    "effect_size": None if isinstance(effect, Untestable) else effect,
                    "untestable": result.reason if isinstance(result, Untestable) else None,
                }
            )
        return _adjusted(rows)

    def _groups(self, frame: "pd.DataFrame") -> list[tuple[Row, Any, Any]]:
        """What is tested, with the scores of both groups in the order of their units."""
        from tasks.statistics.frames import by, sorted_by, weighted_means, without_missing

        unit = f"{self.unit_of_analysis}_id"
        names = {self.group_a.value: 0, self.group_b.value: 1}
        group = frame[self.column].astype(object).map(names)
        keys = [*TESTED, unit]
        grouped = without_missing(frame, self.measure).assign(group=group)
        selected = grouped[group.notna()].astype({"group": "int8"})
        if self.weight:
            # Ties are broken by all other columns that tell rows apart: doubles added in another order end in other
            # digits.
            others = [name for name in ("kind", "relevant") if name in selected]
            selected = weighted_means(
                sorted_by(selected, [*keys, *others]), [*keys, "group"], self.measure, self.weight
            )
        selected = sorted_by(selected, keys)
        samples = []
        for of, rows in by(selected, TESTED):
            values, which = rows[self.measure].to_numpy(dtype="float64"), rows["group"].to_numpy()
            samples.append((of, values[which == 0], values[which == 1]))
        return samples


def _adjusted(rows: list[Row]) -> list[Row]:
    from tasks.statistics.corrections import benjamini_hochberg

    families: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        families.setdefault(tuple(row[name] for name in FAMILY), []).append(row)
    for family in families.values():
        for row, p in zip(family, benjamini_hochberg([row["p"] for row in family]), strict=True):
            row["p_adjusted"] = p
    return rows
