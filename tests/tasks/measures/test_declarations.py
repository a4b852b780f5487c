"""Declarations of measures: order, tables, parameters, passes and prompts."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Measures
from swaymeter.tasks.measures.rows import PROVENANCE
from tests.tasks.measures.conftest import needed

SAMPLED = ("answers", "clusters", "coherent_persuasion")


def test_measure_before_its_needs_is_refused() -> None:
    with pytest.raises(ValueError, match="measure susceptibility needs unregistered measures; first add persuasion"):
        Measures([MEASURES["susceptibility"], MEASURES["persuasion"]])


@pytest.mark.parametrize("name", list(MEASURES))
def test_table_has_name_provenance_and_key_of_measure(name: str) -> None:
    measure, columns = MEASURES[name], {column.name: column for column in MEASURES[name].table.columns}
    assert measure.table.name == name
    assert {"relation", *PROVENANCE} <= columns.keys()
    assert all(not columns[column].nullable for column in measure.table.key)
    for column in columns.values():
        if column.name.endswith("_standard_error"):
            score = columns[column.name.removesuffix("_standard_error")]
            assert (column.unit, column.nullable) == (score.unit, True)


def test_importing_the_measures_does_not_import_torch() -> None:
    code = "import sys, swaymeter.tasks.measures.stored_chunks; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (SAMPLED, [(SAMPLED, ())]),
        (
            ("clusters", "coherent_persuasion"),
            [(("clusters",), ("answers",)), (("coherent_persuasion",), ("answers", "clusters"))],
        ),
        (("answers", "accuracy"), [(("answers",), ()), (("accuracy",), ("answers",))]),
        (("semantic_entropy",), [(("semantic_entropy",), ("answers", "clusters"))]),
        (("susceptibility", "persuasion"), [(("persuasion",), ()), (("susceptibility",), ("persuasion",))]),
        ((), []),
    ],
)
def test_missing_measures_are_grouped_into_passes(missing: tuple[str, ...], expected: list[Any]) -> None:
    assert [(scoring.measures, scoring.needs) for scoring in MEASURES.passes(missing)] == expected


def test_declaration_changes_with_parameters_of_needed_measures() -> None:
    parameters = {name: MEASURES[name].parameters() for name in needed("accuracy")}
    other = {**parameters, "answers": MEASURES["answers"].parameters(samples=3)}  # type: ignore[call-arg]
    assert MEASURES.declaration("accuracy", parameters) == MEASURES.declaration("accuracy", dict(parameters))
    assert MEASURES.declaration("accuracy", parameters) != MEASURES.declaration("accuracy", other)


@pytest.mark.parametrize(
    ("name", "parameters", "prompts"),
    [
        ("persuasion", {}, 20 * 30),
        ("greedy_answers", {}, 20 * 30),
        ("fisher_susceptibility", {}, 20),
        # Precision reads each query and context with two dtypes.
        ("precision", {"queries": 4}, 2 * 4 * 30),
        ("precision", {"queries": 50}, 2 * 20 * 30),
        ("answers", {}, 21),
        ("coherent_persuasion", {}, 21),
        ("clusters", {}, 0),
        ("susceptibility", {}, 0),
    ],
)
def test_prompt_count_follows_from_queries_contexts_cases(name: str, parameters: dict[str, Any], prompts: int) -> None:
    measure = MEASURES[name]
    assert measure.count_prompts(measure.parameters(**parameters), queries=20, contexts=30, cases=21) == prompts


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("persuasion", {"samples": 3}),
        ("answer_set_persuasion", {"terminators": []}),
        ("answer_set_persuasion", {"terminators": [""]}),
        ("answer_set_persuasion", {"terminators": [".", "."]}),
        ("answer_set_persuasion", {"terminators": "."}),
        ("fisher_susceptibility", {"draws": -1}),
        ("fisher_susceptibility", {"draws": 31}),
        ("precision", {"reference": "float64"}),
        ("answers", {"temperature": 0}),
        ("answers", {"temperature": float("nan")}),
        ("answers", {"top_p": 1.1}),
        ("clusters", {"threshold": float("inf")}),
        ("coherent_persuasion", {"half_samples": 9}),
        ("accuracy", {"rouge_threshold": 1}),
    ],
)
def test_impossible_parameters_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MEASURES[name].parameters.model_validate(parameters)


def test_zero_draws_and_enough_draws_are_accepted() -> None:
    for name, parameter, least in (("fisher_susceptibility", "draws", 32), ("coherent_persuasion", "half_samples", 10)):
        for number in (0, least):
            assert getattr(MEASURES[name].parameters.model_validate({parameter: number}), parameter) == number


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_precision_applies_to_other_dtypes_than_its_reference(dtype: str) -> None:
    precision = MEASURES["precision"]
    assert precision.applies(precision.parameters(), dtype) == (dtype == "bfloat16")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capability": None}, "declare `capability`, or name other measures in `needs`"),
        ({"unit": "bits"}, "no column has the unit 'bits'; use the unit of a column"),
    ],
)
def test_an_impossible_declaration_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=f"measure persuasion: {message}"):
        replace(MEASURES["persuasion"], **changes)
