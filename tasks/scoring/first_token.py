"""What a model says first: its next token after a prompt, the token that an answer begins with; context utilisation.

An answer begins as it stands behind the prompt: as the chat template writes the assistant's turn, or in the plain form
behind a space, unless the prompt ends with one. Prompt and answer are tokenized as one text.
What it is not: the whole answer. Answers with the same first token (New York and New Delhi) are the same here.

Context utilisation, with t the token that a relevant context promotes or, of an irrelevant context, the likeliest token
without it, and P(t) the model's probability of t as its next token:
    binary       BCU = 1 where t is the likeliest token with the context, else 0
    continuous   CCU = (P(t|Q,C) - P(t|Q)) / (1 - P(t|Q))   where P(t|Q,C) >= P(t|Q), else
                       (P(t|Q,C) - P(t|Q)) / P(t|Q)
CCU is the change of the probability as a share of the change that was possible in its direction, from -1, nothing is
left, to 1, nothing is lacking. P(t|Q) = 0 can only rise: 0 where it stays 0. P(t|Q) = 1 can only fall, and where it
stays 1, the ratio is 0/0 and there is no score.
What it is not: accuracy. A context is followed whether it is right or wrong, and an irrelevant one is ignored where the
model keeps its first answer, right or wrong. Nor is it a difference: close to P(t|Q) = 1 a rise of 0.001 may be all
that was possible, a fall of 0.001 is next to nothing.
Source: Hagström et al. 2025, CUB: Benchmarking Context Utilisation Techniques for Language Models, section 3.3 (BCU)
and appendix C, Eq. 1 (CCU). Ours: no score for 0/0, and where the context states several forms of its answer, t is any
of their first tokens and P(t) the sum.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import torch

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.capabilities import Model, NextTokenLogits, Tokens
from swaymeter.tasks.models.next_token.broken import first_broken
from swaymeter.tasks.models.next_token.by_query import PREFIX_TREE
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

    def log_probs(self, prompt: int) -> torch.Tensor:
        """The log-distribution after the prompt with this number: (V,) nats, float64, on the logits' device."""
        return torch.log_softmax(self.logits[prompt].double(), dim=0)

    def probability(self, prompt: int, tokens: Collection[int]) -> float:
        """The probability that one of these tokens comes next, each counted once; computed in float64."""
        distribution = torch.softmax(self.logits[prompt].cpu().double(), dim=0)
        return min(1.0, float(distribution[sorted(set(tokens))].sum()))


def next_tokens(model: NextTokenLogits, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> NextTokens:
    """The next token after every prompt, read `batch_size` at once; ScoreError where a prompt has no distribution."""
    return _checked(model, prompts, model.next_token_logits(prompts, batch_size=batch_size))


def next_tokens_together(
    model: NextTokenLogits, prompts: Sequence[Tokens], *, batch_size: int | None = None
) -> tuple[NextTokens, str]:
    """The next token after every prompt, what several begin with read once where the model can; and the engine.

    batch_size: prompts that are read at once where it cannot; ScoreError where a prompt has no distribution.
    """
    engine = model.engine_of_next_token([prompts])
    if engine != PREFIX_TREE:
        return next_tokens(model, prompts, batch_size=batch_size), engine
    rows: dict[int, torch.Tensor] = {}
    for place, of_prompt in model.next_token_by_query([prompts]):
        rows[place] = of_prompt.logits[0].clone()  # its memory is used again
    logits = torch.stack([rows[place] for place in range(len(prompts))])
    return _checked(model, prompts, logits), engine


def _checked(model: NextTokenLogits, prompts: Sequence[Tokens], logits: torch.Tensor) -> NextTokens:
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
    return {answer: tokens[0] for answer, tokens in answer_tokens(model, answers, prompts).items()}


def answer_tokens(
    model: Model, answers: Iterable[str], prompts: AnswerPrompts | None = None
) -> dict[str, tuple[int, ...]]:
    """The tokens of each answer after a prompt, arguments and errors as of first_tokens."""
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
        tokens[answer] = tuple(whole[len(before) :])
    return tokens


def continuous_utilisation(without: float, with_context: float) -> float | None:
    """The change of a probability as a share of the possible change, in [-1, 1]; None where it is 1 and stays 1.

    without, with_context: P(t|Q) and P(t|Q,C); ScoreError where one of them is not a probability.
    """
    for probability in (without, with_context):
        if not 0 <= probability <= 1:
            raise ScoreError(f"{probability} is not a probability; the model's distribution is broken")
    possible = 1 - without if with_context >= without else without
    return (with_context - without) / possible if possible else None


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
