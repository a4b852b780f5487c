import pytest

from swaymeter.tasks.scoring.accuracy import answers_match, cleaned_as_released, compare_answers


@pytest.mark.parametrize(
    ("answer", "threshold", "matches"),
    [
        ("The capital is Oslo", 0.3, True),  # precision 1/4, recall 1, F = 0.4
        ("It is said to be Oslo", 0.3, False),  # precision 1/6, recall 1: F = 2/7
        ("It is said to be Oslo", 0.28, True),
        ("The capital is Oslo", 0.4, False),  # F = 0.4, which is not above 0.4
        ("OSLO", 0.3, True),
        ("", 0.3, False),
        ("?!", 0.3, False),
    ],
)
def test_answers_match_above_the_threshold(answer: str, threshold: float, matches: bool) -> None:
    assert answers_match(answer, "Oslo", threshold=threshold) is matches
    assert answers_match("Oslo", answer, threshold=threshold) is matches


def test_stems_match_and_blank_texts_match_nothing() -> None:
    assert answers_match("RUNNING rivers", "run river", threshold=0.3)
    assert not answers_match(" ", " ", threshold=0.3)


def test_cleaning_of_published_code_removes_part_of_words() -> None:
    assert cleaned_as_released("Assistant: The Answer: 12:30, answered") == "the  1230, ed"
    answer = "The answer to it is: Oslo"
    assert not answers_match(answer, "Oslo", threshold=0.3)  # 1 of 6 words matches: F = 2/7
    assert answers_match(cleaned_as_released(answer), "Oslo", threshold=0.3)


@pytest.mark.parametrize(
    ("without", "with_context", "persuaded", "stubborn", "correct", "stubborn_released"),
    [
        ("Oslo", "Lima", True, False, True, False),
        ("Oslo", "Oslo", False, True, False, True),
        ("Lima", "Lima", False, False, True, False),  # the context's answer, Lima, is given without the context, too
        ("Oslo", "Rome", False, False, False, False),
        ("Oslo the city", "the city Lima", True, True, True, False),  # a match is not transitive
        ("", "", False, False, False, False),
    ],
)
def test_answers_are_compared(
    without: str, with_context: str, persuaded: bool, stubborn: bool, correct: bool, stubborn_released: bool
) -> None:
    assert compare_answers(without, with_context, "Lima", threshold=0.3) == {
        "persuaded": persuaded,
        "stubborn": stubborn,
        "context_correct": correct,
        "stubborn_released": stubborn_released,
    }
