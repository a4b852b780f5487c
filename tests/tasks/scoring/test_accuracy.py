import pytest

from tasks.scoring.accuracy import answers_match, is_accurate


def test_expected_words_in_a_short_answer_match() -> None:
    # ROUGE-L of "Oslo" in "The capital is Oslo": precision 1/4, recall 1, F = 0.4
    assert answers_match("The capital is Oslo", "Oslo")


def test_expected_word_lost_in_a_long_answer_does_not() -> None:
    # precision 1/6, recall 1: F = 2/7, below 0.3
    assert not answers_match("It is said to be Oslo", "Oslo")
    assert answers_match("It is said to be Oslo", "Oslo", threshold=0.28)


def test_threshold_itself_is_not_above_it() -> None:
    assert not answers_match("The capital is Oslo", "Oslo", threshold=0.4)


def test_stems_and_case_do_not_matter() -> None:
    assert answers_match("RUNNING rivers", "run river")


def test_match_is_symmetric_and_every_text_matches_itself() -> None:
    texts = ["Oslo", "the city of Oslo", "Lima", "born in Lima in 1950"]
    assert all(answers_match(text, text) for text in texts)
    assert all(answers_match(one, two) == answers_match(two, one) for one in texts for two in texts)


@pytest.mark.parametrize("empty", ["", " ", "?!"])
def test_answer_without_words_matches_nothing(empty: str) -> None:
    assert not answers_match(empty, "Oslo")
    assert not answers_match(empty, empty)


def test_any_expected_answer_will_do() -> None:
    assert is_accurate("NYC", ["New York City", "NYC"])
    assert not is_accurate("NYC", ["Boston"])
    assert not is_accurate("NYC", [])
