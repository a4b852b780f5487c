"""What a clause of a reply says to a question of yes or no: the question said again, as it is, negated, or opposed.

    the same words   "Dogs are not allowed in the office" to "Are dogs allowed in the office?"
    the predicate    a word with a known opposite, and a word of what is asked about: "The tower was demolished in 1961"
                     to "Is the tower of Ulm still standing?"; not with another day or name than the question's
    days             "from Tuesday to Sunday", "on weekdays", "every day except Mondays" to a question of one day
    only             "Tickets can only be bought at the station" to "Can tickets be bought online?"
    numbers          "It has three funnels" to "Does it have four funnels?"

What it is not: inference. "It is cold" says nothing to "Is it heated?".
"""

from collections.abc import Sequence
from itertools import pairwise

from swaymeter.data.wording.word import (
    AUXILIARIES,
    FUNCTION_WORDS,
    FUNCTION_WORDS_ELSEWHERE,
    Word,
    texts_of,
    word_set,
)
from swaymeter.tasks.scoring.wording import opposites
from swaymeter.tasks.scoring.wording.stance import NEGATING_WORDS, calls_false
from swaymeter.tasks.scoring.wording.opposites import FORBIDDING, is_about, is_opposite
from swaymeter.tasks.scoring.wording.yes_no import OPPOSITE, PRONOUNS, Polarity

_ALWAYS = ("every day", "daily", "year round", "round clock", "around clock", "7 day week", "jeden tag", "taglich",
           "ganzjahrig")  # fmt: skip
_DAYS = (["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
         ["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"])  # fmt: skip
_DAY = {f"{name}{ending}": day for names in _DAYS for day, name in enumerate(names) for ending in ("", "s")}
_WHEN = frozenset(_DAY) | word_set(
    "weekend night day winter summer spring autumn holiday wochenende nacht nachts sommer feiertag"
)
"""What "every day" stands for in a question."""
_SHORT = 8
_EMPTY = FUNCTION_WORDS | AUXILIARIES | FUNCTION_WORDS_ELSEWHERE | word_set(
    "true correct false incorrect untrue ever yet still already actually indeed currently jemals je schon noch "
    "吗 嗎 呢 か で す ま は が に を も の"
)  # fmt: skip
_SAYING = word_set("think believe say state mention claim passage text source website article according laut")
_NEGATIONS = NEGATING_WORDS | word_set(
    "nicht kein keine keinen nie pas aucun aucune nao non niet geen не нет degil 不 没 沒 未"
)
_LACKS = word_set("denie deny without lack lacked lacking ohne")
_LINKS = word_set("but and so therefore thus however because then also aber und while whereas")
_HEDGES = word_set("if whether may might maybe perhap possibly or could should unless unclear")
_RIGHT = word_set("actually fact correct right truth tatsachlich richtig")
_SPLITTING = word_set("while whereas")
_SOURCES = _SAYING | word_set("second other")
_MODAL = word_set("can may darf durfen")
_PARENTHESES = {("in", "fact"), ("indeed",), ("actually",), ("however",), ("of", "course"), ("therefore",)}
_EXCEPT = word_set("except but ausser")
_UNTIL = word_set("to through until till bis")
_PLACING = word_set("in at on to for from during with by im am auf fur aus durch an zu mit")
_EXISTING = word_set("have has had there hat gibt")
_ENDED = word_set("closed demolished abolished removed discontinued")


def in_a_sentence(reply: Sequence[Word], asked: Sequence[Word]) -> set[Polarity]:
    """What the clauses of a reply say that are the question said again: yes, no, or both where two sources differ."""
    content = [word for word in asked if word.text not in _EMPTY]
    if not reply or not content or any(word.text in _NEGATIONS for word in asked):
        return set()
    starts = [place for place, word in enumerate(reply) if place == 0 or word.clause or word.text in _SPLITTING]
    clauses = [reply[one:two] for one, two in pairwise([*starts, len(reply)])]
    if len(clauses) > 1 and clauses[0][0].text in _PLACING and AUXILIARIES.isdisjoint(texts_of(clauses[0])):
        clauses[:2] = [(*clauses[0], *clauses[1])]  # on Sundays, the bus does not stop
    for place in range(len(clauses) - 2, 0, -1):  # gold is, in fact, a metal
        if texts_of(clauses[place]) in _PARENTHESES:
            clauses[place - 1 : place + 2] = [(*clauses[place - 1], *clauses[place + 1])]
    found: list[tuple[Polarity, Sequence[Word]]] = []
    for before, clause, behind in zip([(), *clauses[:-1]], clauses, [*clauses[1:], ()], strict=True):
        if polarity := _in_a_clause(clause, content, asked):
            found.append((OPPOSITE[polarity] if behind and calls_false(behind) else polarity, (*before, *clause)))
    if not found:
        return set()
    (first, clause), (last, further) = found[0], found[-1]
    if first != last and not _RIGHT.isdisjoint(texts_of(further)):
        return {last}
    sources = [not _SOURCES.isdisjoint(texts_of(one)) for one in (clause, further)]
    return {first, last} if all(sources) else {first}


def _in_a_clause(clause: Sequence[Word], asked: Sequence[Word], question: Sequence[Word]) -> Polarity | None:
    texts = texts_of(clause)
    begins = next((place for place, text in enumerate(texts) if text not in _LINKS), len(clause))
    if "that" in texts and not _SOURCES.isdisjoint(texts[: texts.index("that")]):
        begins = texts.index("that") + 1
    said = opposites.with_senses([word.text for word in clause[begins:]])
    hedges = _HEDGES - {"may", "could"} if question[0].text in _MODAL else _HEDGES
    if not said or hedges.intersection(said):
        return None
    if len(said) == 3 and said[0] in PRONOUNS and said[1] in AUXILIARIES and said[2] == "not":
        return "no"
    has_names = any(word.capitals for word in clause[begins + 1 :])  # of a name that is left out none stands instead
    content = [word.text for word in asked if has_names or not word.capitals or word is asked[-1]]
    phrase = f" {' '.join(said)} "
    always = {text for words in _ALWAYS if f" {words} " in phrase for text in words.split()}
    orders = [two for one, two in pairwise(said) if one[0].isdigit() and one.endswith("th") and one not in content]
    is_lesser = any(text.endswith("est") and text in content for text in orders)  # the second longest
    outside: bool | None = _is_other_day(said, content) or is_lesser or None
    if always or outside is not None or _names_day_but(said, content):
        outside = outside or _names_day_but(said, content)
        content = [text for text in content if text not in _WHEN]
    missing = [text for text in content if not any(is_about(text, other) for other in said)]
    is_pronoun = said[0] in PRONOUNS
    meaning = [text for text in said if text not in _EMPTY | _NEGATIONS | _LACKS | _SAYING | always]
    new = [text for text in meaning if not any(is_about(text, other) for other in content)]
    is_only_subject = len(asked) > 1 and all(text == asked[0].text for text in meaning)
    if missing and (is_pronoun or said[0] == "not") and not is_only_subject and len(said) <= _SHORT:
        missing = missing if new else []
    is_half = is_pronoun and content[-1] not in missing and 2 * len(missing) <= len(content) and len(new) < 2
    if question[0].text in _MODAL and not FORBIDDING.isdisjoint(said):
        subject = next((text for text in content if not opposites.has_sense(text)), "")
        is_half = is_half or (len(missing) == 1 < len(content) and not (new and missing[0] == subject))
    outside = outside or (bool(missing and new) and _is_instead(said, question[0].text, content, missing))
    if missing and not (is_half or outside or _has_predicate(clause[begins:], said, question, content, missing, new)):
        return None
    return _polarity(said, content, question, is_reversed=bool(outside))


def _polarity(
    said: Sequence[str], content: Sequence[str], asked: Sequence[Word], *, is_reversed: bool
) -> Polarity | None:
    own, new = [one for one in content if one not in said], set(said) - FORBIDDING - set(content)
    opposed = {text for text in new if any(is_opposite(text, one) for one in own)}
    negating = _NEGATIONS | _LACKS | FORBIDDING
    if not _EXISTING.isdisjoint(texts_of(asked)):
        negating |= _ENDED
    harmless = {  # working without problems
        one for one, two in pairwise(said)
        if one in ("without", "ohne") and two != "any" and not any(is_about(two, text) for text in content)
    }  # fmt: skip
    negations = sum(text in negating - harmless and text not in content and text not in opposed for text in said)
    negations += any(one in ("stopped", "stop", "ceased") and two.endswith("ing") for one, two in pairwise(said))
    negations += any(one == "too" and two == "to" for one, two in zip(said, said[2:], strict=False))  # too faint to see
    if negations > 1:
        return None
    return "no" if bool(negations) ^ bool(opposed) ^ is_reversed else "yes"


def _is_other_day(said: Sequence[str], content: Sequence[str]) -> bool | None:
    """Whether the days that a clause names by a range are others than that of the question; None where it has none."""
    day = next((_DAY[text] for text in content if text in _DAY), None)
    if day is None:
        return None
    if "weekday" in said or "werktag" in said:
        return day > 4
    if "weekend" in said or "wochenende" in said:
        return day < 5
    places = [place for place, text in enumerate(said) if text in _DAY]
    for one, two in pairwise(places):
        if two == one + 2 and said[one + 1] in _UNTIL:
            first, last = _DAY[said[one]], _DAY[said[two]]
            return (day - first) % 7 > (last - first) % 7
    return None


def _names_day_but(said: Sequence[str], content: Sequence[str]) -> bool:
    """Whether a clause takes the day of the question out: every day except Mondays."""
    place = next((place for place, text in enumerate(said) if text in _EXCEPT and place), len(said))
    return any(text in _DAY and text in content for text in said[place:])


def _is_instead(said: Sequence[str], first: str, content: Sequence[str], missing: Sequence[str]) -> bool:
    """Whether a clause says what is so instead of what is asked: another number, "only", or what "must" be.

    first: the first word of the question.
    """
    if first in ("can", "may") and "must" in said:
        return content[0] not in missing and ("be" in said or 2 * len(missing) <= len(content))
    if len(missing) != 1 or len(content) < 2:
        return False
    if missing[0].isdigit():
        return len(content) > 2 and sum(text.isdigit() for text in said) == 1
    return missing[0] == content[-1] and not {"only", "nur"}.isdisjoint(said)


def _has_predicate(
    clause: Sequence[Word], said: Sequence[str], asked: Sequence[Word], content: Sequence[str], missing: Sequence[str],
    new: Sequence[str],
) -> bool:  # fmt: skip
    """Whether a clause has the predicate and the subject of a question, and leaves out no more than where or what."""
    place = next((place for place in range(len(content) - 1, 0, -1) if opposites.has_sense(content[place])), 0)
    if (not place and not opposites.has_sense(content[0])) or content[place] in missing:
        return False
    subjects = content[:place] or content[1:]
    is_passive = said[1:2] and said[1] in AUXILIARIES and any(is_about(said[0], text) for text in content[place + 1 :])
    if said[0] not in PRONOUNS and not is_passive and all(text in missing for text in subjects):
        return False
    objects = [two.text for one, two in pairwise(asked) if one.text == content[place]]
    is_lacking = said[0] not in PRONOUNS and any(text in missing for text in objects)
    is_other = any(not text[0].isdigit() for text in new)
    if is_lacking and (is_other or opposites.is_synonym(content[place], "need")):
        return False  # a helmet is needed, not a visa
    if not _WHEN.isdisjoint(missing) or not _WHEN.isdisjoint(new):
        return False
    is_german = not FUNCTION_WORDS_ELSEWHERE.isdisjoint(texts_of(asked))
    if not is_german and any(word.capitals and word.text in new for word in clause[1:]):
        return False
    placing = {one.text for one, two in pairwise(asked) if one.text in _PLACING and two.text in missing}
    return not any(one in placing and two in new for one, two in pairwise(said))
