"""One step of many answers: each draws a token from its node's distribution, and the distributions are summed.

Work on whole distributions is done a few rows at a time, so that they stay in a processor's cache, or use little of a
GPU's memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.generation.sampling import Sampling, draw
from swaymeter.tasks.models.next_token.distributions import normaliser_of

_ENTRIES_AT_ONCE = {"cpu": 1 << 18, "cuda": 1 << 24}


@dataclass(frozen=True, eq=False)
class Step:
    """For every answer the token that it draws, its log-probability in nats, and whether rounding cannot change it.

    broken: nodes without a distribution, since a logit is NaN or infinite; then the other fields are not valid.
    """

    tokens: list[int]
    log_probs: list[float]
    sure: list[bool]
    broken: list[int]


class Sums:
    """Sums of distributions, a row for each node: (_, V) float32; free: the rows that no node has."""

    def __init__(self) -> None:
        self._rows = torch.empty((0, 0))
        self.free: list[int] = []

    @torch.inference_mode()
    def new(self, count: int, logits: torch.Tensor) -> list[int]:
        """New rows of zeros, for distributions as wide as these logits, on their device."""
        if not len(self._rows):
            self._rows = torch.zeros((0, logits.shape[1]), device=logits.device)
        taken = self._taken(count)
        self._rows[taken] = 0
        return taken

    @torch.inference_mode()
    def copies(self, rows: Sequence[int]) -> list[int]:
        """A copy of each of these rows."""
        taken = self._taken(len(rows))
        for source, target in zip(rows, taken, strict=True):
            self._rows[target] = self._rows[source]
        return taken

    @torch.inference_mode()
    def add(self, rows: torch.Tensor, distributions: torch.Tensor) -> None:
        """Adds distributions (n, V) to rows (n,)."""
        self._rows.index_add_(0, rows, distributions)

    @torch.inference_mode()
    def means(self, rows: Sequence[int], steps: Sequence[int]) -> NDArray[np.float32]:
        """Rows divided by their numbers of steps, on the host: (n, V)."""
        divisors = torch.tensor(steps, device=self._rows.device)[:, None]
        means: NDArray[np.float32] = (self._rows[list(rows)] / divisors).cpu().numpy()
        return means

    def _taken(self, count: int) -> list[int]:
        lacking = count - len(self.free)
        if lacking > 0:
            known = len(self._rows)
            more = max(lacking, known)
            self._rows = torch.cat([self._rows, self._rows.new_zeros((more, self._rows.shape[1]))])
            self.free += range(known, known + more)
        return [self.free.pop() for _ in range(count)]


@torch.inference_mode()
def step(
    logits: torch.Tensor,
    sums: Sums | None,
    rows: Sequence[int],
    nodes: Sequence[int],
    points: NDArray[np.float64],
    sampling: Sampling,
    *,
    rounding: float = 0.0,
) -> Step:
    """One step of answers; adds each node's distribution to its sum.

    logits: (n, V) after each node, in any dtype; sums: where the nodes' distributions are summed, None for nowhere;
    rows: (n,) the row of each node there; nodes: (k,) the node of each answer; points: (k,) the uniform number of each
    answer, NaN for the most probable token; rounding: the largest error of a logit.
    """
    device = logits.device
    node_of, point_of = torch.tensor(list(nodes)), torch.from_numpy(points)
    tokens = torch.zeros(len(node_of), dtype=torch.int64, device=device)
    sure = torch.ones(len(node_of), dtype=torch.bool, device=device)
    at, many = torch.tensor(list(rows), device=device), len(logits)
    some = max(1, _ENTRIES_AT_ONCE[logits.device.type] // logits.shape[1])
    normalisers = []
    for start in range(0, many, some):
        part = logits[start : start + some].float()
        normaliser = normaliser_of(part)
        normalisers.append(normaliser)
        if not torch.isfinite(normaliser).all():
            continue
        if sums is not None:
            sums.add(at[start : start + some], (part - normaliser.unsqueeze(1)).exp_())
        inside = (node_of >= start) & (node_of < start + some)
        for greedy in (False, True):
            chosen = (inside & (point_of.isnan() == greedy)).nonzero().squeeze(1)
            if not len(chosen):
                continue
            of = (node_of[chosen] - start).to(device)
            place = chosen.to(device)
            if greedy:
                best = part[of].topk(2, dim=1)
                tokens[place] = best.indices[:, 0]
                sure[place] = best.values[:, 0] - best.values[:, 1] >= 2 * rounding
            else:
                tokens[place], sure[place] = draw(part, of, point_of[chosen].to(device), sampling, rounding=rounding)
    normaliser = torch.cat(normalisers)
    of = node_of.to(device)
    log_probs = logits[of, tokens].float() - normaliser[of]
    broken = (~torch.isfinite(normaliser)).nonzero().squeeze(1)
    return Step(tokens.tolist(), log_probs.tolist(), sure.tolist(), broken.tolist())
