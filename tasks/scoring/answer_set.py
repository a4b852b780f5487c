"""Answer-set persuasion: how far contexts move a model's choice among complete answers.

    complete answer   log p(a, end | c,q) = sum over a's tokens of log p(token | c,q, tokens before)
                                            + log p(a token that ends the answer | c,q,a)
    distribution      p(a|c,q) = p(a, end | c,q) / mass,   mass(c,q) = sum_a p(a, end | c,q), in [0, 1]
    mixture           p(a|q)   = sum_c p(c) p(a|c,q)
    persuasion        KL(p(.|c,q) || p(.|q)), in nats; susceptibility is its mean over p(c)

An answer is followed by its end, so "New York" does not contain "New York City". Its end is any end-of-sequence token,
and any token whose text begins with a terminator, unless another answer goes on with that very token: "St" does not end
where "St. Louis" goes on. So complete answers exclude each other, and their probabilities add up to at most 1. The
aliases of an answer are added up. Distributions are normalised within a context first and mixed after.
What it is not: the next-token score, whose answers are first tokens, all those of the vocabulary. Where the mass is
small, most of what the model would say is outside of the set.
Source: ours; the scores are those of Du et al. 2024, Eq. 2-4, which names the limit to first tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from data.errors import UsageError
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_prompts import end_tokens
from tasks.scoring.next_token import (
    check_contexts_matter,
    check_scores,
    engine,
    no_distribution,
    tokenized,
    tokenized_prompts,
)
from tasks.scoring.next_token.complete_answers import complete_answers
from tasks.scoring.persuasion import counted, divergence_from_mixture
from tasks.scoring.vocabulary import vocabulary_texts


@dataclass(frozen=True, eq=False)
class AnswerSetPersuasion:
    """scores: (n_queries, n_contexts); susceptibility: (n_queries,); both in nats, float64. engine: how they came.

    mass: (n_queries, n_contexts), the probability of all complete answers together, 0 to 1.
    """

    scores: NDArray[np.float64]
    susceptibility: NDArray[np.float64]
    mass: NDArray[np.float64]
    engine: str


def answer_set_persuasion(
    model: LanguageModel,
    contexts: Sequence[str],
    queries: Sequence[str],
    answers: Sequence[Sequence[str]],
    *,
    terminators: Sequence[str] = ("\n", "."),
    memory: int | None = None,
) -> AnswerSetPersuasion:
    """Persuasion and susceptibility over a set of complete answers, for every context and query.

    contexts: texts put before the queries with nothing between; one that occurs twice weighs twice. queries: complete
    texts. answers: for each answer its aliases; each stands behind a query after a space, if the query does not end
    with one, and the whole is tokenised as one text. Where a token spans the seam of query and answer, all answers of
    that query and context are scored from what is before that token on. terminators: what a token that ends an answer
    may begin with, beside the end-of-sequence tokens. memory: the bytes that may be filled beside the model.
    Raises UsageError where there is nothing to score, for an answer without text, or two that are the same tokens;
    ScoreError for a prompt that does not fit the model or a score that is not finite, with its query and context.
    """
    if not contexts or not queries:
        raise UsageError(f"answer sets need contexts and queries; given: {len(contexts)} and {len(queries)}")
    aliases, groups = _aliases(model, answers)
    stops = _stops(model, terminators)
    distinct, weights, rows = counted(contexts)
    prompts = tokenized_prompts(model, distinct, queries)
    engine_name = engine(model, prompts)
    found = complete_answers(model, distinct, queries, aliases, stops=stops, engine=engine_name, memory=memory)
    scores, log_mass = _persuasion(found.log_probs, groups, weights)
    checks = (
        (~found.sound.numpy(), no_distribution(model)),
        (~np.isfinite(log_mass), f"{model.name} gives no answer of the set any probability"),
    )
    check_scores(model, checks, prompts, queries, distinct)
    unmoved = (found.log_probs == found.log_probs[:, :1]).all(dim=2).all(dim=1)
    check_contexts_matter(model, unmoved.numpy(), prompts, queries)
    # A context that changes nothing may come out as -1e-17, and a whole mass as 1 + 1e-7: rounding.
    scores, mass = np.maximum(scores, 0.0), np.minimum(np.exp(log_mass), 1.0)
    return AnswerSetPersuasion(scores[:, rows], scores @ weights, mass[:, rows], engine_name)


def _persuasion(
    log_p: torch.Tensor, groups: Sequence[Sequence[int]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and log mass, (n_queries, n_contexts) each; groups: the places of each answer's aliases in log_p."""
    of_answers = torch.stack([log_p[..., group].logsumexp(dim=2) for group in groups], dim=2)
    log_mass = of_answers.logsumexp(dim=2)
    p = (of_answers - log_mass.unsqueeze(2)).exp()
    scores = torch.stack([divergence_from_mixture(of_query, torch.from_numpy(weights)) for of_query in p])
    return scores.numpy(), log_mass.numpy()


def _aliases(model: LanguageModel, answers: Sequence[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """All aliases of all answers, and for each answer the places of its own."""
    if not answers:
        raise UsageError("an answer set needs answers; none is given")
    aliases: list[str] = []
    groups: list[list[int]] = []
    for number, of_answer in enumerate(answers):
        if not of_answer or not all(alias.strip() for alias in of_answer):
            raise UsageError(f"answer {number} has no text: {list(of_answer)}; an answer needs texts that name it")
        groups.append([*range(len(aliases), len(aliases) + len(of_answer))])
        aliases += [alias.strip() for alias in of_answer]
    known: dict[tuple[int, ...], str] = {}
    for alias, tokens in zip(aliases, tokenized(model, [f" {alias}" for alias in aliases]), strict=True):
        if tuple(tokens) in known:
            raise UsageError(
                f"{known[tuple(tokens)]!r} and {alias!r} are the same tokens; name each answer and alias once"
            )
        known[tuple(tokens)] = alias
    return aliases, groups


def _stops(model: LanguageModel, terminators: Sequence[str]) -> list[int]:
    """The tokens that end an answer."""
    if "" in terminators:
        raise UsageError("a terminator is an empty text, with which every token begins; leave it out")
    # A tokenizer may know more tokens than its model.
    texts = vocabulary_texts(model)[: model.model.config.get_text_config().vocab_size]
    stops = end_tokens(model) | {token for token, text in enumerate(texts) if text.startswith(tuple(terminators))}
    if not stops:
        raise UsageError(f"no token of {model.name} ends an answer; use other terminators than {list(terminators)}")
    return sorted(stops)
