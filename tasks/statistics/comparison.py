"""Comparisons of two groups of a score, relation by relation: as published, and by entity.

As published, a row of a group is a query: with its score, or, where the frame has several rows a query, with their
mean, each context counted once. The groups of a persuasion comparison are thus the same queries under different
contexts, which the permutation test does not pair, as the source does not; and the two forms of a type that ask about
an entity count as two rows, though they depend on each other.

By entity, a row is an entity with the mean over its queries. Where both groups are of the same queries, entities that
are in both are pairs, and permutations turn the signs of their differences; else entities are dealt to the groups.

One test per model, dtype, relation and query type; p_adjusted is over the relations of a model, query type, comparison
and test.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5 and figure 5.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics.formulas.corrections import adjust
from swaymeter.tasks.statistics.formulas.groups import Result, Scores, cohens_d, scores
from swaymeter.tasks.statistics.formulas.permutation import Alternative, permutation, sign_flips
from swaymeter.tasks.statistics.frames import by, check_scored, means, sorted_by, weighted_means
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

TESTED = ["model", "dtype", "relation", "query_type"]
TEST = ["test", "unit_of_analysis"]
FAMILY = ["model", "dtype", "query_type", *TEST]
PERMUTATION, SIGN_FLIP = "permutation", "sign flip"
ENTITY = "entity"
Tested = list[tuple[Row, tuple[Scores, Scores]]]
"""What is tested, with the scores of both groups."""


@dataclass(frozen=True)
class Group:
    """A group: its name, and the value of the comparison's column that its rows have."""

    name: str
    value: object


@dataclass(frozen=True)
class Comparison:
    """Two groups of a score of queries that are compared in every relation.

    query: the named query of the warehouse that it reads; measure: its column that is compared, in `unit`; column: the
    one that tells the groups apart; group_a: the group whose mean is expected to be the greater one; weight: the column
    that counts what a row of the frame is the mean of, empty where it has one row a query; version: raised when the
    same frames give other rows.
    """

    name: str
    query: str
    measure: str
    column: str
    group_a: Group
    group_b: Group
    alternative: Alternative
    unit: str = "nats"
    weight: str = ""
    version: int = 4

    @property
    def statistic(self) -> Statistic:
        """The comparison as a statistic."""
        return Statistic(
            self.name, self.version, GroupTest, (self.query,), of_relations=self.of_relations, finish=adjusted
        )

    def of_relations(self, frames: Frames, seed: int) -> list[Row]:
        """The rows of `GroupTest` but for p_adjusted; ScoreError for a score that is missing or not finite."""
        queries = self.queries(frames[self.query])
        published = list(self.groups(queries))
        entities = means(sorted_by(queries, [*TESTED, ENTITY, "query_id"]), [*TESTED, ENTITY, "group"], self.measure)
        rows = self.rows(published, permutation(_scores(published), self.alternative, seed), PERMUTATION, "query")
        if self.weight:  # both groups are of the same queries
            pairs = self.pairs(entities, [about for about, _ in published])
            return rows + self.rows(pairs, sign_flips(_scores(pairs), self.alternative, seed), SIGN_FLIP, ENTITY)
        dealt = list(self.groups(entities))
        return rows + self.rows(dealt, permutation(_scores(dealt), self.alternative, seed), PERMUTATION, ENTITY)

    def queries(self, frame: Frame) -> Frame:
        """A row for each query of each group: 0 in the column `group` is the first, 1 the second; sorted by query."""
        check_scored(frame, self.measure)
        keys = [*TESTED, "query_id"]
        group = frame[self.column].astype(object).map({self.group_a.value: 0, self.group_b.value: 1})
        selected = frame.assign(group=group)[group.notna()].astype({"group": "int8"})
        if not self.weight:
            if len(twice := selected[selected.duplicated(keys)]):
                raise ScoreError(
                    f"comparison {self.name}: query {self.query} has several rows of query "
                    f"{twice['query_id'].iloc[0]}; have it give one, such as a mean, or name a weight"
                )
            return sorted_by(selected, keys)
        # Ties are broken by all other columns that tell rows apart: doubles added in another order end in other digits.
        others = [name for name in ("kind", "relevant") if name in selected]
        selected = sorted_by(selected, [*keys, *others])
        # An entity is a query's: it changes no group, and stays a column.
        return weighted_means(selected, [*keys, ENTITY, "group"], self.measure, self.weight)

    def groups(self, frame: Frame) -> Iterator[tuple[Row, tuple[Scores, Scores]]]:
        """What is tested, with the scores of both groups in the order of the frame."""
        for about, rows in by(frame, TESTED, [self.measure, "group"]):
            values, which = rows[self.measure].to_numpy(dtype="float64"), rows["group"].to_numpy()
            yield about, (scores(values[which == 0]), scores(values[which == 1]))

    def pairs(self, entities: Frame, tested: Sequence[Row]) -> Tested:
        """The means of the entities that are in both groups, of all that is tested; a row an entity and group."""
        both = entities.groupby([*TESTED, ENTITY], observed=True)["group"].transform("size") == 2
        by_test = {tuple(about.values()): groups for about, groups in self.groups(entities[both])}
        return [(about, by_test.get(tuple(about.values()), (scores([]), scores([])))) for about in tested]

    def rows(self, tested: Tested, results: Sequence[Result], test: str, unit_of_analysis: str) -> list[Row]:
        """The rows of tests with these results."""
        return [
            {
                "comparison": self.name,
                "measure": self.measure,
                **about,
                "test": test,
                "unit": self.unit,
                "unit_of_analysis": unit_of_analysis,
                "group_a": self.group_a.name,
                "group_b": self.group_b.name,
                "alternative": self.alternative,
                **columns_of(a, b, result),
            }
            for (about, (a, b)), result in zip(tested, results, strict=True)
        ]


def columns_of(a: Scores, b: Scores, result: Result) -> Row:
    """The columns that a test of groups (n_a,) and (n_b,) has in every table of tests, but for p_adjusted."""
    return {
        "n_a": len(a),
        "n_b": len(b),
        "mean_a": float(a.mean()) if len(a) else None,
        "mean_b": float(b.mean()) if len(b) else None,
        "statistic": result.statistic,
        "p": result.p,
        "effect_size": None if result.untestable else cohens_d(a, b),
        "untestable": result.untestable,
    }


def _scores(tested: Tested) -> list[tuple[Scores, Scores]]:
    return [groups for _, groups in tested]


def adjusted(rows: list[Row]) -> list[Row]:
    """The rows with p_adjusted, sorted by what is tested."""
    return adjust(sorted(rows, key=lambda row: [row[name] for name in (*TESTED, *TEST)]), FAMILY)
