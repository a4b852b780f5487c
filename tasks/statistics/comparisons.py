"""The four comparisons of groups that tell what a context's sway depends on, each a table of tests.

    relevance       persuasion      contexts that mention the query's entity > those that do not
    familiarity     susceptibility  queries about invented entities > about real ones
    assertiveness   persuasion      assertive contexts > base ones
    negation        persuasion      negations against base contexts, two-sided

One test per model, number format, relation and query type. A row of a group is a query, that is a form about an entity:
with its susceptibility, or with its mean persuasion over the contexts of the group, each context counted once. The two
groups of a persuasion comparison are thus the same queries under different contexts; the test does not pair them,
as the source does not. Alpha is the reader's; p_adjusted is over the relations of a model, query type and comparison.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5 and figure 5.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from data.errors import ScoreError
from data.storage.keys import generator
from tasks.statistics.corrections import benjamini_hochberg
from tasks.statistics.effect_size import cohens_d
from tasks.statistics.groups import Scores, Untestable
from tasks.statistics.permutation import Alternative, permutation_test

Row = dict[str, Any]

TEST = ["model", "dtype", "relation", "query_type"]
FAMILY = ("comparison", "model", "dtype", "query_type")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two groups of a score; `group` says for each row of the frame which group's name it carries."""

    name: str
    measure: str
    group_a: str
    group_b: str
    alternative: Alternative
    group: Callable[[pd.DataFrame], pd.Series]


def _relevance(frame: pd.DataFrame) -> pd.Series:
    return frame["relevant"].astype(bool).map({True: "relevant", False: "irrelevant"})


def _familiarity(frame: pd.DataFrame) -> pd.Series:
    return frame["invented"].astype(bool).map({True: "invented", False: "real"})


def _kind(frame: pd.DataFrame) -> pd.Series:
    return frame["kind"]


COMPARISONS: tuple[Comparison, ...] = (
    Comparison("relevance", "persuasion", "relevant", "irrelevant", "greater", _relevance),
    Comparison("familiarity", "susceptibility", "invented", "real", "greater", _familiarity),
    Comparison("assertiveness", "persuasion", "assertive", "base", "greater", _kind),
    Comparison("negation", "persuasion", "negation", "base", "two-sided", _kind),
)


def compare(
    susceptibility: pd.DataFrame, persuasion: pd.DataFrame, *, seed: int, permutations: int = 10_000
) -> list[Row]:
    """The rows of `data.records.tables.STATISTICS`, sorted by comparison and test; scores in nats.

    susceptibility: the warehouse's susceptibility_of_queries; persuasion: its persuasion_by_kind; either may be empty.
    The permutations of a test depend on the seed and on what is tested, never on the order of rows or of tests.
    Raises ScoreError for a score that is missing or not finite.
    """
    frames = {"susceptibility": susceptibility, "persuasion": persuasion}
    rows: list[Row] = []
    for comparison in COMPARISONS:
        queries = _queries(frames[comparison.measure], comparison)
        for test, scores in queries.groupby(TEST, sort=True):
            rows.append(_tested(comparison, dict(zip(TEST, test, strict=True)), scores, seed, permutations))
    return _adjusted(rows)


def _queries(frame: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """A row a query and group, sorted by what it is: with its group's name and its score."""
    measure = comparison.measure
    if frame[measure].isna().any():
        raise ScoreError(f"{measure}: {int(frame[measure].isna().sum())} rows have no score; load the scores again")
    grouped = frame.assign(group=comparison.group(frame).astype(str))
    if measure == "susceptibility":
        return grouped.sort_values([*TEST, "query_id"])
    # Sorted before adding, since doubles added in another order end in other digits.
    ordered = grouped.sort_values([*TEST, "query_id", "kind", "relevant"])
    ordered["contexts"] = ordered["contexts"].astype("float64")
    ordered["total"] = ordered[measure] * ordered["contexts"]
    sums = ordered.groupby([*TEST, "query_id", "group"], as_index=False, sort=True)[["total", "contexts"]].sum()
    return sums.assign(**{measure: sums["total"] / sums["contexts"]})


def _tested(comparison: Comparison, test: Row, queries: pd.DataFrame, seed: int, permutations: int) -> Row:
    a = _group(queries, comparison.group_a, comparison.measure)
    b = _group(queries, comparison.group_b, comparison.measure)
    rng = generator(seed, "permutation test", comparison.name, test["model"], test["relation"], test["query_type"])
    result = permutation_test(a, b, rng=rng, alternative=comparison.alternative, permutations=permutations)
    effect = cohens_d(a, b)
    return {
        "comparison": comparison.name,
        "measure": comparison.measure,
        **test,
        "group_a": comparison.group_a,
        "group_b": comparison.group_b,
        "n_a": len(a),
        "n_b": len(b),
        "mean_a": float(a.mean()) if len(a) else None,
        "mean_b": float(b.mean()) if len(b) else None,
        "statistic": None if isinstance(result, Untestable) else result.statistic,
        "alternative": comparison.alternative,
        "p": None if isinstance(result, Untestable) else result.p,
        "p_adjusted": None,
        "effect_size": None if isinstance(effect, Untestable) else effect,
        "untestable": result.reason if isinstance(result, Untestable) else None,
    }


def _group(queries: pd.DataFrame, name: str, measure: str) -> Scores:
    return queries.loc[queries["group"] == name, measure].to_numpy(dtype="float64")


def _adjusted(rows: Iterable[Row]) -> list[Row]:
    families: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        families.setdefault(tuple(row[name] for name in FAMILY), []).append(row)
    adjusted = [
        {**row, "p_adjusted": p}
        for family in families.values()
        for row, p in zip(family, benjamini_hochberg([row["p"] for row in family]), strict=True)
    ]
    return sorted(adjusted, key=lambda row: [row[name] for name in ("comparison", *TEST)])
