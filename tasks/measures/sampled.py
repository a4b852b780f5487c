"""Answers as they are sampled, with the distributions along them, which are too large to be stored."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ScoreError
from swaymeter.data.records import ALONE, Question, QuestionContext
from swaymeter.tasks.measures.measure import Inputs, Parameters, Row
from swaymeter.tasks.measures.rows import QuestionKey, case_columns
from swaymeter.tasks.models.applications import TextModel
from swaymeter.tasks.models.capabilities import Model, SampledAnswers, Samples

if TYPE_CHECKING:
    from swaymeter.tasks.models.capabilities import Answer
    from swaymeter.tasks.models.prompts.answer_prompts import AnswerPrompt


class ThinkingPart(Parameters):
    """How long models may think before they answer. The template's switch is on meanwhile, where there is one."""

    max_new_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """The most tokens of thoughts; one that has not ended by then has no answer, and is counted as unfinished."""
    models: Literal["all", "without_switch"] = "all"
    """Which models: all, or those alone whose chat template has thoughts and no switch that turns them off."""


class AnswersParameters(Parameters):
    """How answers are sampled."""

    samples: int = Field(default=10, ge=0, le=1000)
    """Sampled answers of each prompt; 0 for the greedy answer alone, as of an application without randomness."""
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    """The most tokens of an answer."""
    temperature: float = Field(default=0.5, gt=0, le=10)
    """The temperature of sampling."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """The probability mass that is sampled from."""
    top_k: int = Field(default=0, ge=0)
    """The likeliest tokens that are sampled from; 0 for all."""
    thinking: ThinkingPart | None = None
    """`{max_new_tokens: 2048}`: models may think, in so many tokens, before they answer; null: thinking is off where a
    chat template has a switch. `models: without_switch`: only those that cannot do without."""


@dataclass(frozen=True)
class Sampled:
    """The answers to a question in one of its cases, with the distributions along them.

    prompt: what the model read, None of an application, which writes its own; thinking: how it was asked to think,
    None where its template knows of no thoughts.
    """

    question: Question
    case: QuestionContext
    prompt: "AnswerPrompt | None"
    answers: SampledAnswers
    engine: str
    thinking: str | None

    @property
    def key(self) -> QuestionKey:
        """The question and its context."""
        return self.question.question_id, self.case.context_id

    @property
    def finished(self) -> "dict[int, Answer]":
        """The samples that are answers, and not thoughts without an end or withheld, by their numbers."""
        return {number: answer for number, answer in enumerate(self.answers.samples) if not answer.is_missing}

    @property
    def columns(self) -> Row:
        """The columns that name the question, its context and the engine."""
        return {**case_columns(self.question, self.case), "engine": self.engine}


def page_of(prompts: AnswerPrompts, question: Question, case: QuestionContext) -> str | None:
    """What the prompt of a case says that its question is about; None where it says nothing."""
    which = prompts.about_without_context if case.text is None else prompts.about_with_context
    return (question.page or question.subject or None) if which == "all" or question.is_disputable else None


def too_long(inputs: Inputs, model: Model, question: Question) -> str | None:
    """Why a question does not fit the model's window with its answer, even without its context; None where it does."""
    if isinstance(model, TextModel):
        return None
    reserved_tokens, texts, _ = _thinking(inputs, model)
    return unfit(model, texts, question, reserved_tokens=reserved_tokens)


def _thinking(inputs: Inputs, model: Model) -> tuple[int, AnswerPrompts, int | None]:
    """The tokens that a reply may have, how questions are put, and the most tokens of thoughts; None for none."""
    from swaymeter.tasks.models.prompts.answer_prompts import thinks_always

    parameters: AnswersParameters = inputs.parameters["answers"]
    texts, thinking = inputs.answer_prompts, parameters.thinking
    if thinking is None or (thinking.models == "without_switch" and not thinks_always(model, texts)):
        return parameters.max_new_tokens, texts, None
    tokens = thinking.max_new_tokens
    return parameters.max_new_tokens + tokens, replace(texts, thinking=True), tokens


def unfit(model: Model, prompts: AnswerPrompts, question: Question, *, reserved_tokens: int = 0) -> str | None:
    """Why a question does not fit the model's window, even without its context; None where it does."""
    from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt

    options: dict[str, Any] = {"reserved_tokens": reserved_tokens, "prompts": prompts}
    try:
        for case in {case.text is None: case for case in question.cases}.values():
            empty = None if case.text is None else ""
            answer_prompt(model, question.question, empty, page=page_of(prompts, question, case), **options)
    except ScoreError as error:
        return str(error)
    return None


def sample(inputs: Inputs, model: Samples, questions: Sequence[Question]) -> list[Sampled]:
    """The answers to every question in each of its cases; the same ones whenever it is called with the same inputs."""
    if isinstance(model, TextModel):
        return _texts(model, questions)

    from swaymeter.tasks.models.prompts.answer_prompts import answer_header, answer_prompt, thinking_words
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    parameters: AnswersParameters = inputs.parameters["answers"]
    cases = [(question, case) for question in questions for case in question.cases]
    reserved_tokens, texts, max_thoughts = _thinking(inputs, model)
    options: dict[str, Any] = {"reserved_tokens": reserved_tokens, "prompts": texts}
    prompts = [
        answer_prompt(model, question.question, case.text, page=page_of(texts, question, case), **options)
        for question, case in cases
    ]
    tokens = [prompt.tokens for prompt in prompts]
    without = [
        None if case.text is None
        else answer_prompt(model, question.question, None, page=page_of(texts, question, ALONE), **options).tokens
        for question, case in cases
    ] if inputs.decoding else None  # fmt: skip
    identities = [(question.question_id, case.context_id) for question, case in cases]
    sampling = {"seed": inputs.seed, "batch_size": inputs.batch_size, **parameters.model_dump(exclude={"thinking"})}
    form, header = prompt_form(model, texts), answer_header(model, texts)
    answers = model.sample_answers(
        tokens, identities, form=form, header=header, max_thoughts=max_thoughts, decoding=inputs.decoding,
        without=without, **sampling,
    )  # fmt: skip
    if "coherent_persuasion" in inputs.outputs:
        answers = [_with_distributions(model, each, of_prompt) for each, of_prompt in zip(tokens, answers, strict=True)]
    thinking = thinking_words(model, texts, max_thoughts)
    engine_name = model.engine_of_answers(tokens, to_come=max_thoughts or parameters.max_new_tokens)
    return [
        Sampled(question, case, prompt, of_prompt, engine_name, thinking)
        for (question, case), prompt, of_prompt in zip(cases, prompts, answers, strict=True)
    ]


def _texts(model: TextModel, questions: Sequence[Question]) -> list[Sampled]:
    """Return the replies of an application, which writes its own prompts."""
    cases = [(question, case) for question in questions for case in question.cases]
    return [
        Sampled(question, case, None, SampledAnswers((), answer), model.engine_name, None)
        for (question, case), answer in zip(cases, model.replies(cases), strict=True)
    ]


def _with_distributions(model: Samples, prompt: Sequence[int], answers: SampledAnswers) -> SampledAnswers:
    """The answers with the distributions along them, which a server gives where it is asked for them alone."""

    @functools.cache
    def along(thoughts: tuple[int, ...], tokens: tuple[int, ...]) -> Any:
        return model.mean_distribution((*prompt, *thoughts), tokens)

    def whole(answer: "Answer") -> "Answer":
        if len(answer.mean_distribution) or answer.is_missing:
            return answer
        return replace(answer, mean_distribution=along(answer.thought_ids, answer.token_ids))

    return replace(answers, samples=tuple(map(whole, answers.samples)))
