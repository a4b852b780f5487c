"""Answer-set persuasion: the effect of contexts on a model's choice among complete answers.

    complete answer   log p(a, end | c,q) = sum over a's tokens of log p(token | c,q, tokens before)
                                            + log p(a token that ends the answer | c,q,a)
    distribution      p(a|c,q) = p(a, end | c,q) / mass,   mass(c,q) = sum_a p(a, end | c,q), in [0, 1]
    mixture           p(a|q)   = sum_c p(c) p(a|c,q)
    persuasion        KL(p(.|c,q) || p(.|q)), in nats; susceptibility is its mean over p(c)

a is an answer, q a query, and c a context that has the share p(c) of the contexts.

A complete answer includes its end, so the probability of "New York" does not include that of "New York City". An answer
ends with an end-of-sequence token, or a token whose text begins with a terminator. A token with which another answer
continues is no end: "St" does not end before "." because "St. Louis" continues with ".". So complete answers exclude
each other, and their probabilities sum to at most 1. The probabilities of an answer's aliases are summed.
What it is not: persuasion of the next token, for which every token of the vocabulary is an answer. If the mass is
small, most of the model's probable answers are outside the set.
Source: this project, with the scores of Du et al. 2024, Eq. 2-4, which use only first tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import UsageError
from swaymeter.tasks.models.capabilities import AnswerScores
from swaymeter.tasks.models.next_token.broken import check_contexts_matter, check_scores
from swaymeter.tasks.models.prompts.tokens import no_distribution, tokenize, tokenize_prompts
from swaymeter.tasks.scoring.persuasion import PersuasionScores, distinct_contexts, divergence_from_mixture


@dataclass(frozen=True, eq=False)
class AnswerSetPersuasion(PersuasionScores):
    """Scores over a set of answers.

    Attributes:
        mass: (n_queries, n_contexts), the probability of the whole set, 0 to 1.
    """

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
    """Return persuasion and susceptibility over a set of complete answers, for every context and query.

    If a token spans the end of a query and the beginning of an answer, the sums of all answers begin at this token.

    Args:
        model: the model.
        contexts: n_contexts texts that are put directly before the queries.
        queries: n_queries complete texts.
        answers: the aliases of each answer. A space stands between query and alias; both are tokenized as one text.
        terminators: beginnings of tokens that end an answer, besides the end-of-sequence tokens.
        start_token: True begins prompts with the tokenizer's start token, if it has one.

    Raises:
        UsageError: contexts, queries or answers are missing, or two answers have the same tokens.
        ScoreError: a prompt does not fit the model, or a score is not finite.
    """
    aliases, groups = _aliases(model, answers)
    distinct, weights, columns = distinct_contexts(contexts)
    prompts = tokenize_prompts(model, distinct, queries, start_token=start_token)
    log_probs, are_finite, engine = model.complete_answers(
        distinct, queries, aliases, terminators=terminators, prompts=prompts, start_token=start_token
    )
    scores, log_mass = _persuasion(log_probs, groups, weights)
    checks = (
        (~are_finite.numpy(), no_distribution(model)),
        (~np.isfinite(log_mass), f"{model.name} gives every answer of the set the probability 0"),
    )
    check_scores(model.is_broken, checks, prompts, queries, distinct)
    unmoved = (log_probs == log_probs[:, :1]).all(dim=2).all(dim=1)
    check_contexts_matter(model, unmoved.numpy(), prompts, queries)
    # Rounding may give the score -1e-17 or the mass 1 + 1e-7.
    scores, mass = np.maximum(scores, 0.0), np.minimum(np.exp(log_mass), 1.0)
    return AnswerSetPersuasion(scores[:, columns], scores @ weights, engine, mass[:, columns])


def _persuasion(
    log_p: torch.Tensor, groups: Sequence[Sequence[int]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores and log mass, (n_queries, n_contexts) each, from `log_p` (n_queries, n_contexts, n_aliases)."""
    log_p_of_answers = torch.stack([log_p[..., group].logsumexp(dim=2) for group in groups], dim=2)
    log_mass = log_p_of_answers.logsumexp(dim=2)
    p = (log_p_of_answers - log_mass.unsqueeze(2)).exp()
    scores = torch.stack([divergence_from_mixture(p_of_query, torch.from_numpy(weights)) for p_of_query in p])
    return scores.numpy(), log_mass.numpy()


def _aliases(model: AnswerScores, answers: Sequence[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """Return all aliases of all answers, and the indices of each answer's aliases."""
    if not answers:
        raise UsageError("an answer set has no answers; give at least one answer")
    aliases: list[str] = []
    groups: list[list[int]] = []
    for number, texts in enumerate(answers):
        if not texts or not all(alias.strip() for alias in texts):
            raise UsageError(f"answer {number} has the texts {list(texts)}; give at least one text, and no blank text")
        groups.append([*range(len(aliases), len(aliases) + len(texts))])
        aliases += [alias.strip() for alias in texts]
    alias_by_tokens: dict[tuple[int, ...], str] = {}
    tokens_after_query = tokenize(model, [f" {alias}" for alias in aliases], start_token=False)
    for alias, tokens in zip(aliases, tokens_after_query, strict=True):
        if tuple(tokens) in alias_by_tokens:
            other = alias_by_tokens[tuple(tokens)]
            raise UsageError(f"{other!r} and {alias!r} have the same tokens; name each answer and alias once")
        alias_by_tokens[tuple(tokens)] = alias
    return aliases, groups
