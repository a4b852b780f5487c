import re
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import ANNOTATION_CHOICES, Question
from swaymeter.data.sources import slots
from swaymeter.tasks.contexts.annotation.judging import judgements, shown
from swaymeter.tasks.contexts.annotation.sheet import (
    COLUMNS,
    COLUMNS_OF_CONFLICTS,
    GUIDE,
    MEANINGS,
    ReadBack,
    read_back,
    rows_for,
)
from swaymeter.tasks.contexts.annotation.spreadsheet import Sheet, SheetRow
from tests.data.a_dataset import changed
from tests.tasks.contexts.annotation.judged import a_question, says

QUESTIONS = [a_question(number) for number in (1, 2, 3)]
NOW = "2026-01-01T12:00:00.000000+00:00"


def sheet(*rows: dict[str, str], others: tuple[str, ...] = ()) -> Sheet:
    """Ada's sheet with that written into its first rows."""
    made = rows_for(QUESTIONS, "ada")
    filled = [cells | (rows[place] if place < len(rows) else {}) for place, cells in enumerate(made)]
    return Sheet(Path("ada.xlsx"), tuple(SheetRow(place, cells) for place, cells in enumerate(filled, 2)), others)


def read(*rows: dict[str, str], annotator: str = "ada") -> ReadBack:
    return read_back(sheet(*rows), QUESTIONS, annotator, imported_at=NOW)


def test_every_choice_has_its_meaning_in_the_guide() -> None:
    assert tuple(MEANINGS) == ANNOTATION_CHOICES
    assert MEANINGS.items() <= GUIDE.items()


def test_who_decides_sees_judgements_without_names() -> None:
    first = says(QUESTIONS[0], "benedikt", "change", question="Where?", note="shorter")
    rows = rows_for(QUESTIONS[:1], "ada", judgements([first, says(QUESTIONS[0], "carla", "discard")]))
    assert rows[0]["two others said"] == "change; new question: Where? (shorter)\ndiscard"
    assert not any(name in text for text in rows[0].values() for name in ("benedikt", "carla"))
    assert "two others said" in [column.name for column in COLUMNS_OF_CONFLICTS]
    assert "two others said" not in [column.name for column in COLUMNS]


def test_rows_without_a_choice_are_left() -> None:
    found = read({"choice": " Accept "}, {"note": "later"}, {"choice": "discard", "note": " broken "})
    first, second = found.annotations
    assert (first.question_id, first.texts) == shown(QUESTIONS[0])
    assert (first.annotator, first.file, first.imported_at) == ("ada", "ada.xlsx", NOW)
    assert (first.choice, first.note, second.choice, second.note) == ("accept", None, "discard", "broken")
    assert second.question_id == QUESTIONS[2].question_id
    assert (found.unfinished, found.outdated, found.others) == ((3,), (), ())


def test_of_a_change_only_what_differs_is_new() -> None:
    (one,) = read({"choice": "change", "new question": " Where  was\nhe born? ", "new answer": "Vienna"}).annotations
    assert (one.question, one.object, one.replacement, one.context) == ("Where was he born?", None, None, None)


def broken(flag: str) -> str:
    """What is said of a change that breaks a rule, as a pattern."""
    return f"row 2, column choice: is change, and then: {re.escape(REASONS[flag])}"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"choice": "aksept"}, r"row 2, column choice: 'aksept' is not a choice \(did you mean 'accept'\?\); choose "
                               "accept, change, discard, misinformation or incomplete"),
        ({"new answer": "Wien"}, "row 2, column choice: is empty, and new answer is filled in; choose change"),
        ({"choice": "accept", "new question": "Where?"}, "row 2, column new question: is filled in, and the choice is"),
        ({"choice": "change"}, "row 2, column choice: is change, and no new text differs from the old one"),
        ({"choice": "change", "new answer": " Vienna "}, "no new text differs"),
        ({"choice": "change", "new context": "Born."}, broken(slots.OBJECT_NOT_IN_CONTEXT)),
        ({"choice": "change", "new context": "[ENTITY], Wien."}, broken(slots.ANSWER_LEFT_IN_CONTEXT)),
        ({"choice": "change", "new other answer": "Wien"}, broken(slots.REPLACEMENT_IS_ANSWER)),
        ({"choice": "change", "new question": "Is it Vienna?"}, broken(slots.QUESTION_CONTAINS_ANSWER)),
        ({"context": "Mended."}, "row 2, column context: was overwritten; restore 'Ludwig .*', and write the "
                                 "change into new context"),
        ({"answer": "Wien", "choice": "change"}, "row 2, column answer: was overwritten; restore 'Vienna'"),
        ({"key": "q-1-2"}, "row 2, column key: is unknown"),
        (rows_for(QUESTIONS, "ada")[1], "row 3, column key: is also that of row 2; remove one of them"),
    ],
)  # fmt: skip
def test_errors_name_row_and_column(row: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=f"^ada.xlsx: .*{message}.*; nothing was imported$"):
        read(row)


def test_all_errors_are_listed_on_one_line() -> None:
    with pytest.raises(InputError) as error:
        read({"choice": "a\nb\x1b[2J"}, {"choice": "no"}, {"choice": "change"})
    assert [f"row {number}, column choice" in str(error.value) for number in (2, 3, 4)] == [True] * 3
    assert str(error.value).isprintable()


def test_rows_sorted_apart_from_their_texts_are_noticed() -> None:
    made = rows_for(QUESTIONS, "ada")
    with pytest.raises(InputError, match="row 2, column question: was overwritten"):
        read({"key": made[1]["key"]}, {"key": made[0]["key"]})


@pytest.mark.parametrize(
    "anew", [[changed(QUESTIONS[0], original_context="From Vienna."), *QUESTIONS[1:]], QUESTIONS[1:]]
)
def test_judgements_of_an_earlier_build_are_kept(anew: list[Question]) -> None:
    found = read_back(sheet({"choice": "accept"}, {"choice": "discard"}), anew, "ada", imported_at=NOW)
    assert found.outdated == (2,)
    assert [(one.choice, one.texts) for one in found.annotations] == [
        ("accept", shown(QUESTIONS[0])[1]), ("discard", shown(QUESTIONS[1])[1]),
    ]  # fmt: skip
    with pytest.raises(
        InputError, match="row 2, column context or question or answer or other answer: was overwritten"
    ):
        read_back(sheet({"answer": "Graz"}), anew, "ada", imported_at=NOW)


def test_a_sheet_of_another_annotator_or_study_is_refused() -> None:
    with pytest.raises(UsageError, match="was written for ada, not for ben; name ada with --annotator, or export"):
        read({"choice": "accept"}, annotator="ben")
    with pytest.raises(UsageError, match="has no question of this study"):
        read_back(sheet({"choice": "accept"}), [a_question(9)], "ada", imported_at=NOW)
