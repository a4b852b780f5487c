"""Worked by hand: which pairs there are at which level, and what becomes of those that cannot be correlated."""

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
    """The rows of these named queries, where the others have none."""
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
    """Queries about an entity of a relation, with a measure and susceptibility."""
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


# Of open queries: deviations (-1, 0, 1) and (-1, -1, 2), so r = 3 / sqrt(2 * 6); ranks (1, 2, 3) and (1.5, 1.5, 3).
OPEN = fisher("capital", "open", [(1, 1), (2, 1)]) + fisher("father", "open", [(3, 4)])
CLOSED = fisher("father", "closed", [(5, 7), (7, 9)])


def test_queries_are_correlated_by_type_and_all_together() -> None:
    rows = computed(fisher_of_queries=OPEN + CLOSED)
    of_open = row_of(rows, level="query", query_type="open")
    assert (of_open["measure_a"], of_open["measure_b"], of_open["n"]) == ("fisher_top_k", "susceptibility", 3)
    assert of_open["pearson"] == pytest.approx(3 / np.sqrt(12))
    assert of_open["pearson_p"] == pytest.approx(1 / 3)
    assert of_open["spearman"] == pytest.approx(np.sqrt(3) / 2)
    assert of_open["untestable"] is None
    closed = row_of(rows, level="query", query_type="closed")
    nothing = (closed["pearson"], closed["pearson_p"], closed["spearman"], closed["spearman_p"])
    assert (closed["n"], nothing, closed["untestable"]) == (2, (None,) * 4, "too few pairs")
    together = row_of(rows, level="query", query_type="all")
    assert together["n"] == 5
    assert together["pearson"] == pytest.approx(np.corrcoef([1, 2, 3, 5, 7], [1, 1, 4, 7, 9])[0, 1])
    assert together["spearman"] == pytest.approx(np.corrcoef([1, 2, 3, 4, 5], [1.5, 1.5, 3, 4, 5])[0, 1])


def test_relations_are_correlated_by_means_of_their_queries() -> None:
    genre = fisher("genre", "open", [(0, 9), (0, 11)])
    rows = computed(fisher_of_queries=OPEN + CLOSED + genre)
    # Means over both types: capital (1.5, 1), father (5, 20/3), genre (0, 10); over open ones father is (3, 4).
    of_all = row_of(rows, level="relation", query_type="all")
    assert of_all["n"] == 3
    assert of_all["pearson"] == pytest.approx(np.corrcoef([1.5, 5, 0], [1, 20 / 3, 10])[0, 1])
    of_open = row_of(rows, level="relation", query_type="open")
    assert of_open["spearman"] == pytest.approx(-0.5)
    assert row_of(rows, level="relation", query_type="closed")["untestable"] == "too few pairs"


def test_what_lacks_a_score_is_no_pair() -> None:
    lacking = fisher("capital", "open", [(np.nan, 5), (8, np.nan)])
    assert computed(fisher_of_queries=OPEN + lacking) == computed(fisher_of_queries=OPEN)
    assert computed(fisher_of_queries=lacking) == []


def test_models_and_measures_are_held_apart_and_sorted() -> None:
    ratios = [{**row, "memorization_ratio": 1.0} for row in OPEN]
    of_two = fisher("capital", "open", [(1, 2)], "n") + OPEN
    rows = computed(fisher_of_queries=of_two, memorization_of_queries=ratios)
    assert [(row["measure_a"], row["model"], row["level"], row["query_type"]) for row in rows] == [
        (measure, model, level, query_type)
        for measure, model in (("fisher_top_k", "m"), ("fisher_top_k", "n"), ("memorization_ratio", "m"))
        for level in ("query", "relation")
        for query_type in ("all", "open")
    ]
    assert row_of(rows, measure_a="memorization_ratio", level="query", query_type="all")["untestable"] == "no spread"


def test_rows_fit_their_table_whatever_the_order() -> None:
    shuffled = OPEN + CLOSED
    rows = computed(fisher_of_queries=shuffled)
    assert computed(fisher_of_queries=shuffled[::-1]) == rows
    assert STATISTIC.table.of(rows).num_rows == len(rows) == 6


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(ScoreError):
        computed(fisher_of_queries=fisher("capital", "open", [(np.inf, 1), (1, 2), (2, 3)]))


KNOWN = [
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
def test_how_known_they_are_is_held_against_entities(query: str, measure: str) -> None:
    known = [
        row for relation, entity, pairs in KNOWN for row in queries(relation, "open", measure, pairs, entity=entity)
    ]
    rows = [row for row in computed(**{query: known}) if row["query_type"] == "open"]
    assert {(row["level"], row["relation"]) for row in rows} == {("entity", of) for of in ("all", "capital", "father")}
    together = row_of(rows, measure_a=measure, relation="all")
    assert together["n"] == 5
    assert together["spearman"] == pytest.approx(-0.9)  # ranks 1 2 3 4 5 and 5 4 2 3 1
    assert together["spearman_low"] < -0.9 < together["spearman_high"]
    assert together["pearson"] == pytest.approx(np.corrcoef([1, 2, 3, 4, 9], [6, 4, 1, 2, 0.5])[0, 1])
    assert row_of(rows, measure_a=measure, relation="capital")["n"] == 3
    alone = row_of(rows, measure_a=measure, relation="father")
    assert (alone["n"], alone["untestable"]) == (2, "too few pairs")


OF = {"model": "m", "dtype": "float32", "query_type": "open"}
# Susceptibility of two invented and two real entities: the means are 2, 1 and 0 apart. Logarithms of the real ones.
RELATIONS: dict[str, tuple[list[float], list[float], list[float]]] = {
    "capital": ([2, 3, 0, 1], [3, 3], [0, 1]),
    "father": ([1, 2, 0, 1], [1, 3], [1, 1]),
    "genre": ([0, 1, 0, 1], [0, 2], [2, 2]),
}


def of_relations(relations: list[str]) -> dict[str, pd.DataFrame]:
    rows = []
    for relation in relations:
        scores, counts, near = RELATIONS[relation]
        logs = [(None, None), (None, None), *zip(counts, near, strict=True)]
        for number, (score, (count, both)) in enumerate(zip(scores, logs, strict=True)):
            row: dict[str, Any] = {**OF, "relation": relation, "entity": f"{relation} {number}", "answer": "Oslo"}
            row |= {"invented": number < 2, "log_entity_count": count, "log_pair_count": both}
            rows.append({**row, "query_id": row["entity"], "susceptibility": score})
    frame = pd.DataFrame(rows)
    return {"frequency_of_queries": frame, "susceptibility_of_queries": frame}


def test_effects_are_correlated_with_the_means_of_counts() -> None:
    alone, near = EFFECTS_BY_FREQUENCY.rows(of_relations([*RELATIONS]), 0)
    assert (alone["measure_a"], near["measure_a"]) == ("log_entity_count", "log_pair_count")
    # d = 2, 1, 0 over the root of a half; means 3, 2, 1 alone, and a half, 1, 2 near the answer.
    assert (alone["n"], alone["spearman"], alone["pearson"]) == (3, 1, pytest.approx(1))
    assert (near["spearman"], near["pearson"]) == (-1, pytest.approx(-1.5 / (2 * 7 / 6) ** 0.5))
    about = {name: alone[name] for name in ("level", "relation", "measure_b", "query_type")}
    assert about == {
        "level": "relation",
        "relation": "all",
        "measure_b": "familiarity_effect_size",
        "query_type": "open",
    }


def test_relations_without_an_effect_are_no_pairs() -> None:
    of_two = of_relations(["capital", "father"])
    only_real = of_two["susceptibility_of_queries"].query("not invented or relation == 'capital'")
    row, _ = EFFECTS_BY_FREQUENCY.rows({**of_two, "susceptibility_of_queries": only_real}, 0)
    assert (row["n"], row["spearman"], row["untestable"]) == (1, None, "too few pairs")
