"""Worked by hand: which values a summary is of, their mean, interval and quantiles."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.envelopes import envelope
from swaymeter.tasks.statistics.formulas.clustered import clustered_mean
from tests.reports.study import frames as report_frames

Row = dict[str, Any]
QUERY = {"model": "m", "dtype": "float32", "relation": "capital", "query_type": "open"}


def computed(name: str, **rows: list[Row]) -> list[Row]:
    made = STATISTICS[name].rows({query: pd.DataFrame(of_one) for query, of_one in rows.items()}, 0)
    assert STATISTICS[name].table.of(made).num_rows == len(made)
    return made


def found(rows: list[Row], *values: str, **where: object) -> Row:
    (row,) = [
        row
        for row in rows
        if row["group_values"] == list(values) and all(row[name] == value for name, value in where.items())
    ]
    return row


def test_a_relation_is_the_mean_of_its_entities() -> None:
    rows = [
        {**QUERY, "form": form, "entity": entity, "invented": False, "query_id": str(number), "susceptibility": value}
        for number, (form, entity, value) in enumerate([(1, "Norway", 1.0), (2, "Norway", 3.0), (1, "Peru", 6.0)])
    ]
    made = computed("susceptibility_means", susceptibility_of_queries=rows)
    first = found(made, "1", "real")
    assert (first["n"], first["mean"], first["median"], first["unit_of_analysis"]) == (2, 3.5, 3.5, "query")
    relation = found(made, "real", unit_of_analysis="entity")
    assert (relation["n"], relation["mean"], relation["unit"]) == (2, 4.0, "nats")
    assert found(made, "real", relation="all")["mean"] == pytest.approx(10 / 3)


def test_a_score_that_is_not_finite_is_refused() -> None:
    rows = [{**QUERY, "form": 1, "query_id": "1", "entity": "Norway", "invented": False, "susceptibility": np.inf}]
    with pytest.raises(ScoreError):
        computed("susceptibility_means", susceptibility_of_queries=rows)


def test_persuasion_weighs_each_context_once() -> None:
    rows = [
        {**QUERY, "relation": relation, "query_id": f"{relation}{number}", "kind": "base", "relevant": True,
         "contexts": contexts, "persuasion": value}
        for relation, number, contexts, value in (("capital", 1, 1, 4.0), ("capital", 2, 3, 0.0), ("father", 1, 5, 3.0))
    ]  # fmt: skip
    made = computed("persuasion_means", persuasion_by_kind=rows)
    capital = found(made, "relevant", "base", relation="capital")
    assert (capital["mean"], capital["items"], capital["prompts"], capital["low"]) == (1.0, 2, 4, None)
    every = found(made, "relevant", "base", relation="all")
    assert (every["mean"], every["n"], every["items"], every["prompts"]) == (2.0, 2, 3, 9)
    model = found(made, quantity="persuasion")
    assert (model["items"], model["prompts"]) == (3, 9)


def test_relevant_contexts_are_counted_query_by_query() -> None:
    rows = [
        {**QUERY, "query_id": name, "kind": kind, "relevant": relevant, "contexts": contexts, "persuasion": 1.0}
        for name, kind, relevant, contexts in (
            ("a", "base", True, 2), ("a", "negation", True, 1), ("a", "base", False, 9), ("b", "base", False, 12),
        )
    ]  # fmt: skip
    counted = found(computed("persuasion_means", persuasion_by_kind=rows), quantity="relevant_contexts")
    assert (counted["n"], counted["smallest"], counted["largest"]) == (2, 0, 3)


def test_answers_without_persuasion_are_counted_and_in_no_mean() -> None:
    rows = [
        {**QUERY, "kind": "base", "conflict": conflict, "follows": follows, "answers": answers, "persuasion": value}
        for conflict, follows, answers, value in (
            (None, "context", 3, 1.0), ("substitution", "context", 1, 5.0), (None, "other", 4, None),
        )
    ]  # fmt: skip
    made = computed("followed_means", followed=rows)
    context = found(made, "context", relation="capital")
    assert (context["mean"], context["n"], context["prompts"]) == (2.0, 4, 4)
    other = found(made, "every context", "other")
    assert (other["mean"], other["n"], other["prompts"], other["share"]) == (None, 0, 4, 0.5)
    assert found(made, "in conflict: substitution", "context")["mean"] == 5.0


def test_queries_without_a_ratio_are_counted_and_in_no_fifth() -> None:
    rows = [
        {**QUERY, "query_id": str(number), "memorization_ratio": ratio, "memorization_ratio_all": over_all,
         "susceptibility": value, "entity": ("Peru", "Norway")[number % 2]}
        for number, (ratio, over_all, value) in enumerate(
            [(0.2, 0.9, 1.0), (0.3, 0.9, 3.0), (1.0, 0.9, 8.0), (None, 0.5, 9.0)]
        )
    ]  # fmt: skip
    made = computed("memorization_bins", memorization_of_queries=rows)
    ratio = found(made, quantity="memorization_ratio")
    assert (ratio["n"], ratio["items"], ratio["mean"]) == (3, 4, pytest.approx(0.5))
    second = found(made, "0.2 to 0.4", "memorization_ratio")
    assert (second["n"], second["median"], second["share"]) == (2, 2.0, pytest.approx(2 / 3))
    last = found(made, "0.8 to 1", "memorization_ratio_all")
    assert (last["n"], last["mean"], last["share"]) == (3, 4.0, 0.75)
    assert (last["items"], last["interval_over"], second["items"]) == (2, "entity", 2)
    assert found(made, quantity="memorization_ratio_all")["mean"] == pytest.approx(0.8)
    assert len(made) == 6


def test_names_count_once_in_characters_and_words() -> None:
    rows = [
        {**QUERY, "query_id": str(number), "entity": entity, "invented": invented, "susceptibility": 1.0}
        for number, (entity, invented) in enumerate([("Peru", False), ("Peru", False), ("Isle of Man", False),
                                                     ("Ostremia", True)])
    ]  # fmt: skip
    made = computed("name_lengths", susceptibility_of_queries=rows)
    means = {
        unit: [found(made, group, unit=unit, relation="capital")["mean"] for group in ("real", "invented")]
        for unit in ("characters", "words")
    }
    assert means == {"characters": [7.5, 8.0], "words": [2.0, 1.0]}
    assert found(made, "real", unit="words", relation="all")["n"] == 2


def test_gamma_is_the_mean_of_a_forms_contexts() -> None:
    rows = [
        {**QUERY, "form": form, "kind": "base", "context_id": context, "template": template, "entities": 2,
         "entity_independent_persuasion": value}
        for form, context, template, value in (
            (1, "a", "{entity} is {answer}.", 1.0), (1, "b", "{entity} is {answer}.", 2.0), (1, "c", "No.", 6.0),
            (2, "a", "{entity} is {answer}.", 9.0),
        )
    ]  # fmt: skip
    made = computed("entity_independent_spread", entity_independent_of_contexts=rows)
    assert (found(made, "1")["mean"], found(made, "1")["n"], found(made, "2")["mean"]) == (3.0, 3, 9.0)
    kappa = found(made, "1", "base", "{entity} is {answer}.")
    assert (kappa["mean"], kappa["items"], kappa["unit_of_analysis"]) == (1.5, 2, "context")


def test_pooled_intervals_draw_entities_whole() -> None:
    entities = [f"entity {number // 2}" for number in range(10)]
    rows = [
        {**QUERY, "query_id": str(number), "entity": entity, "invented": False, "wording": "question",
         "susceptibility": float(number // 2), "fisher": None}
        for number, entity in enumerate(entities)
    ]  # fmt: skip
    made = computed("both_susceptibilities", both_susceptibilities_of_queries=rows)
    pooled = found(made, quantity="pooled_susceptibility", query_type="open")
    expected = clustered_mean([row["susceptibility"] for row in rows], entities, 0)
    assert (pooled["items"], pooled["low"], pooled["high"]) == expected
    assert expected.clusters == 5


def test_both_susceptibilities_are_pooled_over_queries() -> None:
    rows = [
        {**QUERY, "relation": f"relation {number}", "query_id": str(number), "query_type": kind, "entity": entity,
         "invented": entity == "Orvania", "wording": wording, "susceptibility": value, "fisher": fisher}
        for number, (kind, entity, wording, value, fisher) in enumerate(
            [("open", "Norway", "question", 0.1, 1.0), ("open", "Norway", "completion", 1.0, 2.0),
             ("open", "Orvania", "question", 0.2, 6.0), ("closed", "Orvania", "question", 1.1, 7.0),
             ("closed", "Norway", "question", 0.6, None)]
        )
    ]  # fmt: skip
    made = computed("both_susceptibilities", both_susceptibilities_of_queries=rows)
    every = found(made, quantity="pooled_susceptibility", query_type="all")
    assert (every["n"], every["items"], every["mean"]) == (5, 2, pytest.approx(0.6))
    assert found(made, "invented", quantity="pooled_fisher", query_type="open")["mean"] == 6.0
    assert found(made, "question", quantity="pooled_fisher", query_type="open")["mean"] == 3.5
    bins = {row["group_values"][0]: (row["n"], row["share"]) for row in made
            if row["grouped_by"] == ["susceptibility"] and row["query_type"] == "all"}  # fmt: skip
    assert bins == {"0 to 0.2": (1, 0.25), "0.2 to 0.4": (1, 0.25), "0.8 to 1": (1, 0.25), "over 1": (1, 0.25)}


def test_the_envelope_takes_half_to_double_the_degree() -> None:
    degrees = np.r_[np.full(20, 10.0), 20.0, 41.0]
    scores = np.r_[np.arange(20.0), 100.0, 7.0]
    assert list(envelope(degrees, scores)) == [
        (10.0, np.percentile(scores[:21], 95), 21),
        (20.0, np.percentile(scores[:21], 95), 21),
    ]


def test_the_cost_of_a_precision_is_the_size_of_differences() -> None:
    rows = [
        {**QUERY, "query_id": str(number), "susceptibility": 1.0, "susceptibility_reference": reference,
         "largest_difference": 0.5, "mean_difference": 0.1 * number}
        for number, reference in enumerate([0.9, 1.3])
    ]  # fmt: skip
    made = computed("precision_cost", precision_of_queries=rows)
    both = found(made, quantity="difference_of_susceptibility", query_type="all")
    assert (both["mean"], both["largest"]) == (pytest.approx(0.2), pytest.approx(0.3))
    assert found(made, quantity="difference_of_persuasion", query_type="open")["largest"] == 0.5


def test_every_statistic_of_no_scores_has_no_rows() -> None:
    frames = report_frames({})
    assert all(frames[name].empty for name in ("statistics", "correlations", "envelopes", "measures_in_short"))


def test_importing_the_list_imports_neither_pandas_nor_scipy() -> None:
    code = "import sys, swaymeter.tasks.statistics; print([one for one in ('pandas', 'scipy') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
