"""Memorization ratio: how often a model keeps an answer that a context contradicts.

    memorization ratio = n_original / (n_original + n_substitute), over contexts that conflict with the query's answer

n_original replies give the query's original answer, and n_substitute replies give the answer of the context. A context
conflicts if it is about the queried entity and substitutes another answer (base or assertive contexts), or negates the
query's answer. A negation names no substitute, so any answer but the original one counts as a substitute; negations are
counted separately. The reply is the greedy continuation, one line of at most 10 tokens; its beginning is its answer.
What it is not: accuracy. The ratio leaves out replies with neither answer.
The ratio of the released code is `memorization_ratio_all`, which counts each distinct context once, conflicting or not.
The released code gives 0 for 0/0, and this project None.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix D, after Longpre et al. 2022.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from swaymeter.data.errors import UsageError
from swaymeter.data.records import ContextKind, QueryType
from swaymeter.tasks.models.capabilities import NextTokenLogits
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from swaymeter.tasks.scoring.persuasion import distinct_contexts

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
    """Return the first nonblank line of every greedy continuation, [query][context], and the name of the engine.

    Args:
        model: the model.
        contexts: texts that are put directly before the queries.
        queries: complete texts.
        max_new_tokens: limit of the tokens of an answer, its end included.
        start_token: True begins prompts with the tokenizer's start token, if it has one.

    Raises:
        UsageError: contexts or queries are empty, or max_new_tokens is below 1.
        ScoreError: a prompt and its answer do not fit the context window.
    """
    if max_new_tokens < 1:
        raise UsageError(f"max_new_tokens must be at least 1, not {max_new_tokens}")
    distinct, _, rows = distinct_contexts(contexts)
    prompts = tokenize_prompts(model, distinct, queries, start_token=start_token, reserved_tokens=max_new_tokens)
    answers, engine = model.greedy_lines(prompts, queries, distinct, max_tokens=max_new_tokens)
    return [[texts[row] for row in rows] for texts in answers], engine


def conflict(kind: ContextKind, about_entity: bool, context_object: str, answer: str) -> Conflict | None:
    """Return the kind of conflict between the object of a context and a query's answer; None without a conflict.

    A context from a study's own file may lack an object; such a context has no conflict.
    """
    if not about_entity or not context_object:
        return None
    if kind == "negation":
        return "negation" if context_object == answer else None
    return "substitution" if context_object != answer else None


def follows(text: str, query_type: QueryType, answer: str, context_kind: ContextKind, context_object: str) -> Follows:
    """Return the side of the answer that a greedy reply begins with: "original", "context" or "other".

    For a closed query, "Yes" is the original answer and "No" is the context's. If a text begins with both answers, the
    longer answer counts: "New York City" is not "New York". A reply with an object that the context only denies is
    "other", unless the object is the original answer.

    Args:
        text: the greedy reply.
        query_type: the type of the query.
        answer: the query's original answer.
        context_kind: the kind of the context.
        context_object: the object that the context states, or denies if it is a negation.
    """
    if query_type == "closed":
        if text.startswith("Yes"):
            return "original"
        return "context" if text.startswith("No") else "other"
    beginnings = [name for name in (answer, context_object) if name and text.startswith(name)]
    beginning = max(beginnings, key=len, default=None)
    if beginning == answer:
        return "original"
    return "other" if beginning is None or context_kind == "negation" else "context"


class Reply(NamedTuple):
    """The greedy reply to a query after one context."""

    context: str
    """The text of the context."""
    conflict: Conflict | None
    """The conflict of the context with the query's answer; None without a conflict."""
    follows: Follows
    """The answer that the reply begins with."""


def count(replies: Sequence[Reply]) -> dict[str, int | float | None]:
    """Count the replies to a query that give its original answer, and the replies that give another answer.

    Args:
        replies: a reply for each context of the sample. Contexts may have equal texts.

    Returns:
        original, substitute, memorization_ratio: counts and ratio after substitutions, repeated contexts included.
        negation_original, negation_substitute: counts after negations; any other answer is a substitute.
        all_original, all_substitute, memorization_ratio_all: counts and ratio after contexts of any kind; contexts with
            equal texts count once.
        A ratio is None if both of its counts are 0.
    """

    def ratio(original: int, substitute: int) -> float | None:
        return original / (original + substitute) if original + substitute else None

    counts = Counter((reply.conflict, reply.follows) for reply in replies)
    # reversed: of contexts with equal texts, the first one counts.
    distinct = Counter({reply.context: reply.follows for reply in reversed(replies)}.values())
    original, substitute = counts["substitution", "original"], counts["substitution", "context"]
    return {
        "original": original,
        "substitute": substitute,
        "memorization_ratio": ratio(original, substitute),
        "negation_original": counts["negation", "original"],
        "negation_substitute": counts["negation", "context"] + counts["negation", "other"],
        "all_original": distinct["original"],
        "all_substitute": distinct["context"],
        "memorization_ratio_all": ratio(distinct["original"], distinct["context"]),
    }
