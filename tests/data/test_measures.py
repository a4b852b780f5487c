import pytest
from pydantic import ValidationError

from data.errors import UnknownName
from data.measures import FAMILIES, MEASURES, AccuracyParameters, AnswersParameters, NoParameters, measure
from data.tables import PROVENANCE


def test_an_unknown_measure_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="no measure is named 'persuation'; did you mean 'persuasion'"):
        measure("persuation")


def test_a_measure_is_found_by_its_name() -> None:
    assert all(measure(name).name == name for name in MEASURES)


def test_what_a_measure_needs_is_registered_and_asks_about_the_same_things() -> None:
    for one in MEASURES.values():
        for need in one.needs:
            assert MEASURES[need].inputs == one.inputs


def test_a_family_is_one_pass_over_one_kind_of_input() -> None:
    for family in FAMILIES:
        members = [one for one in MEASURES.values() if one.family == family]
        assert len({one.inputs for one in members}) == 1


def test_a_score_has_its_own_name_and_where_it_comes_from() -> None:
    for one in MEASURES.values():
        names = [column.name for column in one.table.columns]
        assert one.table.name == one.name
        assert one.table.columns[-len(PROVENANCE) :] == PROVENANCE
        assert names[0] == "relation"
        assert len(set(names)) == len(names)


def test_a_measure_in_nats_has_a_column_in_nats() -> None:
    for one in MEASURES.values():
        assert one.unit in ("", "nats")
        if one.unit:
            assert any(column.unit == one.unit for column in one.table.columns)


@pytest.mark.parametrize(
    "impossible",
    [
        {"samples": 0}, {"max_new_tokens": 0}, {"temperature": 0}, {"temperature": float("nan")}, {"top_p": 0},
        {"top_p": 1.1}, {"top_k": -1}, {"threshold": 0}, {"threshold": -0.5}, {"threshold": float("inf")},
        {"samplez": 3},
    ],
)  # fmt: skip
def test_impossible_answers_are_refused(impossible: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AnswersParameters.model_validate(impossible)


@pytest.mark.parametrize("impossible", [{"rouge_threshold": 1}, {"rouge_threshold": -0.1}, {"threshold": 0.3}])
def test_impossible_accuracy_is_refused(impossible: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        AccuracyParameters.model_validate(impossible)


def test_the_defaults_are_those_of_the_published_study() -> None:
    answers = AnswersParameters()
    assert (answers.samples, answers.temperature, answers.top_p, answers.top_k) == (10, 0.5, 1.0, 0)
    assert answers.entailment == "microsoft/deberta-large-mnli"
    assert AccuracyParameters().rouge_threshold == 0.3


def test_a_measure_without_parameters_takes_none() -> None:
    with pytest.raises(ValidationError):
        NoParameters.model_validate({"samples": 3})
