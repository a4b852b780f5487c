"""Named queries about questions and their answers."""

from pathlib import Path

from swaymeter.data.records import Passage, QuestionContext, as_row
from swaymeter.data.records.tables import QUESTIONS
from tests.data.warehouse.small_study import ANSWERS, plain_values, row, small_study, table, warehouse_of


def test_questions_without_measures_are_listed_with_null(tmp_path: Path) -> None:
    study = {name: small_study()[name] for name in ("questions", "accuracy")}
    with warehouse_of(tmp_path, study) as warehouse:
        frame, summary = warehouse.frame("answers_of_questions"), warehouse.frame("partition_summary")
    assert frame["accurate"].tolist() == [False, True]
    assert frame["answer"].tolist() == ["x", "x"]  # from the table accuracy, with the default of `row`
    assert frame[["semantic_entropy", "answers", "empty_answers", "context_cut"]].isna().all(axis=None)
    assert summary[["answers", "empty_answers", "unfinished_answers", "contexts_cut"]].isna().all(axis=None)


def test_partition_summary_counts_answers_by_state(tmp_path: Path) -> None:
    study = small_study()
    study["questions"] += [{**study["questions"][0], "question_id": name} for name in ("w2", "w3")]
    study["answers"] += [{**reply, "question_id": "w2"} for reply in study["answers"]]
    study["semantic_entropy"] += [{**score, "question_id": "w2", "groups": 5} for score in study["semantic_entropy"]]
    study["accuracy"] += [{**score, "question_id": "w3"} for score in study["accuracy"]]
    counts = ["questions", "answers", "empty_answers", "unfinished_answers", "contexts_cut"]
    with warehouse_of(tmp_path, study) as warehouse:
        frame = warehouse.frame("partition_summary")
    assert frame[counts].values.tolist() == [[3, 8, 4, 2, 0], [3, 2, 0, 0, 2]]
    assert frame["groups"].tolist()[0] == 3.5


def test_answers_and_questions_are_listed_to_be_read(tmp_path: Path) -> None:
    reply = {"relation": "P36", "question_id": "w1", "model": "m", "dtype": "float32", "condition": "none"}
    study = {
        "questions": [
            row(QUESTIONS, relation="P36", question_id="w2"),
            row(QUESTIONS, relation="P36", question_id="w1", answers=["Oslo", "Kristiania"], object_id="Q585"),
        ],
        "answers": [
            row(ANSWERS, **reply, sample=10, text="", state="truncated", token_log_probs=[-1.0, -2.5]),
            row(ANSWERS, **reply, sample=2, text="Oslo", state="complete", token_log_probs=[-0.25, -0.5]),
            row(ANSWERS, **reply, sample=None, text="Oslo", state="complete", token_log_probs=[-0.25]),
        ],
        "clusters": [
            row(table("clusters"), **reply, sample=sample, cluster=cluster) for sample, cluster in ((10, 1), (2, 0))
        ],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        answers, questions = warehouse.frame("answers_to_read"), warehouse.frame("questions_to_read")
    assert plain_values(answers, ("sample", "log_probability", "text", "state", "answer_group")) == {
        "sample": [None, 2, 10],
        "log_probability": [-0.25, -0.75, -3.5],
        "text": ["Oslo", "Oslo", ""],
        "state": ["complete", "complete", "truncated"],
        "answer_group": [None, 0, 1],
    }
    assert plain_values(questions, ("question_id", "accepted", "object_id", "subject_id")) == {
        "question_id": ["w1"],
        "accepted": ["Oslo; Kristiania"],
        "object_id": ["Q585"],
        "subject_id": [None],
    }


def test_judgement_decides_a_verdict_or_is_unused(tmp_path: Path) -> None:
    reply = {"relation": "P36", "model": "m", "dtype": "float32", "question_id": "w1", "condition": "none"}
    passages = as_row(QuestionContext("all", "mixed", (Passage("It is A."), Passage("It is B."))))
    study = {
        "questions": [row(QUESTIONS, relation="P36", question_id="w1", contexts=[passages])],
        "answers": [row(ANSWERS, **reply, sample=None), row(ANSWERS, **reply, sample=0)],
        "whose_answer": [
            row(table("whose_answer"), **reply, sample=sample, verdict="neither", reason="denied")
            for sample in (None, 0)
        ],
        "decided_answers": [
            row(
                table("decided_answers"),
                **{name: reply[name] for name in ("relation", "model", "dtype", "question_id")},
                context_id="none",
                sample=None,
                judgement=2,
                decided_by="person",
                decider="Ada",
                verdict="original",
            )
        ],
        "judgements": [
            row(
                table("judgements"),
                number=number,
                question_id=name,
                context_id=context,
                field=field,
                problem=problem,
                judged="It is B.",
            )
            for number, name, context, field, problem in (
                (2, "w1", "none", "verdict", None),
                (3, "w1", "none", "verdict", None),
                (4, "w1", "gone", "verdict", None),
                (8, "w1", "unknown", "kind", None),
                (5, "w9", "none", "verdict", None),
                (6, "w9", "none", "verdict", "x"),
                (7, "w9", "", "choice", None),
            )
        ],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        (answer,) = warehouse.frame("answers_of_questions").to_dict("records")
        (judged,) = warehouse.frame("answers_judged_by_people").to_dict("records")
        neither, verdicts = warehouse.frame("greedy_answers_of_neither"), warehouse.frame("judgements_to_read")
    assert (answer["verdict"], answer["decider"]) == ("original", "Ada")
    assert answer["samples_that_follow"] == 0
    assert (judged["greedy_answers"], judged["judged"], judged["changed"]) == (1, 1, 1)
    assert neither.empty
    assert plain_values(verdicts, ("answers", "unused")) == {  # sorted by number, from 2 to 8
        "answers": [1, 0, 0, 0, 0, 0, 0],
        "unused": [
            None,
            "no answer has these words, or a more specific verdict counts for it",
            "the question has no such context",
            "no such question was asked",
            "x",
            None,
            None,
        ],
    }


def test_neither_counts_only_contexts_with_an_answer(tmp_path: Path) -> None:
    reply = {"relation": "P36", "model": "m", "dtype": "float32", "question_id": "w1", "sample": None}
    verdicts = (("none", "neither"), ("original", "neither"), ("counter_memory", "context"), ("irrelevant", "neither"))
    without_answer = as_row(QuestionContext("irrelevant", "irrelevant"))
    study = {
        "whose_answer": [
            row(
                table("whose_answer"),
                **(reply | {"model": model}),
                context_id=condition,
                condition=condition,
                verdict=verdict,
                reason="denied" if verdict == "neither" else None,
            )
            for model, replies in (("m", verdicts), ("follower", verdicts[2:3]))
            for condition, verdict in replies
        ],
        "questions": [row(QUESTIONS, relation="P36", question_id="w1", contexts=[without_answer])],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        (neither,) = warehouse.frame("greedy_answers_of_neither").to_dict("records")
    # Model m replies after two contexts with an answer, original and counter_memory; model follower after one.
    assert (neither["reason"], neither["answers"], neither["greedy_answers"]) == ("denied", 1, 2)
    assert neither["of_all_variants"] == 3


def test_most_edited_and_viewed_are_marked_and_counted(tmp_path: Path) -> None:
    reply = {"relation": "P36", "model": "m", "dtype": "float32", "condition": "original"}
    partitions = ["static"] * 3 + ["temporal"] * 12 + ["disputable"] * 5
    study = {
        "questions": [
            row(
                QUESTIONS,
                relation="P36",
                question_id=f"w{number}",
                partition=partition,
                edits=number,
                subject_popularity=None if number == 13 else float(number % 10),
            )
            for number, partition in enumerate(partitions, 10)
        ],
        "persuaded": [
            row(table("persuaded"), **reply, question_id=f"w{number}", persuaded=number > 20, stubborn=False)
            for number in range(10, 30)
        ],
        "whose_answer": [
            row(table("whose_answer"), **reply, question_id=f"w{number}", sample=None, outcome="stubborn")
            for number in range(10, 30)
        ],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        marked, counts = warehouse.frame("marked_instances"), warehouse.frame("most_edited_and_viewed")
        instances = warehouse.frame("instances")
    assert instances.groupby("partition")[["edits", "reversions"]].count().to_dict("list") == {
        # of the disputable, static and temporal partition
        "edits": [0, 3, 12],
        "reversions": [5, 0, 0],
    }
    # Of the 12 temporal instances, w13 to w24, a tenth is marked, rounded up; other instances are never marked.
    assert list(marked.loc[marked["most_edited"].astype(bool), "question_id"]) == ["w23", "w24"]
    assert sorted(marked.loc[marked["most_viewed"].astype(bool), "question_id"]) == ["w18", "w19"]
    shown = ("instances_of", "instances", "fewest_edits", "persuaded", "stubborn", "persuaded_as_published")
    assert plain_values(counts, shown) == {
        "instances_of": ["all", "most edited", "most viewed"],
        "instances": [20, 2, 2],
        "fewest_edits": [10, 23, 18],
        "persuaded": [0, 0, 0],
        "stubborn": [20, 2, 2],
        "persuaded_as_published": [9, 2, 0],
    }


def test_instance_between_two_classes_has_no_class(tmp_path: Path) -> None:
    about = {"relation": "P36", "model": "m", "dtype": "float32", "condition": "original"}
    entropies = {"w1": 10.5, "w2": 10.75, "w3": 16.0, "w4": 16.5, "w5": 17.5}
    bounds = ["10.5", "11.0", "16.0", "17.0"]  # where low ends, middle begins and ends, and high begins
    study = {
        "questions": [row(QUESTIONS, relation="P36", question_id=name) for name in entropies],
        "semantic_entropy": [
            row(table("semantic_entropy"), **about, question_id=name, semantic_entropy=value, group_sizes=[1])
            for name, value in entropies.items()
        ],
        "summaries": [
            row(
                table("summaries"),
                model="m",
                dtype="float32",
                quantity="class_semantic_entropy_with",
                grouped_by=[],
                group_values=["low", "all", "bounds of the study", *bounds],
            )
        ],
    }
    with warehouse_of(tmp_path, study) as warehouse:
        classed = warehouse.frame("classed_instances")
    assert plain_values(classed, ("question_id", "entropy_class")) == {
        "question_id": [*entropies],
        "entropy_class": ["low", None, "middle", None, "high"],
    }
