"""Stored scores of queries, compared with the scoring functions for each query and context."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from swaymeter.data.errors import InputError
from swaymeter.data.records import Context, Query, is_relevant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.answer_set import complete_answers
from swaymeter.tasks.measures.measure import Inputs, PerQuery, own_sample
from swaymeter.tasks.measures.persuasion import compute_ahead
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.memorization import conflict, follows, greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.measures.conftest import Row, Study

OTHER_ENGINES = {"fisher_susceptibility": "autograd", "likeliest_tokens": "plain", "persuasion_bound": "plain"}
"""Engines of the measures that do not use the prefix tree."""
ABOUT_QUERIES = [name for name, measure in MEASURES.items() if measure.about != "questions"]
CONTEXT_SAMPLE = PerQuery(contexts=5, relevant=2)


def pairs(study: Study, name: str) -> Iterator[tuple[Query, Context, Row]]:
    """Yield each query and context with its only row."""
    rows = {(row["query_id"], row["context_id"]): row for row in study.rows(name)}
    assert len(rows) == len(study.rows(name)) == len(study.inputs.queries) * len(study.inputs.contexts)
    for query in study.inputs.queries:
        for context in study.inputs.contexts:
            yield query, context, rows[query.query_id, context.context_id]


def test_persuasion_belongs_to_its_query_and_context(study: Study, language_model: LanguageModel) -> None:
    texts = [context.text for context in study.inputs.contexts]
    direct = {query: persuasion(language_model, texts, [query.text]).scores[0] for query in study.inputs.queries}
    for query, context, row in pairs(study, "persuasion"):
        expected = direct[query][study.inputs.contexts.index(context)]
        assert row["persuasion"] == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert row["relevant"] == is_relevant(context, query)
    assert len({round(row["persuasion"], 6) for row in study.rows("persuasion")}) > len(direct)


@pytest.mark.parametrize("name", ABOUT_QUERIES)
def test_scores_have_their_provenance(name: str, study: Study) -> None:
    rows = study.rows(name)
    assert rows
    engine = OTHER_ENGINES.get(name, "prefix tree")
    for row in rows:
        assert (row["relation"], row["model"], row["dtype"]) == ("capital", study.model, "float32")
        assert (row["device"], row["engine"], row["dataset_version"]) == ("cpu", engine, "digest")
        assert row["stand_in"] is None


def test_resumed_study_has_the_same_scores(study: Study) -> None:
    def kill(done: int, total: int) -> None:
        if 0 < done < total:
            raise KeyboardInterrupt

    # Precision has a single chunk.
    names = [name for name in ABOUT_QUERIES if MEASURES[name].capability and name != "precision"]
    other = replace(study, folder=study.folder / "other")
    for name in names:
        with pytest.raises(KeyboardInterrupt):
            study.score(name, progress=kill)
        assert study.rows(name) == other.rows(name)


def test_greedy_answers_belong_to_their_query_and_context(study: Study, language_model: LanguageModel) -> None:
    for query, context, row in list(pairs(study, "greedy_answers"))[::7]:
        direct, _ = greedy_answers(language_model, [context.text], [query.text], max_new_tokens=4)
        assert row["text"] == direct[0][0]
        assert row["conflict"] == conflict(context.kind, context.entity == query.entity, context.object, query.answer)
        assert row["follows"] == follows(row["text"], query.query_type, query.answer, context.kind, context.object)
    assert len({row["text"] for row in study.rows("greedy_answers")}) > 3


@pytest.mark.parametrize("query_type", ["open", "closed"])
def test_answer_set_scores_cover_answers_of_their_type(
    query_type: str, study: Study, language_model: LanguageModel
) -> None:
    queries, contexts = study.inputs.queries, study.inputs.contexts
    objects = sorted({query.answer for query in queries} | {context.object for context in contexts})
    answers = [[name] for name in (objects if query_type == "open" else ["No", "Yes"])]
    chosen = next(query for query in queries if query.query_type == query_type)
    texts = [context.text for context in contexts]
    direct = answer_set_persuasion(language_model, texts, [chosen.text], answers)
    rows = [row for query, _, row in pairs(study, "answer_set_persuasion") if query == chosen]
    np.testing.assert_allclose([row["answer_set_persuasion"] for row in rows], direct.scores[0], atol=1e-5)
    np.testing.assert_allclose([row["mass"] for row in rows], direct.mass[0], atol=1e-5)
    (derived,) = (row for row in study.rows("answer_set_susceptibility") if row["query_id"] == chosen.query_id)
    assert (derived["answers"], derived["contexts"]) == (len(answers), len(contexts))
    assert derived["answer_set_susceptibility"] == pytest.approx(direct.susceptibility[0], abs=1e-5)
    assert derived["mass"] == pytest.approx(direct.mass[0].mean(), abs=1e-5)


def test_a_context_without_an_object_adds_no_answer(prompts: Inputs) -> None:
    without_objects = replace(prompts, contexts=[replace(context, object="") for context in prompts.contexts])
    assert complete_answers(without_objects, "open") == sorted({query.answer for query in prompts.queries})


def test_likeliest_tokens_follow_the_chosen_contexts(study: Study, language_model: LanguageModel) -> None:
    study.parameters["likeliest_tokens"] = {"tokens": 2, "most": 1, "least": 1}
    persuasive = study.rows("persuasion")
    rows = study.rows("likeliest_tokens")
    texts = {context.context_id: context.text for context in study.inputs.contexts} | {"none": ""}
    for query in study.inputs.queries[::5]:
        scores = [row for row in persuasive if row["query_id"] == query.query_id]
        order = [context_id for _, context_id in sorted((-row["persuasion"], row["context_id"]) for row in scores)]
        query_rows = [row for row in rows if row["query_id"] == query.query_id]
        assert [row["context_id"] for row in query_rows[::2]] == ["none", order[0], order[-1]]
        for first, second in zip(query_rows[::2], query_rows[1::2], strict=True):
            ids = language_model.tokenizer(texts[first["context_id"]] + query.text, return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                expected = torch.softmax(language_model.model(ids).logits[0, -1].double(), 0).topk(2)
            assert [first["probability"], second["probability"]] == pytest.approx(expected.values.tolist(), rel=1e-4)
            assert first["token"] == language_model.tokenizer.decode([int(expected.indices[0])])


def test_fisher_is_exact_for_top_tokens_else_estimated(study: Study, language_model: LanguageModel) -> None:
    rows = {row["query_id"]: row for row in study.rows("fisher_susceptibility")}
    assert study.artifact("fisher_susceptibility").about()["prompts"] == len(rows) == len(study.inputs.queries)
    for query in study.inputs.queries[::5]:
        row = rows[query.query_id]
        exact = fisher_susceptibility(language_model, [query.text], top_k=3)
        estimate = fisher_susceptibility(language_model, [query.text], top_k=None, draws=32, exact=3, seed=7)
        assert row["fisher_top_k"] == pytest.approx(float(exact.trace[0]), rel=1e-3)
        assert row["fisher"] == pytest.approx(float(estimate.trace[0]), rel=1e-3)
        assert row["fisher_standard_error"] == pytest.approx(float(estimate.standard_error[0]), rel=1e-2)


def test_fisher_without_draws_is_null(study: Study) -> None:
    study.parameters["fisher_susceptibility"] = {"top_k": 3, "draws": 0}
    for row in study.rows("fisher_susceptibility"):
        assert (row["draws"], row["fisher"], row["fisher_standard_error"]) == (0, None, None)
        assert row["fisher_top_k"] > 0


def test_precision_compares_the_model_with_its_reference(study: Study, language_model: LanguageModel) -> None:
    reference = load_language_model(study.model, dtype="bfloat16", device="cpu")
    before = language_model.forward_passes + reference.forward_passes
    cost = study.score("precision")
    assert cost.forward_passes == language_model.forward_passes + reference.forward_passes - before
    assert cost.prompts == 2 * 2 * len(study.inputs.contexts)  # two queries, with two dtypes
    rows = {row["query_id"]: row for row in study.rows("precision")}
    sampled = [query for query in study.inputs.queries if query.query_id in rows]
    texts = [context.text for context in study.inputs.contexts]
    result, reference_result = (
        persuasion(model, texts, [query.text for query in sampled]) for model in (language_model, reference)
    )
    differences = np.abs(result.scores - reference_result.scores)
    assert differences.max() > 1e-3  # far above the tolerances below
    for index, query in enumerate(sampled):
        row = rows[query.query_id]
        assert (row["dtype"], row["reference"]) == ("float32", "bfloat16")
        assert row["susceptibility"] == pytest.approx(result.susceptibility[index], abs=1e-5)
        assert row["susceptibility_reference"] == pytest.approx(reference_result.susceptibility[index], abs=1e-5)
        assert row["largest_difference"] == pytest.approx(differences[index].max(), abs=1e-5)
        assert 0 < row["mean_difference"] == pytest.approx(differences[index].mean(), abs=1e-5)


def test_next_result_is_computed_ahead() -> None:
    begun = {item: threading.Event() for item in "abc"}

    def make(item: str) -> str:
        begun[item].set()
        return item.upper()

    results = compute_ahead(make, "abc")
    assert next(results) == "A"
    assert begun["b"].wait(5)
    assert not begun["c"].is_set()
    assert list(results) == ["B", "C"]
    assert list(compute_ahead(make, "")) == []


def test_an_error_comes_in_place_of_its_result() -> None:
    results = compute_ahead(lambda item: 1 / item, [1, 0])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_context_sample_has_requested_contexts_in_order(prompts: Inputs) -> None:
    samples = [own_sample(query, prompts.contexts, CONTEXT_SAMPLE, seed=7) for query in prompts.queries]
    for query, sample in zip(prompts.queries, samples, strict=True):
        assert [is_relevant(context, query) for context in sample].count(True) == 2
        assert sample == [context for context in prompts.contexts if context in sample]
        assert len(sample) == 5
    assert len({tuple(context.context_id for context in sample) for sample in samples}) > 3
    assert samples == [own_sample(query, prompts.contexts, CONTEXT_SAMPLE, seed=7) for query in prompts.queries]
    assert samples != [own_sample(query, prompts.contexts, CONTEXT_SAMPLE, seed=8) for query in prompts.queries]


def test_error_of_few_relevant_contexts_names_relation(prompts: Inputs) -> None:
    with pytest.raises(
        InputError, match=r"relation capital needs 9 contexts that mention .*, but has only \d of these;"
    ):
        own_sample(prompts.queries[0], prompts.contexts, PerQuery(9, 9), seed=7)


def test_a_query_is_scored_over_its_own_contexts(study: Study, language_model: LanguageModel) -> None:
    sampled = replace(study, inputs=replace(study.inputs, per_query=CONTEXT_SAMPLE))
    cost = sampled.score("susceptibility", "greedy_answers", "answer_set_susceptibility")
    queries = study.inputs.queries
    assert cost.prompts == 3 * 5 * len(queries)  # three passes, each over five contexts of a query
    scores = {(row["query_id"], row["context_id"]): row["persuasion"] for row in sampled.rows("persuasion")}
    averages = {row["query_id"]: row for row in sampled.rows("susceptibility")}
    assert len(scores) == 5 * len(queries) == len(sampled.rows("greedy_answers"))
    for query in queries[::5]:
        contexts = own_sample(query, study.inputs.contexts, CONTEXT_SAMPLE, seed=7)
        direct = persuasion(language_model, [context.text for context in contexts], [query.text])
        for context, score in zip(contexts, direct.scores[0], strict=True):
            assert scores[query.query_id, context.context_id] == pytest.approx(score, rel=1e-5, abs=1e-7)
        row = averages[query.query_id]
        assert (row["contexts"], row["engine"]) == (5, "plain")
        assert row["susceptibility"] == pytest.approx(direct.susceptibility[0], rel=1e-5, abs=1e-7)
    assert {row["contexts"] for row in sampled.rows("answer_set_susceptibility")} == {5}
