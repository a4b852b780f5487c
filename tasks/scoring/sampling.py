"""One token drawn from a distribution: tempered, cut to its top, and inverted at a given uniform number.

    p'(a) = softmax(logits / temperature), restricted to the top_k most probable tokens (0: all), then to the fewest
    most probable ones whose probabilities reach top_p (1: all); drawn: the first token with sum_{a' <= a} p'(a') > u.
What it is not: a model's generation settings have no part in it, and no random state is shared: u is the answer's own.
Source: Marjanovic et al. 2024, section 5.1, for temperature 0.5 and top-p 1; nucleus: Holtzman et al. 2020.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from data.errors import UsageError


@dataclass(frozen=True, slots=True)
class Sampling:
    """temperature > 0; top_k: 0 for all tokens; top_p in (0, 1], 1 for all. Raises UsageError for anything else."""

    temperature: float = 0.5
    top_p: float = 1.0
    top_k: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise UsageError(f"temperature is {self.temperature}; it must be positive (one greedy answer comes anyway)")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p is {self.top_p}; it must lie in (0, 1], 1 keeps every token")
        if self.top_k < 0:
            raise UsageError(f"top_k is {self.top_k}; it must be 0, which keeps every token, or more")


def uniforms(count: int, seed: int, *identity: str | int) -> NDArray[np.float64]:
    """(count,) numbers in [0, 1) that depend on seed and identity alone; a smaller count is the start of a larger."""
    digest = hashlib.sha256(json.dumps([seed, *identity]).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big"))).random(count)


def draw(logits: torch.Tensor, points: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """The token that each row draws at its point: (n,) int64.

    logits: (n, V); points: (n,) float64 in [0, 1). Computed in float64.
    """
    tempered = logits.double() / sampling.temperature
    if 0 < sampling.top_k < tempered.shape[-1]:
        least = tempered.topk(sampling.top_k, dim=-1).values[:, -1:]
        tempered = tempered.masked_fill(tempered < least, -torch.inf)
    probabilities = torch.softmax(tempered, dim=-1)
    if sampling.top_p < 1:
        probabilities = _nucleus(probabilities, sampling.top_p)
    cumulated = probabilities.cumsum(dim=-1)
    aimed = points.unsqueeze(-1) * cumulated[:, -1:]
    drawn = torch.searchsorted(cumulated, aimed, right=True).squeeze(-1)
    # Rounding may aim at the very end of the sum, behind the last token that can be drawn.
    last = probabilities.shape[-1] - 1 - (probabilities > 0).flip(-1).int().argmax(dim=-1)
    return torch.minimum(drawn, last)


def _nucleus(probabilities: torch.Tensor, top_p: float) -> torch.Tensor:
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(probabilities).scatter(-1, order, ordered.masked_fill(before >= top_p, 0.0))
