"""Standard errors of scores of sampled answers: halves of the samples and their clusters."""

from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from data.records.row import Meaning
from tasks.measures.measure import Parameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_HALF_SAMPLES = 10


class HalfSampleParameters(Parameters):
    """How many halves of the answers a standard error is estimated from; 0 for no standard errors."""

    half_samples: int = Field(default=50, ge=0, le=10_000)
    """Half samples that the standard error is estimated from; 0 for no standard errors."""

    @field_validator("half_samples")
    @classmethod
    def _enough(cls, half_samples: int) -> int:
        if 0 < half_samples < LEAST_HALF_SAMPLES:
            raise ValueError(
                f"{half_samples} are too few to estimate their spread; use at least {LEAST_HALF_SAMPLES}, "
                "or 0 for no standard errors"
            )
        return half_samples


def clusters_of(
    equivalent: "NDArray[np.bool_]", parameters: HalfSampleParameters, seed: int, question_id: str, condition: str
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """The clusters of the answers to a question under a condition, and those of each of their half-samples."""
    from tasks.scoring.half_samples import draw_halves
    from tasks.scoring.semantic_entropy import group_answers

    halves = draw_halves(len(equivalent), parameters.half_samples, seed, question_id, condition)
    return group_answers(equivalent), [group_answers(equivalent, among=half) for half in halves]


def standard_error_of(score: str) -> Meaning:
    """The meaning of the column of a score's standard error."""
    return Meaning(f"standard error of {score}, from halves of the answers; NULL where none were drawn", "nats")
