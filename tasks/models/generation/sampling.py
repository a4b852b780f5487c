"""One token drawn from a distribution with a temperature and truncation, by inversion at the reply's uniform number u.

    p'(a) = softmax(logits / temperature), restricted to the top_k most probable tokens (0: all), then to the fewest of
    the most probable tokens whose probabilities add up to top_p (1: all). The first token with sum_{a' <= a} p'(a') > u
    is drawn.

Rounding errors of logits differ in every batch, so `draw` also returns a mask of tokens that no such error can change.
Source: Marjanovic et al. 2024, section 5.1, for temperature 0.5 and top-p 1; nucleus: Holtzman et al. 2020.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import UsageError
from swaymeter.tasks.models.generation.decoding import Contrast
from swaymeter.tasks.models.next_token.distributions import normaliser_of

_ENTRIES_AT_ONCE = {"cpu": 1 << 18, "cuda": 1 << 24}  # limit of the logits of a slice, which fits a processor's cache
_BLOCK = 256  # tokens whose probabilities are first summed in float32; float64 alone takes ten times as long


@dataclass(frozen=True, slots=True)
class Sampling:
    """Temperature and truncation of distributions; UsageError for values out of range.

    Attributes:
        temperature: positive.
        top_p: in (0, 1]; 1 for all tokens.
        top_k: 0 for all tokens.
    """

    temperature: float = 0.5
    top_p: float = 1.0
    top_k: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise UsageError(
                f"temperature must be positive and finite, not {self.temperature}; "
                "a greedy reply is always written in addition to the sampled replies"
            )
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p must be above 0 and at most 1, not {self.top_p}; 1 keeps every token")
        if self.top_k < 0:
            raise UsageError(f"top_k must be at least 0, not {self.top_k}; 0 keeps every token")


def draw(
    logits: torch.Tensor,
    rows: torch.Tensor,
    points: torch.Tensor,
    sampling: Sampling,
    *,
    rounding: float | torch.Tensor = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw a token for each point from a row of logits.

    Args:
        logits: (n, V) float32.
        rows: (k,), the row from which each token is drawn.
        points: uniform numbers, (k,) float64 in [0, 1).
        sampling: temperature and truncation.
        rounding: the largest error of a logit: a number for all rows, or (n,) float64.

    Returns:
        Tokens (k,), and a mask (k,), True if rounding cannot change the token.
    """
    errors = torch.as_tensor(rounding, dtype=torch.float64, device=logits.device).expand(len(logits))
    weights, is_truncation_certain = _weights(logits, sampling, errors)
    # Find the block of tokens in which a point lies, and then the token within the block.
    padding = -weights.shape[1] % _BLOCK
    padded = torch.nn.functional.pad(weights, (0, padding)) if padding else weights
    blocks = padded.view(len(weights), -1, _BLOCK)
    ends = blocks.sum(dim=2).double().cumsum(dim=1)[rows]  # the sum of all weights up to the end of each block
    total = ends[:, -1:]
    # The point scaled to the sum of weights, and strictly below this sum.
    target = torch.minimum(points.unsqueeze(1) * total, torch.nextafter(total, torch.zeros_like(total)))
    block = torch.searchsorted(ends, target, right=True)
    below = torch.where(block > 0, ends.gather(1, (block - 1).clamp(min=0)), 0.0)
    block_weights = blocks[rows, block.squeeze(1)].double()
    upper = block_weights.cumsum(dim=1) + below
    token = torch.searchsorted(upper, target, right=True)
    # The sum of a block is rounded, so the point may lie after the block's last token of positive weight.
    last = _BLOCK - 1 - (block_weights > 0).flip(1).int().argmax(dim=1, keepdim=True)
    token = torch.minimum(token, last)
    above = upper.gather(1, token)
    # The distance of the point from the nearer end of its token's interval, as a probability.
    margin = torch.minimum(above - target, target - (above - block_weights.gather(1, token))) / total
    # Errors of the logits move a cumulative probability by at most error / (2 temperature).
    is_certain = is_truncation_certain[rows] & (margin.squeeze(1) >= errors[rows] / (2 * sampling.temperature))
    return (block * _BLOCK + token).squeeze(1), is_certain


def _weights(logits: torch.Tensor, sampling: Sampling, errors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weights of tokens, (n, V), 0 if truncated, and a mask, (n,), False if rounding may change the cut."""
    is_truncation_certain = torch.ones(len(logits), dtype=torch.bool, device=logits.device)
    weights = (logits - logits.amax(dim=1, keepdim=True)).div_(sampling.temperature).exp_()
    if 0 < sampling.top_k < logits.shape[1]:
        largest = logits.topk(sampling.top_k + 1, dim=1).values
        least, runner_up = largest[:, -2:].unbind(dim=1)
        weights.masked_fill_(logits < least.unsqueeze(1), 0.0)
        is_truncation_certain &= least - runner_up >= 2 * errors
    if sampling.top_p < 1:
        ordered, order = weights.double().sort(dim=1, descending=True, stable=True)
        # A token is in the nucleus if the more probable tokens do not add up to top_p.
        before = (ordered.cumsum(dim=1) - ordered) / ordered.sum(dim=1, keepdim=True)
        in_nucleus = before < sampling.top_p
        weights = torch.zeros_like(weights).scatter_(1, order, ordered.where(in_nucleus, 0.0).float())
        # Rounding can change the nucleus if a sum is near top_p, or two tokens at the cut are almost equally likely.
        at_the_cut = ((before - sampling.top_p).abs() <= errors.unsqueeze(1) / sampling.temperature) & (ordered > 0)
        last = in_nucleus.sum(dim=1, keepdim=True) - 1
        first_out = ordered.gather(1, (last + 1).clamp(max=ordered.shape[1] - 1))
        gap = ordered.gather(1, last).log() - first_out.log()
        swapped = (gap.squeeze(1) < 2 * errors / sampling.temperature) & (last.squeeze(1) + 1 < ordered.shape[1])
        is_truncation_certain &= ~(at_the_cut.any(dim=1) | swapped)
    return weights, is_truncation_certain


class Step(NamedTuple):
    """Result of one step of replies.

    Attributes:
        tokens: the next token of every reply.
        log_probs: the log-probability of this token, nats.
        is_certain: True if rounding cannot change the token.
        broken: rows of `logits` with a logit that is not finite; any such row makes all other fields invalid.
    """

    tokens: list[int]
    log_probs: list[float]
    is_certain: list[bool]
    broken: list[int]


@torch.inference_mode()
def step(
    logits: torch.Tensor,
    rows: Sequence[int],
    points: NDArray[np.float64],
    sampling: Sampling,
    *,
    sums: Sequence[torch.Tensor] = (),
    rounding: float = 0.0,
    contrast: Contrast | None = None,
) -> Step:
    """Choose the next token of every reply.

    Args:
        logits: (n, V) in any dtype, a row for each node. A node has the replies with the same tokens so far.
        rows: (k,), the row of each reply's node.
        points: (k,), the uniform number of each reply; NaN for the most probable token.
        sampling: temperature and truncation.
        sums: for each node a tensor, (V,) float32, to which the distribution of the node is added.
        rounding: the largest error of a logit.
        contrast: a contrastive decoding, which replaces the distributions of some nodes; None for no change.
    """
    device = logits.device
    rows_of_replies, points_of_replies = torch.tensor(list(rows)), torch.from_numpy(points)
    tokens = torch.zeros(len(rows_of_replies), dtype=torch.int64, device=device)
    is_certain = torch.ones(len(rows_of_replies), dtype=torch.bool, device=device)
    size = max(1, _ENTRIES_AT_ONCE[logits.device.type] // logits.shape[1])
    chosen_logits = torch.zeros(len(rows_of_replies), device=device)
    normalisers = []
    for start in range(0, len(logits), size):
        part = logits[start : start + size].float()
        errors = torch.full((len(part),), rounding, dtype=torch.float64, device=device)
        if contrast is not None:
            part, errors = contrast.combine(part, start, rounding)
        normaliser = normaliser_of(part)
        normalisers.append(normaliser)
        if not torch.isfinite(normaliser).all():
            continue  # the step is invalid; `broken` has these rows
        if sums:
            for total, p in zip(sums[start : start + size], (part - normaliser.unsqueeze(1)).exp_(), strict=True):
                total += p
        in_slice = (rows_of_replies >= start) & (rows_of_replies < start + size)
        for greedy in (False, True):
            replies = (in_slice & (points_of_replies.isnan() == greedy)).nonzero().squeeze(1)
            if not len(replies):
                continue
            row = (rows_of_replies[replies] - start).to(device)
            index = replies.to(device)
            if greedy:
                best = part[row].topk(2, dim=1)
                tokens[index] = best.indices[:, 0]
                is_certain[index] = best.values[:, 0] - best.values[:, 1] >= 2 * errors[row]
            else:
                tokens[index], is_certain[index] = draw(
                    part, row, points_of_replies[replies].to(device), sampling, rounding=errors
                )
            chosen_logits[index] = part[row, tokens[index]]
    normaliser = torch.cat(normalisers)
    log_probs = chosen_logits - normaliser[rows_of_replies.to(device)]
    broken = (~torch.isfinite(normaliser)).nonzero().squeeze(1)
    return Step(tokens.tolist(), log_probs.tolist(), is_certain.tolist(), broken.tolist())
