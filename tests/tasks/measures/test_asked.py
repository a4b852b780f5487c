"""Samples of contexts of a query's own: what they hold, and that scores are computed over them alone."""

from dataclasses import replace

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import is_relevant
from swaymeter.tasks.measures.measure import Inputs, PerQuery, own_sample
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.measures.conftest import Study

SAMPLE = PerQuery(contexts=5, relevant=2)


def test_a_sample_has_so_many_relevant_contexts_in_order(prompts: Inputs) -> None:
    samples = [own_sample(query, prompts.contexts, SAMPLE, seed=7) for query in prompts.queries]
    for query, sample in zip(prompts.queries, samples, strict=True):
        assert [is_relevant(context, query) for context in sample].count(True) == 2
        assert sample == [context for context in prompts.contexts if context in sample]
        assert len(sample) == 5
    assert len({tuple(context.context_id for context in sample) for sample in samples}) > 3
    assert samples == [own_sample(query, prompts.contexts, SAMPLE, seed=7) for query in prompts.queries]
    assert samples != [own_sample(query, prompts.contexts, SAMPLE, seed=8) for query in prompts.queries]


def test_too_few_relevant_contexts_are_refused_by_relation(prompts: Inputs) -> None:
    with pytest.raises(InputError, match=r"relation capital has \d relevant contexts for queries about .*, 9 are"):
        own_sample(prompts.queries[0], prompts.contexts, PerQuery(9, 9), seed=7)


def test_a_query_is_scored_over_its_own_contexts(study: Study, language_model: LanguageModel) -> None:
    sampled = replace(study, inputs=replace(study.inputs, per_query=SAMPLE))
    spent = sampled.score("susceptibility", "greedy_answers", "answer_set_susceptibility")
    queries = study.inputs.queries
    assert spent.prompts == 3 * 5 * len(queries)
    scores = {(row["query_id"], row["context_id"]): row["persuasion"] for row in sampled.rows("persuasion")}
    averages = {row["query_id"]: row for row in sampled.rows("susceptibility")}
    assert len(scores) == 5 * len(queries) == len(sampled.rows("greedy_answers"))
    for query in queries[::5]:
        contexts = own_sample(query, study.inputs.contexts, SAMPLE, seed=7)
        direct = persuasion(language_model, [context.text for context in contexts], [query.text])
        for context, score in zip(contexts, direct.scores[0], strict=True):
            assert scores[query.query_id, context.context_id] == pytest.approx(score, rel=1e-5, abs=1e-7)
        row = averages[query.query_id]
        assert (row["contexts"], row["engine"]) == (5, "plain")
        assert row["susceptibility"] == pytest.approx(direct.susceptibility[0], rel=1e-5, abs=1e-7)
    derived = {row["contexts"] for row in sampled.rows("answer_set_susceptibility")}
    assert derived == {5}
