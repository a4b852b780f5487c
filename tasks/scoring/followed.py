"""The verdict of the rule on a reply: whose answer the reply states, the context's or the original one.

The rule reads the text after the thoughts, or the marked final answer (wording.answers), in four steps:

    1  find all mentions of a form of an answer (wording.forms, wording.mentions); the longest form counts
    2  drop mentions that are part of another name, or only repeat the question
    3  take the stance of the reply towards each mention (wording.stance), and weigh two answers by their stances
    4  without a mention, look for a refusal (wording.refusals)

Answers "yes" and "no" are read by wording.yes_no and wording.sentences instead.

A reply is undecided if its stance is unclear, or if it may state an answer in other words. The rule is sure of
`neither` only for a reason in DECIDED_REASONS. The rule does not judge the truth: "The passage says Oslo" states Oslo.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Literal, NamedTuple, cast, get_args

from swaymeter.data.errors import InputError
from swaymeter.data.wording.word import FUNCTION_WORDS, Name, Word, texts_of
from swaymeter.data.wording.words import words
from swaymeter.tasks.models.prompts.thoughts import without_thoughts
from swaymeter.tasks.scoring.wording import stance, yes_no
from swaymeter.tasks.scoring.wording.answers import final_answer
from swaymeter.tasks.scoring.wording.forms import forms
from swaymeter.tasks.scoring.wording.lists import Items, items_of_reply, states_items
from swaymeter.tasks.scoring.wording.mentions import (
    Mention,
    by_first,
    is_part,
    is_whole,
    longer_names,
    longest,
    mentions,
    without_question,
)
from swaymeter.tasks.scoring.wording.other_values import is_other_value
from swaymeter.tasks.scoring.wording.refusals import is_empty, only_concedes, only_mentions, refuses, says_nothing
from swaymeter.tasks.scoring.wording.sentences import Polarity
from swaymeter.tasks.scoring.wording.stance import Span, Stance

Verdict = Literal["context", "original", "both", "neither", "refusal"]
Side = Literal["context", "original"]
DecidedBy = Literal["rule", "judge", "person"]
"""Source of a verdict. A judge's verdict replaces the rule's, and a person's verdict replaces both."""
Outcome = Literal["persuaded", "agreed", "stubborn", "other"]
"""Effect of a context on a reply, as `outcome` defines it."""
Reason = Literal[
    "unfinished thoughts",
    "another value",
    "another answer or none",
    "no yes or no in words",  # such as "Built in 1990." for the answer yes
    "yes or no of neither side",  # such as "No." if the only answer is yes
    "unclear stance",
    "denied",
    "fits both answers",  # such as "9 o'clock" for 9 a.m. and 9 p.m.
    "repeats the question",
    "part of another name",
    "no answer to look for",
]
"""Reason of a verdict "neither". If several reasons apply, the first of them in this list counts.

Only `decision_on` of the measure whose_answer gives "no answer to look for"; `decide` raises an InputError instead.
"""
DECIDED_REASONS: frozenset[Reason] = frozenset(
    ("unfinished thoughts", "another value", "yes or no of neither side", "no answer to look for")
)
"""Reasons with which "neither" is sure; with any other reason the reply is undecided."""
TAKES_CONTEXT: tuple[Verdict, ...] = ("context", "both")
"""The verdicts of a reply that states the context's answer."""

_SIDES: tuple[Side, ...] = get_args(Side)
_REASONS: tuple[Reason, ...] = get_args(Reason)
_MAX_QUESTION = 200
"""Limit of the words of a question that are compared with a mention."""
_ARROW = re.compile(r"(\S{1,20}) ?(?:→|⇒|->|=>) ?")
"""A change that is written with an arrow: "9:00 → 10:00" is read as "from 9:00 to 10:00"."""
_ARROW_SIGN = re.compile("[→⇒>]")  # to search fast for texts in which the slow `_ARROW` may match


class Decision(NamedTuple):
    """The rule's decision on a reply.

    Attributes:
        verdict: The verdict; "neither" if the reply is undecided.
        is_decided: True if the rule is sure. A judge should decide an undecided reply.
        reason: The reason of the verdict "neither"; None for other verdicts.
    """

    verdict: Verdict
    is_decided: bool
    reason: Reason | None


def decide(reply: str, *, context: Sequence[str], original: Sequence[str], question: str = "") -> Decision:
    """Decide whose answer a reply states.

    Args:
        reply: The reply of a model.
        context: The answer that the context states, and its other names.
        original: The right answer, or the model's closed-book answer, with its other names; may be empty.
        question: The question to the model; words that the reply only repeats from the question do not count.

    Returns:
        The decision. Its verdict is "refusal" if the reply is empty, declines, or says that it does not know.

    Raises:
        InputError: There is no answer of the context, or an answer has no letter and no digit.
    """
    for side, answers in zip(_SIDES, (context, original), strict=True):
        if isinstance(answers, str):
            raise TypeError(f"`{side}` must be a list of answers, such as [{answers!r}], not a text")
    sides = _sides(tuple(context), tuple(original), question)
    text = without_thoughts(reply)
    if text is None:
        return Decision("neither", True, "unfinished thoughts")
    text = final_answer(text)
    all_words = words(_ARROW.sub(r"from \1 to ", text) if _ARROW_SIGN.search(text) else text)
    reply_words = without_question(all_words, sides.question_words)
    if all_words and not reply_words:
        return Decision("neither", False, "repeats the question")
    all_mentions = mentions(reply_words, sides.names)
    stated, reason = _sides_listed(text, sides) or _sides_named(reply_words, all_mentions, sides)
    polarities = yes_no.polarities(reply_words, sides.question_words) if sides.polarities else set()
    stated |= {side for polarity in polarities for side in sides.polarities.get(polarity, ())}
    if len(stated) == 2 and sides.are_alike:
        stated = _as_written(text, context, original) or stated
    has_part = len(stated) < 2 and not sides.polarities and _has_part(reply_words, all_mentions, sides, stated)
    # A reply such as "Red or blue" to "Is it red or blue?".
    if len(stated) == 2 and is_part(texts_of(reply_words), texts_of(sides.question_words)):
        return Decision("neither", False, "repeats the question")
    if stated:
        if has_part:
            return Decision("neither", False, "unclear stance")
        return Decision("both" if len(stated) == 2 else stated.pop(), True, None)
    says_yes_or_no = sides.polarities and yes_no.begins_with(reply_words) and not says_nothing(reply_words)
    may_refuse = not says_yes_or_no and reason != "unclear stance"
    if may_refuse and (is_empty(text) or refuses(reply_words, is_polar=bool(sides.polarities))):
        if has_part or only_concedes(reply_words):
            return Decision("neither", False, "unclear stance")
        return Decision("refusal", True, None)
    if polarities or says_yes_or_no:
        reason = "yes or no of neither side"
    elif sides.polarities:
        reason = reason or "no yes or no in words"
    elif reason is None:
        reason = "another value" if is_other_value(reply_words, sides.values) else "another answer or none"
    return Decision("neither", reason in DECIDED_REASONS, reason)


def whose_answer(reply: str, *, context: Sequence[str], original: Sequence[str], question: str = "") -> Verdict:
    """Return the verdict of `decide`, "neither" for an undecided reply; arguments and errors are those of `decide`."""
    return decide(reply, context=context, original=original, question=question).verdict


def outcome(without: str, with_context: str, verdict_without: Verdict, verdict_with: Verdict) -> Outcome:
    """Return the effect of a context on a reply, from the replies without and with the context.

        persuaded   only the reply with the context states the context's answer
        agreed      both replies state the context's answer
        stubborn    the reply with the context does not state the context's answer, and both replies have the same words
                    or both state the original answer
        other       any other pair of replies

    A reply that states both answers states the context's. Two empty replies do not have the same words.
    """
    if verdict_with in TAKES_CONTEXT:
        return "agreed" if verdict_without in TAKES_CONTEXT else "persuaded"
    before, after = (texts_of(words(text)) for text in (without, with_context))
    both_original = verdict_without == verdict_with == "original"
    return "stubborn" if both_original or (before and before == after) else "other"


class _Sides(NamedTuple):
    """The answers of both sides, context and original.

    Attributes:
        names: The forms of the answers by their first words.
        polarities: The sides by the polarity of their answers, yes or no; empty if a side has only other answers.
        lists: The answers that are lists.
        values: The words of each answer.
        question_words: The words of the question.
        question: The words of the question, grouped for stances.
        are_alike: True if both sides have an answer with the same normalised words, such as 2.1 and 2.10.
        parts: The words of each side's forms, without function words and words of the question.
    """

    names: Mapping[str, Sequence[Name]]
    polarities: Mapping[Polarity, set[Side]]
    lists: tuple[tuple[Side, Items], ...]
    values: tuple[tuple[Word, ...], ...]
    question_words: tuple[Word, ...]
    question: stance.Question
    are_alike: bool
    parts: Mapping[Side, frozenset[str]]


@lru_cache(maxsize=1024)  # the answers of a question are looked for in every reply to it
def _sides(context: tuple[str, ...], original: tuple[str, ...], question: str) -> _Sides:
    if not context:
        raise InputError("the list of the context's answers is empty; give at least one answer")
    question_words = words(question)
    question_texts = texts_of(question_words)
    names: list[Name] = []
    polarities: dict[Polarity, set[Side]] = {}
    answers_of_sides = [answers for answers in (context, original) if answers]
    are_polar = all(any(yes_no.polarity_of_answer(words(text)) for text in answers) for answers in answers_of_sides)
    for side, answers in zip(_SIDES, (context, original), strict=True):
        for answer in answers:
            if not words(answer):
                raise InputError(f"`{side}` has an answer without a letter or digit, {answer!r}; leave this answer out")
            polarity = yes_no.polarity_of_answer(words(answer))
            if polarity and are_polar:
                polarities.setdefault(polarity, set()).add(side)
            else:
                names += forms(side, answer, question_texts)
    if not all(map(str.isascii, (*context, *original))):
        names += longer_names()
    are_alike = not {words(answer) for answer in context}.isdisjoint(words(answer) for answer in original)
    values = tuple(map(words, (*context, *original)))
    question_parts = stance.question_of(question_texts)
    lists = [(cast("Side", name.side), Items(name.items, name.are_ordered)) for name in names if name.items]
    distinct_lists = tuple(dict.fromkeys(lists))
    parts = {
        side: frozenset(text for name in names if name.side == side for text in name.texts)
        - FUNCTION_WORDS
        - question_parts.texts
        for side in _SIDES
    }
    return _Sides(by_first(names), polarities, distinct_lists, values, question_words, question_parts, are_alike, parts)


def _as_written(text: str, context: Sequence[str], original: Sequence[str]) -> set[Side]:
    """Return the only side whose answer the text spells exactly (2.10 is not 2.1); empty for both sides or none."""
    stated = set()
    for side, answers in zip(_SIDES, (context, original), strict=True):
        pattern = "|".join(map(re.escape, answers))
        if pattern and re.search(rf"(?<![\w.,])(?:{pattern})(?!\w|[.,]\d)", text):
            stated.add(side)
    return stated if len(stated) == 1 else set()


def _sides_named(
    reply: Sequence[Word], all_mentions: Sequence[Mention], sides: _Sides
) -> tuple[set[Side], Reason | None]:
    """Return the sides whose answer a reply states, and the reason why a mentioned answer is not stated.

    The reason is None if the reply states an answer, mentions no answer, or refuses.
    """
    if not all_mentions:
        return set(), None
    valid_mentions, reasons = _valid_mentions(reply, all_mentions, sides)
    spans = [Span(mention.start, mention.end, mention.name.side or "") for mention in valid_mentions]
    named = {span.side for span in spans}
    if len(spans) > stance.MAX_MENTIONS:
        return (cast("set[Side]", named), None) if len(named) == 1 else (set(), "unclear stance")
    stances = [stance.stance_of(reply, span, sides.question) for span in spans]
    if len(named) == 2:
        if (stated := stance.sides_stated(reply, spans, stances, sides.question)) is None:
            return set(), "unclear stance"
        if not stated:
            reasons.add("denied")
    else:
        distinct_stances = set(stances)
        is_denied = Stance.DENIED in distinct_stances and Stance.ASSERTED not in distinct_stances
        stated = set() if is_denied else named
        if is_denied:
            reasons.add("denied")
        if stated and only_mentions(reply) and refuses(reply):  # "It mentions Oslo, but does not say": a refusal
            return set(), None
        is_doubted = distinct_stances == {Stance.REPORTED} and stance.doubts_report(reply)
        is_unclear = distinct_stances <= stance.WEAK or is_doubted
        if stated and (is_unclear or stance.answers_elsewhere(reply, spans, sides.question)):
            stated, reasons = set(), {"unclear stance"}
    reason = next((reason for reason in _REASONS if reason in reasons), None)
    return cast("set[Side]", set(stated)), None if stated else reason


def _sides_listed(text: str, sides: _Sides) -> tuple[set[Side], None] | None:
    """Return the sides whose answer is the list that the reply writes with bullets, numbers or arrows; else None."""
    if not sides.lists or not (items := items_of_reply(text)):
        return None
    stated = {side for side, answer in sides.lists if states_items(items, answer)}
    return (stated, None) if stated else None


def _valid_mentions(
    reply: Sequence[Word], all_mentions: Sequence[Mention], sides: _Sides
) -> tuple[list[Mention], set[Reason]]:
    """Return the mentions that count, in their order, and the reasons against the other mentions.

    A loose form counts only as defined in wording.forms.
    """
    candidates: list[Mention] = []
    reasons: set[Reason] = set()
    for mention in longest(all_mentions):
        if not mention.name.side:  # a longer name that is no answer, such as 罗马尼亚 (Romania) for 罗马 (Rome)
            continue
        if not is_whole(reply, mention, sides.question.texts):
            reasons.add("part of another name")
        elif _is_repeated(reply, mention, sides.question_words):
            reasons.add("repeats the question")
        else:
            candidates.append(mention)
    exact_positions = {mention[:2] for mention in candidates if mention.name.exact}  # (start, end)
    loose_sides: dict[tuple[int, int], set[str | None]] = {}  # sides with a loose form, by position
    for mention in candidates:
        if not mention.name.exact and mention[:2] not in exact_positions:
            loose_sides.setdefault(mention[:2], set()).add(mention.name.side)
    if any(len(sides_at) > 1 for sides_at in loose_sides.values()):
        reasons.add("fits both answers")
    fitting = [mention for mention in candidates if mention.name.exact or len(loose_sides.get(mention[:2], ())) == 1]
    return fitting, reasons


def _is_repeated(reply: Sequence[Word], mention: Mention, question: Sequence[Word]) -> bool:
    """Return True if the mention and the word on each side of it stand in the question, too.

    At least one of the two words must be neither a function word nor a word of the answer.
    """
    around = reply[max(mention.start - 1, 0) : mention.end + 1]
    beside = {word.text for word in around} - set(mention.name.texts) - FUNCTION_WORDS
    return bool(beside) and is_part(texts_of(around), texts_of(question[:_MAX_QUESTION]))


def _has_part(reply: Sequence[Word], all_mentions: Sequence[Mention], sides: _Sides, stated: Collection[Side]) -> bool:
    """Return True if a reply has only a part of an answer: 5 for "5 km", or Kennedy for "John Kennedy"."""
    parts = frozenset[str]().union(*(sides.parts[side] for side in _SIDES if side not in stated))
    parts = parts.difference(*(sides.parts[side] for side in stated))
    if parts.isdisjoint(texts_of(reply)):
        return False
    covered = {index for mention in all_mentions for index in range(mention.start, mention.end)}
    for index, (word, following) in enumerate(zip_longest(reply, reply[1:])):
        if index in covered or word.text not in parts:
            continue
        is_number = word.kind == "number" and (following is None or following.kind != "unit")
        is_name = word.capitals and not stated
        is_question_negated = sides.question.is_negated
        if (is_number or is_name) and not stance.is_denied(
            reply, index, index + 1, is_question_negated=is_question_negated
        ):
            return True
    return False
