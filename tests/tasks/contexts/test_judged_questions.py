"""Effects of people's choices, corrections and kinds on questions and contexts."""

import re
from dataclasses import replace

import pytest

from swaymeter.data import reasons
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import Passage, Question, QuestionContext
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.sources import slots
from swaymeter.tasks.contexts.judged_questions import (
    accepted_questions,
    context_rows,
    open_contexts,
    open_questions,
    opinions,
    question_rows,
    shown_text,
    texts,
    with_kinds,
)
from tests.data.dataset_samples import changed
from tests.tasks.contexts.judgement_samples import a_question


def judgements_by(
    judged_question: Question, annotator: str, choice: str, *, note: str = "", **corrections: str
) -> list[Judgement]:
    """Return the rows of an annotator: the choice and the corrections."""
    shown_texts = {"choice": shown_text(judged_question), **texts(judged_question)}
    return [
        Judgement(
            0,  # the number of the sheet, which does not matter here
            f"{annotator}.csv",
            row,
            judged_question.question_id,
            "original" if name == "text" else "",
            name,
            shown_texts[name],
            value,
            annotator,
            note if name == "choice" else "",
        )
        for row, (name, value) in enumerate({"choice": choice, **corrections}.items(), 2)
    ]


FIRST, SECOND = a_question(), a_question(question_id="a2", question="Where did he come into the world?")
ADA_ACCEPTS, BEN_ACCEPTS = judgements_by(FIRST, "ada", "accept"), judgements_by(FIRST, "ben", "accept")
BEN_DISCARDS = judgements_by(FIRST, "ben", "discard")


@pytest.mark.parametrize("choice", ["discard", "misinformation", "incomplete"])
def test_two_equal_choices_reject_with_their_reason(choice: str) -> None:
    rows = [*judgements_by(FIRST, "ada", choice, note="x"), *judgements_by(FIRST, "ben", choice)]
    rejected = accepted_questions([FIRST], opinions([FIRST], rows)).rejected[0]
    assert rejected.reason == f"annotators_{choice}"
    assert rejected.reason in reasons.REASONS
    assert rejected.detail == f"ada: {choice} (x); ben: {choice}"
    assert (rejected.part, rejected.subject, rejected.object) == ("P19", FIRST.subject, "Vienna")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([*ADA_ACCEPTS, *BEN_ACCEPTS], "accepted"),
        ([], reasons.NOT_ANNOTATED),
        (ADA_ACCEPTS, reasons.NOT_ANNOTATED),
        ([*ADA_ACCEPTS, *judgements_by(SECOND, "ben", "accept")], reasons.NOT_ANNOTATED),
        ([*ADA_ACCEPTS, *BEN_DISCARDS], reasons.ANNOTATORS_DISAGREE),
        ([*ADA_ACCEPTS, *BEN_DISCARDS, *judgements_by(FIRST, "cem", "accept")], "accepted"),
        ([*ADA_ACCEPTS, *BEN_DISCARDS, *judgements_by(FIRST, "cem", "incomplete")], reasons.ANNOTATORS_INCOMPLETE),
        ([*ADA_ACCEPTS, *BEN_ACCEPTS, *judgements_by(FIRST, "cem", "discard")], "accepted"),  # two choices decide
        (
            [
                *ADA_ACCEPTS,
                *BEN_DISCARDS,
                *judgements_by(FIRST, "cem", "accept"),
                *judgements_by(FIRST, "dia", "discard"),
            ],
            "accepted",
        ),
        (
            [replace(ADA_ACCEPTS[0], problem="x"), *BEN_DISCARDS, *judgements_by(FIRST, "cem", "discard")],
            reasons.ANNOTATORS_DISCARD,
        ),
    ],
)
def test_choices_decide_about_a_question(rows: list[Judgement], expected: str) -> None:
    decided = accepted_questions([FIRST], opinions([FIRST], rows))
    assert [row.reason for row in decided.rejected] == [expected] * (expected != "accepted")
    assert decided.questions == [FIRST] * (expected == "accepted")


def test_duplicate_question_is_rejected() -> None:
    decided = accepted_questions([FIRST, FIRST], opinions([FIRST], [*ADA_ACCEPTS, *BEN_ACCEPTS]))
    assert (decided.questions, [row.reason for row in decided.rejected]) == ([FIRST], [reasons.DOUBLED])


def test_two_changes_agree_only_in_the_same_words() -> None:
    def accepted_texts(*words: str) -> list[str]:
        rows = [
            row
            for name, text in zip(("ada", "ben", "cem"), words, strict=False)
            for row in judgements_by(FIRST, name, "change", question=text)
        ]
        return [question.question for question in accepted_questions([FIRST], opinions([FIRST], rows)).questions]

    assert accepted_texts("Where was he born?", " Where  was he born? ") == ["Where was he born?"]
    assert accepted_texts("Where was he born?", "What city was he born in?") == []
    # The third annotator decides.
    assert accepted_texts("Where was he born?", "What city was he born in?", "Where to?") == ["Where to?"]


def test_judgements_of_other_texts_do_not_count() -> None:
    rewritten = changed(FIRST, original_context="Wittgenstein came from Vienna.")
    judged = opinions([rewritten], [*ADA_ACCEPTS, *BEN_ACCEPTS])
    rejected = accepted_questions([rewritten], judged).rejected[0]
    assert (rejected.reason, rejected.detail) == (reasons.NOT_ANNOTATED, "judged before its texts changed")
    assert judged.problems[0] == "ada.csv, row 2: the question has changed since this judgement; judge it again"
    assert open_questions([rewritten], judged, "ada") == [rewritten]
    (_, correction), (_, another) = (judgements_by(FIRST, name, "change", question="Where?") for name in ("ada", "ben"))
    undecided = accepted_questions([FIRST], opinions([FIRST], [correction, another])).rejected[0]
    assert (undecided.reason, undecided.detail) == (reasons.NOT_ANNOTATED, "corrected without a choice")
    # Other spaces and another subject do not matter.
    spaced = replace(FIRST, subject="Somebody", question=FIRST.question.replace(" ", "\r\n "))
    assert accepted_questions([spaced], opinions([spaced], [*ADA_ACCEPTS, *BEN_ACCEPTS])).questions == [spaced]


@pytest.mark.parametrize(
    ("choice", "corrections", "problem"),
    [
        ("accept", {"question": "Where?"}, "the choice is accept, but question has a correction; choose change"),
        ("change", {}, "the choice is change, but no correction changes a text; correct a text"),
        ("change", {"answer": " Vienna "}, "no correction changes a text"),
        ("change", {"text": "Born."}, REASONS[slots.OBJECT_NOT_IN_CONTEXT]),
        ("change", {"text": "[ENTITY], Wien."}, REASONS[slots.ANSWER_LEFT_IN_CONTEXT]),
        ("change", {"replacement": "Wien"}, REASONS[slots.REPLACEMENT_IS_ANSWER]),
        ("change", {"question": "Is it Vienna?"}, REASONS[slots.QUESTION_CONTAINS_ANSWER]),
    ],
)
def test_impossible_corrections_are_named(choice: str, corrections: dict[str, str], problem: str) -> None:
    judged = opinions([FIRST], judgements_by(FIRST, "ada", choice, **corrections))
    assert not judged.by_question
    assert any(re.match(f"ada.csv, row 2: .*{re.escape(problem)}", text) for text in judged.problems)


def test_a_correction_needs_a_choice() -> None:
    assert opinions([FIRST], judgements_by(FIRST, "ada", "change", answer="Wien")[1:]).problems == [
        "ada.csv, row 3: a correction without a choice; add a row with the field choice and the value change"
    ]


def test_annotator_gets_undecided_and_unjudged_questions() -> None:
    judged = opinions(
        [FIRST, SECOND],
        [*ADA_ACCEPTS, *judgements_by(SECOND, "ada", "accept"), *judgements_by(SECOND, "ben", "accept")],
    )
    assert open_questions([FIRST, SECOND], judged, "ada") == []
    assert open_questions([FIRST, SECOND], judged, "ben") == [FIRST]
    assert open_questions([FIRST, SECOND], judged, "cem") == [FIRST]
    assert open_questions([FIRST, SECOND], opinions([FIRST, SECOND], []), "cem") == [FIRST, SECOND]


def test_conflicts_go_to_an_uninvolved_annotator() -> None:
    rows = [*ADA_ACCEPTS, *BEN_DISCARDS, *judgements_by(SECOND, "ada", "accept")]
    judged = opinions([FIRST, SECOND], rows)
    assert open_questions([FIRST, SECOND], judged, "ben", conflicts_only=True) == []
    assert open_questions([FIRST, SECOND], judged, "cem", conflicts_only=True) == [FIRST]
    decided = opinions([FIRST, SECOND], [*rows, *judgements_by(FIRST, "cem", "accept")])
    assert open_questions([FIRST, SECOND], decided, "dia", conflicts_only=True) == []


def test_rows_hide_the_names_of_other_annotators() -> None:
    rows = [
        *judgements_by(FIRST, "benedikt", "change", note="shorter", question="Where?"),
        *judgements_by(FIRST, "carla", "discard"),
    ]
    first, *rest = question_rows([FIRST], "ada", opinions([FIRST], rows))
    assert first["others"] == "change; question: Where? (shorter)\ndiscard"
    assert not any(name in text for row in (first, *rest) for text in row.values() for name in ("benedikt", "carla"))
    assert [row["field"] for row in (first, *rest)] == ["choice", "question", "answer", "replacement", "text"]
    assert "others" not in next(iter(question_rows([FIRST], "ada")))


def own_question(*kinds: str) -> Question:
    """Return an own question whose contexts have these kinds."""
    contexts = tuple(
        QuestionContext(f"c{number}", kind, (Passage(f"It says {number}."),))  # type: ignore[arg-type]
        for number, kind in enumerate(kinds)
    )
    return replace(FIRST, contexts=contexts)


def judgement_of(context: str, value: str, field: str = "kind", judged: str = "") -> Judgement:
    return Judgement(1, "v.csv", 2, FIRST.question_id, context, field, judged, value, "ada")


def test_judged_kinds_replace_kinds_of_the_file() -> None:
    rows = [
        judgement_of("c0", "supporting", judged="'It  says 0."),  # how a spreadsheet may store "It says 0."
        judgement_of("c1", "conflicting"),
        judgement_of("c1", "Graz", "answer"),
        judgement_of("c2", "irrelevant", judged="It said."),  # the context has changed since
    ]
    (question,), problems = with_kinds([own_question("unknown", "irrelevant", "unknown")], rows)
    assert [(case.condition, case.answers) for case in question.contexts] == [
        ("supporting", ("Vienna", "Wien")),
        ("conflicting", ("Graz",)),
        ("unknown", ()),
    ]
    assert [case.passages[0].kind for case in question.contexts] == ["supporting", "conflicting", None]
    assert problems == []


@pytest.mark.parametrize(
    ("question", "rows", "problem"),
    [
        (
            own_question("unknown"),
            [judgement_of("c0", "conflicting")],
            "a conflicting context needs the answer that the context states",
        ),
        (
            own_question("unknown"),
            [judgement_of("c0", "conflicting"), judgement_of("c0", "wien", "answer")],
            "the kind is conflicting, but wien is the right answer",
        ),
        (FIRST, [judgement_of("original", "irrelevant")], "only a context of your own file can get another kind"),
    ],
)
def test_impossible_kinds_are_named(question: Question, rows: list[Judgement], problem: str) -> None:
    judged, (message,) = with_kinds([question], rows)
    assert judged == [question]
    assert message.startswith("v.csv, row 2: ")
    assert problem in message


def test_contexts_without_a_kind_are_open() -> None:
    question = own_question("unknown", "neutral", "unknown")
    judgements = [judgement_of("c2", "unknown"), judgement_of("c0", "neutral", judged="It said.")]
    (pair,) = open_contexts([question, FIRST], judgements)
    assert [(row["context_id"], row["field"], row["judged"]) for row in context_rows(*pair, "ada")] == [
        ("c0", "kind", "It says 0."),
        ("c0", "answer", "It says 0."),
    ]
