import re
from dataclasses import replace
from pathlib import Path

import pytest

from data.errors import InputError, UsageError
from data.reasons import REASONS
from data.records import ANNOTATION_CHOICES
from data.sources import slots
from tasks.contexts.annotation.judging import judgements, shown
from tasks.contexts.annotation.sheet import (
    COLUMNS,
    COLUMNS_OF_CONFLICTS,
    GUIDE,
    MEANINGS,
    ReadBack,
    read_back,
    rows_for,
)
from tasks.contexts.annotation.spreadsheet import Sheet, SheetRow
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


def test_every_row_has_a_text_for_every_column() -> None:
    for row in rows_for(QUESTIONS, "ada"):
        assert {column.name for column in COLUMNS} <= row.keys()
        assert all(isinstance(text, str) for text in row.values())
    assert rows_for(QUESTIONS, "ada")[0]["context"] == QUESTIONS[0].original_context


def test_keys_are_no_numbers_whatever_the_id() -> None:
    assert all(row["key"].startswith("q-") for row in rows_for([a_question(10**15), a_question(0)], "ada"))


def test_every_choice_has_its_meaning_in_the_guide() -> None:
    assert tuple(MEANINGS) == ANNOTATION_CHOICES
    assert MEANINGS.items() <= GUIDE.items()


def test_who_decides_sees_judgements_without_names() -> None:
    said = [
        says(QUESTIONS[0], "benedikt", "change", question="Where?", note="shorter"),
        says(QUESTIONS[0], "carla", "discard"),
    ]
    rows = rows_for(QUESTIONS[:1], "ada", judgements(said))
    assert rows[0]["two others said"] == "change; new question: Where? (shorter)\ndiscard"
    assert not any(name in text for text in rows[0].values() for name in ("benedikt", "carla"))
    assert "two others said" in [column.name for column in COLUMNS_OF_CONFLICTS]
    assert "two others said" not in [column.name for column in COLUMNS]


def test_rows_without_a_choice_are_left() -> None:
    found = read({"choice": " Accept "}, {}, {"choice": "discard", "note": " broken "})
    assert [(one.question_id, one.choice, one.note) for one in found.annotations] == [
        (QUESTIONS[0].question_id, "accept", None), (QUESTIONS[2].question_id, "discard", "broken"),
    ]  # fmt: skip
    first = found.annotations[0]
    assert (first.question_id, first.texts) == shown(QUESTIONS[0])
    assert (first.annotator, first.file, first.imported_at) == ("ada", "ada.xlsx", NOW)
    assert (found.unfinished, found.outdated, found.others) == ((), (), ())


def test_of_a_change_only_what_differs_is_new() -> None:
    found = read(
        {"choice": "change", "new question": " Where  was\nhe born? ", "new answer": "Vienna", "new context": ""}
    )
    one = found.annotations[0]
    assert (one.question, one.object, one.replacement, one.context) == ("Where was he born?", None, None, None)


def test_a_note_without_a_choice_is_unfinished() -> None:
    assert read({"note": "later"}).unfinished == (2,)


def broken(flag: str) -> str:
    """What is said of a change that breaks a rule, as a pattern."""
    return f"row 2, column choice: is change, and then: {re.escape(REASONS[flag])}"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"choice": "aksept"}, r"row 2, column choice: 'aksept' is not a choice \(did you mean 'accept'\?\); choose "
                               "accept, change, discard, misinformation or incomplete"),
        ({"choice": "?"}, "row 2, column choice: '\\?' is not a choice; choose accept, change,"),
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
        ({"key": ""}, "row 2, column key: is unknown; rows cannot be added"),
        ({"key": "q-1-2"}, "row 2, column key: is unknown"),
        (rows_for(QUESTIONS, "ada")[1], "row 3, column key: is also that of row 2; remove one of them"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_row_and_column(row: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=f"^ada.xlsx: .*{said}.*; nothing was imported$"):
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


def test_rows_may_be_sorted_whole_and_left_out() -> None:
    rows = tuple(reversed(sheet({"choice": "accept"}).rows))[1:]
    found = read_back(Sheet(Path("a.csv"), rows), QUESTIONS, "ada", imported_at=NOW)
    assert [one.question_id for one in found.annotations] == [QUESTIONS[0].question_id]


def test_a_sheet_of_somebody_else_is_usage() -> None:
    with pytest.raises(UsageError, match="was written for ada, not for ben; name ada with --annotator, or export"):
        read({"choice": "accept"}, annotator="ben")


def test_judgements_of_an_earlier_build_are_kept() -> None:
    anew = [replace(QUESTIONS[0], original_context="From Vienna."), *QUESTIONS[1:]]
    found = read_back(sheet({"choice": "accept"}, {"choice": "discard"}), anew, "ada", imported_at=NOW)
    assert found.outdated == (2,)
    assert [one.choice for one in found.annotations] == ["accept", "discard"]
    assert found.annotations[0].texts == shown(QUESTIONS[0])[1] != shown(anew[0])[1]


def test_judgements_of_a_removed_question_are_kept() -> None:
    found = read_back(sheet({"choice": "accept"}), QUESTIONS[1:], "ada", imported_at=NOW)
    assert (len(found.annotations), found.outdated) == (1, (2,))


def test_changed_text_of_another_build_is_noticed() -> None:
    message = "row 2, column context or question or answer or other answer: was overwritten"
    with pytest.raises(InputError, match=message):
        read_back(sheet({"answer": "Graz"}), QUESTIONS[1:], "ada", imported_at=NOW)


def test_a_sheet_of_another_study_is_usage() -> None:
    with pytest.raises(UsageError, match="has no question of this study"):
        read_back(sheet({"choice": "accept"}), [a_question(9)], "ada", imported_at=NOW)
