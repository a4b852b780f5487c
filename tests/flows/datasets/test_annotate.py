"""What annotators get, what is imported, how it stands, and which questions a study then asks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from swaymeter.data import reasons
from swaymeter.data.errors import InputError, MissingFile, UnknownName, UsageError, WorkspaceBusy
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.datasets import annotate
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.stages.resolve import graph_of
from swaymeter.tasks.contexts.annotation.cells import LARGEST_CELL
from swaymeter.tasks.contexts.annotation.judging import decide, read_annotations, shown
from swaymeter.tasks.contexts.annotation.sheet import COLUMNS
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet
from tests.data.a_dataset import changed
from tests.flows.datasets.annotating import choosing, fill, judge, questions_of, without
from tests.flows.small_study import again, prepare, run, selected


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(selected(tmp_path)).contents


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*"))}


def test_two_annotators_judge_and_a_third_decides(contents: Contents, tmp_path: Path) -> None:
    questions = questions_of(contents)
    first, second, third, fourth = questions[:4]
    ada = choosing(contents, "accept", "change", "accept", "discard", "incomplete")
    ada[second.question]["new question"] = "Who made it?"
    ben = choosing(contents, "accept", "change", "discard", "discard", "misinformation", "accept")
    ben[second.question]["new question"] = "Who made  it? "
    imported = judge(contents, tmp_path / "ada.xlsx", "ada", ada)
    assert (imported.new, imported.revised, imported.known) == (5, 0, 0)
    assert judge(contents, tmp_path / "ben.csv", "ben", ben).new == 6
    before = annotate.standing(contents)
    assert before.open_conflicts == 2
    assert before.outcome["annotators_disagree"] == 2

    exported = annotate.export(contents, tmp_path / "cem.xlsx", "cem", conflicts=True)
    assert exported == annotate.ExportedSheet(2)
    sheet = load_workbook(tmp_path / "cem.xlsx")["questions"]
    others = next(cell.column for cell in sheet[1] if cell.value == "two others said")
    assert {sheet.cell(row, others).value for row in (2, 3)} == {"accept\ndiscard", "incomplete\nmisinformation"}
    fill(tmp_path / "cem.xlsx", {third.question: {"choice": "accept"}, questions[4].question: {"choice": "discard"}})
    annotate.import_(contents, tmp_path / "cem.xlsx", "cem")

    standing = annotate.standing(contents)
    assert (standing.agreement.units, standing.agreement.annotators) == (5, ("ada", "ben"))
    assert standing.open_conflicts == 0

    decided = decide(questions, read_annotations(contents.workspace))
    assert [one.question for one in decided.questions] == [first.question, "Who made it?", third.question]
    assert [one.question_id for one in decided.questions] == [one.question_id for one in questions[:3]]
    reasons = {one.subject: one.reason for one in decided.rejected}
    assert reasons[fourth.subject] == "annotators_discard"
    assert len(decided.questions) + len(decided.rejected) == len(questions) == standing.questions


def test_an_import_writes_over_no_earlier_one(contents: Contents, tmp_path: Path) -> None:
    sheet, folder = tmp_path / "ada.xlsx", contents.workspace.root / "annotations"
    judge(contents, sheet, "ada", choosing(contents, "accept", "accept"))
    first = files_of(folder)
    assert annotate.import_(contents, sheet, "ada") == annotate.Imported(0, 0, 2, (), (), ())
    assert files_of(folder) == first

    fill(sheet, choosing(contents, "discard", "accept", "accept"))
    with pytest.raises(UsageError, match=r"differs from earlier sheets in 1 questions: .*was accept in ada\.xlsx, "
                       r"now discard.*nothing was imported; with --revise"):  # fmt: skip
        annotate.import_(contents, sheet, "ada")
    assert files_of(folder) == first
    imported = annotate.import_(contents, sheet, "ada", revise=True)
    assert (imported.new, imported.revised, imported.known) == (1, 1, 1)
    assert first.items() <= files_of(folder).items()
    assert len(files_of(folder)) == 2


def test_the_newest_counts_although_a_clock_was_set_back(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet, years = tmp_path / "ada.xlsx", iter(["2030", "2029", "2028"])

    class Clock(annotate.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return annotate.datetime.fromisoformat(f"{next(years)}-01-01T00:00:00+00:00")

    annotate.export(contents, sheet, "ada")
    with monkeypatch.context() as clock:
        clock.setattr(annotate, "datetime", Clock)
        for choice in ("accept", "discard", "accept"):
            annotate.import_(contents, fill(sheet, choosing(contents, choice)), "ada", revise=True)
    annotations = read_annotations(contents.workspace)
    assert [one.choice for one in annotations] == ["accept", "discard", "accept"]
    assert len({one.imported_at for one in annotations}) == 3
    assert annotate.standing(contents).agreement.counts == {"ada": {"accept": 1}}


def test_nothing_left_to_judge_is_usage(contents: Contents, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no conflict is left for ada to judge"):
        annotate.export(contents, tmp_path / "ada.xlsx", "ada", conflicts=True)
    assert not (tmp_path / "ada.xlsx").exists()
    everything = choosing(contents, *["accept"] * len(questions_of(contents)))
    judge(contents, tmp_path / "one.csv", "ada", choosing(contents, "accept"))
    assert annotate.export(contents, tmp_path / "rest.csv", "ada").questions == len(everything) - 1
    annotate.import_(contents, fill(tmp_path / "rest.csv", everything), "ada")
    with pytest.raises(UsageError, match="no question is left for ada to judge"):
        annotate.export(contents, tmp_path / "more.csv", "ada")


def test_a_study_may_have_one_partition_annotated(tmp_path: Path) -> None:
    contents = prepare(
        selected(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2})
    ).contents
    static = len(contents.candidates("static"))
    assert annotate.export(contents, tmp_path / "s.xlsx", "ada", partitions=["static"]).questions == static
    assert annotate.export(contents, tmp_path / "all.xlsx", "ada").questions > static
    with pytest.raises(UnknownName, match=r"no partition is named 'temporal'; (did you mean|known)"):
        annotate.export(contents, tmp_path / "t.xlsx", "ada", partitions=["temporal"])


def test_a_study_without_questions_has_nothing_to_annotate(tmp_path: Path) -> None:
    contents = selected(tmp_path, questions=None, measures={"persuasion": {}}).contents
    with pytest.raises(UsageError, match="the study small has no questions, so there is nothing to annotate"):
        annotate.standing(contents)


def test_annotations_of_earlier_texts_are_kept_and_not_counted(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tmp_path / "ada.xlsx"
    annotate.export(contents, sheet, "ada")
    fill(sheet, choosing(contents, "accept", "discard"))
    first, *others = questions_of(contents)
    texts = shown(first)[1]
    anew = [changed(first, original_context=f"{first.original_context} So it is."), *others]
    monkeypatch.setattr(Contents, "candidates", lambda *_: anew)
    imported = annotate.import_(contents, sheet, "ada")
    assert (imported.new, imported.outdated) == (2, (2,))
    assert texts in {one.texts for one in read_annotations(contents.workspace)}
    standing = annotate.standing(contents)
    assert standing.outdated == 1
    assert standing.agreement.counts == {"ada": {"discard": 1}}
    assert annotate.export(contents, tmp_path / "new.xlsx", "ada").questions == len(anew) - 1


def test_an_import_into_a_locked_workspace_is_refused(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(workspace: Workspace) -> None:
        raise WorkspaceBusy

    annotate.export(contents, tmp_path / "ada.csv", "ada")
    monkeypatch.setattr(Workspace, "lock", busy)
    with pytest.raises(WorkspaceBusy):
        annotate.import_(contents, fill(tmp_path / "ada.csv", choosing(contents, "accept")), "ada")
    assert read_annotations(contents.workspace) == []


@pytest.fixture
def half(tmp_path: Path) -> Contents:
    """Of two partitions, one is not there."""
    study = prepare(selected(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2}))
    return without(study, "disputable").contents


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
    with pytest.raises(MissingFile):
        annotate.standing(half)
    assert not (tmp_path / "ada.csv").exists()


def test_a_question_too_long_for_a_cell_is_named(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = questions_of(contents)
    long = changed(first, original_context=f"{first.original_context} {'a' * LARGEST_CELL}")
    monkeypatch.setattr(Contents, "candidates", lambda *_: [long, *others])
    exported = annotate.export(contents, tmp_path / "ada.xlsx", "ada")
    assert exported == annotate.ExportedSheet(len(others), (f"{first.question_id} ({first.subject}): context",))
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
