"""Persuasion and susceptibility: how far contexts move a model's answer to a query.

    mixture          p(a|q)  = sum_c p(c) p(a|c,q)
    persuasion       pi(c,q) = KL(p(.|c,q) || p(.|q)), in nats, 0 <= pi(c,q) <= -log p(c)
    susceptibility   sigma(q) = sum_c p(c) pi(c,q) = I(C;A|q), in nats, 0 <= sigma <= min(H(p(c)), H(p(.|q)))

p(c) is how often a context occurs in the sample. a runs over the whole vocabulary: it is an answer's first token.
What it is not: p(.|q) is not the model's answer without a context, and an estimate from n contexts is capped at log n,
so scores from different n are not compared.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 2-4.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel
from tasks.scoring.next_token import next_token_by_query, shortened

_ROUNDING = 1e-9
_SLICE = 2048  # vocabulary entries that are held in float64 at once


@dataclass(frozen=True, eq=False)
class Persuasion:
    """scores: (n_queries, n_contexts); susceptibility: (n_queries,); both in nats, float64."""

    scores: NDArray[np.float64]
    susceptibility: NDArray[np.float64]


def persuasion(
    model: LanguageModel, contexts: Sequence[str], queries: Sequence[str], *, batch_size: int = 32
) -> Persuasion:
    """The persuasion score of every context for every query, and every query's susceptibility score.

    contexts: texts put before the queries with nothing between; one that occurs twice weighs twice. queries: complete
    texts. batch_size: prompts that are read at once. Source: Du et al. 2024, Eq. 2-4.
    Raises UsageError when there is no context or no query, ScoreError for a prompt that does not fit the model or a
    score that is not finite, with its query and context.
    """
    if not contexts or not queries:
        raise UsageError(f"persuasion needs contexts and queries; given: {len(contexts)} and {len(queries)}")
    counts = Counter(contexts)
    weights = np.array(list(counts.values()), dtype=np.float64) / len(contexts)
    place = {context: row for row, context in enumerate(counts)}
    distinct = list(counts)
    scores = np.empty((len(queries), len(distinct)), dtype=np.float64)
    distributions = next_token_by_query(model, distinct, queries, batch_size=batch_size)
    for row, (query, log_probs) in enumerate(zip(queries, distributions, strict=True)):
        scores[row] = persuasion_scores(log_probs, weights)
        _check(model, scores[row], query, distinct)
    return Persuasion(scores[:, [place[context] for context in contexts]], scores @ weights)


def persuasion_scores(log_probs: torch.Tensor, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL(p(.|c,q) || p(.|q)) of every context c, p(.|q) being the weighted mixture: (n_contexts,) in nats.

    log_probs: (n_contexts, V), the distributions of the next token; weights: (n_contexts,), p(c), which sum to 1.
    A distribution is normalised again in float64. An answer without probability adds nothing: 0 log 0 = 0.
    """
    normaliser = torch.zeros(len(log_probs), dtype=torch.float64, device=log_probs.device)
    for part in torch.split(log_probs, _SLICE, dim=1):
        normaliser += part.double().exp().sum(dim=1)
    log_normaliser = normaliser.log().unsqueeze(1)
    log_weights = torch.from_numpy(np.log(weights)).to(log_probs.device).unsqueeze(1)
    scores = torch.zeros_like(normaliser)
    for part in torch.split(log_probs, _SLICE, dim=1):
        log_p = part.double() - log_normaliser
        log_mixture = torch.logsumexp(log_p + log_weights, dim=0)
        terms = log_p.exp() * (log_p - log_mixture)
        scores += torch.where(torch.isneginf(log_p), 0.0, terms).sum(dim=1)
    values: NDArray[np.float64] = scores.cpu().numpy()
    # A context that changes nothing comes out as -1e-17: rounding, not a score.
    return np.where((values < 0) & (values > -_ROUNDING), 0.0, values)


def _check(model: LanguageModel, scores: NDArray[np.float64], query: str, contexts: list[str]) -> None:
    broken = np.flatnonzero(~np.isfinite(scores) | (scores < 0))
    if len(broken):
        context = contexts[broken[0]]
        raise ScoreError(
            f"persuasion by {model.name} is {scores[broken[0]]}, which is no score, for the query {shortened(query)} "
            f"after the context {shortened(context)}"
        )
