"""Scores of queries that are derived from stored scores without a model. Expected values are computed by hand."""

from dataclasses import replace
from math import log
from statistics import mean

import numpy as np
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.data.records import Context, Query, RelationName
from tests.tasks.measures.conftest import Row, Study

CAPITAL = RelationName("capital")
QUERIES = [
    Query(
        f"q{form}{entity}",
        CAPITAL,
        "open",
        form,
        entity,
        entity_id=None,
        invented=False,
        answer="Oslo",
        text=f"{form} {entity}:",
    )
    for form in (1, 2)
    for entity in ("Norway", "Chad")
]
CONTEXTS = [
    Context(name, CAPITAL, "base", "Norway", invented=False, object="Rome", text=text)
    for name, text in (("c1", "Rome.\n"), ("c2", "Lima.\n"), ("c3", "Rome.\n"))
]


@pytest.fixture
def study(study: Study) -> Study:
    """Return a study of four queries and three contexts. Two contexts have the same text."""
    return replace(study, inputs=replace(study.inputs, queries=QUERIES, contexts=CONTEXTS))


def persuasion_rows(scores: list[list[float]]) -> list[Row]:
    """Return rows of persuasion from a list of scores for each query."""
    return [
        {"query_id": query.query_id, "context_id": context.context_id, "persuasion": score}
        for query, query_scores in zip(QUERIES, scores, strict=True)
        for context, score in zip(CONTEXTS, query_scores, strict=True)
    ]


def test_susceptibility_weighs_contexts_by_their_occurrence(study: Study) -> None:
    study.store("persuasion", persuasion_rows([[0.3, 0.9, 0.3], [0, 0, 0], [1, 1, 1], [log(3), 0, log(3)]]))
    cost = study.score("susceptibility")
    rows = {row["query_id"]: row for row in study.rows("susceptibility")}
    expected = [2 / 3 * 0.3 + 1 / 3 * 0.9, 0, 1, 2 / 3 * log(3)]
    assert [rows[query.query_id]["susceptibility"] for query in QUERIES] == pytest.approx(expected, rel=1e-15)
    assert {row["contexts"] for row in rows.values()} == {3}
    assert (study.loaded, cost.prompts, cost.forward_passes) == (0, 0, 0)


def test_derived_susceptibility_equals_that_of_scoring_function(study: Study) -> None:
    from swaymeter.tasks.models import load_language_model
    from swaymeter.tasks.scoring.persuasion import persuasion

    model = load_language_model(study.model, dtype="float32", device="cpu")
    direct = persuasion(model, [context.text for context in CONTEXTS], [query.text for query in QUERIES])
    assert [row["susceptibility"] for row in study.rows("susceptibility")] == direct.susceptibility.tolist()
    assert study.loaded == 1


def test_entity_independent_scores_are_means_over_entities(study: Study) -> None:
    scores = [[0.0, 1, 2], [10, 11, 12], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    study.store("persuasion", persuasion_rows(scores))
    rows = study.rows("entity_independent_persuasion")
    means = {(row["form"], row["context_id"]): row["entity_independent_persuasion"] for row in rows}
    assert means == {
        (form, context.context_id): mean(context_scores)
        for form, entity_scores in ((1, scores[:2]), (2, scores[2:]))
        for context, context_scores in zip(CONTEXTS, zip(*entity_scores, strict=True), strict=True)
    }
    assert {row["entities"] for row in rows} == {2}
    averages = study.rows("entity_independent_susceptibility")
    assert [(row["form"], row["entity_independent_susceptibility"]) for row in averages] == [(1, 6), (2, 0.5)]
    assert study.loaded == 0


@pytest.mark.parametrize(
    "name", ["susceptibility", "entity_independent_persuasion", "entity_independent_susceptibility"]
)
def test_missing_score_is_named(name: str, study: Study) -> None:
    study.store("persuasion", persuasion_rows(np.zeros((4, 3)).tolist())[1:])
    with pytest.raises(
        ScoreError, match="values of persuasion are missing: 1 in all, the first for the query '1 Norway:'"
    ):
        study.score(name)


def test_score_names_every_engine_of_its_inputs(study: Study) -> None:
    rows = persuasion_rows(np.zeros((4, 3)).tolist())
    study.store("persuasion", [{**row, "engine": "plain" if row["query_id"] == "q1Chad" else "tree"} for row in rows])
    engines = {row["query_id"]: row["engine"] for row in study.rows("susceptibility")}
    assert engines == {query.query_id: "plain" if query.query_id == "q1Chad" else "tree" for query in QUERIES}
    by_form = {row["form"]: row["engine"] for row in study.rows("entity_independent_susceptibility")}
    assert by_form == {1: "plain, tree", 2: "tree"}


def test_memorization_is_counted_over_conflicting_contexts(study: Study) -> None:
    replies = {
        "q1Norway": [("substitution", "original"), ("substitution", "context"), (None, "context")],
        "q1Chad": [("negation", "other"), ("negation", "original"), ("substitution", "other")],
        "q2Norway": [(None, "other")] * 3,
        "q2Chad": [("substitution", "original")] * 3,
    }
    study.store(
        "greedy_answers",
        [
            {"query_id": query_id, "context_id": context.context_id, "conflict": conflict, "follows": follows}
            for query_id, query_replies in replies.items()
            for context, (conflict, follows) in zip(CONTEXTS, query_replies, strict=True)
        ],
    )
    rows = {row["query_id"]: row for row in study.rows("memorization_ratio")}
    columns = ("original", "substitute", "memorization_ratio", "negation_original", "negation_substitute")
    assert {query_id: tuple(row[name] for name in columns) for query_id, row in rows.items()} == {
        "q1Norway": (1, 1, 0.5, 0, 0),
        "q1Chad": (0, 0, None, 1, 1),
        "q2Norway": (0, 0, None, 0, 0),
        "q2Chad": (3, 0, 1.0, 0, 0),
    }
    # Over contexts of any kind, the third context does not count, because it has the text of the first.
    assert (rows["q1Norway"]["memorization_ratio_all"], rows["q2Norway"]["memorization_ratio_all"]) == (1 / 2, None)
    assert study.loaded == 0
