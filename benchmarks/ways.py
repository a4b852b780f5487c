"""Persuasion scores of contexts x queries in three ways: by the engine, and in two plain ways to compare it with.

    published      as the published code: whole prompts in the given order, in padded batches of 32, with logits at
                   every position; the logits of the last position go to the host, and numpy computes the scores
    best plain     prompts sorted by length, logits of the last position only, scores computed as by the engine

All three take tokens: prompts[i][j] has context i before query j. They return scores (n_queries, n_contexts) in nats.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.next_token.by_query import next_token_by_query
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import forward_options, pad_left, read_plain
from swaymeter.tasks.scoring.persuasion import persuasion_scores

Tokens = Sequence[int]
Scores = NDArray[np.float64]

PUBLISHED_BATCH = 32
QUERIES_AT_ONCE = 4
"""Number of queries whose prompts `best_plain` sorts together."""


def by_engine(model: LanguageModel, prompts: Sequence[Sequence[Tokens]], memory: int | None = None) -> Scores:
    """Return the scores of the engine, as swaymeter.tasks.scoring.persuasion computes them.

    Args:
        model: The model.
        prompts: Prompts as tokens, [context][query].
        memory: Memory budget of the engine in bytes; None for the default.
    """
    contexts, queries = len(prompts), len(prompts[0])
    weights = torch.full((contexts,), 1 / contexts, device=model.device)
    scores: dict[int, torch.Tensor] = {}
    for place, distributions in next_token_by_query(model, prompts, memory=memory):
        scores[place] = persuasion_scores(distributions, weights)
    return _on_host([scores[place] for place in range(queries)])


def best_plain(model: LanguageModel, prompts: Sequence[Sequence[Tokens]], batch: int) -> Scores:
    """Return the scores in the fastest way without shared prefixes; `batch` is the number of prompts read at once."""
    contexts, queries = len(prompts), len(prompts[0])
    weights = torch.full((contexts,), 1 / contexts, device=model.device)
    scores = []
    for start in range(0, queries, QUERIES_AT_ONCE):
        places = range(start, min(start + QUERIES_AT_ONCE, queries))
        read = [context_prompts[place] for place in places for context_prompts in prompts]
        logits = read_plain(model, read, batch_size=batch)
        scores += [
            persuasion_scores(Distributions.of(query_logits), weights)
            for query_logits in logits.reshape(len(places), contexts, -1)
        ]
    return _on_host(scores)


def published(model: LanguageModel, prompts: Sequence[Sequence[Tokens]]) -> Scores:
    """Return the scores in the way of the published code."""
    scores = []
    for place in range(len(prompts[0])):
        query_prompts = [context_prompts[place] for context_prompts in prompts]
        starts = range(0, len(query_prompts), PUBLISHED_BATCH)
        batches = [query_prompts[start : start + PUBLISHED_BATCH] for start in starts]
        logits = np.concatenate([last_of_all(model, batch) for batch in batches])
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        mixture = p.mean(axis=0)
        # 0 log 0 = 0: a token whose probability is 0 in float32 adds nothing.
        log_ratio = np.log(p, out=np.zeros_like(p), where=p > 0)
        log_ratio -= np.log(mixture, out=np.zeros_like(mixture), where=mixture > 0)
        scores.append((p * log_ratio).sum(axis=1))
    return np.array(scores, dtype=np.float64)


@torch.inference_mode()
def last_of_all(model: LanguageModel, prompts: Sequence[Tokens]) -> NDArray[np.float32]:
    """Return the logits after the prompts (n, V), read in one padded batch with logits at every position."""
    ids, mask = pad_left(prompts, model.device)
    options = forward_options(model, mask)
    options.pop("logits_to_keep", None)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **options).logits
    last: NDArray[np.float32] = logits[:, -1].float().cpu().numpy()
    return last


def _on_host(scores: Sequence[torch.Tensor]) -> Scores:
    """Return the scores of queries (n_contexts,) as one array in the host's memory."""
    on_host: Scores = torch.stack(list(scores)).cpu().numpy()
    return on_host
