"""Whose answer a reply states: the context's, the original one, both, neither, or none because it declines.

A side's answer is stated where the reply has all words of it, or of one of its other names, one behind the other, as
tasks.scoring.normalise writes them, unless the words
    lie inside a longer name: a listed one (York in New York), one that begins with New, North, South, East, West,
    Equatorial or a hyphen (Hungary in Austria-Hungary), or one that ends with a Roman numeral (George in George VI)
    are denied: by not, never, no longer, neither, nor, than, instead of, contrary to or unlike up to six words before
    them in the same clause, or by "is not" and the like directly behind them; "not only" denies nothing
    repeat the question: the words beside them are those beside them in the question
A yes or no has to stand alone; a name in capitals that is also a word (US, NOR) has to be in capitals. A reply refuses
if it states neither answer and says that it does not know, that it is not known, or that it will not answer.

What it is not: a judgement of truth, or of the role of a name ("the father of Odysseus" states Odysseus). Surnames,
adjectives (Norwegian for Norway), other spellings and a number without its unit count where they are listed. An answer
that is only named as what others say states it. Negations, refusals and number words are English.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from data.errors import InputError
from tasks.scoring.normalise import words
from tasks.scoring.numerals import Word

Verdict = Literal["context", "original", "both", "neither", "refusal"]
Side = Literal["context", "original"]
Outcome = Literal["persuaded", "agreed", "stubborn", "other"]
TAKES_CONTEXT: tuple[Verdict, ...] = ("context", "both")
"""The verdicts of a reply that states the context's answer."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTION_WORDS = _set(
    "a about after all also am an and any are as at be been before being but by can could did do does for from had has "
    "have he her him his how i if in into is it its may me more most my no nor not of off on once only or our out over "
    "own same she should so some such than that the their them then there these they this those to too under until up "
    "us was we were what when where which while who whom whose why will with would you your"
)
_PART_OF_NAME = _set("new north south east west equatorial")
_ROMAN = re.compile(r"(?!i$)[ivxl]+")
_NEGATIONS = _set("not never neither nor unlike")
_NEGATING_PAIRS = {("no", "longer"), ("instead", "of"), ("contrary", "to")}
_ENDS_NEGATION = _set("but only just merely simply until because although doubt exceed")
_AUXILIARIES = _set("is was are were be am do does did has have had can could will would should may might must")
_DENIALS = _set("not never wrong incorrect false")
_REACH = 6
_BEHIND_YES_OR_NO = _set("it he she they that this there i")
_REFUSAL = re.compile(
    r"\b(?:i (?:do|can|could|am|will|would|did) not (?:\w+ly |be |even |yet )?"
    r"(?:know|answer|have|find|provide|help|assist|determine|tell|say|able|sure|certain|aware|comment|identify|give|see)"
    r"|(?:context|passage|text|article|document|snippet|paragraph|information|question|it) (?:do|does|did) not "
    r"(?:\w+ly )?"
    r"(?:say|state|mention|specify|provide|give|tell|contain|include|indicate|name|answer|reveal)"
    r"|(?:am|is|are|was|were|be|been) not (?:\w+ly |been |yet )?"
    r"(?:known|stated|mentioned|specified|given|provided|clear|available|named|disclosed|possible|enough)"
    r"|can not be (?:answered|determined|known|said)|no (?:\w+ )?(?:information|answer|mention|idea|knowledge)"
    r"|unknown|unclear|uncertain|unsure|unable to|impossible to|insufficient information"
    r"|as (?:\w+ )?ai|i am ai|language model|i am sorry|i apologi[sz]e)\b"
)


class _Name(NamedTuple):
    """An answer to look for, its normalised words, and what stands beside them in the question."""

    side: Side
    words: tuple[Word, ...]
    texts: tuple[str, ...]
    beside: frozenset[tuple[int, tuple[str, ...]]] = frozenset()


class _Mention(NamedTuple):
    """Where a name stands in a text."""

    start: int
    end: int
    name: _Name


def whose_answer(answer: str, *, context: Sequence[str], original: Sequence[str], question: str = "") -> Verdict:
    """Says whose answer a reply states.

    Args:
        answer: The reply of a model.
        context: The answer that the context states, and its other names.
        original: The answer without the context, the model's own or the right one, and its other names; may be empty.
        question: What the model was asked; words that the reply only repeats from it do not count.

    Returns:
        "context", "original" or "both" where the reply states them; "refusal" where it states neither and is empty,
        declines or does not know; else "neither".

    Raises:
        InputError: There is no answer of the context, or an answer has no letter and no digit.
    """
    if not context:
        raise InputError("context has no answer to look for; give at least one")
    reply, asked = words(answer), words(question)
    names = [_asked_about(name, asked) for name in (*_names("context", context), *_names("original", original))]
    stated = {
        mention.name.side
        for mention in _longest(_mentions(reply, names))
        if _is_whole_name(reply, mention) and not _is_negated(reply, mention) and not _repeats(reply, mention)
    }
    if stated:
        return "both" if len(stated) == 2 else stated.pop()
    text = " ".join(f". {word.text}" if word.clause else word.text for word in reply)
    return "refusal" if not reply or _REFUSAL.search(text) else "neither"


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


def _names(side: Side, listed: Sequence[str]) -> Iterator[_Name]:
    if isinstance(listed, str):
        raise TypeError(f"{side} is a text; give a list of answers, such as [{listed!r}]")
    for written in listed:
        name = tuple(words(written))
        if not name:
            raise InputError(f"an answer of {side} has no letter and no digit: {written!r}; leave it out")
        yield _Name(side, name, tuple(word.text for word in name))


def _mentions(text: Sequence[Word], names: Iterable[_Name]) -> list[_Mention]:
    """Every place where a name's words stand one behind the other."""
    texts = tuple(word.text for word in text)
    by_first: dict[str, list[_Name]] = {}
    for name in names:
        by_first.setdefault(name.texts[0], []).append(name)
    return [
        _Mention(start, start + len(name.texts), name)
        for start, first in enumerate(texts)
        for name in by_first.get(first, ())
        if texts[start : start + len(name.texts)] == name.texts
    ]


def _longest(mentions: Iterable[_Mention]) -> list[_Mention]:
    """The mentions that do not lie inside a longer one."""
    kept: list[_Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not kept or mention.end > kept[-1].end or mention[:2] == kept[-1][:2]:
            kept.append(mention)
    return kept


def _is_whole_name(reply: Sequence[Word], mention: _Mention) -> bool:
    """Whether the words are not part of a longer name, and are the answer rather than a word that is spelled as it."""
    start, end, name = mention
    first, behind = reply[start], reply[end] if end < len(reply) else None
    before = reply[start - 1] if start and not first.clause else None
    if first.joined and not reply[start - 1].text[-1].isdigit():
        return False
    if before and before.text in _PART_OF_NAME and before.capitals and first.capitals:
        return False
    if behind and not behind.clause and behind.capitals == 2 and _ROMAN.fullmatch(behind.text):
        return False
    if len(name.words) > 1:
        return True
    if first.text in ("yes", "no"):
        return behind is None or behind.clause or (start == 0 and behind.text in _BEHIND_YES_OR_NO)
    if first.text not in _FUNCTION_WORDS or len(reply) == 1:
        return True
    if name.words[0].capitals == 2 and first.text != "i":  # "US" is a name in capitals alone
        return first.capitals == 2
    return len(first.text) > 2  # "in" and the pronoun are no names among other words


def _is_negated(reply: Sequence[Word], mention: _Mention) -> bool:
    """Whether a negation reaches the words from before, or is said of them directly behind."""
    for place in range(mention.start - 1, max(mention.start - 1 - _REACH, -1), -1):
        word, following = reply[place], reply[place + 1]
        if following.clause or word.text in _ENDS_NEGATION:
            break
        if word.text == "than":
            compared = place and reply[place - 1].text not in ("rather", "other")
            more_than = compared and reply[mention.start].text[0].isdigit()
            return not (more_than or (place > 1 and reply[place - 2].text in ("none", "no", "nothing")))
        if word.text in _NEGATIONS or (word.text, following.text) in _NEGATING_PAIRS:
            return True
    if mention.start and (reply[mention.start - 1].text, reply[mention.start].clause) == ("no", False):
        return True
    behind = [*reply[mention.end : mention.end + 3], Word(""), Word("")]
    if behind[0].clause or behind[0].text not in _AUXILIARIES or behind[1].clause:
        return False
    denied = behind[1].text in _DENIALS or (behind[1].text, behind[2].text) in _NEGATING_PAIRS
    return denied and behind[2].text not in _ENDS_NEGATION


def _asked_about(name: _Name, asked: Sequence[Word]) -> _Name:
    """The name with what stands beside it in the question: -1 before, 1 behind it.

    Of the options of a question ("Norway or Sweden") one is repeated only together with the option beside it.
    """
    last_or = max((place for place, word in enumerate(asked) if word.text == "or"), default=None)
    found: set[tuple[int, tuple[str, ...]]] = set()
    for mention in _mentions(asked, [name]):
        sides = (-1, 1) if last_or is None else (1,) if mention.start < last_or else (-1,)
        found |= {(side, texts) for side, texts in _beside(asked, mention) if side in sides}
    return name._replace(beside=frozenset(found))


def _repeats(reply: Sequence[Word], mention: _Mention) -> bool:
    """Whether the words beside the name are those beside it in the question."""
    return bool(mention.name.beside) and not mention.name.beside.isdisjoint(_beside(reply, mention))


def _beside(text: Sequence[Word], mention: _Mention) -> set[tuple[int, tuple[str, ...]]]:
    """The words before (-1) and behind (1) a name, up to the nearest that means something."""
    found: set[tuple[int, tuple[str, ...]]] = set()
    for step, place in ((-1, mention.start - 1), (1, mention.end)):
        texts: tuple[str, ...] = ()
        while 0 <= place < len(text) and len(texts) < _REACH:
            texts, place = (*texts, text[place].text), place + step
            if texts[-1] not in _FUNCTION_WORDS:
                found.add((step, texts))
                break
    return found
