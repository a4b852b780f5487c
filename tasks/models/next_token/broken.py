"""Errors for scores that are not finite, and for distributions that no context changes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.models.capabilities import DiagnosableModel, Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.prompts.tokens import shorten

_MAX_SUSPECTS = 200  # limit of the prompts that are read alone to find a broken prompt

Suspect = TypeVar("Suspect")


def first_broken(suspects: Sequence[Suspect], breaks_alone: Callable[[Suspect], bool]) -> Suspect:
    """Return the first suspect that breaks when it is read alone; the first suspect if none breaks.

    Every prompt of a batch is a suspect, because the NaN of one prompt spreads to the whole batch.
    """
    return next((suspect for suspect in suspects[:_MAX_SUSPECTS] if breaks_alone(suspect)), suspects[0])


def is_broken(model: Network, prompt: Tokens) -> bool:
    """Return True if the model gives no finite distribution after this prompt read alone."""
    return not bool(torch.isfinite(Distributions.of(read_plain(model, [prompt])).log_normaliser).all())


def check_scores(
    breaks_alone: Callable[[Tokens], bool],
    checks: Iterable[tuple[NDArray[np.bool_], str]],
    prompts: Sequence[Sequence[Tokens]],
    queries: Sequence[str],
    contexts: Sequence[str],
) -> None:
    """Raise ScoreError for a failed check; the message names the query and the context.

    Args:
        breaks_alone: returns True if a prompt read alone gives a value that is not finite.
        checks: for each check, a mask, (n_queries, n_contexts), True for a failure; and the beginning of the message.
        prompts: [context][query] tokens.
        queries: texts for messages.
        contexts: texts for messages.
    """
    for broken, message in checks:
        if broken.any():
            suspects = [(int(query), int(context)) for query, context in np.argwhere(broken)]
            query, context = first_broken(suspects, lambda suspect: breaks_alone(prompts[suspect[1]][suspect[0]]))
            raise ScoreError(
                f"{message} for the query {shorten(queries[query])} after the context {shorten(contexts[context])}"
            )


def check_contexts_matter(
    model: DiagnosableModel, unmoved: NDArray[np.bool_], prompts: Sequence[Sequence[Tokens]], queries: Sequence[str]
) -> None:
    """Raise ScoreError if the distributions after all contexts are equal to the last bit, a sign of damaged weights.

    Equal distributions are right if prompts are equal, or if the last token cannot attend to their differences.

    Args:
        model: the model.
        unmoved: (n_queries,), True if a query's distributions are the same after every context.
        prompts: [context][query] tokens.
        queries: texts for messages.
    """
    for query in np.flatnonzero(unmoved).tolist():
        if model.in_reach([row[query] for row in prompts]):
            raise ScoreError(
                f"{model.name} in {model.dtype} gives exactly the same distribution after all {len(prompts)} contexts "
                f"of the query {shorten(queries[query])}, a sign of damaged weights; remove the model's files and "
                "download the files again"
            )
