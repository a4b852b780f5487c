"""Means, intervals and quantiles of summaries, worked by hand."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.correlations import envelope
from swaymeter.tasks.statistics.formulas.intervals import clustered_mean
from tests.reports.study import frames as report_frames
from tests.tasks.statistics.rows import row_of

Row = dict[str, Any]
QUERY = {"model": "m", "dtype": "float32", "relation": "capital", "query_type": "open"}


def computed(name: str, query: str, columns: str, *rows: tuple[Any, ...], **others: Any) -> list[Row]:
    """Return the rows of a statistic over a frame with these columns and rows; `others` are columns of equal values."""
    frame = pd.DataFrame(
        {**QUERY, "query_id": str(number), **others, **dict(zip(columns.split(), row, strict=True))}
        for number, row in enumerate(rows)
    )
    summaries = STATISTICS[name].rows({query: frame}, 0)
    assert STATISTICS[name].table.of(summaries).num_rows == len(summaries)
    return summaries


def select(rows: list[Row], *values: str, **where: object) -> Row:
    return row_of(rows, group_values=list(values), **where)


def test_a_relation_is_the_mean_of_its_entities() -> None:
    rows = computed(
        "susceptibility_means",
        "susceptibility_of_queries",
        "form entity susceptibility",
        (1, "Norway", 1.0),
        (2, "Norway", 3.0),
        (1, "Peru", 6.0),
        invented=False,
    )
    first = select(rows, "1", "real")
    assert (first["n"], first["mean"], first["median"], first["unit_of_analysis"]) == (2, 3.5, 3.5, "query")
    relation = select(rows, "real", unit_of_analysis="entity")
    assert (relation["n"], relation["mean"], relation["unit"]) == (2, 4.0, "nats")
    assert select(rows, "real", relation="all")["mean"] == pytest.approx(10 / 3)


@pytest.mark.parametrize("score", [np.inf, np.nan, None])
@pytest.mark.parametrize(
    ("name", "query", "measure"),
    [
        ("susceptibility_means", "susceptibility_of_queries", "susceptibility"),
        ("persuasion_means", "persuasion_by_kind", "persuasion"),
        ("relevance", "persuasion_by_kind", "persuasion"),
        ("followed", "followed_levels", "persuasion"),
        ("degree_envelope", "degree_of_entities", "susceptibility"),
    ],
)
def test_a_score_that_is_not_finite_is_refused(name: str, query: str, measure: str, score: float | None) -> None:
    others = {
        "form": 1,
        "invented": False,
        "kind": "base",
        "relevant": True,
        "contexts": 1,
        "follows": "context",
        "answers": 1,
        "squared_persuasion": 1.0,
        "degree": 3,
        "relation_degree": 1,
    }
    rows = [(f"{number // 2}", float(number), 1.0) for number in range(40)]
    with pytest.raises(ScoreError):
        computed(name, query, f"entity level {measure}", *rows[:-1], ("19", 39.0, score), **others)


def test_persuasion_weighs_each_context_once() -> None:
    rows = computed(
        "persuasion_means",
        "persuasion_by_kind",
        "relation contexts persuasion",
        ("capital", 1, 4.0),
        ("capital", 3, 0.0),
        ("father", 5, 3.0),
        kind="base",
        relevant=True,
    )
    capital = select(rows, "relevant", "base", relation="capital")
    assert (capital["mean"], capital["items"], capital["prompts"], capital["low"]) == (1.0, 2, 4, None)
    pooled = select(rows, "relevant", "base", relation="all")
    assert (pooled["mean"], pooled["n"], pooled["items"], pooled["prompts"]) == (2.0, 2, 3, 9)
    model = select(rows, quantity="persuasion")
    assert (model["items"], model["prompts"]) == (3, 9)


def test_relevant_contexts_are_counted_query_by_query() -> None:
    rows = computed(
        "persuasion_means",
        "persuasion_by_kind",
        "query_id kind relevant contexts",
        ("a", "base", True, 2),
        ("a", "negation", True, 1),
        ("a", "base", False, 9),
        ("b", "base", False, 12),
        persuasion=1.0,
    )
    counted = select(rows, quantity="relevant_contexts")
    assert (counted["n"], counted["smallest"], counted["largest"]) == (2, 0, 3)


def test_answers_without_persuasion_are_in_no_mean() -> None:
    rows = computed(
        "followed_means",
        "followed",
        "conflict follows answers persuasion",
        (None, "context", 3, 1.0),
        ("substitution", "context", 1, 5.0),
        (None, "other", 4, None),
        kind="base",
    )
    context = select(rows, "context", relation="capital")
    assert (context["mean"], context["n"], context["prompts"]) == (2.0, 4, 4)
    other = select(rows, "every context", "other")
    assert (other["mean"], other["n"], other["prompts"], other["share"]) == (None, 0, 4, 0.5)
    assert select(rows, "in conflict: substitution", "context")["mean"] == 5.0


def test_queries_without_a_ratio_are_in_no_bin() -> None:
    rows = computed(
        "memorization_bins",
        "memorization_of_queries",
        "entity memorization_ratio memorization_ratio_all susceptibility",
        ("Peru", 0.2, 0.9, 1.0),
        ("Norway", 0.3, 0.9, 3.0),
        ("Peru", 1.0, 0.9, 8.0),
        ("Norway", None, 0.5, 9.0),
    )
    ratio = select(rows, quantity="memorization_ratio")
    assert (ratio["n"], ratio["items"], ratio["mean"]) == (3, 4, pytest.approx(0.5))
    second = select(rows, "0.2 to 0.4", "memorization_ratio")
    assert (second["n"], second["median"], second["share"], second["items"]) == (2, 2.0, pytest.approx(2 / 3), 2)
    last = select(rows, "0.8 to 1", "memorization_ratio_all")
    assert (last["n"], last["mean"], last["share"], last["items"]) == (3, 4.0, 0.75, 2)
    assert last["interval_over"] == "entity"
    assert select(rows, quantity="memorization_ratio_all")["mean"] == pytest.approx(0.8)
    assert len(rows) == 2 + 2 + 2  # two ratios, and two bins of each


def test_names_count_once_in_characters_and_words() -> None:
    rows = computed(
        "name_lengths",
        "susceptibility_of_queries",
        "entity invented",
        ("Peru", False),
        ("Peru", False),
        ("Isle of Man", False),
        ("Ostremia", True),
        susceptibility=1.0,
    )
    for unit, means in (("characters", [7.5, 8.0]), ("words", [2.0, 1.0])):
        groups = [select(rows, group, unit=unit, relation="capital") for group in ("real", "invented")]
        assert [group["mean"] for group in groups] == means
    assert select(rows, "real", unit="words", relation="all")["n"] == 2


def test_entity_independent_persuasion_is_averaged_over_contexts() -> None:
    rows = computed(
        "entity_independent_spread",
        "entity_independent_of_contexts",
        "form context_id template entity_independent_persuasion",
        (1, "a", "{entity} is {answer}.", 1.0),
        (1, "b", "{entity} is {answer}.", 2.0),
        (1, "c", "No.", 6.0),
        (2, "a", "{entity} is {answer}.", 9.0),
        kind="base",
        entities=2,
    )
    assert (select(rows, "1")["mean"], select(rows, "1")["n"], select(rows, "2")["mean"]) == (3.0, 3, 9.0)
    template_mean = select(rows, "1", "base", "{entity} is {answer}.")
    assert (template_mean["mean"], template_mean["items"], template_mean["unit_of_analysis"]) == (1.5, 2, "context")


def test_pooled_intervals_draw_whole_entities() -> None:
    scores, entities = [float(number // 2) for number in range(10)], [f"entity {number // 2}" for number in range(10)]
    rows = computed(
        "both_susceptibilities",
        "both_susceptibilities_of_queries",
        "entity susceptibility",
        *zip(entities, scores, strict=True),
        invented=False,
        wording="question",
        fisher=None,
    )
    pooled = select(rows, quantity="pooled_susceptibility", query_type="open")
    expected = clustered_mean(scores, entities, 0)
    assert (pooled["items"], pooled["low"], pooled["high"]) == expected
    assert expected.clusters == 5


def test_both_susceptibilities_are_pooled_over_queries() -> None:
    rows = computed(
        "both_susceptibilities",
        "both_susceptibilities_of_queries",
        "relation query_type entity invented wording susceptibility fisher",
        ("a", "open", "Norway", False, "question", 0.1, 1.0),
        ("b", "open", "Norway", False, "completion", 1.0, 2.0),
        ("c", "open", "Orvania", True, "question", 0.2, 6.0),
        ("d", "closed", "Orvania", True, "question", 1.1, 7.0),
        ("e", "closed", "Norway", False, "question", 0.6, None),
    )
    pooled = select(rows, quantity="pooled_susceptibility", query_type="all")
    assert (pooled["n"], pooled["items"], pooled["mean"]) == (5, 2, pytest.approx(0.6))
    assert select(rows, "invented", quantity="pooled_fisher", query_type="open")["mean"] == 6.0
    assert select(rows, "question", quantity="pooled_fisher", query_type="open")["mean"] == 3.5
    bins = [row for row in rows if row["grouped_by"] == ["susceptibility"] and row["query_type"] == "all"]
    assert {row["group_values"][0] for row in bins} == {"0 to 0.2", "0.2 to 0.4", "0.8 to 1", "over 1"}
    assert {(row["n"], row["share"]) for row in bins} == {(1, 0.25)}


def test_the_envelope_takes_half_to_double_the_degree() -> None:
    degrees = np.r_[np.full(20, 10.0), 20.0, 41.0]
    scores = np.r_[np.arange(20.0), 100.0, 7.0]
    bound = np.percentile(scores[:21], 95)
    assert list(envelope(degrees, scores)) == [(10.0, bound, 21), (20.0, bound, 21)]


def test_cost_of_precision_is_the_absolute_difference() -> None:
    rows = computed(
        "precision_cost",
        "precision_of_queries",
        "susceptibility_reference mean_difference",
        (0.9, 0.0),
        (1.3, 0.1),
        susceptibility=1.0,
        largest_difference=0.5,
    )
    cost = select(rows, quantity="difference_of_susceptibility", query_type="all")
    assert (cost["mean"], cost["largest"]) == (pytest.approx(0.2), pytest.approx(0.3))
    assert select(rows, quantity="difference_of_persuasion", query_type="open")["largest"] == 0.5


def test_statistics_without_scores_have_no_rows() -> None:
    frames = report_frames({})
    assert all(frames[name].empty for name in ("statistics", "correlations", "envelopes", "measures_summary"))


def test_importing_statistics_loads_neither_pandas_nor_scipy() -> None:
    code = "import sys, swaymeter.tasks.statistics; print(*{'pandas', 'scipy'}.intersection(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == ""
