"""The prompt of a score that is not finite, and distributions that no context changes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.capabilities import Diagnosable, Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.prompts.tokens import shortened

_LOOKED_AT = 200

Suspect = TypeVar("Suspect")


def first_broken(suspects: Sequence[Suspect], breaks_alone: Callable[[Suspect], bool]) -> Suspect:
    """The first suspect that breaks when read alone, for a NaN spreads in a pass; the first of all if none does."""
    return next((suspect for suspect in suspects[:_LOOKED_AT] if breaks_alone(suspect)), suspects[0])


def is_broken(model: Network, prompt: Tokens) -> bool:
    """Whether the model gives no distribution after this prompt read alone."""
    return not bool(torch.isfinite(Distributions.of(read_plain(model, [prompt])).log_normaliser).all())


def check_scores(
    breaks_alone: Callable[[Tokens], bool],
    checks: Iterable[tuple[NDArray[np.bool_], str]],
    prompts: Sequence[Sequence[Tokens]],
    queries: Sequence[str],
    contexts: Sequence[str],
) -> None:
    """Raises ScoreError with the query and the context where a check, (n_queries, n_contexts) and a message, fails.

    breaks_alone: whether a prompt read alone gives a NaN; prompts: [context][query] tokens.
    """
    for broken, wrong in checks:
        if broken.any():
            places = [(int(query), int(context)) for query, context in np.argwhere(broken)]
            query, context = first_broken(places, lambda place: breaks_alone(prompts[place[1]][place[0]]))
            raise ScoreError(
                f"{wrong} for the query {shortened(queries[query])} after the context {shortened(contexts[context])}"
            )


def check_contexts_matter(
    model: Diagnosable, unmoved: NDArray[np.bool_], prompts: Sequence[Sequence[Tokens]], queries: Sequence[str]
) -> None:
    """Raises ScoreError for a model that gives the same bits after every context, as damaged weights do.

    Prompts with the same tokens, or with differences that their last token cannot see, may give that. unmoved:
    (n_queries,) whether a query's distributions are the same after every context; prompts: [context][query] tokens.
    """
    for query in np.flatnonzero(unmoved).tolist():
        if model.in_reach([of_context[query] for of_context in prompts]):
            raise ScoreError(
                f"{model.name} in {model.dtype} gives the same distribution, to the last bit, after all {len(prompts)} "
                f"contexts of the query {shortened(queries[query])}, as damaged weights do; get the model again"
            )
