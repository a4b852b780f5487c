"""Persuasion of a passage: how far one of the passages before a question moves the model's next token.

    pi(i, C, Q) = KL(p(.|Q, C) || p(.|Q, C without passage i)), in nats, >= 0

p(.|Q, C) is the next-token distribution after a prompt with the passages C before the question Q: the distribution of
an answer's first token. Without passage i the other passages keep their order, and are renumbered if they have numbers;
without the only passage, the question is closed-book. Later passages then stand closer to the beginning, which is part
of the score.
What it is not: a share of the context's effect. The scores of a context's passages do not add up. Two passages with the
same content score low, because each replaces the other. Two passages that matter only together both score high. The
score is not `persuasion` either. The reference of `persuasion` is the mixture over all n contexts, and its bound is
log n; the score of a passage has no bound. A high score does not tell if the answer became right or wrong.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 2 (persuasion), with the distribution
without the passage in place of the mixture. Li et al. 2025, Attributing Response to Context (ARC-JSD), also leave out
one part of a context at a time and compare distributions. They score sentences by the divergence of Jensen and Shannon,
summed over the tokens of an answer. This project scores passages by the first token alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.capabilities import NextTokenLogits, Tokens
from swaymeter.tasks.models.next_token.broken import check_contexts_matter
from swaymeter.tasks.models.next_token.distributions import Distributions, divergences
from swaymeter.tasks.models.prompts.tokens import shorten
from swaymeter.tasks.scoring.first_token import NextTokens, next_tokens_together
from swaymeter.tasks.scoring.persuasion import ROUNDING

MAX_PROMPTS = 256
"""Limit of distinct prompts that are read together, because their distributions stay in memory."""

Pair = tuple[Tokens, Tokens]
"""The tokens of a prompt with all passages, and of the same prompt without one passage."""


@dataclass(frozen=True)
class PassagePersuasion:
    """The persuasion of one passage.

    Attributes:
        score: the persuasion in nats.
        token_with: the likeliest next token with the passage.
        token_without: the likeliest next token without the passage.
        engine: name of the engine of both prompts.
    """

    score: float
    token_with: int
    token_without: int
    engine: str


@torch.inference_mode()
def passage_persuasion(
    model: NextTokenLogits, pairs: Sequence[Pair], *, batch_size: int | None = None
) -> list[PassagePersuasion]:
    """Return, for each pair of prompts, the persuasion of the passage that the second prompt lacks.

    Args:
        model: the model.
        pairs: pairs of prompts; pairs with the same first prompt follow one another.
        batch_size: number of prompts in a forward pass, if the engine does not share prefixes.

    Raises:
        ScoreError: a prompt has no distribution, a score is not finite, or different prompts all give the same
            distribution to the last bit.
    """
    scores: list[PassagePersuasion] = []
    for group in _groups(pairs):
        prompts = list(dict.fromkeys(tuple(prompt) for pair in group for prompt in pair))
        row_of = {prompt: row for row, prompt in enumerate(prompts)}
        next_tokens, engine = next_tokens_together(model, prompts, batch_size=batch_size)
        _check_that_prompts_matter(model, prompts, next_tokens)
        for whole, without in group:
            row, row_without = row_of[tuple(whole)], row_of[tuple(without)]
            score = float(divergences(next_tokens.log_probs(row)[None], next_tokens.log_probs(row_without)[None]))
            if not -ROUNDING <= score < np.inf:
                text = shorten(str(model.tokenizer.decode(list(whole))))
                raise ScoreError(
                    f"persuasion of a passage by {model.name} is {score}, not a valid score, in the prompt {text}; "
                    "try another dtype"
                )
            likeliest = next_tokens.likeliest(row), next_tokens.likeliest(row_without)
            scores.append(PassagePersuasion(max(score, 0.0), *likeliest, engine))
    return scores


def _groups(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in groups that are read together; pairs with the same first prompt are in one group."""
    group: list[Pair] = []
    distinct: set[tuple[int, ...]] = set()
    for _, pairs_of_context in groupby(pairs, key=itemgetter(0)):
        context_pairs = list(pairs_of_context)
        prompts = {tuple(prompt) for pair in context_pairs for prompt in pair}
        if group and len(distinct | prompts) > MAX_PROMPTS:
            yield group
            group, distinct = [], set()
        group += context_pairs
        distinct |= prompts
    if group:
        yield group


def _check_that_prompts_matter(model: NextTokenLogits, prompts: Sequence[Tokens], next_tokens: NextTokens) -> None:
    if len(prompts) == 1:  # the model's context window cut all passages off, so the prompts are equal
        return
    alike: NDArray[np.bool_] = Distributions.of(next_tokens.logits).are_alike().cpu().numpy()[None]
    text = str(model.tokenizer.decode(list(prompts[0])))
    check_contexts_matter(model, alike, [[prompt] for prompt in prompts], [text])
