"""Answer-set scores at their query and context, over the answers that a query of its type can have."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tasks.measurement import answer_set
from tasks.measurement.measure import do
from tasks.models import LanguageModel
from tasks.scoring.answer_set import answer_set_persuasion
from tests.tasks.measurement.conftest import Prepared


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], Sequence[Sequence[str]], Any]]:
    """The queries, answers and terminators of every call."""
    calls = []

    def noted(model: Any, contexts: Any, queries: Any, answers: Any, *, terminators: Any) -> Any:
        calls.append((queries, answers, terminators))
        return answer_set_persuasion(model, contexts, queries, answers, terminators=terminators)

    monkeypatch.setattr(answer_set, "answer_set_persuasion", noted)
    return calls


def test_every_query_is_asked_once_with_the_answers_of_its_type(
    prepared: Prepared, asked: list[tuple[Sequence[str], Sequence[Sequence[str]], Any]]
) -> None:
    work = prepared.works["answer_set"]
    spent = do(work, prepared.workspace)
    queries = work.inputs["queries"].read().to_pylist()
    contexts = work.inputs["contexts"].read().to_pylist()
    type_of = {row["text"]: row["query_type"] for row in queries}
    objects = sorted({row["answer"] for row in queries} | {row["object"] for row in contexts})
    assert len(objects) > 2
    for texts, answers, terminators in asked:
        (query_type,) = {type_of[text] for text in texts}
        assert answers == ([["No"], ["Yes"]] if query_type == "closed" else [[name] for name in objects])
        assert terminators == ("\n", ".")
    assert sorted(text for texts, *_ in asked for text in texts) == sorted(type_of)
    assert spent.prompts == len(queries) * len(contexts)
    counts = {row["query_id"]: row["answers"] for row in work.wanted["answer_set_susceptibility"].read().to_pylist()}
    assert counts == {row["query_id"]: 2 if row["query_type"] == "closed" else len(objects) for row in queries}


def test_scores_are_those_of_their_query_and_context(prepared: Prepared, model: LanguageModel) -> None:
    work = prepared.works["answer_set"]
    do(work, prepared.workspace)
    contexts = work.inputs["contexts"].read().to_pylist()
    found = {
        (row["query_id"], row["context_id"]): row for row in work.wanted["answer_set_persuasion"].read().to_pylist()
    }
    sums = {row["query_id"]: row for row in work.wanted["answer_set_susceptibility"].read().to_pylist()}
    closed = [row for row in work.inputs["queries"].read().to_pylist() if row["query_type"] == "closed"]
    for query in closed:
        direct = answer_set_persuasion(model, [row["text"] for row in contexts], [query["text"]], [["No"], ["Yes"]])
        here = [found[query["query_id"], row["context_id"]] for row in contexts]
        np.testing.assert_allclose([row["answer_set_persuasion"] for row in here], direct.scores[0], atol=1e-5)
        np.testing.assert_allclose([row["mass"] for row in here], direct.mass[0], atol=1e-5)
        assert sums[query["query_id"]]["answer_set_susceptibility"] == pytest.approx(direct.susceptibility[0], abs=1e-5)
        assert sums[query["query_id"]]["mass"] == pytest.approx(direct.mass[0].mean(), abs=1e-5)
