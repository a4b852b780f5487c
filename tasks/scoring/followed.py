"""Whose answer a reply states: the context's, the original one, both, neither, or none because it declines.

From the reply's words (swaymeter.tasks.scoring.wording) in four steps:

    1  every place where a form of an answer stands (wording.forms, wording.names); the longest counts
    2  of these, what is a whole name, is not denied (wording.denials), does not only repeat the question, and does not
       say whose relative is meant (wording.roles); of two answers, one that is conceded ("although the text says Oslo")
       or succeeded ("founded by Ann; Bob joined later") is not stated
    3  a loose form counts where nothing else of the reply fits the place, and not where it fits both sides alike
    4  where nothing is stated, whether the reply declines (wording.refusals)

Where an answer is yes or no, wording.yes_no and wording.clauses say what the reply says instead. It is a rule for short
answers, not a judgement of truth; an answer that a reply reports as what others say counts as stated. Most of what it
knows of sentences is English; the commonest negations, and refusals, are known in a dozen languages.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, cast, get_args

from swaymeter.data.errors import InputError
from swaymeter.data.wording.word import AUXILIARIES, FUNCTION_WORDS, Name, Word, word_set
from swaymeter.data.wording.words import words
from swaymeter.tasks.models.prompts.thoughts import without_thoughts
from swaymeter.tasks.scoring.wording import denials, yes_no
from swaymeter.tasks.scoring.wording.clauses import in_a_sentence
from swaymeter.tasks.scoring.wording.forms import forms
from swaymeter.tasks.scoring.wording.names import Mention, by_first, is_whole, longer_names, longest, mentions
from swaymeter.tasks.scoring.wording.predicates import by_predicate
from swaymeter.tasks.scoring.wording.refusals import is_unsaid, refuses, says_nothing
from swaymeter.tasks.scoring.wording.roles import answering, is_of_another

Verdict = Literal["context", "original", "both", "neither", "refusal"]
Side = Literal["context", "original"]
DecidedBy = Literal["rule", "judge", "person"]
"""What decided a verdict; a person's verdict comes before a judge's, and a judge's before the rule's."""
Outcome = Literal["persuaded", "agreed", "stubborn", "other"]
Reason = Literal[
    "unfinished thoughts",
    "another answer or none",
    "no yes or no in words",
    "yes or no of neither side",
    "denied",
    "fits both answers",
    "repeats the question",
    "part of another name",
    "no answer to look for",
    "both answers, unclear stance",
]
"""Why a reply states neither answer; of several reasons the first that holds of "denied" to "part of another name"."""
DECIDED_REASONS: frozenset[Reason] = frozenset(
    ("unfinished thoughts", "yes or no of neither side", "no answer to look for")
)
"""Reasons with which `neither` is sure; with any other reason the reply is undecided."""
TAKES_CONTEXT: tuple[Verdict, ...] = ("context", "both")
"""The verdicts of a reply that states the context's answer."""


_SIDES: tuple[Side, ...] = get_args(Side)
_MOST_MENTIONS = 30
"""Of two answers of which it is told which one is meant; a text that has more states both."""
_TURNING = word_set("but however simply though")
_TWO_SIDED = _TURNING | word_set("other another second actually fact reality")
_ASKING = AUXILIARIES | word_set("ist sind war hat haben wird kann konnen darf durfen muss mussen gibt")


class Decision(NamedTuple):
    """What the rule decides of a reply.

    Attributes:
        verdict: Whose answer the reply states; "neither" if the reply is undecided.
        is_decided: Whether the rule is sure. A judge should decide an undecided reply.
        reason: Why the verdict is "neither"; None for other verdicts.
    """

    verdict: Verdict
    is_decided: bool
    reason: Reason | None


def decide(reply: str, *, context: Sequence[str], original: Sequence[str], question: str = "") -> Decision:
    """Return the verdict on a reply, with the reason, and say if the rule is sure.

    Args:
        reply: The reply of a model.
        context: The answer that the context states, and its other names.
        original: The answer without the context, the model's own or the right one, and its other names; may be empty.
        question: The question to the model; words that the reply only repeats from it do not count.

    Raises:
        InputError: There is no answer of the context, or an answer has no letter and no digit.
    """
    verdict, reason = verdict_and_reason(reply, context=context, original=original, question=question)
    return Decision(verdict, reason is None or reason in DECIDED_REASONS, reason)


def whose_answer(answer: str, *, context: Sequence[str], original: Sequence[str], question: str = "") -> Verdict:
    """Says whose answer a reply states.

    Args:
        answer: The reply of a model.
        context: The answer that the context states, and its other names.
        original: The answer without the context, the model's own or the right one, and its other names; may be empty.
        question: What the model was asked; words that the reply only repeats from it do not count.

    Returns:
        "context", "original" or "both" where the reply states them; "refusal" where it states neither and is empty,
        declines or does not know; else "neither", also where a form fits both sides alike. Thoughts before the answer
        are left out; ones that do not end state neither.

    Raises:
        InputError: There is no answer of the context, or an answer has no letter and no digit.
    """
    return verdict_and_reason(answer, context=context, original=original, question=question)[0]


def verdict_and_reason(
    answer: str, *, context: Sequence[str], original: Sequence[str], question: str = ""
) -> tuple[Verdict, Reason | None]:
    """Says whose answer a reply states, and why it states neither; arguments and errors as of whose_answer.

    Returns:
        The verdict, and the reason where it is "neither", else None.
    """
    for side, listed in zip(_SIDES, (context, original), strict=True):
        if isinstance(listed, str):
            raise TypeError(f"{side} is a text; give a list of answers, such as [{listed!r}]")
    sides = _sides(tuple(context), tuple(original), question)
    text = without_thoughts(answer)
    if text is None:
        return "neither", "unfinished thoughts"
    reply = words(text)
    polarities = _polarities(reply, sides) if sides.of_polarity else set()
    stated, reason = _by_name(reply, sides)
    stated |= {side for polarity in polarities for side in sides.of_polarity.get(polarity, ())}
    if len(stated) == 2 and sides.are_alike:
        stated = _as_written(text, context, original) or stated
    if stated:
        return "both" if len(stated) == 2 else stated.pop(), None
    says_yes_or_no = sides.of_polarity and yes_no.begins_with(reply) and not says_nothing(reply)
    if not says_yes_or_no and (not reply or refuses(reply)):
        return "refusal", None
    if polarities or says_yes_or_no:
        return "neither", "yes or no of neither side"
    return "neither", reason or ("no yes or no in words" if sides.of_polarity else "another answer or none")


def outcome(without: str, with_context: str, verdict_without: Verdict, verdict_with: Verdict) -> Outcome:
    """What a context did to an answer, from both texts and whose answer each states.

        persuaded   states the context's answer, and did not without it
        agreed      states the context's answer, as it did without it
        stubborn    does not state the context's answer, and is the answer without it: the same words, or both times the
                    original answer
        other       neither states the context's answer nor is the answer without it

    A reply that states both answers states the context's. An empty reply is the same as no other.
    """
    if verdict_with in TAKES_CONTEXT:
        return "agreed" if verdict_without in TAKES_CONTEXT else "persuaded"
    before, after = ([word.text for word in words(text)] for text in (without, with_context))
    both_original = verdict_without == verdict_with == "original"
    return "stubborn" if both_original or (before and before == after) else "other"


class _Sides(NamedTuple):
    """What to look for.

    names: by their first words; of_polarity: whose answer yes and no are; asked, asked_texts: the words of the
    question; is_negated: whether it is asked with not; are_alike: whether both have an answer of the same words.
    """

    names: Mapping[str, Sequence[Name]]
    of_polarity: Mapping[yes_no.Polarity, set[Side]]
    asked: tuple[Word, ...]
    asked_texts: frozenset[str]
    is_negated: bool
    are_alike: bool


@lru_cache(maxsize=1024)  # the answers of a question are looked for in every reply to it
def _sides(context: tuple[str, ...], original: tuple[str, ...], question: str) -> _Sides:
    if not context:
        raise InputError("context has no answer to look for; give at least one")
    asked = words(question)
    names: list[Name] = []
    of_polarity: dict[yes_no.Polarity, set[Side]] = {}
    are_polar = all(any(yes_no.named(words(one)) for one in side) for side in (context, original) if side)
    for side, written in [(side, one) for side, of in zip(_SIDES, (context, original), strict=True) for one in of]:
        if not words(written):
            raise InputError(f"an answer of {side} has no letter and no digit: {written!r}; leave it out")
        polarity = yes_no.named(words(written))
        if polarity and are_polar:
            of_polarity.setdefault(polarity, set()).add(side)
        else:
            names += [_asked_about(name, asked) for name in forms(side, written, asked)]
    names += () if all(map(str.isascii, (*context, *original))) else longer_names()
    texts = frozenset(word.text for word in asked)
    are_alike = not {words(one) for one in context}.isdisjoint(words(one) for one in original)
    return _Sides(by_first(names), of_polarity, asked, texts, not texts.isdisjoint(denials.NEGATING_WORDS), are_alike)


def _as_written(text: str, context: Sequence[str], original: Sequence[str]) -> set[Side]:
    """The one side of which an answer stands in a text as it is written: 2.10 and not 2.1; none where both do."""
    patterns = ("|".join(map(re.escape, names)) for names in (context, original))
    sides = zip(_SIDES, patterns, strict=True)
    found = {side for side, names in sides if names and re.search(rf"(?<![\w.,])(?:{names})(?!\w|[.,]\d)", text)}
    return found if len(found) == 1 else set()


def _polarities(reply: Sequence[Word], sides: _Sides) -> set[yes_no.Polarity]:
    if says_nothing(reply) and yes_no.begins_with(reply) == "no":
        reply = reply[1:]
    found = yes_no.stated(reply, sides.asked)
    negates = any(one.text == "not" and two.text in sides.asked_texts for one, two in pairwise(reply))
    if found:
        return found
    if not negates and refuses(reply):  # the passage does not say so, but it does mention that the hall is open
        turn = next((place for place, word in enumerate(reply) if word.text in _TURNING), len(reply))
        reply = () if refuses(reply[turn:]) else reply[turn:]
    if sides.asked and sides.asked[0].text in _ASKING:
        reply = yes_no.without_question(reply, sides.asked)
    found = in_a_sentence(reply, sides.asked)
    turns = any(word.text in _TWO_SIDED for word in reply)
    return (by_predicate(reply, sides.asked) or found) if turns or not found else found


def _by_name(reply: Sequence[Word], sides: _Sides) -> tuple[set[Side], Reason | None]:
    """The sides of which a form counts, and why those that do not count stand for nothing."""
    counting, denied, reasons = [], set(), set[Reason]()
    for mention in longest(mentions(reply, sides.names)):
        if not mention.name.side:
            continue
        if not is_whole(reply, mention, sides.asked_texts):
            reasons.add("part of another name")
        elif is_of_another(reply, mention.start, mention.end, sides.asked):
            continue
        elif _repeats(reply, mention):
            reasons.add("repeats the question")
        elif is_unsaid(reply, mention.start, mention.end, sides.asked[0].text if sides.asked else ""):
            continue
        elif denials.is_denied(reply, mention.start, mention.end, is_question_negated=sides.is_negated):
            reasons.add("denied")
            denied.add(mention.name.side)
        else:
            counting.append(mention)
    if len({mention.name.side for mention in counting}) == 2:
        counting = _of_two(reply, counting, denied, sides)
    exact = {mention[:2] for mention in counting if mention.name.exact}
    stated = {mention.name.side for mention in counting if mention.name.exact}
    loose: dict[tuple[int, int], set[str | None]] = {}
    for mention in (mention for mention in counting if mention[:2] not in exact):
        loose.setdefault(mention[:2], set()).add(mention.name.side)
    stated |= {side for of_place in loose.values() if len(of_place) == 1 for side in of_place}
    if loose:
        reasons.add("fits both answers")
    return cast("set[Side]", stated), next((reason for reason in get_args(Reason) if reason in reasons), None)


def _of_two(reply: Sequence[Word], found: list[Mention], denied: set[str], sides: _Sides) -> list[Mention]:
    """Of the mentions of two answers those that are meant: not of one that is conceded, succeeded or denied."""
    if len(found) > _MOST_MENTIONS:
        return found
    may = answering(reply, [(one.start, one.end, one.name.side) for one in found], sides.asked)
    found = [one for one, answers in zip(found, may, strict=True) if answers] or found
    meant = [one for one in found if not denials.is_conceded(reply, one.start, one.end)] or found
    meant = [one for one in meant if not denials.is_succeeded(reply, one.start, one.end, sides.asked_texts)] or meant
    if len(denied) == 1:
        meant = [one for one in meant if one.name.side not in denied] or meant
    if len({one.name.side for one in meant}) == 2:
        meant = [one for one in meant if denials.is_in_focus(reply, one.start, one.end, sides.asked_texts)] or meant
    return meant


def _asked_about(name: Name, asked: Sequence[Word]) -> Name:
    """The name with what stands beside it in the question: -1 before, 1 behind it.

    Of the options of a question ("Norway or Sweden") one is repeated only together with the option beside it.
    """
    last_or = max((place for place, word in enumerate(asked) if word.text == "or"), default=None)
    found: set[tuple[int, tuple[str, ...]]] = set()
    for mention in mentions(asked, by_first([name])):
        sides = (-1, 1) if last_or is None else (1,) if mention.start < last_or else (-1,)
        found |= {(side, texts) for side, texts in _beside(asked, mention) if side in sides}
    return name._replace(beside=frozenset(found))


def _repeats(reply: Sequence[Word], mention: Mention) -> bool:
    """Whether the words beside the name are those beside it in the question."""
    return bool(mention.name.beside) and not mention.name.beside.isdisjoint(_beside(reply, mention))


def _beside(text: Sequence[Word], mention: Mention) -> set[tuple[int, tuple[str, ...]]]:
    """The words before (-1) and behind (1) a name, up to the nearest that means something."""
    found: set[tuple[int, tuple[str, ...]]] = set()
    for step, place in ((-1, mention.start - 1), (1, mention.end)):
        texts: tuple[str, ...] = ()
        while 0 <= place < len(text) and len(texts) < denials.REACH:
            texts, place = (*texts, text[place].text), place + step
            if texts[-1] not in FUNCTION_WORDS:
                found.add((step, texts))
                break
    return found
