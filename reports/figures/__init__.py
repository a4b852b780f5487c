"""The figures: one function per figure, (axes, data) -> axes, around it a plate with caption and numbers."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from reports.figures import (
    answer_set,
    coherent_persuasion,
    degree,
    effects,
    entity_independent,
    fisher,
    followed,
    memorization,
    persuasion,
    precision,
    susceptibility,
    uncertainty,
)
from reports.figures.plate import LeftOut, Plate, Printed, printed
from reports.frames import by_model

__all__ = ["LeftOut", "Plate", "Printed", "plates", "printed"]

_Made = Callable[[dict[str, pd.DataFrame]], list[Plate]]


def plates(frames: dict[str, pd.DataFrame]) -> tuple[list[Plate], list[LeftOut]]:
    """Every figure that the frames allow, in the order of the questions, and those they do not allow."""
    effect_of = {name: partial(effects.effect_plates, comparison=name) for name in effects.TITLES}
    figures: list[tuple[str, _Made]] = [
        (susceptibility.TITLE, susceptibility.susceptibility_plates),
        (effects.TITLES["familiarity"], effect_of["familiarity"]),
        (degree.TITLE, degree.degree_plates),
        (persuasion.TITLE, persuasion.persuasion_plates),
        (effects.TITLES["relevance"], effect_of["relevance"]),
        (effects.TITLES["assertiveness"], effect_of["assertiveness"]),
        (effects.TITLES["negation"], effect_of["negation"]),
        (entity_independent.TITLE, entity_independent.entity_independent_plates),
        (followed.TITLE, followed.followed_plates),
        (memorization.TITLE, memorization.memorization_plates),
        (answer_set.TITLE, answer_set.answer_set_plates),
        (fisher.TITLE, fisher.fisher_plates),
        (precision.TITLE, precision.precision_plates),
        (coherent_persuasion.TITLE, coherent_persuasion.coherent_persuasion_plates),
        (" ".join(uncertainty.TITLES.values()), uncertainty.entropy_plates),
    ]
    made: list[Plate] = []
    left_out: list[LeftOut] = []
    for title, make in figures:
        found = make(frames)
        made.extend(found)
        if not found and (make is not precision.precision_plates or _any_reduced(frames)):
            left_out.append(LeftOut(title, "the study holds no scores that this figure can be drawn from"))
    return made, left_out


def _any_reduced(frames: dict[str, pd.DataFrame]) -> bool:
    """Whether any model was asked in a format whose cost could be shown."""
    return any(model.reduced for model, _ in by_model(frames["susceptibility_of_queries"]))
