"""The comparisons of two groups of scores: rows of a table where they differ only in what they compare, else functions.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5, figures 2 and 5.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics.comparison import ENTITY, PERMUTATION, SIGN_FLIP, TESTED, Comparison, Group, adjusted
from swaymeter.tasks.statistics.formulas.groups import Result, cohens_d, scores
from swaymeter.tasks.statistics.formulas.levels import Levels, permutation_of_levels
from swaymeter.tasks.statistics.formulas.permutation import PERMUTATIONS, permutation, sign_flips
from swaymeter.tasks.statistics.formulas.regression import adjusted_difference
from swaymeter.tasks.statistics.frames import by, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

FAMILIARITY = Comparison(
    name="familiarity",
    query="susceptibility_of_queries",
    measure="susceptibility",
    column="invented",
    group_a=Group("invented", True),
    group_b=Group("real", False),
    alternative="greater",
)
"""Are queries about invented entities swayed more easily than queries about real ones?"""

UNATTESTED = replace(
    FAMILIARITY,
    name="familiarity_unattested",
    query="unattested_queries",
    group_a=Group("invented and unattested", True),
    version=1,
)
"""As `FAMILIARITY`, without the invented entities whose name occurs in the counted corpus: somebody may have that name,
and the model may have read of them. It needs a corpus that was counted."""

RELEVANCE = Comparison(
    name="relevance",
    query="persuasion_by_kind",
    measure="persuasion",
    weight="contexts",
    column="relevant",
    group_a=Group("relevant", True),
    group_b=Group("irrelevant", False),
    alternative="greater",
)
"""Do contexts that mention the query's entity persuade more than contexts that do not?"""

ASSERTIVENESS = replace(
    RELEVANCE,
    name="assertiveness",
    column="kind",
    group_a=Group("assertive", "assertive"),
    group_b=Group("base", "base"),
)
"""Do assertive contexts persuade more than base ones?"""

NEGATION = replace(ASSERTIVENESS, name="negation", group_a=Group("negation", "negation"), alternative="two-sided")
"""Do negations persuade otherwise than base contexts?"""

LENGTH = "name length"


def _familiarity_by_length(frames: Frames, seed: int) -> list[Row]:
    """The rows of `GroupTest` but for p_adjusted."""
    queries = FAMILIARITY.queries(frames[FAMILIARITY.query])
    rows, tested = [], list(FAMILIARITY.groups(queries))
    read = (ENTITY, FAMILIARITY.measure, "group")
    for (about, of_relation), groups in zip(by(queries, TESTED, read), tested, strict=True):
        names = [str(name) for name in of_relation[ENTITY]]
        result, effect = adjusted_difference(
            of_relation[FAMILIARITY.measure], of_relation["group"] == 0, (LENGTH, [len(name) for name in names]), names
        )
        (row,) = FAMILIARITY.rows([(about, groups[1])], [result], f"regression with {LENGTH}", "query")
        rows.append(row | {"effect_size": effect})
    return rows


FAMILIARITY_BY_LENGTH = Statistic(
    "familiarity_by_length", 1, GroupTest, (FAMILIARITY.query,), of_relations=_familiarity_by_length, finish=adjusted
)
"""Are queries about invented entities swayed more easily, names of equal length compared?

A regression of susceptibility on whether the entity is invented and on its name's length in characters, one-sided:
invented names are longer than those of well-known entities, and length alone may sway a model. Unit of analysis: a
query; those about one entity are a cluster, whose errors may depend on each other. It stands beside `FAMILIARITY`.
"""

FEW = 1_024
"""The most answers whose scores are each a level of their own, as the query says."""
FOLLOWING = Comparison(
    name="followed",
    query="followed_levels",
    measure="persuasion",
    column="follows",
    group_a=Group("context", "context"),
    group_b=Group("original", "original"),
    alternative="greater",
)


def _followed(frames: Frames, seed: int) -> list[Row]:
    """The rows of `GroupTest` but for p_adjusted."""
    frame = frames[FOLLOWING.query]
    group = (frame["follows"] == FOLLOWING.group_b.value).astype("int8")
    frame = frame.assign(group=group, persuasion=frame["persuasion"].astype("float64"))
    levels = sorted_by(frame[frame[ENTITY].isna()], [*TESTED, "level", "group"])
    rows = [_answers(about, *_groups(of_test), seed=seed) for about, of_test in by(levels, TESTED)]
    entities = sorted_by(frame[frame[ENTITY].notna()], [*TESTED, ENTITY, "group"])
    pairs = FOLLOWING.pairs(entities, [{name: row[name] for name in TESTED} for row in rows])
    results = sign_flips([groups for _, groups in pairs], FOLLOWING.alternative, seed)
    return rows + FOLLOWING.rows(pairs, results, SIGN_FLIP, ENTITY)


def _groups(rows: Frame) -> Iterator[Levels]:
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
        result, effect = _answers_of_few(a, b, seed)
    (row,) = FOLLOWING.rows([(about, (scores([]), scores([])))], [result], PERMUTATION, "answer")
    return row | {"n_a": a.n, "n_b": b.n, "mean_a": a.mean, "mean_b": b.mean, "effect_size": effect}


def _answers_of_few(a: Levels, b: Levels, seed: int) -> tuple[Result, float | None]:
    first, second = (scores(np.repeat(of.means, of.counts.astype(int))) for of in (a, b))
    (result,) = permutation([(first, second)], FOLLOWING.alternative, seed)
    return result, None if result.untestable else cohens_d(first, second)


FOLLOWED = Statistic(FOLLOWING.name, 3, GroupTest, (FOLLOWING.query,), of_relations=_followed, finish=adjusted)
"""Do contexts persuade more where the greedy answer follows them than where it stays the original one?

As published, a row of a group is a single answer: a context before a query. Permutation test, one-sided, with the
published 10,000 permutations; groups of more than 1,024 answers together are tested by levels (`formulas.levels`).
By entity, a row is an entity that has answers of both kinds, with the mean over its answers of each: permutations turn
the signs of their differences. Answers that follow neither are in no group. A relation that lacks one of the groups is
untestable, and not counted in the share of relations that are significant.
"""
