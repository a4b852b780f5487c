"""Which questions annotators get, where not all are there or fit, and which of them a study then asks."""

from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data import reasons
from swaymeter.data.errors import InputError, MissingFile
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.datasets import annotate
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.stages.resolve import graph_of
from swaymeter.tasks.contexts.annotation.cells import LARGEST_CELL
from swaymeter.tasks.contexts.annotation.sheet import COLUMNS
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet
from tests.data.a_dataset import changed
from tests.flows.datasets.annotating import choosing, fill, judge, questions_of
from tests.flows.small_study import again, prepare, run, selected


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(selected(tmp_path)).contents


@pytest.fixture
def half(tmp_path: Path) -> Contents:
    """Of two partitions, one is not there."""
    study = prepare(selected(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2}))
    return without(study, "disputable").contents


def without(study: Selected, partition: str) -> Selected:
    """The study after the questions of a partition were lost."""
    study.graph.nodes[StepId("fetch", partition, "questions")].output("questions").artifact.discard()
    return again(study)


def test_a_missing_partition_is_named_and_stops_no_other(half: Contents, tmp_path: Path) -> None:
    exported = annotate.export(half, tmp_path / "ada.csv", "ada")
    assert exported.questions == len(questions_of(half))
    (missing,) = exported.missing
    assert missing.startswith("partition disputable: ")
    imported = annotate.import_(half, fill(tmp_path / "ada.csv", choosing(half, "accept")), "ada")
    assert (imported.new, imported.missing) == (1, (missing,))
    standing = annotate.standing(half)
    assert (standing.questions, standing.missing) == (exported.questions, (missing,))
    assert annotate.export(half, tmp_path / "s.csv", "ben", partitions=["static"]).missing == ()


def test_without_questions_no_sheet_is_written(half: Contents, tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        annotate.export(half, tmp_path / "ada.csv", "ada", partitions=["disputable"])
    half.graph.nodes[StepId("fetch", "static", "questions")].output("questions").artifact.discard()
    half = replace(half, graph=graph_of(half.plan))
    for work in (lambda: annotate.standing(half), lambda: annotate.export(half, tmp_path / "ada.csv", "ada")):
        with pytest.raises(MissingFile):
            work()
    assert not (tmp_path / "ada.csv").exists()


def test_a_question_too_long_for_a_cell_is_named(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = questions_of(contents)
    long = changed(first, original_context=f"{first.original_context} {'a' * LARGEST_CELL}")
    monkeypatch.setattr(Contents, "candidates", lambda *_: [long, *others])
    exported = annotate.export(contents, tmp_path / "ada.xlsx", "ada")
    assert exported == annotate.Exported(len(others), (f"{first.question_id} ({first.subject}): context",))
    assert len(read_sheet(tmp_path / "ada.xlsx", COLUMNS).rows) == len(others)
    monkeypatch.setattr(Contents, "candidates", lambda *_: [long])
    with pytest.raises(InputError, match=f"no question that is left for ada fits into a sheet: {first.question_id}"):
        annotate.export(contents, tmp_path / "none.csv", "ada")


def test_a_study_uses_only_accepted_and_changed_questions(tmp_path: Path) -> None:
    every = {"partitions": ["static"], "per_partition": None}
    study = selected(tmp_path, questions={**every, "annotated": True})
    run(lambda: again(study).graph, Selection(stages=("fetch",)))
    contents = again(study).contents
    first, second, third, fourth, *others = questions_of(contents)
    for name in ("ada", "ben"):
        sheet = choosing(contents, "accept", "change", "discard", "accept" if name == "ada" else "incomplete")
        sheet[second.question] |= {"new question": "Who made it?", "new other answer": "Nobody"}
        judge(contents, tmp_path / f"{name}.csv", name, sheet)
    chosen = prepare(study).contents.chosen("static")
    assert {one.question_id: (one.question, one.replacement, one.counter_memory_context) for one in chosen} == {
        first.question_id: (first.question, first.replacement, first.counter_memory_context),
        second.question_id: (
            "Who made it?", "Nobody", second.counter_memory_context.replace(second.replacement, "Nobody"),
        ),
    }  # fmt: skip
    choice = again(study).graph.nodes[StepId("build", "static", "choice of questions")]
    rejected = choice.output("rejected").read().to_pylist()
    assert [(row["subject"], row["object"], row["reason"]) for row in rejected] == [
        (third.subject, third.object, reasons.ANNOTATORS_DISCARD),
        (fourth.subject, fourth.object, reasons.ANNOTATORS_DISAGREE),
        *((one.subject, one.object, reasons.NOT_ANNOTATED) for one in others),
    ]
    of_all = prepare(selected(tmp_path, questions={**every, "annotated": False})).contents
    assert len(of_all.chosen("static")) == len(others) + 4


def test_without_annotations_no_question_is_asked(tmp_path: Path) -> None:
    study = selected(tmp_path, questions={"partitions": ["static"], "annotated": True})
    run(lambda: again(study).graph, Selection(stages=("fetch", "build")))
    choice = again(study).graph.nodes[StepId("build", "static", "choice of questions")]
    assert choice.state == "failed"
    assert "no question can be asked (" in choice.reason
