"""Greedy answers at their query and context, and the ratio of a query counted over its own answers."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from data.records import Context, Query, of_row
from tasks.measurement import memorization
from tasks.measurement.measure import do
from tasks.models import LanguageModel
from tasks.scoring.memorization import greedy_answers
from tests.tasks.measurement.conftest import OTHER_PARAMETERS, Prepared


def test_an_answer_is_what_the_model_says_to_its_query_after_its_context(
    prepared: Prepared, model: LanguageModel
) -> None:
    work = prepared.works["memorization"]
    do(work, prepared.workspace)
    contexts = {row["context_id"]: row["text"] for row in work.inputs["contexts"].read().to_pylist()}
    queries = {row["query_id"]: row["text"] for row in work.inputs["queries"].read().to_pylist()}
    rows = work.wanted["greedy_answers"].read().to_pylist()
    assert len({(row["query_id"], row["context_id"]) for row in rows}) == len(rows) == len(contexts) * len(queries)
    assert len({row["text"] for row in rows}) > 3
    for row in rows[::7]:
        direct = greedy_answers(
            model, [contexts[row["context_id"]]], [queries[row["query_id"]]], **OTHER_PARAMETERS["greedy_answers"]
        )
        assert row["text"] == direct.texts[0][0]


def test_a_ratio_counts_the_answers_of_its_query_after_conflicting_contexts(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that believes base contexts about the queried entity, and keeps to the original answer otherwise."""
    work = prepared.works["memorization"]
    contexts = [of_row(Context, row) for row in work.inputs["contexts"].read().to_pylist()]
    queries = {row["text"]: of_row(Query, row) for row in work.inputs["queries"].read().to_pylist()}

    def says(query: Query, context: Context) -> str:
        believes = context.kind == "base" and context.entity == query.entity
        if query.query_type == "closed":
            return "No" if believes else "Yes"
        return context.object if believes else query.answer

    def credulous(_: Any, __: Sequence[str], texts: Sequence[str], *, max_new_tokens: int) -> Any:
        assert max_new_tokens == 4
        answers = [[says(queries[text], context) for context in contexts] for text in texts]
        return SimpleNamespace(texts=answers, engine="plain")

    monkeypatch.setattr(memorization, "greedy_answers", credulous)
    do(work, prepared.workspace)

    by_id = {query.query_id: query for query in queries.values()}
    about = {context.context_id: context for context in contexts}
    for row in work.wanted["greedy_answers"].read().to_pylist():
        query, context = by_id[row["query_id"]], about[row["context_id"]]
        theirs = {"base": "substitution", "assertive": "substitution", "negation": "negation"}
        assert row["conflict"] == (theirs[context.kind] if context.entity == query.entity else None)
        assert row["text"] == says(query, context)
        believed = context.kind == "base" and context.entity == query.entity
        if query.query_type == "open":
            assert row["follows"] == ("context" if believed else "original")
    ratios = work.wanted["memorization_ratio"].read().to_pylist()
    assert {row["query_id"] for row in ratios} == by_id.keys()
    for row in ratios:
        if by_id[row["query_id"]].query_type == "open":
            assert (row["original"], row["substitute"], row["memorization_ratio"]) == (1, 1, 0.5)
            assert (row["negation_original"], row["negation_substitute"]) == (1, 0)
            assert row["all_substitute"] == 1
