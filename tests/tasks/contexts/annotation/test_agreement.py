from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from swaymeter.data.records import ANNOTATION_CHOICES, Annotation, AnnotationChoice
from swaymeter.tasks.contexts.annotation.judging import agreement
from tests.tasks.contexts.annotation.judged import a_question, says

QUESTIONS = [a_question(number) for number in range(1, 9)]
CHOICES: dict[str, list[AnnotationChoice | None]] = {
    "ada": ["accept", "accept", "change", "discard", "accept", "misinformation", "incomplete", None],
    "ben": ["accept", "discard", "change", "discard", "accept", "incomplete", None, "accept"],
    "cem": [None, "discard", None, None, None, "misinformation", "incomplete", "accept"],
}


def judged(*questions: str) -> list[Annotation]:
    """Of each question its judgements, the earliest first: an annotator's initial, and their choice's."""
    names, choices = {"a": "ada", "b": "ben", "c": "cem"}, {choice[0]: choice for choice in ANNOTATION_CHOICES}
    return [
        says(question, names[judgement[0]], choices[judgement[1]], at=minute)
        for question, judgements in zip(QUESTIONS, questions, strict=False)
        for minute, judgement in enumerate(judgements.split())
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


@pytest.mark.parametrize(
    ("questions", "alpha"),
    [
        # One pair in four differs; of 8 values 5 are a, 3 are d: D_o = 2/8, D_e = 2*5*3 / (8*7), 1 - (1/4) / (30/56).
        (("aa ba", "aa ba", "aa bd", "ad bd"), Fraction(8, 15)),
        (("aa ba", "ad bd", "ac bc"), 1),
        # D_o = 2/4, D_e = 2*1*3 / (4*3); late revisions of either do not count
        (("ad ba", "ad bd"), 0),
        (("ad ba aa", "ad bd"), 0),
        (("ad ba bd", "ad bd"), 0),
        (("ad aa ba", "ad bd"), 1),  # of early revisions the last counts
        (("aa ba cd ad", "ad bd"), 1),  # a third annotator does not
    ],
)
def test_alpha_by_hand(questions: tuple[str, ...], alpha: Fraction) -> None:
    found = agreement(judged(*questions))
    assert found.alpha == pytest.approx(float(alpha), abs=1e-12)
    assert (found.units, found.annotators) == (len(questions), ("ada", "ben"))


@pytest.mark.parametrize(
    ("questions", "units", "undefined"),
    [
        (["aa ba"] * 8, 8, "all annotators always chose accept, so"),
        ([], 0, "no question has been judged by two annotators"),
        (["aa", "bd"], 0, "no question has been judged"),
    ],
)
def test_undefined_agreement_says_why(questions: list[str], units: int, undefined: str) -> None:
    found = agreement(judged(*questions))
    assert (found.alpha, found.units) == (None, units)
    assert (found.undefined or "").startswith(undefined)
