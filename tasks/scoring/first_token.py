"""What a model says first: its next token after a prompt for an answer, and the token that a given answer begins with.

An answer begins as it stands behind the prompt: as the chat template writes the assistant's turn, or in the plain form
behind a space, unless the prompt ends with one. Prompt and answer are tokenized as one text.
What it is not: the whole answer. Answers with the same first token (New York and New Delhi) are the same here.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import torch

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.capabilities import Model, NextTokenLogits, Tokens
from swaymeter.tasks.models.next_token.broken import first_broken
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.prompts.answer_prompts import filled, template_options
from swaymeter.tasks.models.prompts.template_options import Turns, prompt_form, rendered
from swaymeter.tasks.models.prompts.tokens import no_distribution, shortened


@dataclass(frozen=True, eq=False)
class NextTokens:
    """The next token after each of some prompts; logits: (n, V), in the model's dtype, on its device."""

    logits: torch.Tensor

    def likeliest(self, prompt: int) -> int:
        """The likeliest token after the prompt with this number."""
        return int(self.logits[prompt].argmax())

    def first(self, prompt: int, count: int) -> list[tuple[int, float]]:
        """The likeliest tokens after the prompt with this number, each with its probability, computed in float64."""
        distribution = torch.softmax(self.logits[prompt].cpu().double(), dim=0)
        probabilities, tokens = distribution.topk(min(count, len(distribution)))
        return list(zip(tokens.tolist(), probabilities.tolist(), strict=True))

    def probability(self, prompt: int, tokens: Collection[int]) -> float:
        """The probability that one of these tokens comes next, each counted once; computed in float64."""
        distribution = torch.softmax(self.logits[prompt].cpu().double(), dim=0)
        return min(1.0, float(distribution[sorted(set(tokens))].sum()))


def next_tokens(model: NextTokenLogits, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> NextTokens:
    """The next token after every prompt, read `batch_size` at once; ScoreError where a prompt has no distribution."""
    logits = model.next_token_logits(prompts, batch_size=batch_size)
    broken = (~torch.isfinite(Distributions.of(logits).log_normaliser)).nonzero().flatten().tolist()
    if broken:
        prompt = first_broken([prompts[place] for place in broken], model.is_broken)
        text = shortened(str(model.tokenizer.decode(list(prompt))))
        raise ScoreError(f"{no_distribution(model)} after the prompt {text}")
    return NextTokens(logits)


def first_tokens(model: Model, answers: Iterable[str], prompts: AnswerPrompts | None = None) -> dict[str, int]:
    """The token that each answer begins with after a prompt; ScoreError where none does.

    prompts: None for the catalog's.
    """
    prompts = prompts or catalog.prompts()
    if prompt_form(model, prompts) == "chat":
        turns = [{"role": "user", "content": "?"}]
        prompt = rendered(model, turns, options=template_options(model, prompts))
        space = _space(model, turns, prompt)
    else:
        prompt = filled(prompts.plain_without_context, question="?")
        space = "" if prompt[-1].isspace() else " "
    before = _tokens(model, prompt)
    tokens = {}
    for answer in dict.fromkeys(answers):
        whole = _tokens(model, f"{prompt}{space}{answer}")
        if not answer.strip() or whole[: len(before)] != before:
            raise ScoreError(
                f"the answer {shortened(answer)} has no first token of its own after a prompt of {model.name}; "
                "leave the context that states it out of the questions"
            )
        tokens[answer] = whole[len(before)]
    return tokens


def _space(model: Model, turns: Turns, prompt: str) -> str:
    """The space that the chat template writes before the assistant's text, or nothing."""
    answer = "xyzzy"
    try:
        whole = rendered(model, [*turns, {"role": "assistant", "content": answer}], generation_prompt=False)
    except Exception:  # a template can refuse a finished turn with any exception
        return ""
    return " " if whole.startswith(f"{prompt} {answer}") else ""


def _tokens(model: Model, text: str) -> list[int]:
    tokens: list[int] = model.tokenizer(text, add_special_tokens=False)["input_ids"]
    return tokens
