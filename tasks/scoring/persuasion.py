"""Persuasion and susceptibility: how far contexts move a model's answer to a query.

    mixture              p(a|q)  = sum_c p(c) p(a|c,q)
    persuasion           pi(c,q) = KL(p(.|c,q) || p(.|q)), in nats, 0 <= pi(c,q) <= -log p(c)
    susceptibility       sigma(q) = sum_c p(c) pi(c,q) = I(C;A|q), in nats, 0 <= sigma <= min(H(p(c)), H(p(.|q)))
    entity-independent   kappa(c) = 1/|E| sum_e pi(c, q(e)),   gamma = sum_c p(c) kappa(c), in nats

p(c) is a context's frequency in the sample. The variable a is an answer's first token, any token of the vocabulary.
kappa(c) is the mean persuasion of a context over the queries of a query form, such as "The capital of {entity} is". The
form has one query for each entity in E. The context is about one of these entities, and is put before every query.
gamma is the entity-independent susceptibility of the form.
p(.|q) is not the distribution without a context. An estimate from n contexts is at most log n, so scores from different
n are not comparable.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 2-4 and Appendix B.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import NextTokenLogits, Tokens
from swaymeter.tasks.models.next_token.broken import check_contexts_matter, check_scores
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.prompts.tokens import no_distribution, tokenize_prompts

ROUNDING = 1e-6
"""Limit of the amount by which rounding may make a score negative, in nats."""
_TINY = torch.finfo(torch.float32).tiny
"""Lower bound of divisors and of arguments of the logarithm, so that none of them is 0."""


@dataclass(frozen=True, eq=False)
class PersuasionScores:
    """Persuasion and susceptibility, in nats, float64.

    Attributes:
        scores: persuasion, (n_queries, n_contexts).
        susceptibility: (n_queries,).
        engine: name of the engine.
    """

    scores: NDArray[np.float64]
    susceptibility: NDArray[np.float64]
    engine: str


def persuasion(
    model: NextTokenLogits,
    contexts: Sequence[str],
    queries: Sequence[str],
    *,
    prompts: Sequence[Sequence[Tokens]] | None = None,
    start_token: bool = True,
    memory: int | None = None,
) -> PersuasionScores:
    """Return the persuasion of every context and the susceptibility of every query [Du et al. 2024, Eq. 2-4].

    Args:
        model: the language model.
        contexts: n_contexts texts that are put directly before the queries; a context that occurs twice weighs twice.
        queries: n_queries complete texts.
        prompts: `[context][query]` tokens of the distinct contexts (see `distinct_contexts`) before the queries, as
            `tokenize_prompts` returns them; None tokenizes them.
        start_token: True begins tokenized prompts with the tokenizer's start token, if it has one.
        memory: bytes of memory beside the model; None for `memory_budget`.

    Raises:
        UsageError: contexts or queries are empty.
        ScoreError: a prompt does not fit the model, or a score is not finite; the message has the query and context.
    """
    distinct, weights, columns = distinct_contexts(contexts)
    context_weights = torch.from_numpy(weights).to(model.device, torch.float32)
    tokens = prompts
    if tokens is None:
        tokens = tokenize_prompts(model, distinct, queries, start_token=start_token)
    # Nothing is copied to the host before the end, because a GPU would wait for the copy.
    results: dict[int, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}
    for index, distributions in model.next_token_by_query(tokens, memory=memory):
        results[index] = (
            persuasion_scores(distributions, context_weights),
            distributions.log_normaliser,
            distributions.are_alike(),
        )
    # unmoved: True for each query with the same distribution after every context
    in_order = [results[index] for index in range(len(queries))]
    scores, normalisers, unmoved = (torch.stack(parts).cpu().numpy() for parts in zip(*in_order, strict=True))
    # The mixture spreads a NaN to all contexts; the normalisers show the context that has it.
    checks = (
        (~np.isfinite(normalisers), no_distribution(model)),
        (~(scores >= -ROUNDING) | np.isinf(scores), f"persuasion by {model.name} is not a valid score"),
    )
    check_scores(model.is_broken, checks, tokens, queries, distinct)
    check_contexts_matter(model, unmoved, tokens, queries)
    scores = np.maximum(scores, 0.0)  # a context that changes nothing may give -1e-8
    return PersuasionScores(scores[:, columns], scores @ weights, model.engine_of_next_token(tokens))


def distinct_contexts(contexts: Sequence[str]) -> tuple[list[str], NDArray[np.float64], list[int]]:
    """Return the distinct contexts, their weights p(c), and the index of each context among the distinct ones."""
    counts = Counter(contexts)
    column_of = {context: column for column, context in enumerate(counts)}
    weights = np.array(list(counts.values()), dtype=np.float64) / len(contexts)
    return list(counts), weights, [column_of[context] for context in contexts]


@torch.inference_mode()
def persuasion_scores(distributions: Distributions, weights: torch.Tensor) -> torch.Tensor:
    """Return KL(p(.|c,q) || p(.|q)) of every context c, (n_contexts,) in nats, float64; all NaN if any input is NaN.

    Args:
        distributions: distributions of the next token after every context, (n_contexts, V).
        weights: (n_contexts,), p(c), float32, on the device of the distributions.
    """
    scores = torch.zeros(len(weights), dtype=torch.float64, device=weights.device)
    for log_p in distributions.slices():
        scores += divergence_from_mixture(log_p.exp_(), weights)
    return scores


def divergence_from_mixture(p: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the contribution of a slice of answers to the persuasion of every context: (n_contexts,) in nats.

    The divergence from the mixture m is summed as p log(p / m) - p + m. Over all answers, -p + m sums to 0, but makes
    every term at least 0, and lets rounding of the normalisers cancel. By definition, 0 log 0 = 0.

    Args:
        p: (n_contexts, n_answers), probabilities after each context.
        weights: (n_contexts,), p(c).
    """
    mixture = weights @ p
    terms = (p / mixture.clamp(min=_TINY)).clamp_(min=_TINY).log_().mul_(p).sub_(p).add_(mixture)
    return terms.sum(dim=1)
