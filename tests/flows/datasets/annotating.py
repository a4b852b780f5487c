"""What annotators do with their sheets."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from swaymeter.data.records import Question
from swaymeter.flows.api import Study
from swaymeter.flows.datasets import annotate
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.stages.contents import Contents
from tests.flows.small_study import again

Fill = Mapping[str, Mapping[str, str]]


def without(study: Study, partition: str) -> Study:
    """The study after the questions of a partition were lost."""
    study.graph.nodes[StepId("fetch", partition, "questions")].output("questions").artifact.discard()
    return again(study)


def questions_of(contents: Contents) -> list[Question]:
    return contents.candidates("static")


def fill(file: Path, filled: Fill) -> Path:
    """Fill in the values of a sheet by question and field, as a person does."""
    is_xlsx = file.suffix == ".xlsx"
    sheet = pd.read_excel(file, dtype=str) if is_xlsx else pd.read_csv(file, dtype=str)
    sheet["value"] = [
        filled.get(name, {}).get(field) for name, field in zip(sheet["question_id"], sheet["field"], strict=True)
    ]
    sheet.to_excel(file, index=False) if is_xlsx else sheet.to_csv(file, index=False)
    return file


def judge(contents: Contents, file: Path, annotator: str, filled: Fill, *, conflicts: bool = False) -> Path:
    annotate.export(contents, file, annotator, conflicts=conflicts)
    return fill(file, filled)


def choosing(questions: Sequence[Question], *choices: str) -> dict[str, dict[str, str]]:
    return {question.question_id: {"choice": choice} for question, choice in zip(questions, choices, strict=False)}
