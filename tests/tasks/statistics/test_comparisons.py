from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from data.errors import ScoreError
from data.records.row import table_of
from data.records.statistics import GroupTest
from tasks.statistics import STATISTICS
from tasks.statistics.formulas.corrections import benjamini_hochberg

COMPARISONS = ("relevance", "familiarity", "assertiveness", "negation")
Row = dict[str, Any]


def compare(susceptibility: pd.DataFrame, persuasion: pd.DataFrame, *, seed: int = 3) -> list[Row]:
    frames = {"susceptibility_of_queries": susceptibility, "persuasion_by_kind": persuasion}
    return [row for name in COMPARISONS for row in STATISTICS[name].rows(frames, seed)]


def by_query(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["unit_of_analysis"] == "query"]


def query(query_id: str, *, invented: bool = False, relation: str = "capital", query_type: str = "open") -> Row:
    return {"model": "m", "dtype": "float32", "relation": relation, "query_type": query_type, "form": 1,
            "entity": query_id, "invented": invented, "query_id": query_id}  # fmt: skip


def frames(relations: int = 3, entities: int = 6, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Made-up scores: half of the entities invented, three contexts of each kind, one of them relevant."""
    rng = np.random.default_rng(seed)
    susceptibility: list[Row] = []
    persuasion: list[Row] = []
    for relation, query_type, entity in product(range(relations), ("open", "closed"), range(entities)):
        name = f"{relation}{query_type}{entity}"
        about = query(name, invented=entity % 2 == 0, relation=f"r{relation}", query_type=query_type)
        susceptibility.append({**about, "contexts": 9, "susceptibility": rng.random()})
        for kind, (relevant, contexts) in product(("base", "assertive", "negation"), ((True, 1), (False, 2))):
            scored = {"kind": kind, "relevant": relevant, "contexts": contexts, "persuasion": rng.random()}
            persuasion.append({**about, **scored})
    types = {"invented": "boolean", "contexts": "Int64"}
    return pd.DataFrame(susceptibility).astype(types), pd.DataFrame(persuasion).astype({**types, "relevant": "boolean"})


def one(rows: list[Row], comparison: str) -> Row:
    (row,) = [row for row in by_query(rows) if row["comparison"] == comparison]
    return row


def by_hand() -> tuple[pd.DataFrame, pd.DataFrame]:
    persuasion = [
        {**query("q1"), "kind": "base", "relevant": True, "contexts": 1, "persuasion": 4.0},
        {**query("q1"), "kind": "base", "relevant": False, "contexts": 3, "persuasion": 0.0},
        {**query("q1"), "kind": "assertive", "relevant": True, "contexts": 3, "persuasion": 8.0},
        {**query("q2"), "kind": "base", "relevant": True, "contexts": 2, "persuasion": 1.0},
        {**query("q2"), "kind": "base", "relevant": False, "contexts": 2, "persuasion": 3.0},
        {**query("q2"), "kind": "assertive", "relevant": False, "contexts": 1, "persuasion": 6.0},
    ]
    susceptibility = [
        {**query(name, invented=invented), "contexts": 7, "susceptibility": value}
        for name, invented, value in (("q1", False, 1.0), ("q2", False, 2.0), ("q3", True, 3.0), ("q4", True, 4.0))
    ]
    return pd.DataFrame(susceptibility), pd.DataFrame(persuasion)


# Relevance weighs each context once: q1 relevant (1*4 + 3*8) / 4 = 7, irrelevant 0; q2 relevant 1, irrelevant
# (2*3 + 1*6) / 3 = 4. Of the six ways to deal 7, 1, 0, 4 those of at least the observed sum 8 are 7+1 and 7+4.
# Assertiveness takes all contexts of a kind: assertive 8 and 6; base (4 + 3*0) / 4 = 1 and (2*1 + 2*3) / 4 = 2.
@pytest.mark.parametrize(
    ("comparison", "measure", "groups", "means", "p"),
    [
        ("relevance", "persuasion", ("relevant", "irrelevant"), (4, 2), 2 / 6),
        ("assertiveness", "persuasion", ("assertive", "base"), (7, 1.5), 1 / 6),
        ("familiarity", "susceptibility", ("invented", "real"), (3.5, 1.5), 1 / 6),
    ],
)
def test_a_comparison_by_hand(
    comparison: str, measure: str, groups: tuple[str, str], means: tuple[float, float], p: float
) -> None:
    row = one(compare(*by_hand(), seed=0), comparison)
    about = tuple(row[name] for name in ("measure", "test", "unit_of_analysis", "alternative", "untestable"))
    assert about == (measure, "permutation", "query", "greater", None)
    assert (row["group_a"], row["group_b"], row["n_a"], row["n_b"]) == (*groups, 2, 2)
    assert (row["mean_a"], row["mean_b"], row["p"]) == (*means, pytest.approx(p))


def test_the_effect_size_of_relevance_by_hand() -> None:
    # Sums of squares 18 and 8 over 2 degrees of freedom: s = sqrt(13).
    assert one(compare(*by_hand(), seed=0), "relevance")["effect_size"] == pytest.approx(2 / np.sqrt(13))


def test_an_empty_group_is_untestable_and_keeps_its_row() -> None:
    row = one(compare(*by_hand(), seed=0), "negation")
    assert (row["untestable"], row["alternative"]) == ("a group is empty", "two-sided")
    assert (row["n_a"], row["n_b"], row["mean_a"], row["mean_b"]) == (0, 2, None, 1.5)
    assert [row[name] for name in ("statistic", "p", "p_adjusted", "effect_size")] == [None] * 4


def test_shuffled_rows_give_the_same_tests() -> None:
    susceptibility, persuasion = frames()
    expected = compare(susceptibility, persuasion, seed=3)
    for shuffle in range(3):
        shuffled = (frame.sample(frac=1, random_state=shuffle) for frame in (susceptibility, persuasion))
        assert compare(*shuffled, seed=3) == expected


def test_another_seed_draws_other_permutations() -> None:
    p_values = [[row["p"] for row in compare(*frames(entities=20), seed=seed)] for seed in (1, 2)]
    assert p_values[0] != p_values[1]


def test_p_is_adjusted_over_the_relations() -> None:
    every = compare(*frames(), seed=3)
    assert table_of(GroupTest).of(every).num_rows == 2 * 4 * 3 * 2
    rows = by_query(every)
    for comparison, query_type in product(COMPARISONS, ("open", "closed")):
        family = [row for row in rows if (row["comparison"], row["query_type"]) == (comparison, query_type)]
        assert len(family) == 3
        assert [row["p_adjusted"] for row in family] == benjamini_hochberg([row["p"] for row in family])


def test_no_scores_no_tests() -> None:
    susceptibility, persuasion = frames()
    assert compare(susceptibility[:0], persuasion[:0], seed=0) == []
    rows = compare(susceptibility, persuasion[:0], seed=0)
    assert {row["comparison"] for row in rows} == {"familiarity"}


def test_a_missing_score_is_refused() -> None:
    susceptibility, persuasion = frames()
    persuasion.loc[3, "persuasion"] = float("nan")
    with pytest.raises(ScoreError, match="persuasion"):
        compare(susceptibility, persuasion, seed=0)
