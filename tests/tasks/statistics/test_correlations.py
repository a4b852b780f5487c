"""Correlations over queries, relations and entities, worked by hand, and pairs without a correlation."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.correlations import EFFECTS_BY_FREQUENCY, MEASURES_BY_QUERY, STATISTIC
from tests.tasks.statistics.rows import row_of

Row = dict[str, Any]

COLUMNS = ["model", "dtype", "relation", "query_type", "query_id", "entity", "susceptibility"]


def computed(**rows: list[Row]) -> list[Row]:
    """Return the correlations over the rows of each named query; other named queries have no rows."""
    frames = {
        name: pd.DataFrame(rows.get(name, []), columns=[*COLUMNS, *measures])
        for name, measures in MEASURES_BY_QUERY.items()
    }
    return STATISTIC.rows(frames, 0)


def queries(
    relation: str,
    query_type: str,
    measure: str,
    pairs: list[tuple[float, float]],
    *,
    entity: str = "Norway",
    model: str = "m",
) -> list[Row]:
    """Return queries about an entity of a relation, with pairs of the measure and the susceptibility."""
    return [
        {
            "model": model,
            "dtype": "float32",
            "relation": relation,
            "query_type": query_type,
            "entity": entity,
            "query_id": f"{relation} {query_type} {entity} {number}",
            measure: score,
            "susceptibility": susceptibility,
        }
        for number, (score, susceptibility) in enumerate(pairs)
    ]


def fisher(relation: str, query_type: str, pairs: list[tuple[float, float]], model: str = "m") -> list[Row]:
    return queries(relation, query_type, "fisher_top_k", pairs, model=model)


# Open queries: deviations (-1, 0, 1) and (-1, -1, 2), so r = 3 / sqrt(2 * 6); ranks (1, 2, 3) and (1.5, 1.5, 3).
OPEN = fisher("capital", "open", [(1, 1), (2, 1)]) + fisher("father", "open", [(3, 4)])
CLOSED = fisher("father", "closed", [(5, 7), (7, 9)])


def test_queries_are_correlated_by_type_and_pooled() -> None:
    rows = computed(fisher_of_queries=OPEN + CLOSED)
    open_row = row_of(rows, level="query", query_type="open")
    assert (open_row["measure_a"], open_row["measure_b"], open_row["n"]) == ("fisher_top_k", "susceptibility", 3)
    assert open_row["pearson"] == pytest.approx(3 / np.sqrt(12))
    assert open_row["pearson_p"] == pytest.approx(1 / 3)
    assert open_row["spearman"] == pytest.approx(np.sqrt(3) / 2)
    assert open_row["untestable"] is None
    closed = row_of(rows, level="query", query_type="closed")
    values = (closed["pearson"], closed["pearson_p"], closed["spearman"], closed["spearman_p"])
    assert (closed["n"], values, closed["untestable"]) == (2, (None,) * 4, "too few pairs")
    pooled = row_of(rows, level="query", query_type="all")
    assert pooled["n"] == 5
    assert pooled["pearson"] == pytest.approx(np.corrcoef([1, 2, 3, 5, 7], [1, 1, 4, 7, 9])[0, 1])
    assert pooled["spearman"] == pytest.approx(np.corrcoef([1, 2, 3, 4, 5], [1.5, 1.5, 3, 4, 5])[0, 1])


def test_relations_are_correlated_by_means_of_their_queries() -> None:
    genre = fisher("genre", "open", [(0, 9), (0, 11)])
    rows = computed(fisher_of_queries=OPEN + CLOSED + genre)
    # Means over both types: capital (1.5, 1), father (5, 20/3), genre (0, 10); over open queries, father is (3, 4).
    all_types = row_of(rows, level="relation", query_type="all")
    assert all_types["n"] == 3
    assert all_types["pearson"] == pytest.approx(np.corrcoef([1.5, 5, 0], [1, 20 / 3, 10])[0, 1])
    open_row = row_of(rows, level="relation", query_type="open")
    assert open_row["spearman"] == pytest.approx(-0.5)
    assert row_of(rows, level="relation", query_type="closed")["untestable"] == "too few pairs"


def test_query_without_a_score_is_no_pair() -> None:
    unscored = fisher("capital", "open", [(np.nan, 5), (8, np.nan)])
    assert computed(fisher_of_queries=OPEN + unscored) == computed(fisher_of_queries=OPEN)
    assert computed(fisher_of_queries=unscored) == []


def test_models_and_measures_are_separate_and_sorted() -> None:
    ratios = [{**row, "memorization_ratio": 1.0} for row in OPEN]
    two_models = fisher("capital", "open", [(1, 2)], "n") + OPEN
    rows = computed(fisher_of_queries=two_models, memorization_of_queries=ratios)
    assert [(row["measure_a"], row["model"], row["level"], row["query_type"]) for row in rows] == [
        (measure, model, level, query_type)
        for measure, model in (("fisher_top_k", "m"), ("fisher_top_k", "n"), ("memorization_ratio", "m"))
        for level in ("query", "relation")
        for query_type in ("all", "open")
    ]
    assert row_of(rows, measure_a="memorization_ratio", level="query", query_type="all")["untestable"] == "no spread"


def test_rows_fit_their_table_in_any_order() -> None:
    scores = OPEN + CLOSED
    rows = computed(fisher_of_queries=scores)
    assert computed(fisher_of_queries=scores[::-1]) == rows
    assert STATISTIC.table.of(rows).num_rows == len(rows) == 6


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(ScoreError):
        computed(fisher_of_queries=fisher("capital", "open", [(np.inf, 1), (1, 2), (2, 3)]))


# Relations and entities, with the measure and the susceptibility of each query.
ENTITIES: list[tuple[str, str, list[tuple[float, float]]]] = [
    ("capital", "Norway", [(1, 5), (1, 7)]),
    ("capital", "Peru", [(2, 4)]),
    ("capital", "Oman", [(3, 1)]),
    ("father", "Norway", [(9, 0.5)]),
    ("father", "Ostremia", [(np.nan, 9)]),
    ("father", "Peru", [(4, 2)]),
]


@pytest.mark.parametrize(
    ("query", "measure"), [("degree_of_queries", "log_degree"), ("frequency_of_queries", "log_pair_count")]
)
def test_degree_and_frequency_are_correlated_by_entity(query: str, measure: str) -> None:
    scores = [
        row for relation, entity, pairs in ENTITIES for row in queries(relation, "open", measure, pairs, entity=entity)
    ]
    rows = [row for row in computed(**{query: scores}) if row["query_type"] == "open"]
    assert {(row["level"], row["relation"]) for row in rows} == {
        ("entity", name) for name in ("all", "capital", "father")
    }
    pooled = row_of(rows, measure_a=measure, relation="all")
    assert pooled["n"] == 5
    assert pooled["spearman"] == pytest.approx(-0.9)  # ranks 1 2 3 4 5 and 5 4 2 3 1
    assert pooled["spearman_low"] < -0.9 < pooled["spearman_high"]
    assert pooled["pearson"] == pytest.approx(np.corrcoef([1, 2, 3, 4, 9], [6, 4, 1, 2, 0.5])[0, 1])
    assert row_of(rows, measure_a=measure, relation="capital")["n"] == 3
    father = row_of(rows, measure_a=measure, relation="father")
    assert (father["n"], father["untestable"]) == (2, "too few pairs")


COMMON = {"model": "m", "dtype": "float32", "query_type": "open"}
# By relation: the susceptibilities of two invented and two real entities, and log counts of the two real entities,
# first alone, then near their answer. The means of invented and real entities are 2, 1 and 0 apart.
RELATIONS: dict[str, tuple[list[float], list[float], list[float]]] = {
    "capital": ([2, 3, 0, 1], [3, 3], [0, 1]),
    "father": ([1, 2, 0, 1], [1, 3], [1, 1]),
    "genre": ([0, 1, 0, 1], [0, 2], [2, 2]),
}


def frames_of(relations: list[str]) -> dict[str, pd.DataFrame]:
    rows = []
    for relation in relations:
        scores, counts, near = RELATIONS[relation]
        logs = [(None, None), (None, None), *zip(counts, near, strict=True)]
        for number, (score, (count, near_count)) in enumerate(zip(scores, logs, strict=True)):
            row: dict[str, Any] = {**COMMON, "relation": relation, "entity": f"{relation} {number}", "answer": "Oslo"}
            row |= {"invented": number < 2, "log_entity_count": count, "log_pair_count": near_count}
            rows.append({**row, "query_id": row["entity"], "susceptibility": score})
    frame = pd.DataFrame(rows)
    return {"frequency_of_queries": frame, "susceptibility_of_queries": frame}


def test_effects_are_correlated_with_the_means_of_counts() -> None:
    alone, near = EFFECTS_BY_FREQUENCY.rows(frames_of([*RELATIONS]), 0)
    assert (alone["measure_a"], near["measure_a"]) == ("log_entity_count", "log_pair_count")
    # d = 2, 1 and 0, divided by sqrt(1/2). Mean log counts: 3, 2 and 1 alone; 1/2, 1 and 2 near the answer.
    assert (alone["n"], alone["spearman"], alone["pearson"]) == (3, 1, pytest.approx(1))
    assert (near["spearman"], near["pearson"]) == (-1, pytest.approx(-1.5 / (2 * 7 / 6) ** 0.5))
    columns = {name: alone[name] for name in ("level", "relation", "measure_b", "query_type")}
    assert columns == {
        "level": "relation",
        "relation": "all",
        "measure_b": "familiarity_effect_size",
        "query_type": "open",
    }


def test_relations_without_an_effect_are_no_pairs() -> None:
    frames = frames_of(["capital", "father"])
    only_real = frames["susceptibility_of_queries"].query("not invented or relation == 'capital'")
    row, _ = EFFECTS_BY_FREQUENCY.rows({**frames, "susceptibility_of_queries": only_real}, 0)
    assert (row["n"], row["spearman"], row["untestable"]) == (1, None, "too few pairs")
