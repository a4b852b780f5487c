"""What annotators do with their sheets."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from swaymeter.data.records import Question
from swaymeter.flows.api import Study
from swaymeter.flows.datasets import annotate
from swaymeter.flows.graph.step import StepId
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
    """Writes into a sheet as a person does, under the names of the columns: by a question's text."""
    if file.suffix == ".xlsx":
        book = load_workbook(file)
        sheet = book["questions"]
        places = {cell.value: cell.column for cell in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            for name, text in filled.get(sheet.cell(row, places["question"]).value, {}).items():
                sheet.cell(row, places[name], text)
        book.save(file)
        return file
    rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
    with file.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | dict(filled.get(row["question"], {})) for row in rows)
    return file


def judge(contents: Contents, file: Path, annotator: str, filled: Fill, **options: Any) -> annotate.Imported:
    annotate.export(contents, file, annotator, **options)
    return annotate.import_(contents, fill(file, filled), annotator)


def choosing(contents: Contents, *choices: str) -> dict[str, dict[str, str]]:
    return {
        question.question: {"choice": choice} for question, choice in zip(questions_of(contents), choices, strict=False)
    }
