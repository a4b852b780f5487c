import pytest

from tasks.scoring.accuracy import answers_match


@pytest.mark.parametrize(
    ("answer", "threshold", "matches"),
    [
        ("The capital is Oslo", 0.3, True),  # precision 1/4, recall 1, F = 0.4
        ("It is said to be Oslo", 0.3, False),  # precision 1/6, recall 1: F = 2/7
        ("It is said to be Oslo", 0.28, True),
        ("The capital is Oslo", 0.4, False),  # not above it
        ("OSLO", 0.3, True),
        ("", 0.3, False),
        ("?!", 0.3, False),
    ],
)
def test_answers_match_above_the_threshold(answer: str, threshold: float, matches: bool) -> None:
    assert answers_match(answer, "Oslo", threshold=threshold) is matches
    assert answers_match("Oslo", answer, threshold=threshold) is matches


def test_stems_are_compared_and_words_are_needed() -> None:
    assert answers_match("RUNNING rivers", "run river", threshold=0.3)
    assert not answers_match(" ", " ", threshold=0.3)
