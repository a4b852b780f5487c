from typing import Any

import pytest
from pydantic import ValidationError

from data.errors import UnknownName
from data.measures import FAMILIES, MEASURES, measure
from data.parameters import (
    AccuracyParameters,
    AnswerSetParameters,
    AnswersParameters,
    FisherParameters,
    MemorizationParameters,
    NoParameters,
    PrecisionParameters,
)
from data.records.tables import PROVENANCE
from data.registry import INPUTS


def test_an_unknown_measure_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="no measure is named 'persuation'; did you mean 'persuasion'"):
        measure("persuation")


def test_a_measure_is_found_by_its_name() -> None:
    assert all(measure(name).name == name for name in MEASURES)


def test_what_a_measure_needs_is_registered_before_it_and_is_about_the_same_things() -> None:
    order = list(MEASURES)
    for one in MEASURES.values():
        for need in one.needs:
            assert MEASURES[need].inputs == one.inputs
            assert order.index(need) < order.index(one.name)


def test_a_family_comes_whole_and_after_the_families_whose_scores_it_needs() -> None:
    families = [one.family for one in MEASURES.values()]
    assert families == sorted(families, key=FAMILIES.index)


def test_a_family_is_one_pass_over_one_kind_of_input() -> None:
    for family in FAMILIES:
        members = [one for one in MEASURES.values() if one.family == family]
        (inputs,) = {one.inputs for one in members}
        assert INPUTS[inputs]


def test_a_pass_has_one_set_of_parameters_or_only_reads_scores() -> None:
    for family in FAMILIES:
        members = [one for one in MEASURES.values() if one.family == family]
        if all(MEASURES[need].family == family for one in members for need in one.needs):
            named = [one.name for one in members if one.parameters is not NoParameters]
            assert len(named) <= 1
            assert all(set(named) <= {*one.needs, one.name} for one in members)


def test_a_score_has_its_own_name_and_where_it_comes_from() -> None:
    for one in MEASURES.values():
        names = [column.name for column in one.table.columns]
        assert one.table.name == one.name
        assert one.table.columns[-len(PROVENANCE) :] == PROVENANCE
        assert names[0] == "relation"
        assert len(set(names)) == len(names)


def test_a_measure_with_a_unit_has_a_column_in_it() -> None:
    for one in MEASURES.values():
        assert one.unit in ("", "nats", "nats per squared embedding unit")
        if one.unit:
            assert any(column.unit == one.unit for column in one.table.columns)


@pytest.mark.parametrize(
    "impossible",
    [
        {"samples": 0}, {"max_new_tokens": 0}, {"temperature": 0}, {"temperature": float("nan")}, {"top_p": 0},
        {"top_p": 1.1}, {"top_k": -1}, {"threshold": 0}, {"threshold": -0.5}, {"threshold": float("inf")},
        {"samplez": 3}, {"half_samples": -1}, {"half_samples": 1}, {"half_samples": 9},
    ],
)  # fmt: skip
def test_impossible_answers_are_refused(impossible: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnswersParameters.model_validate(impossible)


@pytest.mark.parametrize("impossible", [{"rouge_threshold": 1}, {"rouge_threshold": -0.1}, {"threshold": 0.3}])
def test_impossible_accuracy_is_refused(impossible: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AccuracyParameters.model_validate(impossible)


@pytest.mark.parametrize(
    ("kind", "impossible"),
    [
        (MemorizationParameters, {"max_new_tokens": 0}), (MemorizationParameters, {"top_k": 3}),
        (AnswerSetParameters, {"terminators": []}), (AnswerSetParameters, {"terminators": [""]}),
        (AnswerSetParameters, {"terminators": [".", "."]}), (AnswerSetParameters, {"terminators": "."}),
        (FisherParameters, {"top_k": 0}), (FisherParameters, {"draws": -1}), (FisherParameters, {"draws": 31}),
        (FisherParameters, {"draws": 1}), (FisherParameters, {"draw": 64}),
        (PrecisionParameters, {"queries": 0}), (PrecisionParameters, {"reference": "float64"}),
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(kind: type[Any], impossible: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(impossible)


@pytest.mark.parametrize("draws", [0, 32, 64])
def test_draws_are_none_or_enough(draws: int) -> None:
    assert FisherParameters(draws=draws).draws == draws


@pytest.mark.parametrize("half_samples", [0, 10, 50])
def test_half_samples_are_none_or_enough(half_samples: int) -> None:
    assert AnswersParameters(half_samples=half_samples).half_samples == half_samples


def test_too_few_half_samples_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match=r"5 are too few .* at least 10, or 0 for no standard errors"):
        AnswersParameters(half_samples=5)


def test_every_score_of_sampled_answers_has_a_standard_error_in_its_unit_that_may_be_null() -> None:
    for name in ("semantic_entropy", "coherent_persuasion"):
        columns = {column.name: column for column in MEASURES[name].table.columns}
        scores = [one for one in columns.values() if one.unit and not one.name.endswith("_standard_error")]
        errors = [columns[f"{one.name}_standard_error"] for one in scores]
        assert errors
        assert all(error.nullable and error.unit == "nats" for error in errors)


def test_the_defaults_of_what_a_model_says_next() -> None:
    assert MemorizationParameters().max_new_tokens == 10
    assert AnswerSetParameters().terminators == ("\n", ".")
    assert (FisherParameters().top_k, FisherParameters().draws) == (10, 64)
    assert (PrecisionParameters().queries, PrecisionParameters().reference) == (4, "float32")


def test_the_defaults_are_those_of_the_published_study() -> None:
    answers = AnswersParameters()
    assert (answers.samples, answers.temperature, answers.top_p, answers.top_k) == (10, 0.5, 1.0, 0)
    assert answers.entailment == "microsoft/deberta-large-mnli"
    assert not answers.entailment_with_question
    assert answers.half_samples == 50
    assert AccuracyParameters().rouge_threshold == 0.3


def test_a_measure_without_parameters_takes_none() -> None:
    with pytest.raises(ValidationError):
        NoParameters.model_validate({"samples": 3})
