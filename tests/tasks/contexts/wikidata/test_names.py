"""What becomes of facts whose names are hard to tell apart from each other, or from words."""

from pathlib import Path

import pytest

from swaymeter.data import reasons
from swaymeter.data.sources.slots import ANSWER_LEFT_IN_CONTEXT, QUESTION_CONTAINS_ANSWER
from tests.tasks.contexts.wikidata.live import Building, building, seed, small_world


@pytest.fixture
def build(tmp_path: Path) -> Building:
    return building(tmp_path)


@pytest.mark.parametrize(
    ("asked", "answers", "is_rejected"),
    [
        ("Is she a painter?", (), True),
        ("Is she the Painter-in-chief?", (), True),
        ("Is she one who daubs walls?", ("daubs walls",), True),
        ("Did she go in?", ("in",), False),  # a short form is as a rule another word
        ("Does she own paintings?", (), False),
    ],
)
def test_a_question_that_names_the_answer_is_rejected(
    build: Building, asked: str, answers: tuple[str, ...], is_rejected: bool
) -> None:
    found = build(small_world(), seed("Q1", "P106", "Q10", question=asked, answers=answers))
    assert [(row.reason, row.detail) for row in found.rejected] == [(QUESTION_CONTAINS_ANSWER, asked)] * is_rejected
    assert [question.flags for question in found.questions] == [()] * (not is_rejected)


def test_an_answer_within_the_subject_is_not_asked_about(build: Building) -> None:
    made = small_world()
    made.item("Q20", "Oslo", aliases=["Kristiania"], claims=[("P31", "Q7")])
    made.item("Q2", "Kristiania Opera House", article="Opera", claims=[("P4000", "Q20")])
    (row,) = build(made, seed("Q2", "P4000", "Q20")).rejected
    assert row.reason == QUESTION_CONTAINS_ANSWER
    assert row.detail == "What is the has a liking for of Kristiania Opera House?"
    assert row.reason in reasons.REASONS


@pytest.mark.parametrize(
    ("subject", "answer", "why"),
    [
        ("Metallica (album)", "Metallica", reasons.OBJECT_IS_SUBJECT),
        ("Metallica", "METALLICA (band)", reasons.OBJECT_IS_SUBJECT),
        ("Metallica (album)", "Metallica (band)", reasons.OBJECT_IS_SUBJECT),
        ("\u200b", "Metallica", reasons.SUBJECT_UNNAMED),
        ("Load", " \u2060 ", reasons.OBJECT_UNNAMED),
        ("Load", "A", reasons.NOT_MENTIONED),
        ("(untitled)", "(unknown)", reasons.NOT_MENTIONED),
    ],
)
def test_names_that_no_question_can_be_asked_with(build: Building, subject: str, answer: str, why: str) -> None:
    made = small_world()
    made.item("Q20", answer, claims=[("P31", "Q7")])
    made.item("Q2", subject, article="Load", claims=[("P4000", "Q20")])
    made.article("Load", "A record was made by Metallica. A Record, that is.", item_id="Q2")
    (row,) = build(made, seed("Q2", "P4000", "Q20", question="Who made it?")).rejected
    assert row.reason == why


@pytest.mark.parametrize(
    ("answer", "aliases", "replacement", "page", "context"),
    [
        ("Reading", [], "Swindon", "As a boy he enjoyed reading books. He was born in Reading, England.",
         "As a boy he enjoyed reading books. He was born in Swindon, England."),
        ("India", ["in", "Bharat"], "Nepal", "Bo lives in India, that is in Bharat.",
         "Bo lives in Nepal, that is in Nepal."),
    ],
)  # fmt: skip
def test_common_words_and_codes_are_no_answer_left(
    build: Building, answer: str, aliases: list[str], replacement: str, page: str, context: str
) -> None:
    made = small_world()
    made.item("Q20", answer, aliases=aliases, claims=[("P31", "Q7")])
    made.item("Q21", replacement, claims=[("P31", "Q7")])
    made.item("Q2", "Bo Example", article="Bo Example", claims=[("P106", "Q20")])
    made.article("Bo Example", page, item_id="Q2")
    made.most_similar["Q20"] = ("Q21",)
    (question,) = build(made, seed("Q2", "P106", "Q20")).questions
    assert (question.counter_memory_context, question.flags) == (context, ())


def test_an_answer_in_the_subjects_name_is_flagged(build: Building) -> None:
    made = small_world()
    made.item("Q2", "Painter of Ships", article="Painter of Ships", claims=[("P106", "Q10")])
    made.article("Painter of Ships", "Painter of Ships was a painter.", item_id="Q2")
    (question,) = build(made, seed("Q2", "P106", "Q10", question="What did she do?")).questions
    assert question.counter_memory_context == "Painter of Ships was a chemist."
    assert ANSWER_LEFT_IN_CONTEXT in question.flags
