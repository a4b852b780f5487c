"""Memorization ratio: how often a model keeps an answer that a context contradicts.

    memorization ratio = n_original / (n_original + n_substitute), over contexts that conflict with the query's answer

A context conflicts when it is about the queried entity and substitutes another answer (base or assertive contexts), or
negates the query's answer; negations name no substitute, so that any answer but the original counts as one, and are
counted separately. The answer is the greedy continuation, one line of at most 10 tokens, compared by its prefix.
What it is not: accuracy. Answers that follow neither are left out of the ratio, and 0/0 is None, where the released
code has 0. That code counts all distinct contexts, conflicting or not: a context that occurs twice in the sample counts
once. Its ratio is stored as well.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix D, after Longpre et al. 2022.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from swaymeter.data.errors import UsageError
from swaymeter.data.records import ContextKind, QueryType
from swaymeter.tasks.models.capabilities import NextTokenLogits
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.persuasion import counted

Conflict = Literal["substitution", "negation"]
Follows = Literal["original", "context", "other"]


def greedy_answers(
    model: NextTokenLogits,
    contexts: Sequence[str],
    queries: Sequence[str],
    *,
    max_new_tokens: int = 10,
    start_token: bool = True,
) -> tuple[list[list[str]], str]:
    """The greedy continuation of every context and query: its first line that is not blank, stripped.

    The arguments and errors of `persuasion`; max_new_tokens: most tokens of an answer, its end included. ScoreError
    also where a prompt does not fit the context window with its answer.
    """
    if max_new_tokens < 1:
        raise UsageError(f"max_new_tokens is {max_new_tokens}; it must be at least 1")
    distinct, _, rows = counted(contexts)
    prompts = tokenized_prompts(model, distinct, queries, start_token=start_token, reserved_tokens=max_new_tokens)
    answers, engine = model.greedy_lines(prompts, queries, distinct, max_tokens=max_new_tokens)
    return [[texts[row] for row in rows] for texts in answers], engine


def conflict(kind: ContextKind, about_entity: bool, context_object: str, answer: str) -> Conflict | None:
    """How a context conflicts with a query's answer by the object that it states or denies; None where it does not.

    A context of one's own may name no object: then it conflicts with none.
    """
    if not about_entity or not context_object:
        return None
    if kind == "negation":
        return "negation" if context_object == answer else None
    return "substitution" if context_object != answer else None


def follows(text: str, query_type: QueryType, answer: str, context_kind: ContextKind, context_object: str) -> Follows:
    """Whose answer a greedy answer begins with: the query's own ("original"), the context's, or another.

    To a closed query Yes is the original answer and No the context's. Where a text begins with both answers, the longer
    one counts: "New York City" is not "New York". A negation names the object that it denies, so an answer that gives
    this object follows neither.
    """
    if query_type == "closed":
        return "original" if text.startswith("Yes") else "context" if text.startswith("No") else "other"
    begun_with = max((one for one in (answer, context_object) if one and text.startswith(one)), key=len, default=None)
    if begun_with == answer:
        return "original"
    return "other" if begun_with is None or context_kind == "negation" else "context"


class Reply(NamedTuple):
    """The greedy answer to a query after one context."""

    context: str
    """The text of the context."""
    conflict: Conflict | None
    """How the context conflicts with the query's answer."""
    follows: Follows
    """Whose answer the reply begins with."""


def count(replies: Sequence[Reply]) -> dict[str, int | float | None]:
    """Count the replies to a query that give its own answer and those that give another.

    Args:
        replies: A reply for each context of the sample. Contexts may have equal texts.

    Returns:
        original, substitute, memorization_ratio: After substitutions, by how often the contexts occur.
        negation_original, negation_substitute: After negations of the query's answer; any other answer is a substitute.
        all_original, all_substitute, memorization_ratio_all: After each distinct context, of any kind.
        A ratio is None if both of its counts are 0.
    """

    def ratio(original: int, substitute: int) -> float | None:
        return original / (original + substitute) if original + substitute else None

    pairs = Counter((reply.conflict, reply.follows) for reply in replies)
    of_distinct = Counter({reply.context: reply.follows for reply in reversed(replies)}.values())
    original, substitute = pairs["substitution", "original"], pairs["substitution", "context"]
    return {
        "original": original,
        "substitute": substitute,
        "memorization_ratio": ratio(original, substitute),
        "negation_original": pairs["negation", "original"],
        "negation_substitute": pairs["negation", "context"] + pairs["negation", "other"],
        "all_original": of_distinct["original"],
        "all_substitute": of_distinct["context"],
        "memorization_ratio_all": ratio(of_distinct["original"], of_distinct["context"]),
    }
