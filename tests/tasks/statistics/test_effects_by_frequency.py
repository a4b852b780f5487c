"""Worked by hand: the effect of familiarity of three relations, against how often their real entities were counted."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.tasks.statistics.correlations import EFFECTS_BY_FREQUENCY as STATISTIC

OF = {"model": "m", "dtype": "float32", "query_type": "open"}
# Susceptibility of two invented and two real entities: the means are 2, 1 and 0 apart. Logarithms of the real ones.
RELATIONS: dict[str, tuple[list[float], list[float], list[float]]] = {
    "capital": ([2, 3, 0, 1], [3, 3], [0, 1]),
    "father": ([1, 2, 0, 1], [1, 3], [1, 1]),
    "genre": ([0, 1, 0, 1], [0, 2], [2, 2]),
}


def frames(relations: list[str]) -> dict[str, pd.DataFrame]:
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
    alone, near = STATISTIC.rows(frames([*RELATIONS]), 0)
    assert (alone["measure_a"], near["measure_a"]) == ("log_entity_count", "log_pair_count")
    # d = 2, 1, 0 over the root of a half; means 3, 2, 1 alone, and a half, 1, 2 near the answer.
    assert (alone["n"], alone["spearman"], alone["pearson"]) == (3, 1, pytest.approx(1))
    assert (near["spearman"], near["pearson"]) == (-1, pytest.approx(-1.5 / (2 * 7 / 6) ** 0.5))
    about = {name: alone[name] for name in ("level", "relation", "measure_b", "query_type")}
    assert about == {
        "level": "relation", "relation": "all", "measure_b": "familiarity_effect_size", "query_type": "open",
    }  # fmt: skip


def test_relations_without_an_effect_are_no_pairs() -> None:
    of_two = frames(["capital", "father"])
    only_real = of_two["susceptibility_of_queries"].query("not invented or relation == 'capital'")
    row, _ = STATISTIC.rows({**of_two, "susceptibility_of_queries": only_real}, 0)
    assert (row["n"], row["spearman"], row["untestable"]) == (1, None, "too few pairs")
