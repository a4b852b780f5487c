"""Answers as they are sampled, with the distributions along them, which are too large to be stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from data.records import CONDITIONS, Condition, Question
from tasks.measures.measure import Inputs, Parameters, Row
from tasks.measures.stored import QuestionKey
from tasks.models.language_model import LanguageModel

if TYPE_CHECKING:
    from tasks.scoring.answer_prompts import AnswerPrompt
    from tasks.scoring.generation import SampledAnswers


class AnswersParameters(Parameters):
    """How answers are sampled."""

    samples: int = Field(default=10, ge=1, le=1000)
    """Sampled answers of each prompt."""
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    """The most tokens of an answer."""
    temperature: float = Field(default=0.5, gt=0, le=10)
    """The temperature of sampling."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """The probability mass that is sampled from."""
    top_k: int = Field(default=0, ge=0)
    """The likeliest tokens that are sampled from; 0 for all."""


@dataclass(frozen=True)
class Sampled:
    """The answers to a question under a condition, with the distributions along them; prompt: what the model read."""

    question: Question
    condition: Condition
    prompt: "AnswerPrompt"
    answers: "SampledAnswers"
    engine: str

    @property
    def key(self) -> QuestionKey:
        """The question under the condition."""
        return self.question.question_id, self.condition

    @property
    def columns(self) -> Row:
        """The columns that name the question, the condition and the engine."""
        return {"question_id": self.question.question_id, "condition": self.condition, "engine": self.engine}


def sample(inputs: Inputs, model: LanguageModel, questions: Sequence[Question]) -> list[Sampled]:
    """The answers to every question under every condition; the same ones whenever it is called with the same inputs."""
    from tasks.scoring.answer_prompts import answer_prompt
    from tasks.scoring.generation import engine, sample_answers

    parameters: AnswersParameters = inputs.parameters["answers"]
    cases = [(question, condition) for question in questions for condition in CONDITIONS]
    prompts = [
        answer_prompt(model, question.question, question.context(condition), reserved_tokens=parameters.max_new_tokens)
        for question, condition in cases
    ]
    tokens = [prompt.tokens for prompt in prompts]
    identities = [(question.question_id, condition) for question, condition in cases]
    options = {"seed": inputs.seed, "batch_size": inputs.batch_size, **parameters.model_dump()}
    answers = sample_answers(model, tokens, identities, **options)
    engine_name = engine(model, tokens)
    return [
        Sampled(question, condition, prompt, of_prompt, engine_name)
        for (question, condition), prompt, of_prompt in zip(cases, prompts, answers, strict=True)
    ]
