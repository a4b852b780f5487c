"""Comparisons of entities with labels, over means of the queries of each entity."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.row import table_of
from swaymeter.data.records.statistics import GroupComparison, Summary
from swaymeter.tasks.statistics.formulas.groups import benjamini_hochberg
from swaymeter.tasks.statistics.groups import COMPARISONS, MEANS, PERSUASION, SET_COMPARISONS, SUSCEPTIBILITY
from swaymeter.tasks.statistics.statistic import Frames

Row = dict[str, Any]
# The label and the type of each entity; the label and the strength of each context.
LABELS = {"Ann": "old", "Bea": "old", "Cat": "old", "Dan": "young", "Eli": "young", "Fay": "old", "Gus": "young"}
TYPES = {"Ann": "x", "Bea": "x", "Cat": "y", "Dan": "x", "Eli": "x"}
CONTEXTS = (("negative", 2), ("negative", 1), ("neutral", None), ("positive", 1))


def frames(sets: tuple[str, ...] = ("one", "two"), types: bool = False, seed: int = 0) -> Frames:
    """Return made-up scores of seven entities with two forms in each set."""
    rng = np.random.default_rng(seed)
    queries: list[Row] = []
    prompts: list[Row] = []
    for relation, entity, form in product(sets, LABELS, (1, 2)):
        about = {
            "model": "m",
            "dtype": "float32",
            "relation": relation,
            "query_type": "open",
            "form": form,
            "entity": entity,
            "label": LABELS[entity],
            "query_id": f"{relation}{entity}{form}",
            "type": TYPES.get(entity) if types else None,
        }
        queries.append({**about, "contexts": 4, "susceptibility": rng.random()})
        for (label, strength), relevant in product(CONTEXTS, (True, False)):
            kind = {"context_label": label, "strength": strength, "relevant": relevant, "contexts": 1}
            prompts.append({**about, **kind, "persuasion": rng.random()})
    nullable = {"strength": "Int64", "relevant": "boolean"}
    return {SUSCEPTIBILITY: pd.DataFrame(queries), PERSUASION: pd.DataFrame(prompts).astype(nullable)}


def selected(rows: list[Row], **values: object) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def means(scores: Frames, **values: object) -> dict[str, float]:
    rows = scores[SUSCEPTIBILITY]
    for name, value in values.items():
        rows = rows[rows[name] == value]
    return rows.groupby("entity")["susceptibility"].mean().to_dict()


def test_labels_are_compared_by_entity() -> None:
    scores = frames()
    (row,) = selected(COMPARISONS.rows(scores, 3), comparison="label", relation="two")
    a, b = (list(means(scores, relation="two", label=label).values()) for label in ("old", "young"))
    assert (row["group_a"], row["group_b"], row["n_a"], row["n_b"]) == ("old", "young", 4, 3)
    assert (row["mean_a"], row["mean_b"]) == pytest.approx((np.mean(a), np.mean(b)))
    expected = stats.permutation_test(
        (a, b), lambda x, y: abs(np.mean(x) - np.mean(y)), permutation_type="independent", alternative="greater"
    )
    assert row["p"] == pytest.approx(expected.pvalue)
    assert row["statistic"] == pytest.approx(stats.ttest_ind(a, b).statistic)


def test_sets_are_compared_on_the_same_entities() -> None:
    scores = frames()
    rows = selected(SET_COMPARISONS.rows(scores, 3), comparison="set")
    assert [row["within"] for row in rows] == ["all", "old", "young"]
    assert {row["relation"] for row in rows} == {"all"}
    one, two = (means(scores, relation=name) for name in ("one", "two"))
    differences = np.array([one[name] - two[name] for name in LABELS])
    signs = np.array(list(product((1, -1), repeat=7)))
    expected = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12)
    assert (rows[0]["test"], rows[0]["n_a"], rows[0]["p"]) == ("sign flip", 7, pytest.approx(expected))


def test_only_contexts_about_the_entity_are_compared() -> None:
    scores = frames(("one",))
    rows = selected(COMPARISONS.rows(scores, 3), measure="persuasion")
    assert [(row["comparison"], row["within"], row["group_a"], row["group_b"]) for row in rows] == [
        ("context", "all", "negative", "neutral"),
        ("context", "all", "negative", "positive"),
        ("context", "all", "neutral", "positive"),
        ("strength", "negative", "strength 2", "strength 1"),
    ]
    prompts = scores[PERSUASION]
    relevant = prompts[prompts["relevant"].astype(bool)]
    negative = relevant[relevant["context_label"] == "negative"]
    assert rows[0]["mean_a"] == pytest.approx(negative["persuasion"].mean())
    assert rows[3]["mean_a"] == pytest.approx(negative[negative["strength"] == 2]["persuasion"].mean())


def test_labels_are_compared_within_types_with_both_labels() -> None:
    rows = COMPARISONS.rows(frames(("one",), types=True), 3)
    labels = selected(rows, comparison="label")
    assert [(row["within"], row["n_a"], row["n_b"]) for row in labels] == [("all", 4, 3), ("x", 2, 2)]
    types = selected(rows, comparison="type")
    assert [(row["group_a"], row["group_b"], row["untestable"]) for row in types] == [
        ("x", "other types", "a group has one row"),
        ("y", "other types", "a group has one row"),
    ]


def test_entities_without_a_type_are_in_no_group() -> None:
    scores = frames(("one",), types=True)
    frame = scores[SUSCEPTIBILITY]
    frame.loc[frame["entity"] == "Ann", "type"] = None
    types = selected(COMPARISONS.rows(scores, 3), comparison="type")
    assert [(row["group_a"], row["n_a"], row["n_b"]) for row in types] == [("x", 3, 1), ("y", 1, 3)]


def test_p_is_adjusted_by_comparison() -> None:
    rows = selected(SET_COMPARISONS.rows(frames(("one", "two", "three")), 3), comparison="set")
    assert len(rows) == 9
    assert [row["p_adjusted"] for row in rows] == pytest.approx(benjamini_hochberg([row["p"] for row in rows]))


def test_means_cover_entities_by_label_and_context() -> None:
    scores = frames(("one",), types=True)
    rows = MEANS.rows(scores, 3)
    rows_by_group = {tuple(row["group_values"]): row for row in rows}
    old = list(means(scores, label="old").values())
    assert (rows_by_group[("old",)]["n"], rows_by_group[("old",)]["mean"]) == (4, pytest.approx(np.mean(old)))
    assert rows_by_group["old", "y"]["mean"] == pytest.approx(means(scores)["Cat"])
    assert rows_by_group["young", "the same", "neutral", ""]["n"] == 3  # contexts about the entity itself
    # 2 labels; 3 labels within types; 2 labels by contexts about the same or another entity, by label and strength.
    assert len(rows) == 2 + 3 + 2 * 2 * len(CONTEXTS)


def test_rows_fit_their_tables_in_any_order() -> None:
    scores = frames(types=True)
    shuffled = {name: frame.sample(frac=1, random_state=1) for name, frame in scores.items()}
    for statistic, record in ((COMPARISONS, GroupComparison), (MEANS, Summary)):
        rows = statistic.rows(scores, 3)
        assert table_of(record).of(rows).num_rows == len(rows) > 0
        assert statistic.rows(shuffled, 3) == rows
        keys = table_of(record).key
        assert len({tuple(row[name] for name in keys) for row in rows}) == len(rows) or not keys


def test_a_missing_score_is_named() -> None:
    scores = frames()
    scores[SUSCEPTIBILITY].loc[0, "susceptibility"] = None
    with pytest.raises(ScoreError, match=r"susceptibility: 1 of \d+ rows lack a score"):
        COMPARISONS.rows(scores, 3)
