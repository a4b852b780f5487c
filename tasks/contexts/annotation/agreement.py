"""Krippendorff's alpha of annotators' choices: 1 where they agree in all, 0 where no better than by chance.

alpha = 1 - D_o / D_e for nominal data: the observed disagreement of the pairs of judgements of one question over that
of all pairs whatever their question. It is not the share of equal choices: where nearly all are the same, one
difference weighs much. Only independent judgements count: of the first annotator of a question, the last before the
other's, and of the other, the first.
Source: Krippendorff 2004, Content Analysis, chapter 11; computed by the library krippendorff.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from swaymeter.data.records import ANNOTATION_CHOICES, Annotation
from swaymeter.tasks.contexts.annotation.judging import in_order, newest


@dataclass(frozen=True)
class Agreement:
    """How far the two independent annotators of each question agree.

    alpha: of their choices, whatever texts a change has; None, with the reason in `undefined`, where it is not defined.
    units: questions with two judgements. annotators: those who made them. counts: everybody's newest choices.
    """

    alpha: float | None
    units: int
    annotators: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    undefined: str | None = None


def agreement(annotations: Iterable[Annotation]) -> Agreement:
    """The agreement of the two independent annotators of each question; a third, who decides, is not in it."""
    annotations = list(annotations)
    pairs = []
    for judgements in in_order(annotations).values():
        # The first annotator's last judgement before another's, and that one; none where only one annotator judged.
        pairs += [pair for pair in pairwise(judgements) if pair[0].annotator != pair[1].annotator][:1]
    annotators = tuple(sorted({annotation.annotator for pair in pairs for annotation in pair}))
    counts: dict[str, Counter[str]] = {name: Counter() for name in sorted({one.annotator for one in annotations})}
    for judged in newest(annotations).values():
        for annotation in judged.values():
            counts[annotation.annotator][annotation.choice] += 1
    choices = {annotation.choice for pair in pairs for annotation in pair}
    if not pairs:
        return Agreement(None, 0, annotators, counts, "no question has been judged by two annotators")
    if len(choices) == 1:
        undefined = f"all annotators always chose {choices.pop()}, so chance agreement is not defined"
        return Agreement(None, len(pairs), annotators, counts, undefined)
    return Agreement(_alpha(pairs, annotators), len(pairs), annotators, counts)


def _alpha(pairs: list[tuple[Annotation, Annotation]], annotators: tuple[str, ...]) -> float:
    import krippendorff

    table = np.full((len(annotators), len(pairs)), np.nan)
    for unit, pair in enumerate(pairs):
        for annotation in pair:
            table[annotators.index(annotation.annotator), unit] = ANNOTATION_CHOICES.index(annotation.choice)
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
