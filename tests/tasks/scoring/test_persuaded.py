import pytest

from swaymeter.tasks.scoring.persuaded import compare_answers


@pytest.mark.parametrize(
    ("without", "with_context", "persuaded", "stubborn", "correct", "released"),
    [
        ("Oslo", "Lima", True, False, True, False),
        ("Oslo", "Oslo", False, True, False, True),
        ("Lima", "Lima", False, False, True, False),  # the context's answer from the start
        ("Oslo", "Rome", False, False, False, False),
        ("Oslo the city", "the city Lima", True, True, True, False),  # a match is not transitive
        ("", "", False, False, False, False),
    ],
)
def test_answers_are_compared(
    without: str, with_context: str, persuaded: bool, stubborn: bool, correct: bool, released: bool
) -> None:
    assert compare_answers(without, with_context, "Lima", threshold=0.3) == {
        "persuaded": persuaded, "stubborn": stubborn, "context_correct": correct, "stubborn_released": released,
    }  # fmt: skip
