"""Do contexts persuade more where the greedy answer follows them than where it stays the original one?

As published, a row of a group is a single answer: a context before a query. Permutation test, one-sided, with the
published 10,000 permutations; groups of more than 1,024 answers together are tested by levels (`formulas.levels`).

By entity, a row is an entity that has answers of both kinds, with the mean over its answers of each: permutations turn
the signs of their differences.

Answers that follow neither are in no group. A relation that lacks one of the groups is untestable, and not counted in
the share of relations that are significant.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, figure 2 and the text beside it.
"""

import numpy as np

from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics.comparison import ENTITY, PERMUTATION, SIGN_FLIP, TESTED, Comparison, Group, adjusted
from swaymeter.tasks.statistics.formulas.groups import Result, cohens_d, scores
from swaymeter.tasks.statistics.formulas.levels import Levels, permutation_of_levels
from swaymeter.tasks.statistics.formulas.permutation import PERMUTATIONS, permutation, sign_flips
from swaymeter.tasks.statistics.frames import by, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic

_NUMBERS = ("answers", "persuasion", "squared_persuasion")
FEW = 1_024
"""The most answers whose scores are each a level of their own, as the query says."""

COMPARISON = Comparison(
    name="followed",
    query="followed_levels",
    measure="persuasion",
    column="follows",
    group_a=Group("context", "context"),
    group_b=Group("original", "original"),
    alternative="greater",
)


def of_relations(frames: Frames, seed: int) -> list[Row]:
    """The rows of `GroupTest` but for p_adjusted."""
    frame = frames[COMPARISON.query]
    group = (frame["follows"] == COMPARISON.group_b.value).astype("int8")
    frame = frame.assign(group=group, persuasion=frame["persuasion"].astype("float64"))
    levels = sorted_by(frame[frame[ENTITY].isna()], [*TESTED, "level", "group"])
    rows = [_row(about, _groups(rows), seed) for about, rows in by(levels, TESTED)]
    tested = [{name: row[name] for name in TESTED} for row in rows]
    entities = sorted_by(frame[frame[ENTITY].notna()], [*TESTED, ENTITY, "group"])
    pairs = COMPARISON.pairs(entities, tested)
    results = sign_flips([groups for _, groups in pairs], COMPARISON.alternative, seed)
    return rows + COMPARISON.rows(pairs, results, SIGN_FLIP, ENTITY)


def _groups(rows: Frame) -> list[Levels]:
    """The levels of both groups, the same for both."""
    columns = rows.pivot(index="level", columns="group", values=list(_NUMBERS))
    return [
        Levels(*columns.reindex(columns=[(name, group) for name in _NUMBERS]).fillna(0.0).to_numpy(dtype=np.float64).T)
        for group in (0, 1)
    ]


def _row(about: Row, groups: list[Levels], seed: int) -> Row:
    a, b = groups
    result, effect = _tested(a, b, seed)
    (row,) = COMPARISON.rows([(about, (scores([]), scores([])))], [result], PERMUTATION, "answer")
    return row | {"n_a": a.n, "n_b": b.n, "mean_a": a.mean, "mean_b": b.mean, "effect_size": effect}


def _tested(a: Levels, b: Levels, seed: int) -> tuple[Result, float | None]:
    if a.n + b.n > FEW:
        return permutation_of_levels(a, b, seed, PERMUTATIONS)
    first, second = (scores(np.repeat(of.means, of.counts.astype(int))) for of in (a, b))
    (result,) = permutation([(first, second)], COMPARISON.alternative, seed)
    return result, None if result.untestable else cohens_d(first, second)


STATISTIC = Statistic(COMPARISON.name, 3, GroupTest, (COMPARISON.query,), of_relations=of_relations, finish=adjusted)
