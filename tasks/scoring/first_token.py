"""The first token of an answer after a prompt, and context utilisation, computed from this token's probability.

Prompt and answer are tokenized as one text. In the form `plain`, the answer follows a space, unless the prompt ends
with a blank.
A first token is not the whole answer: answers with the same first token (New York and New Delhi) count as the same.

Context utilisation compares two probabilities of a token t as the next token: P(t|Q) after the question Q alone, and
P(t|Q,C) after the question with the context C. For a relevant context, t is the first token of the answer that the
context states. For an irrelevant or neutral context, t is the likeliest token without the context.
    binary       BCU = 1 if t is the likeliest token with the context, else 0
    continuous   CCU = (P(t|Q,C) - P(t|Q)) / (1 - P(t|Q))   if P(t|Q,C) >= P(t|Q), else
                       (P(t|Q,C) - P(t|Q)) / P(t|Q)
CCU is the change of the probability as a share of the possible change in its direction: -1 for a fall to 0, and 1 for a
rise to 1. If the probability stays 1, the ratio is 0/0 and there is no score.
Context utilisation is not accuracy: the context's answer and the closed-book answer may each be right or wrong. CCU is
no difference of probabilities: close to P(t|Q) = 1, a rise of 0.001 may be the whole possible change, and a fall of
0.001 next to nothing.
Source: Hagström et al. 2025, CUB: Benchmarking Context Utilisation Techniques for Language Models, section 3.3 (BCU)
and appendix C, Eq. 1 (CCU). This project: no score for 0/0; if the context states several forms of its answer, P(t) is
the summed probability of their first tokens, and BCU is 1 if any of these tokens is the likeliest one.
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
from swaymeter.tasks.models.prompts.answer_prompts import fill_gaps, template_options
from swaymeter.tasks.models.prompts.template_options import Turns, prompt_form, render
from swaymeter.tasks.models.prompts.tokens import no_distribution, shorten


@dataclass(frozen=True, eq=False)
class NextTokens:
    """The logits of the next token after each of n prompts.

    Attributes:
        logits: (n, V), in the model's dtype, on the model's device.
    """

    logits: torch.Tensor

    def likeliest(self, prompt: int) -> int:
        """Return the likeliest token after the prompt with this index."""
        return int(self.logits[prompt].argmax())

    def top(self, prompt: int, count: int) -> list[tuple[int, float]]:
        """Return the `count` likeliest tokens after the prompt with this index, with probabilities in float64."""
        distribution = torch.softmax(self.logits[prompt].cpu().double(), dim=0)
        probabilities, tokens = distribution.topk(min(count, len(distribution)))
        return list(zip(tokens.tolist(), probabilities.tolist(), strict=True))

    def log_probs(self, prompt: int) -> torch.Tensor:
        """Return the log-distribution after the prompt with this index: (V,) nats, float64, on the logits' device."""
        return torch.log_softmax(self.logits[prompt].double(), dim=0)

    def probability(self, prompt: int, tokens: Collection[int]) -> float:
        """Return the probability that one of these tokens comes next, each counted once; computed in float64."""
        distribution = torch.softmax(self.logits[prompt].cpu().double(), dim=0)
        return min(1.0, float(distribution[sorted(set(tokens))].sum()))


def next_tokens(model: NextTokenLogits, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> NextTokens:
    """Return the logits of the next token after every prompt; ScoreError if a prompt has no distribution."""
    return _check(model, prompts, model.next_token_logits(prompts, batch_size=batch_size))


def next_tokens_together(
    model: NextTokenLogits, prompts: Sequence[Tokens], *, batch_size: int | None = None
) -> tuple[NextTokens, str]:
    """Return the logits of the next token after every prompt, and the name of the engine.

    The engine `PREFIX_TREE` reads a common prefix of the prompts once.

    Args:
        model: the model.
        prompts: the prompts.
        batch_size: number of prompts in a forward pass of any other engine.

    Raises:
        ScoreError: a prompt has no distribution.
    """
    engine = model.engine_of_next_token([prompts])
    if engine != PREFIX_TREE:
        return next_tokens(model, prompts, batch_size=batch_size), engine
    rows: dict[int, torch.Tensor] = {}
    for index, distributions in model.next_token_by_query([prompts]):
        rows[index] = distributions.logits[0].clone()  # the engine reuses this memory
    logits = torch.stack([rows[index] for index in range(len(prompts))])
    return _check(model, prompts, logits), engine


def _check(model: NextTokenLogits, prompts: Sequence[Tokens], logits: torch.Tensor) -> NextTokens:
    broken = (~torch.isfinite(Distributions.of(logits).log_normaliser)).nonzero().flatten().tolist()
    if broken:
        prompt = first_broken([prompts[index] for index in broken], model.is_broken)
        text = shorten(str(model.tokenizer.decode(list(prompt))))
        raise ScoreError(f"{no_distribution(model)} after the prompt {text}")
    return NextTokens(logits)


def first_tokens(model: Model, answers: Iterable[str], prompts: AnswerPrompts | None = None) -> dict[str, int]:
    """Return the token that each answer begins with after a prompt.

    Args:
        model: the model.
        answers: the answers.
        prompts: the texts of the prompts; by default those of the catalog.

    Raises:
        ScoreError: an answer is empty, or a token spans the end of the prompt and the beginning of an answer.
    """
    return {answer: tokens[0] for answer, tokens in answer_tokens(model, answers, prompts).items()}


def answer_tokens(
    model: Model, answers: Iterable[str], prompts: AnswerPrompts | None = None
) -> dict[str, tuple[int, ...]]:
    """Return the tokens of each answer after a prompt; arguments and errors are those of `first_tokens`."""
    prompts = prompts or catalog.prompts()
    if prompt_form(model, prompts) == "chat":
        turns = [{"role": "user", "content": "?"}]
        prompt = render(model, turns, options=template_options(model, prompts))
        space = _space(model, turns, prompt)
    else:
        prompt = fill_gaps(prompts.plain_without_context, question="?")
        space = "" if prompt[-1].isspace() else " "
    prompt_tokens = _tokens(model, prompt)
    tokens = {}
    for answer in dict.fromkeys(answers):
        whole = _tokens(model, f"{prompt}{space}{answer}")
        if not answer.strip() or whole[: len(prompt_tokens)] != prompt_tokens:  # a token spans prompt and answer
            raise ScoreError(
                f"the answer {shorten(answer)} cannot be separated from the prompt in tokens of {model.name}; remove "
                "the contexts with this answer from the questions, or use another model"
            )
        tokens[answer] = tuple(whole[len(prompt_tokens) :])
    return tokens


def continuous_utilisation(without: float, with_context: float) -> float | None:
    """Return the change of a probability as a share of the possible change, in [-1, 1]; None if both are 1.

    Args:
        without: P(t|Q).
        with_context: P(t|Q,C).

    Raises:
        ScoreError: an argument is not a probability.
    """
    for probability in (without, with_context):
        if not 0 <= probability <= 1:
            raise ScoreError(
                f"the model gives an answer the value {probability} in place of a probability, a sign of damaged "
                "weights; remove the model's files and download the files again"
            )
    possible_change = 1 - without if with_context >= without else without
    return (with_context - without) / possible_change if possible_change else None


def _space(model: Model, turns: Turns, prompt: str) -> str:
    """Return the space that the chat template writes before the assistant's text, or an empty text."""
    answer = "xyzzy"  # any word
    try:
        whole = render(model, [*turns, {"role": "assistant", "content": answer}], generation_prompt=False)
    except Exception:  # a template can refuse a finished turn with any exception
        return ""
    return " " if whole.startswith(f"{prompt} {answer}") else ""


def _tokens(model: Model, text: str) -> list[int]:
    tokens: list[int] = model.tokenizer(text, add_special_tokens=False)["input_ids"]
    return tokens
