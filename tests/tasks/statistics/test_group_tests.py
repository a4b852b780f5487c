from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.row import table_of
from swaymeter.data.records.statistics import GroupTest
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.formulas.groups import benjamini_hochberg
from swaymeter.tasks.statistics.formulas.permutation import TOO_FEW
from swaymeter.tasks.statistics.formulas.regression import adjusted_difference
from tests.tasks.statistics.rows import row_of

COMPARISONS = ("relevance", "familiarity", "assertiveness", "negation")
Row = dict[str, Any]


def compare(susceptibility: pd.DataFrame, persuasion: pd.DataFrame, *, seed: int = 3) -> list[Row]:
    frames = {"susceptibility_of_queries": susceptibility, "persuasion_by_kind": persuasion}
    return [row for name in COMPARISONS for row in STATISTICS[name].rows(frames, seed)]


def query(query_id: str, *, invented: bool = False, relation: str = "capital", query_type: str = "open") -> Row:
    return {
        "model": "m",
        "dtype": "float32",
        "relation": relation,
        "query_type": query_type,
        "form": 1,
        "entity": query_id,
        "invented": invented,
        "query_id": query_id,
    }


def frames(relations: int = 3, entities: int = 6, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return made-up scores: half of the entities are invented, and one of three contexts of each kind is relevant."""
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


def hand_worked_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    prompts = [  # query, kind, relevant, contexts, persuasion
        ("q1", "base", True, 1, 4.0),
        ("q1", "base", False, 3, 0.0),
        ("q1", "assertive", True, 3, 8.0),
        ("q2", "base", True, 2, 1.0),
        ("q2", "base", False, 2, 3.0),
        ("q2", "assertive", False, 1, 6.0),
        ("q3", "base", True, 1, 9.0),
        ("q3", "base", False, 2, 1.0),
        ("q3", "assertive", False, 1, 4.0),
    ]
    columns = ("kind", "relevant", "contexts", "persuasion")
    persuasion = [query(name) | dict(zip(columns, values, strict=True)) for name, *values in prompts]
    susceptibilities = [  # query, invented, susceptibility
        ("q1", False, 1.0),
        ("q2", False, 2.0),
        ("q3", True, 3.0),
        ("q4", True, 4.0),
        ("q5", False, 1.5),
        ("q6", True, 3.5),
    ]
    susceptibility = [
        {**query(name, invented=invented), "contexts": 7, "susceptibility": value}
        for name, invented, value in susceptibilities
    ]
    return pd.DataFrame(susceptibility), pd.DataFrame(persuasion)


# Relevance weighs each context once:
#     q1  relevant (1*4 + 3*8) / 4 = 7    irrelevant 0
#     q2  relevant 1                      irrelevant (2*3 + 1*6) / 3 = 4
#     q3  relevant 9                      irrelevant (2*1 + 1*4) / 3 = 2
# Of the twenty ways to deal 7, 1, 9, 0, 4, 2, three have at least the observed sum 17: 7+9 with 1, 4 or 2.
# Assertiveness weighs each context of a kind once:
#     q1  assertive 8    base (1*4 + 3*0) / 4 = 1
#     q2  assertive 6    base (2*1 + 2*3) / 4 = 2
#     q3  assertive 4    base (1*9 + 2*1) / 3 = 11/3
@pytest.mark.parametrize(
    ("comparison", "measure", "groups", "means", "p"),
    [
        ("relevance", "persuasion", ("relevant", "irrelevant"), (17 / 3, 2), 3 / 20),
        ("assertiveness", "persuasion", ("assertive", "base"), (6, 20 / 9), 1 / 20),
        ("familiarity", "susceptibility", ("invented", "real"), (3.5, 1.5), 1 / 20),
    ],
)
def test_comparison_matches_hand_worked_values(
    comparison: str, measure: str, groups: tuple[str, str], means: tuple[float, float], p: float
) -> None:
    row = row_of(compare(*hand_worked_frames(), seed=0), comparison=comparison, unit_of_analysis="query")
    columns = tuple(row[name] for name in ("measure", "test", "unit_of_analysis", "alternative", "untestable"))
    assert columns == (measure, "permutation", "query", "greater", None)
    assert (row["group_a"], row["group_b"], row["n_a"], row["n_b"]) == (*groups, 3, 3)
    assert (row["mean_a"], row["mean_b"], row["p"]) == pytest.approx((*means, p))


def test_empty_group_is_untestable_and_keeps_its_row() -> None:
    rows = compare(*hand_worked_frames(), seed=0)
    row = row_of(rows, comparison="negation", unit_of_analysis="query")
    assert (row["untestable"], row["alternative"]) == ("a group is empty", "two-sided")
    assert (row["n_a"], row["n_b"], row["mean_a"], row["mean_b"]) == (0, 3, None, pytest.approx(20 / 9))
    assert [row[name] for name in ("statistic", "p", "p_adjusted", "effect_size")] == [None] * 4
    assert row_of(rows, comparison="negation", unit_of_analysis="entity")["untestable"] == "a group is empty"


def test_shuffled_rows_give_the_same_tests() -> None:
    susceptibility, persuasion = frames()
    expected = compare(susceptibility, persuasion, seed=3)
    for shuffle in range(3):
        shuffled = (frame.sample(frac=1, random_state=shuffle) for frame in (susceptibility, persuasion))
        assert compare(*shuffled, seed=3) == expected


def test_p_is_adjusted_over_the_relations() -> None:
    all_rows = compare(*frames(), seed=3)
    assert table_of(GroupTest).of(all_rows).num_rows == 2 * 4 * 3 * 2  # query types, comparisons, relations, units
    rows = [row for row in all_rows if row["unit_of_analysis"] == "query"]
    for comparison, query_type in product(COMPARISONS, ("open", "closed")):
        family = [row for row in rows if (row["comparison"], row["query_type"]) == (comparison, query_type)]
        assert len(family) == 3
        assert [row["p_adjusted"] for row in family] == benjamini_hochberg([row["p"] for row in family])


def test_comparison_without_scores_has_no_tests() -> None:
    susceptibility, persuasion = frames()
    assert compare(susceptibility[:0], persuasion[:0], seed=0) == []
    rows = compare(susceptibility, persuasion[:0], seed=0)
    assert {row["comparison"] for row in rows} == {"familiarity"}


def test_means_of_an_entity_are_a_pair() -> None:
    # Norway has two queries, so its means are (4 + 8) / 2 and (1 + 2) / 2. Oman is no pair: it has no irrelevant score.
    scores = [  # query, entity, relevant, persuasion
        (1, "Norway", True, 4.0),
        (1, "Norway", False, 1.0),
        (2, "Norway", True, 8.0),
        (2, "Norway", False, 2.0),
        (3, "Peru", True, 5.0),
        (3, "Peru", False, 2.0),
        (4, "Oman", True, 99.0),
        (5, "Mali", True, 7.0),
        (5, "Mali", False, 1.0),
        (6, "Fiji", True, 3.0),
        (6, "Fiji", False, 2.0),
        (7, "Cuba", True, 4.0),
        (7, "Cuba", False, 1.5),
    ]
    persuasion = pd.DataFrame(
        {
            **query(f"q{number}"),
            "entity": entity,
            "kind": "base",
            "relevant": relevant,
            "contexts": 1,
            "persuasion": value,
        }
        for number, entity, relevant, value in scores
    )
    row = row_of(STATISTICS["relevance"].rows({"persuasion_by_kind": persuasion}, 0), unit_of_analysis="entity")
    assert (row["test"], row["n_a"], row["n_b"], row["mean_a"], row["mean_b"]) == ("sign flip", 5, 5, 5.0, 1.6)
    assert row["statistic"] == pytest.approx(stats.ttest_rel([6, 5, 7, 3, 4], [1.5, 2, 1, 2, 1.5]).statistic)
    assert row["p"] == pytest.approx(1 / 32)
    assert row["effect_size"] == pytest.approx(3.4 / np.sqrt((2.5 + 0.175) / 2))


def test_forms_of_an_entity_count_once() -> None:
    susceptibility, _ = hand_worked_frames()
    twice = pd.concat([susceptibility.assign(entity=susceptibility["query_id"])] * 2, ignore_index=True)
    twice["query_id"] = [f"{name}{number}" for number, name in enumerate(twice["query_id"])]
    rows = STATISTICS["familiarity"].rows({"susceptibility_of_queries": twice}, 0)
    row = row_of(rows, comparison="familiarity", unit_of_analysis="entity")
    assert (row["test"], row["n_a"], row["mean_a"], row["mean_b"]) == ("permutation", 3, 3.5, 1.5)
    assert row["p"] == pytest.approx(1 / 20)
    assert row_of(rows, comparison="familiarity", unit_of_analysis="query")["n_a"] == 6


def test_familiarity_is_adjusted_for_name_length() -> None:
    rng = np.random.default_rng(0)
    names = ["Oslo", "Peru", "Kyiv", "Norway", "Ostremia", "Vandrovia", "Quell", "Morvania"]
    data = pd.DataFrame(
        {**query(f"{name}{form}", invented=number > 3), "entity": name, "susceptibility": rng.random() + len(name)}
        for number, name in enumerate(names)
        for form in (1, 2)
    )
    (row,) = STATISTICS["familiarity_by_length"].rows({"susceptibility_of_queries": data}, 0)
    length = "name length", [len(name) for name in data["entity"]]
    expected, effect = adjusted_difference(data["susceptibility"], data["invented"], length, data["entity"])
    assert (row["comparison"], row["test"]) == ("familiarity", "regression with name length")
    assert (row["statistic"], row["p"], row["effect_size"]) == pytest.approx((*expected[:2], effect))
    assert (row["n_a"], row["n_b"], row["unit_of_analysis"]) == (8, 8, "query")


def followed(answers: list[tuple[str, str, float]]) -> pd.DataFrame:
    """Return the rows of `followed_levels`, by level and by entity; answers are (entity, followed side, persuasion)."""
    about = {"model": "m", "dtype": "float32", "relation": "capital", "query_type": "open"}
    rows = pd.DataFrame(
        [
            {**about, "entity": entity, "follows": side, "persuasion": score, "level": score}
            for entity, side, score in answers
        ]
    )
    rows = rows.assign(squared_persuasion=rows["persuasion"] ** 2)
    scored = {
        "answers": ("persuasion", "size"),
        "persuasion": ("persuasion", "mean"),
        "squared_persuasion": ("squared_persuasion", "mean"),
    }
    pieces = [rows.groupby([*about, "follows", by], as_index=False).agg(**scored) for by in ("level", "entity")]
    return pd.concat(pieces, ignore_index=True)


def test_followed_answers_are_tested_by_answer_and_entity() -> None:
    answers = [
        ("Norway", "context", 3.0),
        ("Norway", "context", 5.0),
        ("Norway", "original", 1.0),
        ("Peru", "context", 4.0),
        ("Peru", "original", 3.0),
        ("Oman", "original", 2.0),
    ]
    rows = STATISTICS["followed"].rows({"followed_levels": followed(answers)}, 0)
    (row,) = [row for row in rows if row["unit_of_analysis"] == "answer"]
    assert (row["n_a"], row["n_b"], row["mean_a"], row["mean_b"], row["test"]) == (3, 3, 4.0, 2.0, "permutation")
    assert row["statistic"] == pytest.approx(stats.ttest_ind([3, 5, 4], [1, 3, 2]).statistic)
    assert row["p"] == pytest.approx(2 / 20)  # 3 + 4 + 5 occurs twice, because the score 3 occurs twice
    row = row_of(rows, comparison="followed", unit_of_analysis="entity")
    assert (row["n_a"], row["n_b"], row["mean_a"], row["mean_b"], row["p"]) == (2, 2, 4.0, 2.0, None)
    assert (row["untestable"], row["effect_size"]) == (TOO_FEW, None)  # four ways to flip the signs of two pairs


def test_a_relation_without_followed_answers_is_untestable() -> None:
    rows = STATISTICS["followed"].rows({"followed_levels": followed([("Norway", "original", 1.0)] * 3)}, 0)
    assert [(row["n_a"], row["untestable"]) for row in rows] == [(0, "a group is empty")] * 2


def test_several_rows_of_a_query_are_refused() -> None:
    susceptibility, _ = frames()
    twice = pd.concat([susceptibility, susceptibility.iloc[[5]]])
    with pytest.raises(ScoreError, match="familiarity: the SQL query susceptibility_of_queries returns several"):
        STATISTICS["familiarity"].rows({"susceptibility_of_queries": twice}, 0)
