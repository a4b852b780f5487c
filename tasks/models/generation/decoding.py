"""Decodings that contrast what a model says with a context and without it, and so change the distribution of a step.

p2, p1 are the distributions of a step after the prompt with its context and after the prompt without it, each followed
by the answer's tokens so far; logarithms are natural. What is drawn, its log-probability and the mean distribution of
an answer are then those of the combined distribution. These functions know no model, so they can be computed by hand.

    cad     p(y) ~ p2(y)^(1+a) / p1(y)^a                        Shi et al. 2024, arXiv 2305.14739
    adacad  the same, a = JSD(p1, p2) of each step              Wang et al. 2025, arXiv 2409.07394
    coiecd  the same, and p1 (p2 / p1)^a for some tokens        Yuan et al. 2024, arXiv 2402.11893

`greedy`, the fourth name of `decoding_of`, is the model's own distribution: no decoding, None.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from swaymeter.data.errors import UsageError

_STEEPEST = 2.4  # nats that JSD(p1, p2) changes by at most when all logits change by at most 1 each


@dataclass(frozen=True, slots=True)
class ContextAware:
    """Context-aware decoding (CAD): log p(y) = (1 + weight) log p2(y) - weight log p1(y) + a constant.

    weight: alpha of the paper, at least 0, which gives the model's own distribution; the paper takes 1 where contexts
    conflict with what a model knows, and 0.5 for summaries. UsageError for other weights. No departure from the paper.
    Departure from the released code: it cuts the tokens behind which the cumulative probability, sorted and summed in
    float32, has reached 1 ("top-p 1.0").
    Source: Shi et al. 2024 (NAACL), and github.com/xhan77/context-aware-decoding for the weights.
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        _check_weight("cad", self.weight)

    def log_probs(self, given: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
        """Nats, (n, V), from logits with the context and without it, (n, V) float each."""
        return _contrasted(given, given, without, self.weight)

    def error(self, given: torch.Tensor, without: torch.Tensor, rounding: float) -> torch.Tensor:
        """How far a log-probability can be off, but for a constant of the step, (n,); rounding: a logit at most."""
        return _full(given, (1 + 2 * self.weight) * rounding)


@dataclass(frozen=True, slots=True)
class AdaptiveContextAware:
    """AdaCAD: context-aware decoding whose weight is, at each step, max(least, JSD(p1, p2)).

    least: 0 for short answers; the authors warm long texts up with 0.3. base: of the divergence's logarithm, e or 2.
    UsageError for a least weight below 0 or another base. The authors' code takes natural logarithms, so that weights
    lie in [0, 0.69]; with base 2 they lie in [0, 1].
    Departures: in a step where a probability is exactly 0, that code raises all below 1e-9 to 1e-9 before it computes
    the divergence; here the divergence is exact. It cuts the same tail as the code of CAD.
    Source: Wang et al. 2025 (NAACL) and github.com/HanNight/AdaCAD.
    """

    least: float = 0.0
    base: float = math.e

    def __post_init__(self) -> None:
        _check_weight("adacad", self.least, "least")
        if self.base not in (2, math.e):
            raise UsageError(f"base of adacad is {self.base}; it must be 2 or {math.e}, for natural logarithms")

    def weights(self, given: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
        """The weight of each step, (n,), from logits as `log_probs` has them."""
        return (divergences(given, without) / math.log(self.base)).clamp(min=self.least)

    def log_probs(self, given: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
        """As ContextAware."""
        return _contrasted(given, given, without, self.weights(given, without).unsqueeze(1))

    def error(self, given: torch.Tensor, without: torch.Tensor, rounding: float) -> torch.Tensor:
        """As ContextAware: rounding moves the weight, too, by so much that tokens far apart in p1 and p2 move most."""
        of_weight = _STEEPEST * rounding / math.log(self.base)
        contrast = torch.log_softmax(given, dim=1) - torch.log_softmax(without, dim=1)
        width = contrast.amax(dim=1) - contrast.amin(dim=1)
        weights = self.weights(given, without) + of_weight
        return ((1 + 2 * weights) * rounding + of_weight * width / 2).double()


@dataclass(frozen=True, slots=True)
class EntropyConstrained:
    """COIECD: tokens within a constraint on their information are contrasted from p1, tokens that break it from p2.

        log p(y) = log p1(y) + weight g(y) where y keeps the constraint, else log p2(y) + weight g(y), + a constant
        g(y) = log p2(y) - log p1(y)
        the constraint: min d / ratio <= d(y) <= ratio max d, with d = softmax over tokens of (-log p2 - H(p1))

    The entropy H(p1) is the same for all tokens, so that it falls out of the softmax and d(y) is 1 / p2(y) but for a
    constant: the constraint reads min p2 / ratio <= p2(y) <= ratio max p2. Where one token alone is above this, it
    keeps the constraint: a context that leaves no doubt is taken for no conflict. With weight 1, the default, tokens
    that keep it get p2(y), and the others p2(y)^2 / p1(y), before the constant.

    weight: alpha of the paper, at least 0; ratio: its lambda, in (0, 1). UsageError for other values. As the authors'
    code computes it, with its defaults, 1 and 0.25; no departure from it.
    Source: Yuan et al. 2024 (Findings of ACL) and github.com/Stacy027/COIECD.
    """

    weight: float = 1.0
    ratio: float = 0.25

    def __post_init__(self) -> None:
        _check_weight("coiecd", self.weight)
        if not 0 < self.ratio < 1:
            raise UsageError(f"ratio of coiecd is {self.ratio}; it must lie between 0 and 1")

    def keeps(self, given: torch.Tensor) -> torch.Tensor:
        """Whether a token keeps the constraint, (n, V) bool, from the logits with the context."""
        highest, lowest = self._bounds(given)
        above = given > highest
        above &= above.sum(dim=1, keepdim=True) != 1
        return ~above & (given >= lowest)

    def log_probs(self, given: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
        """As ContextAware."""
        own, other = torch.log_softmax(given, dim=1), torch.log_softmax(without, dim=1)
        return _contrasted(torch.where(self.keeps(given), other, own), own, other, self.weight)

    def error(self, given: torch.Tensor, without: torch.Tensor, rounding: float) -> torch.Tensor:
        """As ContextAware; infinite where rounding can decide whether a token keeps the constraint."""
        unsure = [((given - bound).abs() < 2 * rounding).any(dim=1) for bound in self._bounds(given)]
        # Log-probabilities of both distributions are compared here, so that the rounding of their sums counts, too.
        return _full(given, 2 * (1 + 2 * self.weight) * rounding).masked_fill_(unsure[0] | unsure[1], math.inf)

    def _bounds(self, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The highest and the lowest logit that keep the constraint, (n, 1) each."""
        room = -math.log(self.ratio)
        return given.amax(dim=1, keepdim=True) - room, given.amin(dim=1, keepdim=True) + room


Decoding = ContextAware | AdaptiveContextAware | EntropyConstrained
"""Frozen, so that it can be compared and stored; `name_of` and its fields say which it is."""
DECODINGS: dict[str, type[Decoding] | None] = {
    "greedy": None,
    "cad": ContextAware,
    "adacad": AdaptiveContextAware,
    "coiecd": EntropyConstrained,
}


def decoding_of(name: str, **parameters: float) -> Decoding | None:
    """The decoding of that name, with the papers' parameters where none are given; None for greedy, which has none.

    UsageError for a name or a parameter that there is not, and for a value that a decoding cannot have.
    """
    if name not in DECODINGS:
        raise UsageError(f"there is no decoding {name}; choose one of {', '.join(DECODINGS)}")
    kind = DECODINGS[name]
    known = [field.name for field in fields(kind)] if kind else []
    if unknown := [given for given in parameters if given not in known]:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise UsageError(f"the decoding {name} has no parameter {', '.join(unknown)}; {takes}")
    return kind(**parameters) if kind else None


def name_of(decoding: Decoding | None) -> str:
    """The name by which `decoding_of` makes it."""
    return next(name for name, kind in DECODINGS.items() if (type(decoding) if decoding else None) is kind)


def divergences(given: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
    """The Jensen-Shannon divergences in nats, (n,), of the softmax of logits, (n, V) float each; within [0, log 2]."""
    own, other = torch.log_softmax(given, dim=1), torch.log_softmax(without, dim=1)
    middle = torch.logaddexp(own, other) - math.log(2)
    both = own.exp() * (own - middle) + other.exp() * (other - middle)
    return (both.sum(dim=1) / 2).clamp(min=0)


@dataclass(frozen=True, eq=False)
class Contrast:
    """What the distributions of a pass are combined with: the logits without the context, (m, V), of some of its rows.

    rows: (m,) their places in the pass, in rising order; the others keep the model's own distribution.
    """

    decoding: Decoding
    without: torch.Tensor
    rows: Sequence[int]

    def combined(self, part: torch.Tensor, start: int, rounding: float) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits of some rows, (k, V) float32, the first of which is `start`, and the largest error of each: (k,).

        Rows with a contrast are replaced by combined log-probabilities. rounding: the largest error of a model's logit.
        """
        errors = _full(part, rounding)
        first, last = (bisect_left(self.rows, row) for row in (start, start + len(part)))
        if first == last:
            return part, errors
        places = torch.tensor(self.rows[first:last], device=part.device) - start
        given, without = part[places], self.without[first:last].float()
        errors[places] = self.decoding.error(given, without, rounding)
        return part.index_copy(0, places, self.decoding.log_probs(given, without)), errors


def _contrasted(
    base: torch.Tensor, given: torch.Tensor, without: torch.Tensor, weight: float | torch.Tensor
) -> torch.Tensor:
    return torch.log_softmax(base + weight * (given - without), dim=1)


def _full(like: torch.Tensor, value: float) -> torch.Tensor:
    return torch.full((len(like),), value, dtype=torch.float64, device=like.device)


def _check_weight(decoding: str, weight: float, name: str = "weight") -> None:
    if not 0 <= weight < math.inf:
        raise UsageError(f"{name} of {decoding} is {weight}; it must be 0 or a positive number")
