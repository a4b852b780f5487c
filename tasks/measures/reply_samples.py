"""Sampled replies with the next-token distributions along them, which are too large to store."""

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
    """Limit of the thoughts before a reply, and the models that think; `models: all` turns a template's switch on."""

    max_new_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """Limit of the tokens of thoughts. A model that reaches the limit has no answer; its reply counts as unfinished."""
    models: Literal["all", "without_switch"] = "all"
    """The models that think: all, or only models whose chat template has thoughts and no switch for them."""


class AnswersParameters(Parameters):
    """The decoding of replies."""

    samples: int = Field(default=10, ge=0, le=1000)
    """Sampled replies of each prompt; 0 for the greedy reply alone, for example of a deterministic application."""
    max_new_tokens: int = Field(default=20, ge=1, le=1000)
    """Limit of the tokens of a reply."""
    temperature: float = Field(default=0.5, gt=0, le=10)
    """The temperature of sampling."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """The probability mass that is sampled from."""
    top_k: int = Field(default=0, ge=0)
    """The likeliest tokens that are sampled from; 0 for all."""
    thinking: ThinkingPart | None = None
    """`{max_new_tokens: 2048}`: models may think in up to 2048 tokens before they answer. null: thinking is off if the
    chat template has a switch. `models: without_switch`: only models without a switch think."""


@dataclass(frozen=True)
class SampledReplies:
    """The replies to a question with a context or closed-book, with the distributions along them.

    Attributes:
        question: the question.
        case: the context; ALONE if closed-book.
        prompt: the prompt; None for an application, which writes its own prompts.
        answers: the greedy reply and the sampled replies.
        engine: name of the engine.
        thinking: the setting of thoughts in the prompt, such as enable_thinking=false; None without such a setting.
    """

    question: Question
    case: QuestionContext
    prompt: "AnswerPrompt | None"
    answers: SampledAnswers
    engine: str
    thinking: str | None

    @property
    def key(self) -> QuestionKey:
        """The ids of the question and its context."""
        return self.question.question_id, self.case.context_id

    @property
    def finished_answers(self) -> "dict[int, Answer]":
        """The samples that have an answer, by number. Unfinished and withheld replies are left out."""
        return {number: answer for number, answer in enumerate(self.answers.samples) if not answer.is_missing}

    @property
    def columns(self) -> Row:
        """The columns that name the question, its context and the engine."""
        return {**case_columns(self.question, self.case), "engine": self.engine}


def page_of(prompt_texts: AnswerPrompts, question: Question, case: QuestionContext) -> str | None:
    """Return the page that a prompt names as the topic of its question; None if the prompt names no page."""
    # topics: "all" if every prompt names a page, "disputable" if only the prompts of disputable questions do.
    topics = prompt_texts.about_without_context if case.text is None else prompt_texts.about_with_context
    return (question.page or question.subject or None) if topics == "all" or question.is_disputable else None


def reply_rejection(inputs: Inputs, model: Model, question: Question) -> str | None:
    """Return the reason why a question and its reply exceed the model's window without a context; None if they fit."""
    if isinstance(model, TextModel):
        return None
    reserved_tokens, prompt_texts, _ = _limits_and_prompts(inputs, model)
    return window_rejection(model, prompt_texts, question, reserved_tokens=reserved_tokens)


def _limits_and_prompts(inputs: Inputs, model: Model) -> tuple[int, AnswerPrompts, int | None]:
    """Return the token limit of thoughts and reply, the texts of prompts, and the limit of thoughts (None without)."""
    from swaymeter.tasks.models.prompts.answer_prompts import thinks_always

    parameters: AnswersParameters = inputs.parameters["answers"]
    prompt_texts, thinking = inputs.answer_prompts, parameters.thinking
    if thinking is None or (thinking.models == "without_switch" and not thinks_always(model, prompt_texts)):
        return parameters.max_new_tokens, prompt_texts, None
    max_thoughts = thinking.max_new_tokens
    return parameters.max_new_tokens + max_thoughts, replace(prompt_texts, thinking=True), max_thoughts


def window_rejection(
    model: Model, prompt_texts: AnswerPrompts, question: Question, *, reserved_tokens: int = 0
) -> str | None:
    """Return the reason why a question exceeds the model's window even without its context; None if it fits."""
    from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt

    options: dict[str, Any] = {"reserved_tokens": reserved_tokens, "prompts": prompt_texts}
    try:
        # This check replaces every context by "". So one closed-book case and one case with a context are enough.
        case_by_form = {case.text is None: case for case in question.cases}
        for is_closed_book, case in case_by_form.items():
            context = None if is_closed_book else ""
            answer_prompt(model, question.question, context, page=page_of(prompt_texts, question, case), **options)
    except ScoreError as error:
        return str(error)
    return None


def sample(inputs: Inputs, model: Samples, questions: Sequence[Question]) -> list[SampledReplies]:
    """Return the replies to every question, closed-book and with each context; equal inputs give equal replies."""
    if isinstance(model, TextModel):
        return _application_replies(model, questions)

    from swaymeter.tasks.models.prompts.answer_prompts import answer_header, answer_prompt, thinking_words
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    parameters: AnswersParameters = inputs.parameters["answers"]
    cases = [(question, case) for question in questions for case in question.cases]
    reserved_tokens, prompt_texts, max_thoughts = _limits_and_prompts(inputs, model)

    def prompt_of(question: Question, case: QuestionContext) -> "AnswerPrompt":
        page = page_of(prompt_texts, question, case)
        return answer_prompt(
            model, question.question, case.text, page=page, reserved_tokens=reserved_tokens, prompts=prompt_texts
        )

    prompts = [prompt_of(question, case) for question, case in cases]
    tokens = [prompt.tokens for prompt in prompts]
    contextless = None  # for contrastive decoding: the closed-book prompt for each prompt with a context
    if inputs.decoding:
        contextless = [None if case.text is None else prompt_of(question, ALONE).tokens for question, case in cases]
    identities = [(question.question_id, case.context_id) for question, case in cases]
    sampling = {"seed": inputs.seed, "batch_size": inputs.batch_size, **parameters.model_dump(exclude={"thinking"})}
    # The model writes the header of the assistant's turn if the prompt lacks the header.
    form, header = prompt_form(model, prompt_texts), answer_header(model, prompt_texts)
    answers = model.sample_answers(
        tokens,
        identities,
        form=form,
        header=header,
        max_thoughts=max_thoughts,
        decoding=inputs.decoding,
        contextless=contextless,
        **sampling,
    )
    if "coherent_persuasion" in inputs.outputs:
        answers = [
            _with_distributions(model, prompt_tokens, replies)
            for prompt_tokens, replies in zip(tokens, answers, strict=True)
        ]
    thinking = thinking_words(model, prompt_texts, max_thoughts)
    # The engine is chosen for the text that is decoded first: the thoughts, or without thoughts the answers.
    engine_name = model.engine_of_answers(tokens, new_tokens=max_thoughts or parameters.max_new_tokens)
    return [
        SampledReplies(question, case, prompt, replies, engine_name, thinking)
        for (question, case), prompt, replies in zip(cases, prompts, answers, strict=True)
    ]


def _application_replies(model: TextModel, questions: Sequence[Question]) -> list[SampledReplies]:
    cases = [(question, case) for question in questions for case in question.cases]
    return [
        SampledReplies(question, case, None, SampledAnswers((), answer), model.engine_name, None)
        for (question, case), answer in zip(cases, model.replies(cases), strict=True)
    ]


def _with_distributions(model: Samples, prompt: Sequence[int], replies: SampledAnswers) -> SampledAnswers:
    """Add the missing distributions along sampled replies; a server computes them only on request."""

    @functools.cache
    def distribution(thoughts: tuple[int, ...], tokens: tuple[int, ...]) -> Any:
        return model.mean_distribution((*prompt, *thoughts), tokens)

    def with_distribution(answer: "Answer") -> "Answer":
        if len(answer.mean_distribution) or answer.is_missing:
            return answer
        return replace(answer, mean_distribution=distribution(answer.thought_ids, answer.token_ids))

    return replace(replies, samples=tuple(map(with_distribution, replies.samples)))
