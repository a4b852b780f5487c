"""Memorization ratio: how often a model keeps an answer that a context contradicts.

    memorization ratio = n_original / (n_original + n_substitute), over contexts that conflict with the query's answer

A context conflicts when it is about the queried entity and substitutes another answer (base or assertive contexts), or
negates the query's answer; negations name no substitute, so that any answer but the original counts as one, and are
counted separately. The answer is the greedy continuation, one line of at most 10 tokens, compared by its prefix.
What it is not: accuracy. Answers that follow neither are left out of the ratio, and 0/0 is None, where the released
code has 0. That code counts all contexts, conflicting or not; its ratio is stored as well.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix D, after Longpre et al. 2022.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

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
    answers, engine = model.greedy_lines(prompts, queries, distinct, most=max_new_tokens)
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


def count(followed: Sequence[tuple[Conflict | None, Follows]]) -> dict[str, int | float | None]:
    """How many answers to a query gave its own answer, and how many another; a ratio is None where both are 0.

    original, substitute, memorization_ratio: after substitutions; negation_*: after negations of the query's answer,
    the substitute being any other answer; all_*: after any context, the substitute being the context's answer.
    followed: for each context its conflict and whose answer is given.
    """

    def ratio(original: int, substitute: int) -> float | None:
        return original / (original + substitute) if original + substitute else None

    pairs = Counter(followed)
    all_of = Counter(whose for _, whose in followed)
    original, substitute = pairs["substitution", "original"], pairs["substitution", "context"]
    return {
        "original": original,
        "substitute": substitute,
        "memorization_ratio": ratio(original, substitute),
        "negation_original": pairs["negation", "original"],
        "negation_substitute": pairs["negation", "context"] + pairs["negation", "other"],
        "all_original": all_of["original"],
        "all_substitute": all_of["context"],
        "memorization_ratio_all": ratio(all_of["original"], all_of["context"]),
    }
