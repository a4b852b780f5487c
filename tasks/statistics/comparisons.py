"""Comparisons of two groups of a score, relation by relation, as published and by entity; and the list of them.

As published, a row of a group is a query: with its score, or, where the frame has several rows a query, with their
mean, each context counted once. The groups of a persuasion comparison are thus the same queries under different
contexts, which the permutation test does not pair, as the source does not; and the two forms of a type that ask about
an entity count as two rows, though they depend on each other.

By entity, a row is an entity with the mean over its queries. Where both groups are of the same queries, entities that
are in both are pairs, and permutations turn the signs of their differences; else entities are dealt to the groups.

One test per model, dtype, relation and query type; p_adjusted is over the relations of a model, query type, comparison
and test.

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
from swaymeter.tasks.statistics.frames import by, check_scored, means, sorted_by, weighted_means
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

TESTED = ["model", "dtype", "relation", "query_type"]
TEST = ["test", "unit_of_analysis"]
PERMUTATION, SIGN_FLIP = "permutation", "sign flip"
ENTITY = "entity"
Tested = list[tuple[Row, tuple[Scores, Scores]]]
"""What is tested, with the scores of both groups."""


@dataclass(frozen=True)
class Comparison:
    """Two groups of a score of queries that are compared in every relation.

    query: the named query of the warehouse that it reads; measure: its column that is compared, in `unit`; column: the
    one that tells the groups apart; group_a: the group whose mean is expected to be the greater one, its name and its
    value of the column; weight: the column that counts what a row of the frame is the mean of, empty where it has one
    row a query; version: raised when the same frames give other rows.
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
            ScoreError: A score is missing or not finite.
        """
        queries = self.queries(frames[self.query])
        published = list(self.groups(queries))
        entities = means(sorted_by(queries, [*TESTED, ENTITY, "query_id"]), [*TESTED, ENTITY, "group"], self.measure)
        rows = self.tested(published, seed, "query")
        if self.weight:  # both groups are of the same queries
            pairs = self.pairs(entities, [about for about, _ in published])
            return adjusted(rows + self.tested(pairs, seed, paired=True))
        return adjusted(rows + self.tested(list(self.groups(entities)), seed))

    def queries(self, frame: Frame) -> Frame:
        """A row for each query of each group: 0 in the column `group` is the first, 1 the second; sorted by query."""
        check_scored(frame, self.measure)
        keys = [*TESTED, "query_id"]
        group = frame[self.column].astype(object).map({self.group_a[1]: 0, self.group_b[1]: 1})
        selected = frame.assign(group=group)[group.notna()].astype({"group": "int8"})
        if not self.weight:
            if len(twice := selected[selected.duplicated(keys)]):
                raise ScoreError(
                    f"comparison {self.name}: query {self.query} has several rows of query "
                    f"{twice['query_id'].iloc[0]}; have it give one, such as a mean, or name a weight"
                )
            return sorted_by(selected, keys)
        # Ties are broken by all other columns that tell rows apart: doubles added in another order end in other digits.
        selected = sorted_by(selected, [*keys, *(name for name in ("kind", "relevant") if name in selected)])
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

    def tested(self, tested: Tested, seed: int, of: str = ENTITY, *, paired: bool = False) -> list[Row]:
        """The rows of permutation tests; of: what a row of a group is."""
        groups = [groups for _, groups in tested]
        results = permutation(groups, self.alternative, seed, paired=paired)
        return [
            self.row(about, pair, result, SIGN_FLIP if paired else PERMUTATION, of)
            for (about, pair), result in zip(tested, results, strict=True)
        ]

    def row(self, about: Row, groups: tuple[Scores, Scores], result: Result, test: str, of: str) -> Row:
        """The row of a test with this result."""
        return {
            "comparison": self.name,
            "measure": self.measure,
            **about,
            "test": test,
            "unit": self.unit,
            "unit_of_analysis": of,
            "group_a": self.group_a[0],
            "group_b": self.group_b[0],
            "alternative": self.alternative,
            **columns_of(*groups, result),
        }


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


def adjusted(rows: list[Row]) -> list[Row]:
    """The rows with p_adjusted, sorted by what is tested."""
    ordered = sorted(rows, key=lambda row: [row[name] for name in (*TESTED, *TEST)])
    return adjust(ordered, ["model", "dtype", "query_type", *TEST])


FAMILIARITY = Comparison(
    "familiarity", "susceptibility_of_queries", "susceptibility", "invented", ("invented", True), ("real", False),
    "greater",
)  # fmt: skip
"""Are queries about invented entities swayed more easily than queries about real ones?"""
UNATTESTED = replace(
    FAMILIARITY, name="familiarity_unattested", query="unattested_queries", group_a=("invented and unattested", True),
    version=1,
)  # fmt: skip
"""As `FAMILIARITY`, without the invented entities whose name occurs in the counted corpus: somebody may have that name,
and the model may have read of them. It needs a corpus that was counted."""
RELEVANCE = Comparison(
    "relevance", "persuasion_by_kind", "persuasion", "relevant", ("relevant", True), ("irrelevant", False), "greater",
    weight="contexts",
)  # fmt: skip
"""Do contexts that mention the query's entity persuade more than contexts that do not?"""
ASSERTIVENESS = replace(
    RELEVANCE, name="assertiveness", column="kind", group_a=("assertive", "assertive"), group_b=("base", "base")
)
"""Do assertive contexts persuade more than base ones?"""
NEGATION = replace(ASSERTIVENESS, name="negation", group_a=("negation", "negation"), alternative="two-sided")
"""Do negations persuade otherwise than base contexts?"""

LENGTH = "name length"


def _familiarity_by_length(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `GroupTest`."""
    queries = FAMILIARITY.queries(frames[FAMILIARITY.query])
    rows, read = [], (ENTITY, FAMILIARITY.measure, "group")
    for (about, of_relation), (_, groups) in zip(by(queries, TESTED, read), FAMILIARITY.groups(queries), strict=True):
        names = [str(name) for name in of_relation[ENTITY]]
        result, effect = adjusted_difference(
            of_relation[FAMILIARITY.measure], of_relation["group"] == 0, (LENGTH, [len(name) for name in names]), names
        )
        row = FAMILIARITY.row(about, groups, result, f"regression with {LENGTH}", "query")
        rows.append(row | {"effect_size": effect})
    return adjusted(rows)


FAMILIARITY_BY_LENGTH = Statistic("familiarity_by_length", 1, GroupTest, (FAMILIARITY.query,), _familiarity_by_length)
"""Are queries about invented entities swayed more easily, names of equal length compared?

A regression of susceptibility on whether the entity is invented and on its name's length in characters, one-sided:
invented names are longer than those of well-known entities, and length alone may sway a model. Unit of analysis: a
query; those about one entity are a cluster, whose errors may depend on each other. It stands beside `FAMILIARITY`.
"""

FEW = 1_024
"""The most answers whose scores are each a level of their own, as the query says."""
FOLLOWING = Comparison(
    "followed", "followed_levels", "persuasion", "follows", ("context", "context"), ("original", "original"), "greater"
)


def _followed(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `GroupTest`."""
    frame = frames[FOLLOWING.query]
    check_scored(frame, "persuasion")
    group = (frame["follows"] == FOLLOWING.group_b[1]).astype("int8")
    frame = frame.assign(group=group, persuasion=frame["persuasion"].astype("float64"))
    levels = sorted_by(frame[frame[ENTITY].isna()], [*TESTED, "level", "group"])
    rows = [_answers(about, *_levels(of_test), seed=seed) for about, of_test in by(levels, TESTED)]
    entities = sorted_by(frame[frame[ENTITY].notna()], [*TESTED, ENTITY, "group"])
    pairs = FOLLOWING.pairs(entities, [{name: row[name] for name in TESTED} for row in rows])
    return adjusted(rows + FOLLOWING.tested(pairs, seed, paired=True))


def _levels(rows: Frame) -> Iterator[Levels]:
    """The levels of both groups, the same for both."""
    numbers = ["answers", "persuasion", "squared_persuasion"]
    columns = rows.pivot(index="level", columns="group", values=numbers)
    for group in (0, 1):
        of_group = columns.reindex(columns=[(name, group) for name in numbers])
        yield Levels(*of_group.fillna(0.0).to_numpy(dtype=np.float64).T)


def _answers(about: Row, a: Levels, b: Levels, *, seed: int) -> Row:
    """The row of a test whose unit of analysis is an answer."""
    if a.n + b.n > FEW:
        result, effect = permutation_of_levels(a, b, seed, PERMUTATIONS)
    else:
        first, second = (scores(np.repeat(of.means, of.counts.astype(int))) for of in (a, b))
        (result,) = permutation([(first, second)], FOLLOWING.alternative, seed)
        effect = None if result.untestable else cohens_d(first, second)
    row = FOLLOWING.row(about, (scores([]), scores([])), result, PERMUTATION, "answer")
    return row | {"n_a": a.n, "n_b": b.n, "mean_a": a.mean, "mean_b": b.mean, "effect_size": effect}


FOLLOWED = Statistic(FOLLOWING.name, 3, GroupTest, (FOLLOWING.query,), _followed)
"""Do contexts persuade more where the greedy answer follows them than where it stays the original one?

As published, a row of a group is a single answer: a context before a query. Permutation test, one-sided, with the
published 10,000 permutations; groups of more than 1,024 answers together are tested by levels (`Levels`).
By entity, a row is an entity that has answers of both kinds, with the mean over its answers of each: permutations turn
the signs of their differences. Answers that follow neither are in no group. A relation that lacks one of the groups is
untestable, and not counted in the share of relations that are significant.
"""
