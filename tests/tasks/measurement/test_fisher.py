"""Fisher susceptibility at its query; without draws the whole vocabulary is not measured, which is NULL and not 0."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tasks.measurement import fisher
from tasks.measurement.measure import do
from tasks.measurement.work import Work
from tasks.models import LanguageModel
from tasks.scoring.fisher import fisher_susceptibility
from tests.tasks.measurement.conftest import Prepared


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of every call."""
    calls = []

    def noted(model: Any, queries: Sequence[str], **options: Any) -> Any:
        calls.append(options)
        return fisher_susceptibility(model, queries, **options)

    monkeypatch.setattr(fisher, "fisher_susceptibility", noted)
    return calls


def with_draws(work: Work, draws: int) -> Work:
    stored = work.wanted["fisher_susceptibility"]
    made_from = {**stored.made_from, "parameters": {"top_k": 3, "draws": draws}}
    return replace(work, wanted={"fisher_susceptibility": replace(stored, made_from=made_from)})


def test_with_draws_the_whole_vocabulary_is_estimated_and_the_likeliest_are_exact(
    prepared: Prepared, options: list[dict[str, Any]], model: LanguageModel
) -> None:
    work = prepared.works["fisher"]
    spent = do(work, prepared.workspace)
    queries = {row["query_id"]: row["text"] for row in work.inputs["queries"].read().to_pylist()}
    assert work.inputs.keys() == {"queries"}
    assert spent.prompts == len(queries)
    assert options == [{"top_k": None, "draws": 32, "exact": 3, "seed": 7}] * 2
    rows = work.wanted["fisher_susceptibility"].read().to_pylist()
    assert {row["query_id"] for row in rows} == queries.keys()
    for row in rows[::5]:
        text = queries[row["query_id"]]
        exact = fisher_susceptibility(model, [text], top_k=3)
        estimate = fisher_susceptibility(model, [text], top_k=None, draws=32, exact=3, seed=7)
        assert (row["top_k"], row["draws"]) == (3, 32)
        assert row["fisher_top_k"] == pytest.approx(float(exact.trace[0]), rel=1e-3)
        assert row["fisher"] == pytest.approx(float(estimate.trace[0]), rel=1e-3)
        assert row["fisher_standard_error"] == pytest.approx(float(estimate.standard_error[0]), rel=1e-2)
    assert len({round(row["fisher_top_k"], 9) for row in rows}) > len(rows) / 2


def test_without_draws_only_the_likeliest_answers_are_measured(
    prepared: Prepared, options: list[dict[str, Any]]
) -> None:
    work = with_draws(prepared.works["fisher"], 0)
    do(work, prepared.workspace)
    assert options == [{"top_k": 3}] * 2
    for row in work.wanted["fisher_susceptibility"].read().to_pylist():
        assert (row["draws"], row["fisher"], row["fisher_standard_error"]) == (0, None, None)
        assert row["fisher_top_k"] > 0
