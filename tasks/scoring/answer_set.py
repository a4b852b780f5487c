"""Answer-set persuasion: how far contexts move a model's choice among complete answers.

    complete answer   log p(a, end | c,q) = sum over a's tokens of log p(token | c,q, tokens before)
                                            + log p(a token that ends the answer | c,q,a)
    distribution      p(a|c,q) = p(a, end | c,q) / mass,   mass(c,q) = sum_a p(a, end | c,q), in [0, 1]
    mixture           p(a|q)   = sum_c p(c) p(a|c,q)
    persuasion        KL(p(.|c,q) || p(.|q)), in nats; susceptibility is its mean over p(c)

An answer is followed by its end, so "New York" does not contain "New York City". Its end is any end-of-sequence token,
and any token whose text begins with a terminator, unless another answer continues with that token: "St" does not end
where "St. Louis" continues. So complete answers exclude each other, and their probabilities sum to at most 1. The
probabilities of an answer's aliases are summed.
What it is not: the next-token score, whose answers are all first tokens of the vocabulary. Where the mass is small,
most of the model's probable answers are outside of the set.
Source: this project; the scores are those of Du et al. 2024, Eq. 2-4, which names the limitation to first tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import UsageError
from swaymeter.tasks.models.capabilities import AnswerScores
from swaymeter.tasks.models.next_token.broken import check_contexts_matter, check_scores
from swaymeter.tasks.models.prompts.tokens import no_distribution, tokenized, tokenized_prompts
from swaymeter.tasks.scoring.persuasion import Persuasion, counted, divergence_from_mixture


@dataclass(frozen=True, eq=False)
class AnswerSetPersuasion(Persuasion):
    """Scores over a set of answers; mass: (n_queries, n_contexts), the probability of all of them, 0 to 1."""

    mass: NDArray[np.float64]


def answer_set_persuasion(
    model: AnswerScores,
    contexts: Sequence[str],
    queries: Sequence[str],
    answers: Sequence[Sequence[str]],
    *,
    terminators: Sequence[str] = ("\n", "."),
    start_token: bool = True,
) -> AnswerSetPersuasion:
    """Persuasion and susceptibility over a set of complete answers, for every context and query.

    Where a token spans the seam of query and answer, all answers of that query and context are scored from the text
    before that token on. The arguments and errors of `persuasion`, and:

    answers: the aliases of each answer; each follows a query after a space, if the query does not end with one, and the
    whole is tokenized as one text. terminators: beginnings of tokens that end an answer, besides the end-of-sequence
    tokens. UsageError also where answers are missing, or two of them have the same tokens.
    """
    aliases, groups = _aliases(model, answers)
    distinct, weights, rows = counted(contexts)
    prompts = tokenized_prompts(model, distinct, queries, start_token=start_token)
    log_probs, sound, engine = model.complete_answers(
        distinct, queries, aliases, terminators=terminators, prompts=prompts, start_token=start_token
    )
    scores, log_mass = _persuasion(log_probs, groups, weights)
    checks = (
        (~sound.numpy(), no_distribution(model)),
        (~np.isfinite(log_mass), f"{model.name} gives no answer of the set any probability"),
    )
    check_scores(model.is_broken, checks, prompts, queries, distinct)
    unmoved = (log_probs == log_probs[:, :1]).all(dim=2).all(dim=1)
    check_contexts_matter(model, unmoved.numpy(), prompts, queries)
    # A context that changes nothing may come out as -1e-17, and a whole mass as 1 + 1e-7: rounding.
    scores, mass = np.maximum(scores, 0.0), np.minimum(np.exp(log_mass), 1.0)
    return AnswerSetPersuasion(scores[:, rows], scores @ weights, engine, mass[:, rows])


def _persuasion(
    log_p: torch.Tensor, groups: Sequence[Sequence[int]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and log mass, (n_queries, n_contexts) each; groups: the places of each answer's aliases in log_p."""
    of_answers = torch.stack([log_p[..., group].logsumexp(dim=2) for group in groups], dim=2)
    log_mass = of_answers.logsumexp(dim=2)
    p = (of_answers - log_mass.unsqueeze(2)).exp()
    scores = torch.stack([divergence_from_mixture(of_query, torch.from_numpy(weights)) for of_query in p])
    return scores.numpy(), log_mass.numpy()


def _aliases(model: AnswerScores, answers: Sequence[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """All aliases of all answers, and for each answer the places of its own."""
    if not answers:
        raise UsageError("an answer set has no answers; give at least one")
    aliases: list[str] = []
    groups: list[list[int]] = []
    for number, of_answer in enumerate(answers):
        if not of_answer or not all(alias.strip() for alias in of_answer):
            raise UsageError(f"answer {number} has no text: {list(of_answer)}; give texts that name it")
        groups.append([*range(len(aliases), len(aliases) + len(of_answer))])
        aliases += [alias.strip() for alias in of_answer]
    known: dict[tuple[int, ...], str] = {}
    behind_query = tokenized(model, [f" {alias}" for alias in aliases], start_token=False)
    for alias, tokens in zip(aliases, behind_query, strict=True):
        if tuple(tokens) in known:
            other = known[tuple(tokens)]
            raise UsageError(f"{other!r} and {alias!r} are the same tokens; name each answer and alias once")
        known[tuple(tokens)] = alias
    return aliases, groups
