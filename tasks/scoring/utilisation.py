"""Context utilisation: whether the next token is the one that a context promotes, and how far the context moved it.

With t the token that a relevant context promotes or, of an irrelevant context, the likeliest token without it, and P(t)
the model's probability of t as its next token:
    binary       BCU = 1 where t is the likeliest token with the context, else 0
    continuous   CCU = (P(t|Q,C) - P(t|Q)) / (1 - P(t|Q))   where P(t|Q,C) >= P(t|Q), else
                       (P(t|Q,C) - P(t|Q)) / P(t|Q)
CCU is the change of the probability as a share of the change that was possible in its direction, from -1, nothing is
left, to 1, nothing is lacking. P(t|Q) = 0 can only rise: 0 where it stays 0. P(t|Q) = 1 can only fall, and where it
stays 1, the ratio is 0/0 and there is no score.

What it is not: accuracy. A context is followed whether it is right or wrong, and an irrelevant one is ignored where the
model keeps its first answer, right or wrong. Nor is it a difference: close to P(t|Q) = 1 a rise of 0.001 may be all
that was possible, a fall of 0.001 is next to nothing.
Source: Hagström et al. 2025, CUB: Benchmarking Context Utilisation Techniques for Language Models, section 3.3 (BCU)
and appendix C, Eq. 1 (CCU). Ours: no score for 0/0, and where the context states several forms of its answer, t is any
of their first tokens and P(t) the sum.
"""

from collections.abc import Collection

from swaymeter.data.errors import ScoreError, UsageError


def binary_utilisation(likeliest: int, promoted: Collection[int]) -> bool:
    """Whether the likeliest next token with the context is one of those that it promotes; UsageError for none."""
    if not promoted:
        raise UsageError("the context promotes no token, so that nobody can say whether it was followed; name one")
    return likeliest in promoted


def continuous_utilisation(without: float, with_context: float) -> float | None:
    """The change of a probability as a share of the possible change, in [-1, 1]; None where it is 1 and stays 1.

    Args:
        without: P(t|Q), the probability without the context.
        with_context: P(t|Q,C), that with the context.

    Raises:
        ScoreError: One of them is not a probability: NaN, below 0 or above 1.
    """
    for probability in (without, with_context):
        if not 0 <= probability <= 1:
            raise ScoreError(f"{probability} is not a probability; the model's distribution is broken")
    possible = 1 - without if with_context >= without else without
    return (with_context - without) / possible if possible else None
