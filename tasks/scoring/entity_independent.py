"""Entity-independent persuasion and susceptibility: how far contexts move a query form, whichever entity it asks about.

    persuasion       kappa(c) = 1/|E| sum_e pi(c, q(e)), in nats
    susceptibility   gamma    = sum_c p(c) kappa(c), in nats

q(e) is one form of a query about the entity e, E the entities of its queries, pi the persuasion score: kappa and gamma
are means of stored scores, and inherit their bounds, 0 <= kappa(c) <= -log p(c).
What it is not: kappa is not a mean over relevant contexts alone; a context about one entity precedes every query.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix B.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.errors import ScoreError, UsageError


def entity_independent_persuasion(scores: ArrayLike) -> NDArray[np.float64]:
    """The persuasion kappa of every context, (n_contexts,) in nats [Du et al. 2024, App. B].

    scores: (n_entities, n_contexts), nats, the persuasion scores of one query form.
    Raises UsageError for an array without entity or context, ScoreError for a score that is not finite.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise UsageError(f"scores of a query form are entities x contexts, not an array of shape {matrix.shape}")
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        entity, context = wrong[0]
        raise ScoreError(
            f"persuasion of entity {entity} by context {context} is {matrix[entity, context]}, not a valid score"
        )
    kappa: NDArray[np.float64] = matrix.mean(axis=0)
    return kappa


def entity_independent_susceptibility(scores: ArrayLike) -> float:
    """The susceptibility gamma of a query form, in nats; scores and errors as above, a context twice weighs twice."""
    return float(entity_independent_persuasion(scores).mean())
