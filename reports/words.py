"""Terms of a page by the kind of study: a user's own questions, or questions of the papers.

Replies to own questions follow or resist right and wrong passages. Replies to questions of the papers are persuaded or
stubborn. In the database, both kinds of study have the papers' terms, such as persuaded.
"""

from collections.abc import Mapping

from swaymeter.data.records import CONDITIONS

CONDITION_NAMES: Mapping[str, str] = {
    **{name: f"{name.replace('_', '-')} context" for name in CONDITIONS},
    "none": "no context",
    "all": "any context",
    "supporting": "right passage",
    "conflicting": "wrong passage",
    "mixed": "mixed set",
    "irrelevant": "irrelevant passage",
    "neutral": "neutral passage",
    "unknown": "passage of unknown kind",
}
"""Conditions (kinds of context before a question) in words."""
QUANTITIES: Mapping[str, str] = {
    "follows_right": "follows right passages",
    "resists_wrong": "resists wrong passages",
    "abstains": "declines where nothing supports an answer",
    "follows": "states the context's answer",
    "prefers_right": "states the right one of two answers",
    "prefers_wrong": "states the wrong one of two answers",
    "names_both": "states both of two answers",
    "keeps": "stays what it was without the context",
    "correct": "states the original answer, without a context",
    "refuses": "declines or says nothing",
    "context_bias": "gives up its right answer for a wrong context's",
    "prior_bias": "keeps its wrong answer against a right context",
    "binary_utilisation": "begins with the context's answer",
    "continuous_utilisation": "continuous context utilisation",
    "coherent_persuasion": "coherent persuasion",
    "coherent_persuasion_unchanged": "noise floor of coherent persuasion",
    "susceptibility": "susceptibility",
}
"""Quantities that compare models, in the words of the papers and the order of tables."""
OWN_QUANTITIES: Mapping[str, str] = {
    **QUANTITIES,
    "follows": "follows the passage: gives its answer",
    "prefers_right": "follows the right one of two passages",
    "prefers_wrong": "follows the wrong one of two passages",
    "names_both": "gives both answers",
    "keeps": "stays unchanged",
    "correct": "gives the right answer without a passage",
    "refuses": "declines or says nothing",
    "context_bias": "gives up its right answer for a wrong passage's",
    "prior_bias": "keeps its wrong answer against a right passage",
    "binary_utilisation": "begins with the passage's answer",
}
"""Quantities in words for a user's own questions."""
THRESHOLD_NAMES: Mapping[str, str] = {
    "follows_right": "follow_right",
    "resists_wrong": "resist_wrong",
    "abstains": "abstain",
    "follows": "follow",
    "prefers_right": "prefer_right",
    "prefers_wrong": "prefer_wrong",
    "names_both": "name_both",
    "keeps": "keep",
    "correct": "correct",
    "refuses": "refuse",
    "context_bias": "context_bias",
    "prior_bias": "prior_bias",
    "coherent_persuasion": "persuasion",
    "coherent_persuasion_unchanged": "unchanged",
}
"""Names of quantities in thresholds, such as `follow` in follow.supporting."""
_OWN_OUTCOMES: Mapping[str, str] = {
    "persuaded": "newly follows",
    "agreed": "followed already without it",
    "stubborn": "unchanged",
    "other": "another answer",
}


def threshold_name(quantity: str, group: str) -> str:
    """Return the name of a quantity and a group in thresholds, such as follow.supporting."""
    return f"{THRESHOLD_NAMES.get(quantity, quantity)}.{group}"


def quantities(*, own: bool) -> Mapping[str, str]:
    """Return the quantities in words; `own` is True for a user's own questions."""
    return OWN_QUANTITIES if own else QUANTITIES


def outcome(name: str, *, own: bool) -> str:
    """Return the outcome of a greedy reply with a context in words, such as "newly follows" for persuaded."""
    return _OWN_OUTCOMES.get(name, name) if own else name
