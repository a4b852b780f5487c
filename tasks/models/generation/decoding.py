"""Contrastive decodings, which contrast the distribution of a step with the distribution without the context.

p2 is the distribution of a step after the prompt with its context, p1 the distribution after the prompt without it. The
tokens of the reply so far follow both prompts. Logarithms are natural. Draws, log-probabilities and the mean
distribution of a reply are computed from the combined distribution p.

    cad     p(y) ~ p2(y)^(1+a) / p1(y)^a                        Shi et al. 2024, arXiv 2305.14739
    adacad  like cad, with a = JSD(p1, p2) of each step         Wang et al. 2025, arXiv 2409.07394
    coiecd  like cad, but p1 (p2 / p1)^a for some tokens        Yuan et al. 2024, arXiv 2402.11893
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from swaymeter.data.errors import UsageError

_STEEPEST = 2.4  # if logits change by at most a small r, JSD(p1, p2) changes by at most 2.4 r nats


@dataclass(frozen=True, slots=True)
class ContextAware:
    """Context-aware decoding (CAD): log p(y) = (1 + weight) log p2(y) - weight log p1(y) + a constant.

    Source: Shi et al. 2024 (NAACL) for the formula; github.com/xhan77/context-aware-decoding for values of weight. The
    released code differs: its "top-p 1.0" drops the tokens after the sum of sorted float32 probabilities rounds to 1.

    Attributes:
        weight: alpha of the paper, at least 0. The paper takes 1 for conflicts with the model's knowledge, and 0.5 for
            summaries.

    Raises:
        UsageError: the weight is out of range.
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        _check_weight("cad", self.weight)

    def log_probs(self, conditioned: torch.Tensor, contextless: torch.Tensor) -> torch.Tensor:
        """Return the combined log-probabilities, (n, V) nats, from logits with and without the context, (n, V) each."""
        return _contrast(conditioned, conditioned, contextless, self.weight)

    def error(self, conditioned: torch.Tensor, contextless: torch.Tensor, rounding: float) -> torch.Tensor:
        """Return a bound of the error of a log-probability, (n,), apart from an error that all tokens of a step share.

        `rounding` is the largest error of a logit; the logits are those of `log_probs`.
        """
        return _constant(conditioned, (1 + 2 * self.weight) * rounding)


@dataclass(frozen=True, slots=True)
class AdaptiveContextAware:
    """AdaCAD: context-aware decoding whose weight is, at each step, max(least, JSD(p1, p2)).

    Source: Wang et al. 2025 (NAACL) and github.com/HanNight/AdaCAD. Departures: the divergence is exact; in a step with
    a probability of exactly 0, the released code first raises all probabilities below 1e-9 to 1e-9. The released code
    also drops tokens, like the released code of CAD.

    Attributes:
        least: lower bound of the weight, at least 0; 0 for short answers. The authors use 0.3 for long texts.
        base: base of the divergence's logarithm: e, as in the authors' code, for weights in [0, 0.69], or 2 for [0, 1].

    Raises:
        UsageError: a value is out of range.
    """

    least: float = 0.0
    base: float = math.e

    def __post_init__(self) -> None:
        _check_weight("adacad", self.least, "least")
        if self.base not in (2, math.e):
            raise UsageError(f"base of adacad is {self.base}; use 2, or {math.e} for natural logarithms")

    def weights(self, conditioned: torch.Tensor, contextless: torch.Tensor) -> torch.Tensor:
        """Return the weight of each step, (n,), from the logits of `log_probs`."""
        return (divergences(conditioned, contextless) / math.log(self.base)).clamp(min=self.least)

    def log_probs(self, conditioned: torch.Tensor, contextless: torch.Tensor) -> torch.Tensor:
        """Return the combined log-probabilities, (n, V) nats, from logits with and without the context, (n, V) each."""
        return _contrast(conditioned, conditioned, contextless, self.weights(conditioned, contextless).unsqueeze(1))

    def error(self, conditioned: torch.Tensor, contextless: torch.Tensor, rounding: float) -> torch.Tensor:
        """Return a bound of the error, like `ContextAware.error`; rounding moves the weight, too."""
        weight_error = _STEEPEST * rounding / math.log(self.base)
        contrast = torch.log_softmax(conditioned, dim=1) - torch.log_softmax(contextless, dim=1)
        width = contrast.amax(dim=1) - contrast.amin(dim=1)
        weights = self.weights(conditioned, contextless) + weight_error
        return ((1 + 2 * weights) * rounding + weight_error * width / 2).double()


@dataclass(frozen=True, slots=True)
class EntropyConstrained:
    """COIECD: a contrast is added to log p1 of tokens that satisfy an information constraint, else to log p2.

        log p(y) = log q(y) + weight g(y) + a constant
        q(y) = p1(y) if y satisfies the constraint, else p2(y)
        g(y) = log p2(y) - log p1(y)
        the constraint: min d / ratio <= d(y) <= ratio max d, with d = softmax over tokens of (-log p2 - H(p1))

    H(p1) cancels in the softmax, and the constraint becomes min p2 / ratio <= p2(y) <= ratio max p2. If only one token
    is above the upper bound, this token satisfies the constraint, too, because a context that leaves no doubt is not a
    conflict. With weight 1, tokens that satisfy the constraint get p2(y), and other tokens get p2(y)^2 / p1(y), up to a
    factor. Source: Yuan et al. 2024 (Findings of ACL) and github.com/Stacy027/COIECD, with its defaults.

    Attributes:
        weight: alpha of the paper, at least 0.
        ratio: lambda of the paper, in (0, 1).

    Raises:
        UsageError: a value is out of range.
    """

    weight: float = 1.0
    ratio: float = 0.25

    def __post_init__(self) -> None:
        _check_weight("coiecd", self.weight)
        if not 0 < self.ratio < 1:
            raise UsageError(f"ratio of coiecd is {self.ratio}; use a number above 0 and below 1")

    def satisfies_constraint(self, conditioned: torch.Tensor) -> torch.Tensor:
        """Return True for tokens that satisfy the constraint, (n, V) bool, from the logits with the context."""
        highest, lowest = self._bounds(conditioned)
        above = conditioned > highest
        above &= above.sum(dim=1, keepdim=True) != 1
        return ~above & (conditioned >= lowest)

    def log_probs(self, conditioned: torch.Tensor, contextless: torch.Tensor) -> torch.Tensor:
        """Return the combined log-probabilities, (n, V) nats, from logits with and without the context, (n, V) each."""
        log_p2, log_p1 = torch.log_softmax(conditioned, dim=1), torch.log_softmax(contextless, dim=1)
        return _contrast(
            torch.where(self.satisfies_constraint(conditioned), log_p1, log_p2), log_p2, log_p1, self.weight
        )

    def error(self, conditioned: torch.Tensor, contextless: torch.Tensor, rounding: float) -> torch.Tensor:
        """Return a bound of the error, (n,); infinite if rounding can change the tokens that satisfy the constraint."""
        unsure = [((conditioned - bound).abs() < 2 * rounding).any(dim=1) for bound in self._bounds(conditioned)]
        # The contrast is added to log p1 of some tokens and log p2 of others, so the errors of both normalisers count.
        errors = _constant(conditioned, 2 * (1 + 2 * self.weight) * rounding)
        return errors.masked_fill_(unsure[0] | unsure[1], math.inf)

    def _bounds(self, conditioned: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the upper and the lower bound of the logits that satisfy the constraint, (n, 1) each."""
        log_ratio = math.log(self.ratio)
        return conditioned.amax(dim=1, keepdim=True) + log_ratio, conditioned.amin(dim=1, keepdim=True) - log_ratio


Decoding = ContextAware | AdaptiveContextAware | EntropyConstrained
"""A contrastive decoding: frozen, and identified by `name_of` and its fields."""
DECODINGS: dict[str, type[Decoding] | None] = {
    "greedy": None,
    "cad": ContextAware,
    "adacad": AdaptiveContextAware,
    "coiecd": EntropyConstrained,
}


def decoding_of(name: str, **parameters: float) -> Decoding | None:
    """Return the decoding of a name, with the papers' parameters by default; None for greedy.

    Raises:
        UsageError: unknown name or parameter, or a value out of range.
    """
    if name not in DECODINGS:
        raise UsageError(f"there is no decoding {name}; choose one of {', '.join(DECODINGS)}")
    kind = DECODINGS[name]
    parameter_names = [field.name for field in fields(kind)] if kind else []
    if unknown := [parameter for parameter in parameters if parameter not in parameter_names]:
        takes = f"its parameters: {', '.join(parameter_names)}" if parameter_names else "leave all parameters out"
        raise UsageError(f"the decoding {name} has no parameter {', '.join(unknown)}; {takes}")
    return kind(**parameters) if kind else None


def name_of(decoding: Decoding | None) -> str:
    """Return the name of a decoding, such as "cad"."""
    kind = type(decoding) if decoding else None
    return next(name for name, decoding_kind in DECODINGS.items() if decoding_kind is kind)


def divergences(conditioned: torch.Tensor, contextless: torch.Tensor) -> torch.Tensor:
    """Return the Jensen-Shannon divergences, (n,) nats in [0, log 2], of the softmax of logits, (n, V) float each."""
    log_p2, log_p1 = torch.log_softmax(conditioned, dim=1), torch.log_softmax(contextless, dim=1)
    log_mean = torch.logaddexp(log_p2, log_p1) - math.log(2)
    terms = log_p2.exp() * (log_p2 - log_mean) + log_p1.exp() * (log_p1 - log_mean)
    return (terms.sum(dim=1) / 2).clamp(min=0)


@dataclass(frozen=True, eq=False)
class Contrast:
    """A contrastive decoding of some rows of a forward pass, with their logits without the context.

    Attributes:
        decoding: the contrastive decoding.
        contextless: (m, V), the logits of these rows without the context.
        rows: (m,), the indices of these rows in the forward pass, in rising order.
    """

    decoding: Decoding
    contextless: torch.Tensor
    rows: Sequence[int]

    def combine(self, part: torch.Tensor, start: int, rounding: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Replace the logits of contrasted rows by combined log-probabilities.

        Args:
            part: (k, V) float32, consecutive rows of the forward pass.
            start: index of the first of these rows.
            rounding: the largest error of a logit.

        Returns:
            Logits, (k, V), and the largest error of each row, (k,).
        """
        errors = _constant(part, rounding)
        first, last = (bisect_left(self.rows, row) for row in (start, start + len(part)))
        if first == last:
            return part, errors
        indices = torch.tensor(self.rows[first:last], device=part.device) - start
        conditioned, contextless = part[indices], self.contextless[first:last].float()
        errors[indices] = self.decoding.error(conditioned, contextless, rounding)
        return part.index_copy(0, indices, self.decoding.log_probs(conditioned, contextless)), errors


def _contrast(
    log_q: torch.Tensor, conditioned: torch.Tensor, contextless: torch.Tensor, weight: float | torch.Tensor
) -> torch.Tensor:
    return torch.log_softmax(log_q + weight * (conditioned - contextless), dim=1)


def _constant(like: torch.Tensor, value: float) -> torch.Tensor:
    return torch.full((len(like),), value, dtype=torch.float64, device=like.device)


def _check_weight(decoding: str, weight: float, name: str = "weight") -> None:
    if not 0 <= weight < math.inf:
        raise UsageError(f"{name} of {decoding} is {weight}; use 0 or a finite positive number")
