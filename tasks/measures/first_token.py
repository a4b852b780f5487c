"""Prompts and refused models of the measures that read the first token of a reply."""

from collections.abc import Iterable
from dataclasses import replace

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ScoreError
from swaymeter.data.records import Question
from swaymeter.tasks.measures.measure import Inputs
from swaymeter.tasks.measures.reply_samples import window_rejection
from swaymeter.tasks.models.capabilities import Model, Tokens


def first_token_prompts(inputs: Inputs) -> AnswerPrompts:
    """Return prompts with the generation prompt; without it, the next token would begin the assistant's header."""
    return replace(inputs.answer_prompts, generation_prompt=True)


def first_token_rejection(inputs: Inputs, model: Model, question: Question) -> str | None:
    """Return the reason why a question exceeds the window even without its context; None if it fits."""
    return window_rejection(model, first_token_prompts(inputs), question)


def refuse_thoughts(measure: str, model: Model, likeliest: Iterable[int], prompt: Tokens) -> None:
    """Raise ScoreError if a likeliest next token, or the prompt, opens thoughts before the answer."""
    from swaymeter.tasks.models.prompts.thoughts import begins_thoughts, opened_thoughts

    if any(begins_thoughts(model.tokenizer, [token]) for token in likeliest):
        opener = model.name
    elif opened_thoughts(model.tokenizer, prompt):
        opener = f"the chat template of {model.name}"
    else:
        return
    raise ScoreError(
        f"{measure} reads the first token of a reply as the answer, but {opener} begins the reply with thoughts; leave "
        f"{measure} out for this model"
    )
