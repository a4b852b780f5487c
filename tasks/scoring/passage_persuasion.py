"""Persuasion of a passage: how far one of the passages before a question moves the model's next token.

    pi(i, C, Q) = KL(p(.|Q, C) || p(.|Q, C without passage i)), in nats, >= 0

p(.|Q, C) is the distribution of the next token over the whole vocabulary after the prompt that puts the question Q
behind the passages C, so it is of an answer's first token. Without passage i the others keep their order, and are
numbered anew where they have numbers; where it was the only one, the question stands alone. What two prompts begin with
is read once, a prompt that occurs twice, too.
What it is not: a share of the context's effect. The scores of a context's passages do not add up to anything: of two
passages that say the same, each is hardly missed, and of two that matter together, both are missed. Nor is it
`persuasion`, whose reference is the mixture over all contexts, and which log n bounds: this one has no bound. A passage
that is left out also moves the ones behind it closer to the beginning; that counts, too. A high score does not say
whether the answer became right or wrong.
Source: the divergence is that of persuasion [Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 2]
with the distribution without the passage as its reference. To leave one part of a context out at a time, and to compare
distributions, is how Li et al. 2025, Attributing Response to Context (ARC-JSD), attribute an answer; their divergence
is that of Jensen and Shannon, summed over a given answer's tokens, and of sentences. Ours: the first token alone, by
passage.
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
from swaymeter.tasks.models.prompts.tokens import shortened
from swaymeter.tasks.scoring.first_token import NextTokens, next_tokens_together
from swaymeter.tasks.scoring.persuasion import ROUNDING

MOST_AT_ONCE = 256
"""Distinct prompts that are read together, unless one context has more: their distributions are kept until the end."""

Pair = tuple[Tokens, Tokens]
"""The tokens of a prompt with all passages, and without one of them."""


@dataclass(frozen=True)
class PassagePersuasion:
    """The score of one passage, in nats; the likeliest next token with and without it; engine: what read both."""

    score: float
    token_with: int
    token_without: int
    engine: str


@torch.inference_mode()
def passage_persuasion(
    model: NextTokenLogits, pairs: Sequence[Pair], *, batch_size: int | None = None
) -> list[PassagePersuasion]:
    """The persuasion of the passage that each pair of prompts differs in, in the order of the pairs.

    pairs: those of one context one after the other; batch_size: prompts that are read at once where a model reads
    nothing once for several. ScoreError where a prompt has no distribution, a score is not finite, or a model gives the
    same distribution, to the last bit, after all of several prompts.
    """
    scores: list[PassagePersuasion] = []
    for some in _groups(pairs):
        prompts = list(dict.fromkeys(tuple(prompt) for pair in some for prompt in pair))
        place = {prompt: number for number, prompt in enumerate(prompts)}
        read, engine = next_tokens_together(model, prompts, batch_size=batch_size)
        _check_that_prompts_matter(model, prompts, read)
        for whole, without in some:
            at, other = place[tuple(whole)], place[tuple(without)]
            score = float(divergences(read.log_probs(at)[None], read.log_probs(other)[None]))
            if not -ROUNDING <= score < np.inf:
                text = shortened(str(model.tokenizer.decode(list(whole))))
                raise ScoreError(f"persuasion of a passage by {model.name} is {score}, no valid score, in {text}")
            tokens = read.likeliest(at), read.likeliest(other)
            scores.append(PassagePersuasion(max(score, 0.0), *tokens, engine))
    return scores


def _groups(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The pairs in groups that are read together, those with the same whole prompt in one of them."""
    group: list[Pair] = []
    known: set[tuple[int, ...]] = set()
    for _, of_context in groupby(pairs, key=itemgetter(0)):
        some = list(of_context)
        prompts = {tuple(prompt) for pair in some for prompt in pair}
        if group and len(known | prompts) > MOST_AT_ONCE:
            yield group
            group, known = [], set()
        group += some
        known |= prompts
    if group:
        yield group


def _check_that_prompts_matter(model: NextTokenLogits, prompts: Sequence[Tokens], read: NextTokens) -> None:
    if len(prompts) == 1:  # what a context's cut left of it is the same without its passages
        return
    alike: NDArray[np.bool_] = Distributions.of(read.logits).are_alike().cpu().numpy()[None]
    text = str(model.tokenizer.decode(list(prompts[0])))
    check_contexts_matter(model, alike, [[prompt] for prompt in prompts], [text])
