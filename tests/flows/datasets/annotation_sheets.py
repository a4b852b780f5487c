"""Functions that fill in the sheets of annotators."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from swaymeter.data.records import Question
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import StepId
from tests.flows.small_study import renew

Values = Mapping[str, Mapping[str, str]]
"""Values of a sheet by question and field."""


def discard_questions(study: Study, partition: str) -> Study:
    """Delete the questions of a partition, and return the study with a new graph."""
    study.graph.nodes[StepId("fetch", partition, "questions")].output("questions").artifact.discard()
    return renew(study)


def fill(file: Path, values: Values) -> Path:
    """Replace all values of a sheet, and return its file."""
    is_xlsx = file.suffix == ".xlsx"
    sheet = pd.read_excel(file, dtype=str) if is_xlsx else pd.read_csv(file, dtype=str)
    sheet["value"] = [
        values.get(name, {}).get(field) for name, field in zip(sheet["question_id"], sheet["field"], strict=True)
    ]
    if is_xlsx:
        sheet.to_excel(file, index=False)
    else:
        sheet.to_csv(file, index=False)
    return file


def values_of_choices(questions: Sequence[Question], *choices: str) -> dict[str, dict[str, str]]:
    """Return the values of a sheet with a choice for each of the first questions."""
    return {question.question_id: {"choice": choice} for question, choice in zip(questions, choices, strict=False)}
