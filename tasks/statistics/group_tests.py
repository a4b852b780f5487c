"""Tests of two groups of scores in each relation, by query (as published) and by entity.

By query, as published, a row of a group is a query with its score, or with its mean over contexts. Comparisons of
persuasion have the same queries in both groups, after different contexts. As in the paper, the permutation test does
not pair these queries. Queries about one entity count as separate rows, although they depend on each other.

By entity, a row is an entity with the mean over its queries. If both groups have the same queries, the two means of an
entity are a pair, and permutations flip the signs of their differences. Otherwise permutations deal entities to the
groups.

There is one test for each model, dtype, relation and query type. p_adjusted is over the relations of a model, query
type, comparison and test.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5, figures 2 and 5.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics.formulas.groups import Result, Scores, adjust, cohens_d, scores
from swaymeter.tasks.statistics.formulas.permutation import (
    PERMUTATIONS,
    Alternative,
    Levels,
    permutation,
    permutation_of_levels,
)
from swaymeter.tasks.statistics.formulas.regression import adjusted_difference
from swaymeter.tasks.statistics.frames import check_scored, iter_groups, means, sort_frame, weighted_means
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

TESTED = ["model", "dtype", "relation", "query_type"]
"""Columns that identify the queries of a test."""
TEST = ["test", "unit_of_analysis"]
"""Columns that distinguish several tests of the same queries."""
PERMUTATION, SIGN_FLIP = "permutation", "sign flip"
ENTITY = "entity"
ScoresOfTests = list[tuple[Row, tuple[Scores, Scores]]]
"""Tests, each as (its values of the columns TESTED, the scores of both groups)."""


@dataclass(frozen=True)
class Comparison:
    """Two groups of a score of queries that are compared in every relation.

    Attributes:
        name: name of the comparison.
        query: the named query of the warehouse.
        measure: the compared column, in `unit`.
        column: the column that defines the groups.
        group_a: name and column value of the group that is expected to have the larger mean.
        group_b: name and column value of the other group.
        alternative: greater or two-sided.
        unit: unit of the measure.
        weight: the column with the number of contexts that a row averages; empty if a query has a single row.
        version: number to increase if the code gives other rows for the same frames.
    """

    name: str
    query: str
    measure: str
    column: str
    group_a: tuple[str, object]
    group_b: tuple[str, object]
    alternative: Alternative
    unit: str = "nats"
    weight: str = ""
    version: int = 4

    @property
    def statistic(self) -> Statistic:
        """The comparison as a statistic."""
        return Statistic(self.name, self.version, GroupTest, (self.query,), self.compute)

    def compute(self, frames: Frames, seed: int) -> list[Row]:
        """Return the rows of `GroupTest`.

        Raises:
            ScoreError: a score is missing or not finite.
        """
        queries = self.queries(frames[self.query])
        query_tests = list(self.groups(queries))
        entities = means(sort_frame(queries, [*TESTED, ENTITY, "query_id"]), [*TESTED, ENTITY, "group"], self.measure)
        rows = self.test_rows(query_tests, seed, "query")
        if self.weight:  # the groups have the same queries, after different contexts
            pairs = self.pairs(entities, [about for about, _ in query_tests])
            return adjust_rows(rows + self.test_rows(pairs, seed, paired=True))
        return adjust_rows(rows + self.test_rows(list(self.groups(entities)), seed))

    def queries(self, frame: Frame) -> Frame:
        """Return a row for each query of each group, sorted by query; the column `group` is 0 for a and 1 for b."""
        check_scored(frame, self.measure)
        keys = [*TESTED, "query_id"]
        group = frame[self.column].astype(object).map({self.group_a[1]: 0, self.group_b[1]: 1})
        selected = frame.assign(group=group)[group.notna()].astype({"group": "int8"})
        if not self.weight:
            if len(repeated := selected[selected.duplicated(keys)]):
                raise ScoreError(
                    f"comparison {self.name}: the SQL query {self.query} returns several rows with the query_id "
                    f"{repeated['query_id'].iloc[0]}; return one row for each query_id, or set Comparison.weight"
                )
            return sort_frame(selected, keys)
        # The rows of a query are sorted, too: sums in another order end in other digits.
        selected = sort_frame(selected, [*keys, *(name for name in ("kind", "relevant") if name in selected)])
        # A query has one entity, so the column ENTITY splits no group; it is a key only to stay in the frame.
        return weighted_means(selected, [*keys, ENTITY, "group"], self.measure, self.weight)

    def groups(self, frame: Frame) -> Iterator[tuple[Row, tuple[Scores, Scores]]]:
        """Yield each test as (values of the columns TESTED, scores of both groups in the order of the frame)."""
        for about, rows in iter_groups(frame, TESTED, [self.measure, "group"]):
            values, group_of_row = rows[self.measure].to_numpy(dtype="float64"), rows["group"].to_numpy()
            yield about, (scores(values[group_of_row == 0]), scores(values[group_of_row == 1]))

    def pairs(self, entities: Frame, tests: Sequence[Row]) -> ScoresOfTests:
        """Return, for each test, the means of the entities that are in both groups.

        Args:
            entities: the mean of each entity in each group.
            tests: the values of the columns TESTED.
        """
        both = entities.groupby([*TESTED, ENTITY], observed=True)["group"].transform("size") == 2
        by_test = {tuple(about.values()): groups for about, groups in self.groups(entities[both])}
        return [(about, by_test.get(tuple(about.values()), (scores([]), scores([])))) for about in tests]

    def test_rows(
        self, tests: ScoresOfTests, seed: int, unit_of_analysis: str = ENTITY, *, paired: bool = False
    ) -> list[Row]:
        """Return the rows of permutation tests with a unit of analysis."""
        results = permutation([groups for _, groups in tests], self.alternative, seed, paired=paired)
        return [
            self.row(about, groups, result, SIGN_FLIP if paired else PERMUTATION, unit_of_analysis)
            for (about, groups), result in zip(tests, results, strict=True)
        ]

    def row(self, about: Row, groups: tuple[Scores, Scores], result: Result, test: str, unit_of_analysis: str) -> Row:
        """Return the row of a test with this result."""
        return {
            "comparison": self.name,
            "measure": self.measure,
            **about,
            "test": test,
            "unit": self.unit,
            "unit_of_analysis": unit_of_analysis,
            "group_a": self.group_a[0],
            "group_b": self.group_b[0],
            "alternative": self.alternative,
            **columns_of(*groups, result),
        }


def columns_of(a: Scores, b: Scores, result: Result) -> Row:
    """Return the columns that all tables of tests share, without p_adjusted, for groups (n_a,) and (n_b,)."""
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


def adjust_rows(rows: list[Row]) -> list[Row]:
    """Return the rows with p_adjusted, sorted by test."""
    ordered = sorted(rows, key=lambda row: [row[name] for name in (*TESTED, *TEST)])
    return adjust(ordered, ["model", "dtype", "query_type", *TEST])


FAMILIARITY = Comparison(
    "familiarity",
    "susceptibility_of_queries",
    "susceptibility",
    "invented",
    ("invented", True),
    ("real", False),
    "greater",
)
"""Invented entities against real entities: are queries about invented entities swayed more easily?"""
UNATTESTED = replace(
    FAMILIARITY,
    name="familiarity_unattested",
    query="unattested_queries",
    group_a=("invented and unattested", True),
    version=1,
)
"""`FAMILIARITY` without invented entities whose name occurs in the counted corpus: a model may know such a name."""
RELEVANCE = Comparison(
    "relevance",
    "persuasion_by_kind",
    "persuasion",
    "relevant",
    ("relevant", True),
    ("irrelevant", False),
    "greater",
    weight="contexts",
)
"""Contexts that mention the query's entity against other contexts: do they persuade more?"""
ASSERTIVENESS = replace(
    RELEVANCE, name="assertiveness", column="kind", group_a=("assertive", "assertive"), group_b=("base", "base")
)
"""Assertive contexts against base contexts: do they persuade more?"""
NEGATION = replace(ASSERTIVENESS, name="negation", group_a=("negation", "negation"), alternative="two-sided")
"""Negations against base contexts: do they persuade differently?"""

LENGTH = "name length"


def _familiarity_by_length(frames: Frames, seed: int) -> list[Row]:
    queries = FAMILIARITY.queries(frames[FAMILIARITY.query])
    rows, columns = [], (ENTITY, FAMILIARITY.measure, "group")
    for (about, queries_of_relation), (_, groups) in zip(
        iter_groups(queries, TESTED, columns), FAMILIARITY.groups(queries), strict=True
    ):
        names = [str(name) for name in queries_of_relation[ENTITY]]
        result, effect = adjusted_difference(
            queries_of_relation[FAMILIARITY.measure],
            queries_of_relation["group"] == 0,
            (LENGTH, [len(name) for name in names]),
            names,
        )
        row = FAMILIARITY.row(about, groups, result, f"regression with {LENGTH}", "query")
        rows.append(row | {"effect_size": effect})
    return adjust_rows(rows)


FAMILIARITY_BY_LENGTH = Statistic("familiarity_by_length", 1, GroupTest, (FAMILIARITY.query,), _familiarity_by_length)
"""Invented against real entities with names of equal length: are queries about invented entities swayed more easily?

A one-sided regression of susceptibility on the kind of entity and on its name's length in characters. Invented names
are longer than names of well-known entities, and length alone may sway a model. Unit of analysis: a query; the queries
about an entity are a cluster, whose errors may depend on each other.
"""

MAX_SEPARATE_LEVELS = 1_024
"""Up to this number of answers in a test, each different score is a level. With more answers, a level is a range of
scores. followed_levels.sql has the same limit."""
_BY_FOLLOWED = Comparison(
    "followed", "followed_levels", "persuasion", "follows", ("context", "context"), ("original", "original"), "greater"
)


def _followed(frames: Frames, seed: int) -> list[Row]:
    # The frame has rows by level of persuasion, without an entity, and rows by entity, without a level.
    frame = frames[_BY_FOLLOWED.query]
    check_scored(frame, "persuasion")
    group = (frame["follows"] == _BY_FOLLOWED.group_b[1]).astype("int8")
    frame = frame.assign(group=group, persuasion=frame["persuasion"].astype("float64"))
    levels = sort_frame(frame[frame[ENTITY].isna()], [*TESTED, "level", "group"])
    rows = [
        _answer_test_row(about, *_levels(levels_of_test), seed=seed)
        for about, levels_of_test in iter_groups(levels, TESTED)
    ]
    entities = sort_frame(frame[frame[ENTITY].notna()], [*TESTED, ENTITY, "group"])
    pairs = _BY_FOLLOWED.pairs(entities, [{name: row[name] for name in TESTED} for row in rows])
    return adjust_rows(rows + _BY_FOLLOWED.test_rows(pairs, seed, paired=True))


def _levels(rows: Frame) -> Iterator[Levels]:
    """Yield the levels of the first group and of the second; both have the same levels, with 0 answers in some."""
    names = ["answers", "persuasion", "squared_persuasion"]
    columns = rows.pivot(index="level", columns="group", values=names)
    for group in (0, 1):
        group_columns = columns.reindex(columns=[(name, group) for name in names])
        yield Levels(*group_columns.fillna(0.0).to_numpy(dtype=np.float64).T)


def _answer_test_row(about: Row, a: Levels, b: Levels, *, seed: int) -> Row:
    if a.n + b.n > MAX_SEPARATE_LEVELS:
        result, effect = permutation_of_levels(a, b, seed, PERMUTATIONS)
    else:
        # All scores of a level are equal to its mean.
        first, second = (scores(np.repeat(levels.means, levels.counts.astype(int))) for levels in (a, b))
        (result,) = permutation([(first, second)], _BY_FOLLOWED.alternative, seed)
        effect = None if result.untestable else cohens_d(first, second)
    # Empty groups are enough, because the next line replaces the columns that the groups give.
    row = _BY_FOLLOWED.row(about, (scores([]), scores([])), result, PERMUTATION, "answer")
    return row | {"n_a": a.n, "n_b": b.n, "mean_a": a.mean, "mean_b": b.mean, "effect_size": effect}


FOLLOWED = Statistic(_BY_FOLLOWED.name, 3, GroupTest, (_BY_FOLLOWED.query,), _followed)
"""Followed contexts against contexts after which the greedy answer stays the original answer: do they persuade more?

As published, a row of a group is a single answer: a context before a query. The permutation test is one-sided with the
published 10,000 permutations; two groups of more than 1,024 answers together are tested by levels (`Levels`). By
entity, a row is an entity that has answers in both groups, with the mean over its answers in each group. An answer that
is neither the context's nor the original answer is in no group. A relation in which one group is empty is untestable;
the share of significant relations does not count it.
"""
