"""What annotators get, the state of their judgements, and which questions a study then asks."""

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
from tests.flows.datasets.annotating import choosing, judge, questions_of, without
from tests.flows.small_study import again, prepare, run, selected


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return prepare(selected(tmp_path)).contents


def judged(tmp_path: Path, *files: Path) -> Contents:
    """The study with these files of judgements."""
    return prepare(selected(tmp_path, judgements=[str(file) for file in files])).contents


def test_two_annotators_judge_and_a_third_decides(contents: Contents, tmp_path: Path) -> None:
    questions = questions_of(contents)
    _, second, third, _, fifth = questions[:5]
    ada = choosing(questions, "accept", "change", "accept", "discard", "incomplete")
    ada[second.question_id]["question"] = "Who made it?"
    ben = choosing(questions, "accept", "change", "discard", "discard", "misinformation", "accept")
    ben[second.question_id]["question"] = "Who made  it? "
    files = [judge(contents, tmp_path / "ada.xlsx", "ada", ada), judge(contents, tmp_path / "ben.csv", "ben", ben)]
    before = annotate.annotation_status(judged(tmp_path, *files))
    assert before.open_conflicts == 2
    assert before.outcome["annotators_disagree"] == 2
    assert {name: sum(counts.values()) for name, counts in before.choices.items()} == {"ada": 5, "ben": 6}

    third_file = tmp_path / "cem.xlsx"
    filled = {third.question_id: {"choice": "accept"}, fifth.question_id: {"choice": "discard"}}
    judge(judged(tmp_path, *files), third_file, "cem", filled, conflicts=True)
    others = pd.read_excel(third_file).groupby("question_id")["others"].first()
    assert others.to_dict() == {third.question_id: "accept\ndiscard", fifth.question_id: "incomplete\nmisinformation"}
    standing = annotate.annotation_status(judged(tmp_path, *files, third_file))
    (choice,) = standing.agreement
    assert (choice["field"], choice["items"], choice["annotators"]) == ("choice", 5, ["ada", "ben"])
    # Of 10 values 3 are accept, 2 change, 3 discard, 1 incomplete, 1 misinformation; two of five pairs differ.
    assert choice["alpha"] == pytest.approx(1 - (2 / 5) / (1 - (3 * 2 + 2 * 1 + 3 * 2) / 90), abs=1e-9)
    assert (standing.open_conflicts, standing.problems) == (0, ())
    assert standing.outcome == {"accepted": 3, "annotators_discard": 2, "not_annotated": len(questions) - 5}


def test_judgements_that_do_not_count_are_named(contents: Contents, tmp_path: Path) -> None:
    questions = questions_of(contents)
    file = judge(contents, tmp_path / "ada.csv", "ada", choosing(questions, "accept", "aksept", "change"))
    file.write_text(file.read_text() + "gone,,choice,,accept,ada,,,\n")
    standing = annotate.annotation_status(judged(tmp_path, file))
    assert [text.partition(";")[0] for text in standing.problems] == [
        "ada.csv, row 7: 'aksept' is not a choice (did you mean accept?)",
        f"ada.csv, row {5 * len(questions) + 2}: no question has this ID",
        "ada.csv, row 12: the choice is change, but no correction changes a text",
    ]
    assert standing.choices == {"ada": {"accept": 1}}


def test_nothing_left_to_judge_is_usage(contents: Contents, tmp_path: Path) -> None:
    questions = questions_of(contents)
    with pytest.raises(UsageError, match="no conflict is left for ada to judge"):
        annotate.export(contents, tmp_path / "ada.xlsx", "ada", conflicts=True)
    assert not (tmp_path / "ada.xlsx").exists()
    one = judge(contents, tmp_path / "one.csv", "ada", choosing(questions, "accept"))
    assert annotate.export(judged(tmp_path, one), tmp_path / "r.csv", "Ada").questions == len(questions) - 1
    rest = judge(judged(tmp_path, one), tmp_path / "rest.csv", "ada", choosing(questions, *["accept"] * len(questions)))
    with pytest.raises(UsageError, match="no question is left for ada to judge"):
        annotate.export(judged(tmp_path, one, rest), tmp_path / "more.csv", "ada")
    with pytest.raises(UsageError, match="' ' is not a name"):
        annotate.export(contents, tmp_path / "ada.csv", " ")


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
        annotate.annotation_status(contents)


@pytest.fixture
def half(tmp_path: Path) -> Contents:
    """Of two partitions, one is not there."""
    study = prepare(selected(tmp_path, questions={"partitions": ["static", "disputable"], "per_partition": 2}))
    return without(study, "disputable").contents


def test_missing_partition_is_named_and_stops_no_other(half: Contents, tmp_path: Path) -> None:
    sheet = annotate.export(half, tmp_path / "ada.csv", "ada")
    assert sheet.questions == len(questions_of(half))
    (missing,) = sheet.missing
    assert missing.startswith("partition disputable: ")
    standing = annotate.annotation_status(half)
    assert (standing.questions, standing.missing) == (sheet.questions, (missing,))
    assert annotate.export(half, tmp_path / "s.csv", "ben", partitions=["static"]).missing == ()


def test_without_questions_no_sheet_is_written(half: Contents, tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        annotate.export(half, tmp_path / "ada.csv", "ada", partitions=["disputable"])
    half.graph.nodes[StepId("fetch", "static", "questions")].output("questions").artifact.discard()
    half = replace(half, graph=graph_of(half.plan))
    with pytest.raises(MissingFile):
        annotate.annotation_status(half)
    assert not (tmp_path / "ada.csv").exists()


def test_a_study_uses_only_accepted_and_changed_questions(tmp_path: Path) -> None:
    every = {"partitions": ["static"], "per_partition": None}
    study = selected(tmp_path, questions={**every, "annotated": True})
    run(lambda: again(study).graph, Selection(stages=("fetch",)))
    contents = again(study).contents
    first, second, third, fourth, *others = questions = questions_of(contents)
    files = []
    for name in ("ada", "ben"):
        sheet = choosing(questions, "accept", "change", "discard", "accept" if name == "ada" else "incomplete")
        sheet[second.question_id] |= {"question": "Who made it?", "replacement": "Nobody"}
        files.append(str(judge(contents, tmp_path / f"{name}.csv", name, sheet)))
    study = selected(tmp_path, questions={**every, "annotated": True}, judgements=files)
    chosen = prepare(study).contents.chosen("static")
    assert {one.question_id: (one.question, one.replacement, one.counter_memory_context) for one in chosen} == {
        first.question_id: (first.question, first.replacement, first.counter_memory_context),
        second.question_id: (
            "Who made it?",
            "Nobody",
            second.counter_memory_context.replace(second.replacement, "Nobody"),
        ),
    }
    choice = again(study).graph.nodes[StepId("build", "static", "choice of questions")]
    rejected = choice.output("rejected").read().to_pylist()
    assert [(row["subject"], row["object"], row["reason"]) for row in rejected] == [
        (third.subject, third.object, reasons.ANNOTATORS_DISCARD),
        (fourth.subject, fourth.object, reasons.ANNOTATORS_DISAGREE),
        *((one.subject, one.object, reasons.NOT_ANNOTATED) for one in others),
    ]
    of_all = prepare(selected(tmp_path, questions={**every, "annotated": False})).contents
    assert len(of_all.chosen("static")) == len(others) + 4


def test_without_judgements_no_question_is_asked(tmp_path: Path) -> None:
    study = selected(tmp_path, questions={"partitions": ["static"], "annotated": True})
    run(lambda: again(study).graph, Selection(stages=("fetch", "build")))
    choice = again(study).graph.nodes[StepId("build", "static", "choice of questions")]
    assert choice.state == "failed"
    assert "no question can be asked (" in choice.reason


def test_a_file_that_cannot_be_read_is_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"judgements: .*gone\.csv cannot be read: No such file"):
        _ = selected(tmp_path, judgements="gone.csv").plan
    (tmp_path / "v.csv").write_text("question_id,context_id,field,judged,value,annotator\nq,none,verdict,x,both,Ada\n")
    with pytest.raises(UsageError, match=r"v\.csv, row 2 is a verdict, which needs .*; add `whose_answer` to"):
        _ = selected(tmp_path, judgements="v.csv").plan
