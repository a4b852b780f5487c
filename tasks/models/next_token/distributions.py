"""Log-distributions of the next token, stored as the model's logits and converted slice by slice."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

# Logits that a CPU converts together: whole rows for normalisers, a slice of the vocabulary for log-probabilities.
# Slices are three times as fast as whole rows, because a slice stays in the processor's cache.
_ENTRIES_BY_ROWS = 1 << 21
_ENTRIES_BY_SLICE = 1 << 18

# Largest KL, in nats, between two computations that counts as rounding; a wrong mask or position exceeds it by far.
_ROUNDING = {"float32": 1e-6, "float16": 1e-3}
_ROUNDING_OF_SHORT_DTYPES = 2e-2  # bfloat16, 8bit and 4bit


@dataclass(frozen=True, eq=False)
class Distributions:
    """Distributions over the vocabulary: log p(a) = logits[a] - log_normaliser.

    Attributes:
        logits: (n, V), in any dtype.
        log_normaliser: (n,) nats, float32; not finite if a logit of the row is not finite.
    """

    logits: torch.Tensor
    log_normaliser: torch.Tensor

    @classmethod
    def of(cls, logits: torch.Tensor) -> "Distributions":
        """Return the distributions of logits, or of log-probabilities, (n, V)."""
        rows = max(1, len(logits) if logits.is_cuda else _ENTRIES_BY_ROWS // logits.shape[1])
        return cls(logits, torch.cat([normaliser_of(part.float()) for part in torch.split(logits, rows)]))

    def are_alike(self) -> torch.Tensor:
        """Return a bool tensor, (): True if all distributions are the same to the last bit.

        The tensor stays on the device of the logits, because a Python bool would synchronise a GPU.
        """
        alike = (self.log_normaliser == self.log_normaliser[0]).all()
        if not self.logits.is_cuda and not alike:  # different normalisers, the usual case, prove different logits
            return alike
        return alike & (self.logits == self.logits[0]).all()

    def log_probs(self) -> torch.Tensor:
        """Return log-probabilities, (n, V) nats, float32."""
        return self.logits.float() - self.log_normaliser.unsqueeze(1)

    def slices(self) -> Iterator[torch.Tensor]:
        """Yield the log-probabilities in slices of the vocabulary, (n, width) each."""
        entries = self.logits.shape[1]
        width = entries if self.logits.is_cuda else max(1, _ENTRIES_BY_SLICE // len(self.logits))
        for part in torch.split(self.logits, width, dim=1):
            yield part.float() - self.log_normaliser.unsqueeze(1)


def normaliser_of(logits: torch.Tensor) -> torch.Tensor:
    """Return the logsumexp of each row of logits (n, V), (n,); not finite if a logit of the row is NaN or infinite."""
    lowest = logits.amin(dim=1)
    return torch.logsumexp(logits, dim=1).masked_fill_(lowest == -torch.inf, torch.nan)


def divergences(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return KL(p || q) of each row of the log-distributions p and q, (n, V) each: (n,) nats, in their dtype.

    KL is summed as p log(p / q) - p + q. These terms are never negative, and rounding of the normalisers changes their
    sum in second order only.
    """
    return (p.exp() * (p - q) - p.exp() + q.exp()).sum(dim=1)


def largest_divergence(p: torch.Tensor, q: torch.Tensor) -> float:
    """Return the largest KL(p || q) of log-distributions (n, V), in nats."""
    return float(divergences(p, q).max())


def is_rounding(divergence: float, dtype: str) -> bool:
    """Return True if a divergence of two computations is within a dtype's rounding; False for a NaN."""
    return divergence <= _ROUNDING.get(dtype, _ROUNDING_OF_SHORT_DTYPES)
