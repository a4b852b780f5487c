"""Sheets for annotators, the state of their judgements, and the questions that a study then uses."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data import reasons
from swaymeter.data.errors import MissingFile, UnknownName, UsageError
from swaymeter.flows.datasets import annotate
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.study_graph import graph_of
from tests.flows.datasets.annotation_sheets import Values, discard_questions, fill, values_of_choices
from tests.flows.small_study import load_study, prepare, renew, run


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(load_study(tmp_path)).contents


def judge(contents: Contents, file: Path, annotator: str, values: Values, *, conflicts: bool = False) -> Path:
    annotate.export(contents, file, annotator, conflicts=conflicts)
    return fill(file, values)


def judged_contents(tmp_path: Path, *files: Path) -> Contents:
    """Return the contents of a study with these files of judgements."""
    return prepare(load_study(tmp_path, judgements=[str(file) for file in files])).contents


def test_two_annotators_judge_and_a_third_decides(contents: Contents, tmp_path: Path) -> None:
    questions = contents.candidates("static")
    _, second, third, _, fifth = questions[:5]
    ada = values_of_choices(questions, "accept", "change", "accept", "discard", "incomplete")
    ada[second.question_id]["question"] = "Who made it?"
    ben = values_of_choices(questions, "accept", "change", "discard", "discard", "misinformation", "accept")
    ben[second.question_id]["question"] = "Who made  it? "  # the same correction; surplus spaces do not count
    files = [judge(contents, tmp_path / "ada.xlsx", "ada", ada), judge(contents, tmp_path / "ben.csv", "ben", ben)]
    before = annotate.annotation_status(judged_contents(tmp_path, *files))
    assert before.open_conflicts == 2
    assert before.outcome["annotators_disagree"] == 2
    assert {name: sum(counts.values()) for name, counts in before.choices.items()} == {"ada": 5, "ben": 6}

    third_file = tmp_path / "cem.xlsx"
    decisions = {third.question_id: {"choice": "accept"}, fifth.question_id: {"choice": "discard"}}
    judge(judged_contents(tmp_path, *files), third_file, "cem", decisions, conflicts=True)
    others = pd.read_excel(third_file).groupby("question_id")["others"].first()
    assert others.to_dict() == {third.question_id: "accept\ndiscard", fifth.question_id: "incomplete\nmisinformation"}
    status = annotate.annotation_status(judged_contents(tmp_path, *files, third_file))
    (choice,) = status.agreement
    assert (choice["field"], choice["items"], choice["annotators"]) == ("choice", 5, ["ada", "ben"])
    # Of 10 values 3 are accept, 2 change, 3 discard, 1 incomplete, 1 misinformation; two of five pairs differ.
    assert choice["alpha"] == pytest.approx(1 - (2 / 5) / (1 - (3 * 2 + 2 * 1 + 3 * 2) / 90), abs=1e-9)
    assert (status.open_conflicts, status.problems) == (0, ())
    assert status.outcome == {"accepted": 3, "annotators_discard": 2, "not_annotated": len(questions) - 5}


def test_judgements_that_do_not_count_are_named(contents: Contents, tmp_path: Path) -> None:
    questions = contents.candidates("static")
    file = judge(contents, tmp_path / "ada.csv", "ada", values_of_choices(questions, "accept", "aksept", "change"))
    # The sheet has a header and five rows for each question; the choice is in the first of the five.
    file.write_text(file.read_text() + "gone,,choice,,accept,ada,,,\n")
    status = annotate.annotation_status(judged_contents(tmp_path, file))
    assert [text.partition(";")[0] for text in status.problems] == [
        "ada.csv, row 7: 'aksept' is not a choice (did you mean accept?)",
        f"ada.csv, row {5 * len(questions) + 2}: no question has this ID",
        "ada.csv, row 12: the choice is change, but no correction changes a text",
    ]
    assert status.choices == {"ada": {"accept": 1}}


def test_a_sheet_without_open_questions_is_refused(contents: Contents, tmp_path: Path) -> None:
    questions = contents.candidates("static")
    with pytest.raises(UsageError, match="no conflict is left for ada to judge"):
        annotate.export(contents, tmp_path / "ada.xlsx", "ada", conflicts=True)
    assert not (tmp_path / "ada.xlsx").exists()
    first = judge(contents, tmp_path / "one.csv", "ada", values_of_choices(questions, "accept"))
    assert annotate.export(judged_contents(tmp_path, first), tmp_path / "r.csv", "Ada").questions == len(questions) - 1
    rest = judge(
        judged_contents(tmp_path, first),
        tmp_path / "rest.csv",
        "ada",
        values_of_choices(questions, *["accept"] * len(questions)),
    )
    with pytest.raises(UsageError, match="no question is left for ada to judge"):
        annotate.export(judged_contents(tmp_path, first, rest), tmp_path / "more.csv", "ada")
    with pytest.raises(UsageError, match="' ' is not an annotator's name"):
        annotate.export(contents, tmp_path / "ada.csv", " ")


def test_a_study_may_have_one_partition_annotated(tmp_path: Path) -> None:
    contents = prepare(
        load_study(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2})
    ).contents
    static = len(contents.candidates("static"))
    assert annotate.export(contents, tmp_path / "s.xlsx", "ada", partitions=["static"]).questions == static
    assert annotate.export(contents, tmp_path / "all.xlsx", "ada").questions > static
    with pytest.raises(UnknownName, match=r"no partition is named 'temporal'; (did you mean|known)"):
        annotate.export(contents, tmp_path / "t.xlsx", "ada", partitions=["temporal"])


def test_a_study_without_questions_has_nothing_to_annotate(tmp_path: Path) -> None:
    contents = load_study(tmp_path, questions=None, measures={"persuasion": {}}).contents
    with pytest.raises(UsageError, match="the study small has no questions, so there is nothing to annotate"):
        annotate.annotation_status(contents)


@pytest.fixture
def incomplete(tmp_path: Path) -> Contents:
    """Return the contents of a study that lacks one of its two partitions."""
    study = prepare(load_study(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2}))
    return discard_questions(study, "disputable").contents


def test_a_missing_partition_is_named_and_skipped(incomplete: Contents, tmp_path: Path) -> None:
    sheet = annotate.export(incomplete, tmp_path / "ada.csv", "ada")
    assert sheet.questions == len(incomplete.candidates("static"))
    (missing,) = sheet.missing
    assert missing.startswith("partition disputable: ")
    status = annotate.annotation_status(incomplete)
    assert (status.questions, status.missing) == (sheet.questions, (missing,))
    assert annotate.export(incomplete, tmp_path / "s.csv", "ben", partitions=["static"]).missing == ()


def test_without_questions_no_sheet_is_written(incomplete: Contents, tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        annotate.export(incomplete, tmp_path / "ada.csv", "ada", partitions=["disputable"])
    incomplete.graph.nodes[StepId("fetch", "static", "questions")].output("questions").artifact.discard()
    incomplete = replace(incomplete, graph=graph_of(incomplete.plan))
    with pytest.raises(MissingFile):
        annotate.annotation_status(incomplete)
    assert not (tmp_path / "ada.csv").exists()


def test_a_study_uses_only_accepted_and_changed_questions(tmp_path: Path) -> None:
    section = {"partitions": ["static"], "per_partition": None}
    study = load_study(tmp_path, questions={**section, "annotated": True})
    run(lambda: renew(study).graph, Selection(stages=("fetch",)))
    contents = renew(study).contents
    first, second, third, fourth, *others = questions = contents.candidates("static")
    files = []
    for name in ("ada", "ben"):
        values = values_of_choices(
            questions, "accept", "change", "discard", "accept" if name == "ada" else "incomplete"
        )
        values[second.question_id] |= {"question": "Who made it?", "replacement": "Nobody"}
        files.append(str(judge(contents, tmp_path / f"{name}.csv", name, values)))
    study = load_study(tmp_path, questions={**section, "annotated": True}, judgements=files)
    chosen = prepare(study).contents.chosen("static")
    assert {
        question.question_id: (question.question, question.replacement, question.counter_memory_context)
        for question in chosen
    } == {
        first.question_id: (first.question, first.replacement, first.counter_memory_context),
        second.question_id: (
            "Who made it?",
            "Nobody",
            second.counter_memory_context.replace(second.replacement, "Nobody"),
        ),
    }
    choice = renew(study).graph.nodes[StepId("build", "static", "choice of questions")]
    rejected = choice.output("rejected").read().to_pylist()
    assert [(row["subject"], row["object"], row["reason"]) for row in rejected] == [
        (third.subject, third.object, reasons.ANNOTATORS_DISCARD),
        (fourth.subject, fourth.object, reasons.ANNOTATORS_DISAGREE),
        *((question.subject, question.object, reasons.NOT_ANNOTATED) for question in others),
    ]
    contents = prepare(load_study(tmp_path, questions={**section, "annotated": False})).contents
    assert len(contents.chosen("static")) == len(others) + 4


def test_without_judgements_no_question_is_asked(tmp_path: Path) -> None:
    study = load_study(tmp_path, questions={"partitions": ["static"], "annotated": True})
    run(lambda: renew(study).graph, Selection(stages=("fetch", "build")))
    choice = renew(study).graph.nodes[StepId("build", "static", "choice of questions")]
    assert choice.state == "failed"
    assert "no question can be asked (" in choice.reason


def test_an_unusable_file_of_judgements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"judgements: .*gone\.csv cannot be read: No such file"):
        _ = load_study(tmp_path, judgements="gone.csv").plan
    (tmp_path / "v.csv").write_text("question_id,context_id,field,judged,value,annotator\nq,none,verdict,x,both,Ada\n")
    with pytest.raises(UsageError, match=r"v\.csv, row 2 is a verdict, which needs .*; add `whose_answer` to"):
        _ = load_study(tmp_path, judgements="v.csv").plan
