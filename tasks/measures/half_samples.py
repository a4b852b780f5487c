"""Standard errors of scores of sampled answers: halves of the samples and their clusters."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from data.records.row import Meaning
from tasks.measures.measure import Parameters, at_least_or_none


class HalfSampleParameters(Parameters):
    """How many halves of the answers a standard error is estimated from; 0 for no standard errors."""

    half_samples: Annotated[int, Field(ge=0, le=10_000), at_least_or_none(10, "for no standard errors")] = 50
    """Half samples that the standard error is estimated from; 0 for no standard errors."""


def clusters_of(
    equivalent: NDArray[np.bool_], parameters: HalfSampleParameters, seed: int, question_id: str, condition: str
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """The clusters of the answers to a question under a condition, and those of each of their half-samples."""
    from tasks.scoring.half_samples import draw_halves
    from tasks.scoring.semantic_entropy import group_answers

    halves = draw_halves(len(equivalent), parameters.half_samples, seed, question_id, condition)
    return group_answers(equivalent), [group_answers(equivalent, among=half) for half in halves]


def standard_error_of(score: str) -> Meaning:
    """The meaning of the column of a score's standard error."""
    return Meaning(f"standard error of {score}, from halves of the answers; NULL where none were drawn", "nats")
