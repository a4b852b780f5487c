from collections.abc import Sequence
from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from swaymeter.data.records import ANNOTATION_CHOICES, Annotation, AnnotationChoice
from swaymeter.tasks.contexts.annotation.agreement import agreement
from tests.tasks.contexts.annotation.judged import a_question, says

QUESTIONS = [a_question(number) for number in range(1, 9)]
CHOICES: dict[str, list[AnnotationChoice | None]] = {
    "ada": ["accept", "accept", "change", "discard", "accept", "misinformation", "incomplete", None],
    "ben": ["accept", "discard", "change", "discard", "accept", "incomplete", None, "accept"],
    "cem": [None, "discard", None, None, None, "misinformation", "incomplete", "accept"],
}


def pairs(*choices: tuple[AnnotationChoice, AnnotationChoice]) -> list[Annotation]:
    """What ada and ben choose for the first questions."""
    return [
        says(question, name, choice)
        for question, pair in zip(QUESTIONS, choices, strict=False)
        for name, choice in zip(("ada", "ben"), pair, strict=True)
    ]


def test_alpha_is_over_the_first_two_annotators() -> None:
    annotations = [
        says(question, name, choice, at=place)
        for place, (name, chosen) in enumerate(CHOICES.items())
        for question, choice in zip(QUESTIONS, chosen, strict=True)
        if choice
    ]
    first_two = [list(chosen) for chosen in CHOICES.values()]
    for place in (1, 5):  # here cem came third, and decides
        first_two[2][place] = None
    table = [[np.nan if one is None else ANNOTATION_CHOICES.index(one) for one in chosen] for chosen in first_two]
    found = agreement(annotations)
    assert found.alpha == krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert (found.units, found.annotators, found.undefined) == (8, ("ada", "ben", "cem"), None)
    assert found.counts["cem"] == {"discard": 1, "misinformation": 1, "incomplete": 1, "accept": 1}


def test_alpha_by_hand() -> None:
    """Four questions, a a / a a / a d / d d: one pair in four differs; of 8 values 5 are a, 3 are d.

    D_o = 2 / 8, D_e = 2 * 5 * 3 / (8 * 7), alpha = 1 - (1/4) / (30/56) = 8/15.
    """
    annotations = pairs(("accept", "accept"), ("accept", "accept"), ("accept", "discard"), ("discard", "discard"))
    assert agreement(annotations).alpha == pytest.approx(float(Fraction(8, 15)), abs=1e-12)


def test_agreement_in_all_is_1_whatever_the_words() -> None:
    changes = [says(QUESTIONS[2], name, "change", question=name) for name in ("ada", "ben")]
    assert agreement([*pairs(("accept", "accept"), ("discard", "discard")), *changes]).alpha == 1.0


@pytest.mark.parametrize(
    ("annotations", "units", "undefined"),
    [
        (
            pairs(*[("accept", "accept")] * 8),
            8,
            "all annotators always chose accept, so",
        ),
        ([], 0, "no question has been judged by two annotators"),
        ([says(QUESTIONS[0], "ada", "accept"), says(QUESTIONS[1], "ben", "discard")], 0, "no question has been judged"),
    ],
)
def test_undefined_agreement_says_why(annotations: Sequence[Annotation], units: int, undefined: str) -> None:
    found = agreement(annotations)
    assert (found.alpha, found.units) == (None, units)
    assert (found.undefined or "").startswith(undefined)


def test_a_late_revision_does_not_change_alpha() -> None:
    """Two questions, d a / d d. D_o = 2 / 4, D_e = 2 * 1 * 3 / (4 * 3), alpha = 0, as before anybody revised."""
    annotations = [says(QUESTIONS[0], "ada", "discard"), says(QUESTIONS[0], "ben", "accept", at=1)]
    annotations += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    assert agreement(annotations).alpha == 0.0
    revised = [says(QUESTIONS[0], "ada", "accept", at=9), says(QUESTIONS[0], "ben", "discard", at=9)]
    for revision in revised:
        found = agreement([revision, *annotations])
        assert (found.alpha, found.units) == (0.0, 2)
    assert agreement([*annotations, revised[0]]).counts["ada"] == {"accept": 1, "discard": 1}


def test_of_early_revisions_the_last_counts() -> None:
    annotations = [says(QUESTIONS[0], "ada", "discard"), says(QUESTIONS[0], "ada", "accept", at=1)]
    annotations += [says(QUESTIONS[0], "ben", "accept", at=2)]
    annotations += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    found = agreement(annotations)
    assert (found.alpha, found.units) == (1.0, 2)


def test_a_third_annotator_is_not_counted() -> None:
    annotations = [says(QUESTIONS[0], "ada", "accept"), says(QUESTIONS[0], "ben", "accept", at=1)]
    annotations += [says(QUESTIONS[0], "cem", "discard", at=2), says(QUESTIONS[0], "ada", "discard", at=3)]
    annotations += [says(QUESTIONS[1], name, "discard") for name in ("ada", "ben")]
    found = agreement(annotations)
    assert (found.alpha, found.units, found.annotators) == (1.0, 2, ("ada", "ben"))
