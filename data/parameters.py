"""The parameters that measures take, with the values they have where a study names none."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

LEAST_DRAWS = 32
LEAST_HALF_SAMPLES = 10


class Parameters(BaseModel):
    """The parameters of a measure; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoParameters(Parameters):
    """A measure without parameters."""


class MemorizationParameters(Parameters):
    """How long a greedy answer may become, in tokens."""

    max_new_tokens: int = Field(default=10, ge=1, le=1000)


class AnswerSetParameters(Parameters):
    """What may end a complete answer."""

    terminators: tuple[str, ...] = Field(default=("\n", "."), min_length=1)

    @field_validator("terminators")
    @classmethod
    def _texts(cls, terminators: tuple[str, ...]) -> tuple[str, ...]:
        if "" in terminators or len(set(terminators)) < len(terminators):
            raise ValueError('expected different texts, none of them empty, such as ["\\n", "."]')
        return terminators


class FisherParameters(Parameters):
    """How many of the likeliest answers are taken exactly, and how often signs are drawn for the rest."""

    top_k: int = Field(default=10, ge=1, le=10_000)
    draws: int = Field(default=64, ge=0, le=100_000)

    @field_validator("draws")
    @classmethod
    def _enough(cls, draws: int) -> int:
        if 0 < draws < LEAST_DRAWS:
            raise ValueError(
                f"{draws} are too few to tell how far they scatter; use at least {LEAST_DRAWS}, "
                "or 0 for the likeliest answers alone"
            )
        return draws


class PrecisionParameters(Parameters):
    """How many queries of a relation are scored once more, and in which number format."""

    queries: int = Field(default=4, ge=1, le=100_000)
    reference: Literal["float32", "bfloat16", "float16"] = "float32"


class AnswersParameters(Parameters):
    """How answers are sampled, when two of them count as equivalent, and how many halves tell a standard error."""

    samples: int = Field(default=10, ge=1, le=1000)
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    temperature: float = Field(default=0.5, gt=0, le=10)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    entailment: str = "microsoft/deberta-large-mnli"
    entailment_with_question: bool = False
    threshold: float = Field(default=0.8, gt=0, le=1)
    half_samples: int = Field(default=50, ge=0, le=10_000)

    @field_validator("half_samples")
    @classmethod
    def _enough(cls, half_samples: int) -> int:
        if 0 < half_samples < LEAST_HALF_SAMPLES:
            raise ValueError(
                f"{half_samples} are too few to tell how far they scatter; use at least {LEAST_HALF_SAMPLES}, "
                "or 0 for no standard errors"
            )
        return half_samples


class AccuracyParameters(Parameters):
    """When an answer counts as the expected one."""

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)
