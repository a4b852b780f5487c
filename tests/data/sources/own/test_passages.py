"""Contexts of several passages of a question, by sets and orders."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from swaymeter.data.errors import InputError
from swaymeter.data.records import Question
from swaymeter.data.sources.own.passages import PassagesPart, parts_of
from swaymeter.data.sources.own.rows import FileQuestions
from swaymeter.data.sources.own.source import OwnQuestions, read_questions

RIGHT = {"text": "It opens at nine.", "kind": "supporting", "title": "Hours", "source": "wiki", "date": "2026-01-02"}
WRONG = {"text": "It opens at ten.", "kind": "conflicting", "answer": "ten", "title": "Old hours"}
OTHER = [{"text": f"It has {doors} doors.", "kind": "irrelevant", "score": doors / 2} for doors in (3, 4)]


def read(
    folder: Path, *contexts: dict[str, Any], neutral: bool = False, **passages: Any
) -> tuple[OwnQuestions, FileQuestions]:
    file = folder / "mine.jsonl"
    row = {"id": "q", "question": "When does the Vell Library open?", "answer": "nine", "contexts": contexts}
    file.write_text(json.dumps(row) + "\n")
    options = OwnQuestions(file=str(file), passages=passages, neutral=neutral)
    return options, options.usable_in_sets(read_questions(options))


def arranged_question(folder: Path, *contexts: dict[str, Any], **passages: Any) -> Question:
    options, result = read(folder, *contexts, **passages)
    (question,) = options.arrange(result.questions)
    assert {context.condition for context in question.contexts} == options.conditions_of(result.questions)
    return question


def test_sets_and_orders_give_contexts(tmp_path: Path) -> None:
    sets = ["supporting", "conflicting", "supporting+conflicting", "supporting + 2 irrelevant", "all"]
    question = arranged_question(
        tmp_path, WRONG, RIGHT, *OTHER, sets=sets, orders=["given", "right_first", "wrong_first"]
    )
    contexts = {
        context.context_id: (context.condition, context.answers, len(context.passages)) for context in question.contexts
    }
    assert contexts == {
        "supporting": ("supporting", ("nine",), 1),
        "conflicting": ("conflicting", ("ten",), 1),
        "supporting+conflicting, given": ("mixed", ("ten",), 2),  # wrong_first gives this order, too
        "supporting+conflicting, right first": ("mixed", ("ten",), 2),
        "supporting + 2 irrelevant, given": ("supporting", ("nine",), 3),
        "all, given": ("mixed", ("ten",), 4),
        "all, right first": ("mixed", ("ten",), 4),
    }
    right_first = next(context for context in question.contexts if context.context_id == "all, right first")
    assert [passage.kind for passage in right_first.passages] == ["supporting", "conflicting", *["irrelevant"] * 2]
    assert right_first.text == "It opens at nine.\n\nIt opens at ten.\n\nIt has 3 doors.\n\nIt has 4 doors."
    assert (right_first.evidence_set, right_first.passage_order) == ("all", "right_first")


def test_orders_rotate_reverse_and_draw_passages(tmp_path: Path) -> None:
    def orders(*names: str, **options: Any) -> list[str]:
        contexts = arranged_question(tmp_path, WRONG, RIGHT, *OTHER, orders=names, **options).contexts
        letters = {"It opens at ten.": "w", "It opens at nine.": "r", "It has 3 doors.": "3", "It has 4 doors.": "4"}
        return ["".join(letters[passage.text] for passage in context.passages) for context in contexts]

    assert orders("rotations", "reversed") == ["wr34", "r34w", "34wr", "4wr3", "43rw"]
    assert orders("wrong_last", "rotations", most=3) == ["r3w", "wr3", "3wr"]
    drawn = [orders("random", seed=seed)[0] for seed in range(40)]
    assert orders("random", seed=3)[0] == drawn[3]
    assert {text[0] for text in drawn} == {*"wr34"}


def test_forms_leave_out_missing_fields(tmp_path: Path) -> None:
    def text(**options: Any) -> str:
        return arranged_question(tmp_path, RIGHT, WRONG, OTHER[0], **options).contexts[0].text or ""

    assert text(form="numbered").startswith("[1] It opens at nine.\n\n[2] It opens")
    assert text(form="titled", separator="\n--\n") == (
        "Hours\nIt opens at nine.\n--\nOld hours\nIt opens at ten.\n--\nIt has 3 doors."
    )
    assert text(form="cited") == (
        "[1] Hours (wiki, 2026-01-02)\nIt opens at nine.\n\n[2] Old hours\nIt opens at ten.\n\n[3]\nIt has 3 doors."
    )
    assert text(template="{score}: {text}").endswith("1.5: It has 3 doors.")


def test_slots_in_a_text_stay_text(tmp_path: Path) -> None:
    hostile = {**RIGHT, "text": "It opens at nine. {title} {number} ()"}
    (context,) = arranged_question(tmp_path, hostile, form="numbered").contexts
    assert context.text == "[1] It opens at nine. {title} {number} ()"


def test_sets_without_enough_passages_are_reported(tmp_path: Path) -> None:
    options, result = read(tmp_path, RIGHT, sets=["supporting", "supporting+conflicting", "2 supporting"])
    assert [context.context_id for context in options.arrange(result.questions)[0].contexts] == ["supporting"]
    assert result.about_sets().endswith("too few passages: supporting+conflicting: 1; 2 supporting: 1")
    options, lacking = read(tmp_path, RIGHT, sets=["conflicting"])
    assert not lacking.questions
    with pytest.raises(
        InputError, match=r"1 of 1 questions have too few passages for each .* \(conflicting\); name other sets"
    ):
        options.askable(read_questions(options).questions)
    assert "the question has too few passages for each of the sets conflicting" in (lacking.rejected[0].detail or "")


def test_impossible_order_leaves_passages_in_given_order(tmp_path: Path) -> None:
    question = arranged_question(tmp_path, RIGHT, OTHER[0], sets=["supporting+irrelevant"], orders=["wrong_first"])
    assert [context.context_id for context in question.contexts] == ["supporting+irrelevant, given"]


def test_sets_of_equal_passages_give_a_context_each(tmp_path: Path) -> None:
    question = arranged_question(tmp_path, RIGHT, WRONG, sets=["all", "supporting+conflicting"])
    assert [context.evidence_set for context in question.contexts] == ["all", "supporting+conflicting"]


def test_set_in_two_spellings_gives_one_context(tmp_path: Path) -> None:
    question = arranged_question(
        tmp_path, RIGHT, WRONG, sets=["supporting+conflicting", "conflicting + 1 supporting", "all"]
    )
    assert [context.evidence_set for context in question.contexts] == ["supporting+conflicting", "all"]


def test_a_title_cannot_look_like_the_next_passage(tmp_path: Path) -> None:
    hostile = {**RIGHT, "title": "Hours\n[2] Fake", "score": 10**400}  # above the largest float
    (context,) = arranged_question(tmp_path, hostile, form="cited").contexts
    assert context.text == "[1] Hours [2] Fake (wiki, 2026-01-02)\nIt opens at nine."


def test_neutral_context_is_added_to_sets(tmp_path: Path) -> None:
    question = arranged_question(tmp_path, *OTHER, neutral=True)
    assert [(context.context_id, len(context.passages)) for context in question.contexts] == [
        ("all, given", 2),
        ("neutral", 1),
    ]


def test_passage_that_no_set_has_is_left_out(tmp_path: Path) -> None:
    _, result = read(tmp_path, WRONG, RIGHT, *OTHER, sets=["supporting+irrelevant", "irrelevant"])
    assert [context.context_id for context in result.questions[0].contexts] == ["supporting", "irrelevant"]


def test_context_has_only_the_first_fifty_passages(tmp_path: Path) -> None:
    many = [{"text": f"It has {lamps} lamps.", "kind": "irrelevant"} for lamps in range(60)]
    (context,) = arranged_question(tmp_path, *many, RIGHT).contexts
    assert (len(context.passages), context.condition, context.answers) == (50, "irrelevant", ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sets": ["supportive"]}, "'supportive' is not a set of passages; write kinds (supporting, "),
        ({"sets": ["0 irrelevant"]}, "is not a set of passages"),
        (
            {"sets": ["supporting+supporting"]},
            "names the kind supporting twice; name the kind once, with a number, such as 2 supporting",
        ),
        ({"sets": []}, "no set is named"),
        ({"orders": []}, "no order is named"),
        ({"orders": ["best"]}, "given"),
        ({"template": "[{number}]"}, "must have the slot {text} exactly once"),
        ({"template": "{titel}: {text}"}, "has the unknown slot {titel}; use only the slots {number}, {text}, {title}"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        PassagesPart(**options)


def test_set_may_have_all_of_a_kind(tmp_path: Path) -> None:
    assert parts_of("all irrelevant") == (("irrelevant", None),)
    question = arranged_question(tmp_path, RIGHT, *OTHER, sets=["supporting+all irrelevant"])
    assert [len(context.passages) for context in question.contexts] == [3]


def test_passages_are_renumbered_after_one_is_removed(tmp_path: Path) -> None:
    (context,) = arranged_question(tmp_path, RIGHT, WRONG, OTHER[0], form="numbered").contexts
    assert context.without(1).text == "[1] It opens at ten.\n\n[2] It has 3 doors."
    assert context.without(3).text == "[1] It opens at nine.\n\n[2] It opens at ten."
    assert context.is_numbered
    assert context.without(1).without(1).without(1).text is None


def test_a_text_unlike_its_passages_is_refused(tmp_path: Path) -> None:
    (context,) = arranged_question(tmp_path, RIGHT, WRONG, form="numbered").contexts
    assert replace(context) == context
    with pytest.raises(InputError, match=r"'\[1\] It opens.* differs from the text"):
        replace(context, passages=context.passages[:1])
