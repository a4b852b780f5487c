"""Choices, corrections and kinds of people: what they do to questions."""

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
    with_kinds,
)
from tests.data.a_dataset import changed
from tests.tasks.contexts.judged import a_question, says

ONE, TWO = a_question(1), a_question(2)
ADA, BEN = says(ONE, "ada", "accept"), says(ONE, "ben", "accept")
AGAINST = says(ONE, "ben", "discard")


@pytest.mark.parametrize("choice", ["discard", "misinformation", "incomplete"])
def test_two_who_refuse_reject_with_their_reason(choice: str) -> None:
    rows = [*says(ONE, "ada", choice, note="x"), *says(ONE, "ben", choice)]
    rejected = accepted_questions([ONE], opinions([ONE], rows)).rejected[0]
    assert rejected.reason == f"annotators_{choice}"
    assert rejected.reason in reasons.REASONS
    assert rejected.detail == f"ada: {choice} (x); ben: {choice}"
    assert (rejected.part, rejected.subject, rejected.object) == ("P19", ONE.subject, "Vienna")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([*ADA, *BEN], "accepted"),
        ([], reasons.NOT_ANNOTATED),
        (ADA, reasons.NOT_ANNOTATED),
        ([*ADA, *says(TWO, "ben", "accept")], reasons.NOT_ANNOTATED),
        ([*ADA, *AGAINST], reasons.ANNOTATORS_DISAGREE),
        ([*ADA, *AGAINST, *says(ONE, "cem", "accept")], "accepted"),
        ([*ADA, *AGAINST, *says(ONE, "cem", "incomplete")], reasons.ANNOTATORS_INCOMPLETE),
        ([*ADA, *BEN, *says(ONE, "cem", "discard")], "accepted"),  # nothing is left to decide
        ([*ADA, *AGAINST, *says(ONE, "cem", "accept"), *says(ONE, "dia", "discard")], "accepted"),
        ([replace(ADA[0], problem="x"), *AGAINST, *says(ONE, "cem", "discard")], reasons.ANNOTATORS_DISCARD),
    ],
)
def test_outcomes_of_choices(rows: list[Judgement], expected: str) -> None:
    decided = accepted_questions([ONE], opinions([ONE], rows))
    assert [row.reason for row in decided.rejected] == [expected] * (expected != "accepted")
    assert decided.questions == [ONE] * (expected == "accepted")


def test_a_question_that_is_there_twice_is_rejected() -> None:
    decided = accepted_questions([ONE, ONE], opinions([ONE], [*ADA, *BEN]))
    assert (decided.questions, [row.reason for row in decided.rejected]) == ([ONE], [reasons.DOUBLED])


def test_two_changes_agree_only_in_the_same_words() -> None:
    def accepted_texts(*words: str) -> list[str]:
        rows = [
            row
            for name, text in zip(("ada", "ben", "cem"), words, strict=False)
            for row in says(ONE, name, "change", question=text)
        ]
        return [one.question for one in accepted_questions([ONE], opinions([ONE], rows)).questions]

    assert accepted_texts("Where was he born?", " Where  was he born? ") == ["Where was he born?"]
    assert accepted_texts("Where was he born?", "What city was he born in?") == []
    assert accepted_texts("Where was he born?", "What city was he born in?", "Where to?") == ["Where to?"]


def test_judgements_of_other_texts_do_not_count() -> None:
    anew = changed(ONE, original_context="Wittgenstein came from Vienna.")
    found = opinions([anew], [*ADA, *BEN])
    rejected = accepted_questions([anew], found).rejected[0]
    assert (rejected.reason, rejected.detail) == (reasons.NOT_ANNOTATED, "judged before its texts changed")
    assert found.problems[0] == "ada.csv, row 2: the question has changed since then; judge it again"
    assert open_questions([anew], found, "ada") == [anew]
    (_, correction), (_, another) = (says(ONE, name, "change", question="Where?") for name in ("ada", "ben"))
    undecided = accepted_questions([ONE], opinions([ONE], [correction, another])).rejected[0]
    assert (undecided.reason, undecided.detail) == (reasons.NOT_ANNOTATED, "corrected without a choice")
    spaced = replace(ONE, subject="Somebody", question=ONE.question.replace(" ", "\r\n "))
    assert accepted_questions([spaced], opinions([spaced], [*ADA, *BEN])).questions == [spaced]


@pytest.mark.parametrize(
    ("choice", "corrections", "problem"),
    [
        ("accept", {"question": "Where?"}, "the choice is accept, but question has a correction; choose change"),
        ("change", {}, "the choice is change, but no correction changes a text; write one"),
        ("change", {"answer": " Vienna "}, "no correction changes a text"),
        ("change", {"text": "Born."}, REASONS[slots.OBJECT_NOT_IN_CONTEXT]),
        ("change", {"text": "[ENTITY], Wien."}, REASONS[slots.ANSWER_LEFT_IN_CONTEXT]),
        ("change", {"replacement": "Wien"}, REASONS[slots.REPLACEMENT_IS_ANSWER]),
        ("change", {"question": "Is it Vienna?"}, REASONS[slots.QUESTION_CONTAINS_ANSWER]),
    ],
)
def test_impossible_corrections_are_named(choice: str, corrections: dict[str, str], problem: str) -> None:
    found = opinions([ONE], says(ONE, "ada", choice, **corrections))
    assert not found.by_question
    assert any(re.match(f"ada.csv, row 2: .*{re.escape(problem)}", text) for text in found.problems)


def test_a_correction_needs_a_choice() -> None:
    assert opinions([ONE], says(ONE, "ada", "change", answer="Wien")[1:]).problems == [
        "ada.csv, row 3: a correction without a choice; add a row with the field choice and the value change"
    ]


def test_an_annotator_gets_what_they_have_not_judged() -> None:
    found = opinions([ONE, TWO], [*ADA, *says(TWO, "ada", "accept"), *says(TWO, "ben", "accept")])
    assert open_questions([ONE, TWO], found, "ada") == []
    assert open_questions([ONE, TWO], found, "ben") == [ONE]
    assert open_questions([ONE, TWO], found, "cem") == [ONE]
    assert open_questions([ONE, TWO], opinions([ONE, TWO], []), "cem") == [ONE, TWO]


def test_conflicts_go_to_an_uninvolved_annotator() -> None:
    rows = [*ADA, *AGAINST, *says(TWO, "ada", "accept")]
    found = opinions([ONE, TWO], rows)
    assert open_questions([ONE, TWO], found, "ben", conflicts_only=True) == []
    assert open_questions([ONE, TWO], found, "cem", conflicts_only=True) == [ONE]
    decided = opinions([ONE, TWO], [*rows, *says(ONE, "cem", "accept")])
    assert open_questions([ONE, TWO], decided, "dia", conflicts_only=True) == []


def test_the_third_person_sees_no_names() -> None:
    rows = [*says(ONE, "benedikt", "change", note="shorter", question="Where?"), *says(ONE, "carla", "discard")]
    first, *rest = question_rows([ONE], "ada", opinions([ONE], rows))
    assert first["others"] == "change; question: Where? (shorter)\ndiscard"
    assert not any(name in text for row in (first, *rest) for text in row.values() for name in ("benedikt", "carla"))
    assert [row["field"] for row in (first, *rest)] == ["choice", "question", "answer", "replacement", "text"]
    assert "others" not in next(iter(question_rows([ONE], "ada")))


def own(*kinds: str) -> Question:
    """An own question whose contexts have these kinds."""
    contexts = tuple(
        QuestionContext(f"c{at}", kind, (Passage(f"It says {at}."),))  # type: ignore[arg-type]
        for at, kind in enumerate(kinds)
    )
    return replace(ONE, contexts=contexts)


def kind(context: str, value: str, field: str = "kind", judged: str = "", of: Question = ONE) -> Judgement:
    return Judgement(1, "v.csv", 2, of.question_id, context, field, judged, value, "ada")


def test_kinds_take_the_place_of_the_files() -> None:
    rows = [
        kind("c0", "supporting", judged="'It  says 0."),
        kind("c1", "conflicting"),
        kind("c1", "Graz", "answer"),
        kind("c2", "irrelevant", judged="It said."),
    ]
    (question,), problems = with_kinds([own("unknown", "irrelevant", "unknown")], rows)
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
            own("unknown"),
            [kind("c0", "conflicting")],
            "a conflicting context needs a second row, with the field answer",
        ),
        (
            own("unknown"),
            [kind("c0", "conflicting"), kind("c0", "wien", "answer")],
            "the kind is conflicting, but wien is the right answer",
        ),
        (ONE, [kind("original", "irrelevant")], "only a context of your own file can get another kind"),
    ],
)
def test_impossible_kinds_are_named(question: Question, rows: list[Judgement], problem: str) -> None:
    judged, (said,) = with_kinds([question], rows)
    assert judged == [question]
    assert said.startswith("v.csv, row 2: ")
    assert problem in said


def test_contexts_without_a_kind_are_to_be_judged() -> None:
    question = own("unknown", "neutral", "unknown")
    (pair,) = open_contexts([question, ONE], [kind("c2", "unknown"), kind("c0", "neutral", judged="It said.")])
    assert [(row["context_id"], row["field"], row["judged"]) for row in context_rows(*pair, "ada")] == [
        ("c0", "kind", "It says 0."),
        ("c0", "answer", "It says 0."),
    ]
