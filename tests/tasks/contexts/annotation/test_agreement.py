from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from data.records import ANNOTATION_CHOICES, AnnotationChoice
from tasks.contexts.annotation.agreement import agreement
from tests.tasks.contexts.annotation.judged import a_question, says

QUESTIONS = [a_question(number) for number in range(1, 9)]
CHOICES: dict[str, list[AnnotationChoice | None]] = {
    "ada": ["accept", "accept", "change", "discard", "accept", "misinformation", "incomplete", None],
    "ben": ["accept", "discard", "change", "discard", "accept", "incomplete", None, "accept"],
    "cem": [None, "discard", None, None, None, "misinformation", "incomplete", "accept"],
}
SAID = [
    says(question, name, choice, at=place)
    for place, (name, chosen) in enumerate(CHOICES.items())
    for question, choice in zip(QUESTIONS, chosen, strict=True)
    if choice
]


def test_alpha_is_over_the_first_two_annotators() -> None:
    first_two = [list(chosen) for chosen in CHOICES.values()]
    for place in (1, 5):  # here cem came third, and decides
        first_two[2][place] = None
    table = [[np.nan if one is None else ANNOTATION_CHOICES.index(one) for one in chosen] for chosen in first_two]
    found = agreement(SAID)
    assert found.alpha == krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert (found.units, found.annotators, found.undefined) == (8, ("ada", "ben", "cem"), None)
    assert found.counts["cem"] == {"discard": 1, "misinformation": 1, "incomplete": 1, "accept": 1}


def test_alpha_by_hand() -> None:
    """Four questions, a a / a a / a d / d d: one pair in four differs; of 8 values 5 are a, 3 are d.

    D_o = 2 / 8, D_e = 2 * 5 * 3 / (8 * 7), alpha = 1 - (1/4) / (30/56) = 8/15.
    """
    pairs: list[tuple[AnnotationChoice, AnnotationChoice]] = [
        ("accept", "accept"), ("accept", "accept"), ("accept", "discard"), ("discard", "discard"),
    ]  # fmt: skip
    said = [
        says(question, name, choice)
        for question, pair in zip(QUESTIONS, pairs, strict=False)
        for name, choice in zip(("ada", "ben"), pair, strict=True)
    ]
    assert agreement(said).alpha == pytest.approx(float(Fraction(8, 15)), abs=1e-12)


def test_agreement_in_all_is_1() -> None:
    said = [says(QUESTIONS[0], name, "accept") for name in ("ada", "ben")]
    said += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    assert agreement(said).alpha == 1.0


def test_the_words_of_a_change_are_no_matter_of_alpha() -> None:
    said = [says(QUESTIONS[0], name, "change", question=name) for name in ("ada", "ben")]
    said += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    assert agreement(said).alpha == 1.0


def test_one_choice_alone_has_no_alpha_and_says_why() -> None:
    found = agreement([says(question, name, "accept") for question in QUESTIONS for name in ("ada", "ben")])
    assert found.alpha is None
    assert found.units == 8
    assert found.undefined is not None
    assert found.undefined.startswith("all annotators always chose accept")


def test_without_two_judgements_of_one_question_there_is_no_alpha() -> None:
    assert agreement([]).undefined == "no question has been judged by two annotators"
    found = agreement([says(QUESTIONS[0], "ada", "accept"), says(QUESTIONS[1], "ben", "discard")])
    assert (found.alpha, found.units, found.annotators) == (None, 0, ())
    assert found.counts == {"ada": {"accept": 1}, "ben": {"discard": 1}}


def test_a_late_revision_does_not_change_alpha() -> None:
    """Two questions, d a / d d. D_o = 2 / 4, D_e = 2 * 1 * 3 / (4 * 3), alpha = 0, as before anybody revised."""
    said = [says(QUESTIONS[0], "ada", "discard"), says(QUESTIONS[0], "ben", "accept", at=1)]
    said += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    assert agreement(said).alpha == 0.0
    for name, choice in (("ada", "accept"), ("ben", "discard")):
        found = agreement([says(QUESTIONS[0], name, choice, at=9), *said])  # type: ignore[arg-type]
        assert (found.alpha, found.units) == (0.0, 2)
    assert agreement([*said, says(QUESTIONS[0], "ada", "accept", at=9)]).counts["ada"] == {"accept": 1, "discard": 1}


def test_of_early_revisions_the_last_counts_once() -> None:
    said = [says(QUESTIONS[0], "ada", "discard"), says(QUESTIONS[0], "ada", "accept", at=1)]
    said += [says(QUESTIONS[0], "ben", "accept", at=2)]
    said += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    found = agreement(said)
    assert (found.alpha, found.units) == (1.0, 2)


def test_a_third_annotator_is_not_counted() -> None:
    said = [says(QUESTIONS[0], "ada", "accept"), says(QUESTIONS[0], "ben", "accept", at=1)]
    said += [says(QUESTIONS[0], "cem", "discard", at=2), says(QUESTIONS[0], "ada", "discard", at=3)]
    said += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    found = agreement(said)
    assert (found.alpha, found.units, found.annotators) == (1.0, 2, ("ada", "ben"))
