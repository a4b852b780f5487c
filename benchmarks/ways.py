"""Persuasion scores of contexts x queries in three ways: the engine, and two plain ones to hold it against.

    published      as the published code has it: whole prompts in the order given, padded in batches of 32, logits at
                   every position, and those of the last brought to the host, where numpy takes softmax and logarithms
    best plain     sorted by length, the output matrix for the last position alone, the scores computed as the engine's

All take prompts as tokens, [context][query], and give scores (n_queries, n_contexts) in nats.
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


def by_engine(model: LanguageModel, prompts: Sequence[Sequence[Tokens]], memory: int | None = None) -> Scores:
    """As swaymeter.tasks.scoring.persuasion computes them, for prompts that have no text."""
    contexts, queries = len(prompts), len(prompts[0])
    weights = torch.full((contexts,), 1 / contexts, device=model.device)
    found: dict[int, torch.Tensor] = {}
    for place, distributions in next_token_by_query(model, prompts, memory=memory):
        found[place] = persuasion_scores(distributions, weights)
    return _on_host([found[place] for place in range(queries)])


def best_plain(model: LanguageModel, prompts: Sequence[Sequence[Tokens]], batch: int) -> Scores:
    """The most that can be had without sharing; batch: prompts that are read at once."""
    contexts, queries = len(prompts), len(prompts[0])
    weights = torch.full((contexts,), 1 / contexts, device=model.device)
    found = []
    for start in range(0, queries, QUERIES_AT_ONCE):
        places = range(start, min(start + QUERIES_AT_ONCE, queries))
        logits = read_plain(model, [of_context[place] for place in places for of_context in prompts], batch_size=batch)
        found += [
            persuasion_scores(Distributions.of(of_query), weights)
            for of_query in logits.reshape(len(places), contexts, -1)
        ]
    return _on_host(found)


def published(model: LanguageModel, prompts: Sequence[Sequence[Tokens]]) -> Scores:
    """What the published studies waited for."""
    scores = []
    for place in range(len(prompts[0])):
        of_query = [of_context[place] for of_context in prompts]
        batches = [of_query[start : start + PUBLISHED_BATCH] for start in range(0, len(of_query), PUBLISHED_BATCH)]
        logits = np.concatenate([last_of_all(model, batch) for batch in batches])
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        mixture = p.mean(axis=0)
        # 0 log 0 = 0: an answer that float32 gives no probability adds nothing.
        log_ratio = np.log(p, out=np.zeros_like(p), where=p > 0)
        log_ratio -= np.log(mixture, out=np.zeros_like(mixture), where=mixture > 0)
        scores.append((p * log_ratio).sum(axis=1))
    return np.array(scores, dtype=np.float64)


@torch.inference_mode()
def last_of_all(model: LanguageModel, prompts: Sequence[Tokens]) -> NDArray[np.float32]:
    """The logits after prompts, (n, V), in one padded batch with logits at every position."""
    ids, mask = pad_left(prompts, model.device)
    options = forward_options(model, mask)
    options.pop("logits_to_keep", None)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **options).logits
    found: NDArray[np.float32] = logits[:, -1].float().cpu().numpy()
    return found


def _on_host(scores: Sequence[torch.Tensor]) -> Scores:
    found: Scores = torch.stack(list(scores)).cpu().numpy()
    return found
