"""Krippendorff's alpha of annotators' choices: 1 where they agree in all, 0 where no better than by chance.

alpha = 1 - D_o / D_e for nominal data: the observed disagreement of the pairs of judgements of one question over that
of all pairs whatever their question. It is no share of equal choices: where nearly all are the same, one difference
weighs much. Counted is what two said who did not know of each other: where the first to judge a question revised it,
the last time before the other judged it, and of the other the first time. What either says later decides, and is no
longer independent. Source: Krippendorff 2004, Content Analysis, chapter 11; computed by the library krippendorff.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from data.records import ANNOTATION_CHOICES, Annotation
from tasks.contexts.annotation.judging import counts_by_annotator, in_order


@dataclass(frozen=True)
class Agreement:
    """How far the two independent annotators of each question agree.

    alpha: of the choices that they made alone, whatever texts a change has; None, with the reason in `undefined`, where
    it is none. units: questions that two have judged. annotators: whose judgements those are. counts: every annotator's
    choices, the newest, of all questions, those of a third who decides included.
    """

    alpha: float | None
    units: int
    annotators: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    undefined: str | None = None


def agreement(annotations: Iterable[Annotation]) -> Agreement:
    """The agreement of the two independent annotators of each question; a third, who decides, is not in it."""
    annotations = list(annotations)
    pairs = [pair for said in in_order(annotations).values() for pair in _made_alone(said)]
    annotators = tuple(sorted({one.annotator for pair in pairs for one in pair}))
    counts = counts_by_annotator(annotations)
    made = {one.choice for pair in pairs for one in pair}
    if not pairs:
        return Agreement(None, 0, annotators, counts, "no question has been judged by two annotators")
    if len(made) == 1:
        undefined = f"everybody chose {made.pop()} everywhere, so there is no agreement by chance to compare with"
        return Agreement(None, len(pairs), annotators, counts, undefined)
    return Agreement(_alpha(pairs, annotators), len(pairs), annotators, counts)


def _made_alone(said: Sequence[Annotation]) -> list[tuple[Annotation, Annotation]]:
    """The first annotator's last judgement before there was another's, and that one; none where one alone judged."""
    return [pair for pair in pairwise(said) if pair[0].annotator != pair[1].annotator][:1]


def _alpha(pairs: list[tuple[Annotation, Annotation]], annotators: tuple[str, ...]) -> float:
    import krippendorff

    table = np.full((len(annotators), len(pairs)), np.nan)
    for unit, pair in enumerate(pairs):
        for one in pair:
            table[annotators.index(one.annotator), unit] = ANNOTATION_CHOICES.index(one.choice)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
