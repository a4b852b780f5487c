"""TF-IDF worked by hand."""

from math import log, sqrt

import numpy as np
import pytest

from swaymeter.tasks.statistics.entropy_classes import tf_idf, words


def test_words_are_letters_and_digits_in_small_letters() -> None:
    assert words("L'Été à Oslo_22, <b>東京</b> x 10") == ["été", "oslo", "22", "東京", "10"]


def test_scores_are_the_mean_over_the_texts_of_a_group() -> None:
    found, scores, having = tf_idf(["red red cat", "cat", "dog red", "!"], [0, 0, 1, 1], 2)
    idf = {"red": log(5 / 3) + 1, "cat": log(5 / 3) + 1, "dog": log(5 / 2) + 1}
    first, third = sqrt((2 * idf["red"]) ** 2 + idf["cat"] ** 2), sqrt(idf["dog"] ** 2 + idf["red"] ** 2)
    assert list(found) == ["cat", "dog", "red"]
    expected = [
        [(idf["cat"] / first + 1) / 2, 0, 2 * idf["red"] / first / 2],
        [0, idf["dog"] / third / 2, idf["red"] / third / 2],
    ]
    assert scores == pytest.approx(np.array(expected), abs=1e-12)
    assert having.tolist() == [[2, 0, 1], [0, 1, 1]]


def test_words_of_most_texts_are_left_out() -> None:
    found, scores, _ = tf_idf(["the cat", "the dog", "the sun", "moon"], [0, 0, 1, 1], 2)
    assert "the" not in found
    assert scores.sum(axis=1) == pytest.approx([1, 1])


def test_a_text_counts_as_often_as_it_stands() -> None:
    texts = ["red cat", "dog", "sun", "dog", "sun", "moon", "moon"]
    once = tf_idf([texts[0], *texts[1:]], [0, 1, 1, 1, 1, 1, 1], 2)[1]
    again = tf_idf([texts[0], texts[0] + " ", *texts[1:]], [0, 0, 1, 1, 1, 1, 1, 1], 2)[1]
    same = tf_idf([texts[0], texts[0], *texts[1:]], [0, 0, 1, 1, 1, 1, 1, 1], 2)[1]
    assert again == pytest.approx(same)
    assert once.shape == same.shape


@pytest.mark.parametrize("texts", [[], ["!", "x"]])
def test_texts_without_words_have_none(texts: list[str]) -> None:
    found, scores, having = tf_idf(texts, [0] * len(texts), 3)
    assert (len(found), scores.shape, having.shape) == (0, (3, 0), (3, 0))
