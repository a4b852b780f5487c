"""Yes or no in the sentences of a reply: the question said again, as it is, negated, or by an opposite.

    the same words   "Dogs are not allowed in the office" to "Are dogs allowed in the office?"
    predicates       a word of a frame of the question (senses), and the question's subject, a pronoun or a word that
                     stands for it: "Dogs are banned" to "Are dogs allowed in the office?"

Negations count by parity. A clause that concedes, hedges or only repeats the question says nothing. If clauses differ,
both count.
What it is not: inference. "It is cold" says nothing to "Is it heated?".
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from swaymeter.data.wording.word import (
    AUXILIARIES,
    FUNCTION_WORDS,
    FUNCTION_WORDS_ELSEWHERE,
    MONTHS,
    Texts,
    Word,
    texts_of,
    word_set,
)
from swaymeter.tasks.scoring.wording.mentions import is_part
from swaymeter.tasks.scoring.wording.senses import MAY, OPEN, is_same, is_verb_form, senses_of, with_phrases

Polarity = Literal["yes", "no"]
OPPOSITE: dict[Polarity, Polarity] = {"yes": "no", "no": "yes"}

_MODALS = word_set(
    "can may could should darf durfen kann konnen sollte sollten muss mussen soll sollen must peut puede"
)
_ASKING = word_set("ist sind war hat haben wird kann konnen darf durfen muss mussen gibt gab")
_HEDGES = word_set("may might could perhap whether unclear depend would possibly vielleicht ob")
NEGATING = word_set(
    "not never neither nor nobody nothing hardly scarcely deny denie denied stopped ceased nicht nie niemals weder "
    "niemand nichts pas jamais nao niet нет не degil 不 没 沒 未"
)
_NO = word_set("no none without lack lacked kein keine keinen keiner keinerlei ohne aucun aucune sin sans geen")
ADVERBS = word_set(
    "sure absolutely exactly course also always very most probably likely certainly indeed definitely clearly "
    "actually really generally usually "
    "still false incorrect fact reality truth myself itself himself herself themself themselve vote voted small "
    "single now already currently please only even just any some all fully entirely completely officially strictly "
    "simply explicitly expressly however yet true correct ever auch noch schon leider sogar immer nur bitte "
    "grundsatzlich derzeit aktuell laut gemass jemals je 吗 嗎 呢 か で す ま は が に を も の"
)
_GENERIC = word_set(
    "everyone everybody anyone anybody people person one guest visitor customer passenger tenant resident user reader "
    "member student patient owner house rule text passage version edition source report article law policy regulation "
    "contract notice document page website leaflet sign manual study doctor expert author second third other another "
    "plan project bill proposal motion measure scheme request application decision result vote place building shop "
    "entrance entry admission eintritt product device machine vehicle drug medicine price ticket town company man "
    "woman team besucher gaste gast kunde kunden jeder mieter regel hausordnung antrag"
)
"""Words that stand for the subject of a question, or for a source."""
PRONOUNS = word_set(
    "it he she they you we i this that these those them him her its their your es er sie das dies diese wir ihr ihn "
    "ihm il elle on ils elles se lo la man none there one yes"
)
_BREAKS = word_set(
    "but while whereas although though because so if unless until since which who when provided however aber obwohl "
    "wahrend weil sondern wenn falls mais pero"
)
_ASIDE = word_set("although though despite obwohl even if unless until when wenn falls because weil since")
_SAYING = word_set(
    "say said mention mentioned think believe claim claimed state stated suggest suggested sagt behauptet schreibt"
)
_WHEN = frozenset(MONTHS) | word_set(
    "monday tuesday wednesday thursday friday saturday sunday weekend weekday night winter summer spring autumn "
    "holiday montag dienstag mittwoch donnerstag freitag samstag sonntag wochenende sommer nacht feiertag only except "
    "every"
)
_ALWAYS = re.compile(
    r"(?<!\w)(?:every day|each day|daily|7 day week|year round|all year|(?:a)?round clock|jeden tag|taglich)(?!\w)"
    r"(?!.* (?:except|but|ausser))"
)
"""Clauses that hold for any day of a question."""
_SHORT = 8
_NO_PREDICATES = (FUNCTION_WORDS_ELSEWHERE | AUXILIARIES | word_set("have has")) - _MODALS
_EMPTY = FUNCTION_WORDS | AUXILIARIES | FUNCTION_WORDS_ELSEWHERE | ADVERBS | PRONOUNS | _MODALS | NEGATING | _NO


class _Question(NamedTuple):
    """The parts of a question.

    Attributes:
        frames: The frames of its predicates, with their sides.
        content: Its words other than function words, with predicates.
        topic: Its content without predicates.
        objects: The topic behind the predicate.
        is_modal: It asks for permission or ability.
        negations: Its words such as without.
    """

    frames: dict[int, int]
    content: tuple[str, ...]
    topic: tuple[str, ...]
    objects: tuple[str, ...]
    is_modal: bool
    negations: frozenset[str]


def by_sentence(reply: Sequence[Word], question_words: tuple[Word, ...]) -> set[Polarity]:
    """Return what the clauses of a reply say: yes, no, or both if they differ."""
    question, texts = _question(question_words), texts_of(question_words)
    if not question.negations.isdisjoint(NEGATING) or not question.content:
        return set()
    starts = [index for index, word in enumerate(reply) if index == 0 or word.clause or word.text in _BREAKS]
    clauses = [texts_of(reply[start:end]) for start, end in pairwise([*starts, len(reply)])]
    is_open = bool(texts) and texts[0] in AUXILIARIES | _ASKING
    answering = [clause for clause in clauses if clause[0] not in _ASIDE and not (is_open and is_part(clause, texts))]
    return {polarity for clause in answering if (polarity := _polarity(clause, question))}


@lru_cache(maxsize=1024)
def _question(question: tuple[Word, ...]) -> _Question:
    texts = with_phrases(texts_of(question))
    frames: dict[int, int] = {}
    predicate = 0
    for index, text in enumerate(texts):
        if text in _NO_PREDICATES or (index and text in _MODALS):
            continue
        for frame, side in senses_of(text).items():
            frames.setdefault(frame, side)
            predicate = index
    end = next((index for index, text in enumerate(texts) if index and text in _ASIDE), len(texts))
    numbers = {
        following.text for word, following in pairwise(question) if word.capitals and following.text.isdigit()
    }  # the Brisa 40
    content = tuple(text for text in texts[:end] if text not in _EMPTY | numbers)
    topic = tuple(text for text in content if not senses_of(text))
    is_modal = bool(texts) and texts[0] in _MODALS
    behind = tuple(text for text in texts[predicate + 1 : end] if text in topic)
    objects = topic[1:] if not predicate or is_modal else behind
    return _Question(frames, content, topic, objects, is_modal, (NEGATING | _NO).intersection(texts))


def _polarity(clause: Texts, question: _Question) -> Polarity | None:
    statement = with_phrases(clause)
    while statement and (statement[0] in _BREAKS or statement[0] in ("and", "und", "then", "also")):
        statement = statement[1:]
    begins = next((index for index, text in enumerate(statement, 1) if text in _SAYING), 0)
    statement = statement[statement.index("that") + 1 if "that" in statement and begins else begins :]
    if not statement or (MAY not in question.frames and not _HEDGES.isdisjoint(statement)):
        return None
    sides = _predicates(statement, question)
    if len(sides) == 1 and _is_about(statement, question):
        return "yes" if sides.pop() else "no"
    return None if sides else _repeated(statement, question)


def _predicates(statement: Sequence[str], question: _Question) -> set[bool]:
    """Return if the predicates of a clause stand on the side of the question's, negations counted."""
    matched = [
        (side == question.frames[frame], index)
        for index, text in enumerate(statement)
        if text not in FUNCTION_WORDS_ELSEWHERE  # los, which is no form of lose
        for frame, side in senses_of(text).items()
        if frame in question.frames
    ]
    predicates = {index for _, index in matched}  # without, as the opposite of needed, is no negation
    negations = (text for index, text in enumerate(statement) if text in NEGATING | _NO and index not in predicates)
    is_negated = sum(text not in question.negations for text in negations) % 2 == 1
    return {same != is_negated for same, _ in matched}


def _repeated(statement: Sequence[str], question: _Question) -> Polarity | None:
    """Return the polarity of a clause in the words of the question, or with a pronoun and its last word."""
    content = question.content
    missing = [text for text in content if not _has(statement, text)]
    new = [text for text in statement if text not in _EMPTY and not _has(content, text)]
    if missing:
        is_short = len(statement) <= _SHORT and not [text for text in new if text not in _GENERIC]
        is_about = statement[0] in PRONOUNS and content[-1] not in missing and 2 * len(missing) <= len(content)
        if not (is_short and is_about) or any(text in _WHEN or text[0].isdigit() for text in missing):
            return None
    is_able = any(text.endswith(("able", "ible")) for text in statement)
    if question.is_modal and _MODALS.isdisjoint(statement) and not is_able:
        return None
    negations = sum(text in NEGATING | _NO and text not in question.negations for text in statement)
    if negations > 1 or any(text in _WHEN for text in new):
        return None
    return "no" if negations else "yes"


def _is_about(statement: Sequence[str], question: _Question) -> bool:
    """Return if a clause has the question's subject, and puts nothing in the stead of another of its words."""
    if _ALWAYS.search(written := " ".join(statement)):
        topic, objects = (tuple(t for t in texts if t not in _WHEN) for texts in (question.topic, question.objects))
        question, statement = question._replace(topic=topic, objects=objects), _ALWAYS.sub("", written).split()
    topic = question.topic
    if statement[-1] == "1" or any(
        pronoun in PRONOUNS and following == "das" for pronoun, following in pairwise(statement)
    ):  # a small one
        return True
    missing = [text for text in topic if not _has(statement, text)]
    is_short = statement[0] in PRONOUNS and len(statement) <= _SHORT
    if any(text in _WHEN or text[0].isdigit() for text in missing) and not is_short:
        return False
    new = [text for text in statement if text not in _EMPTY | _GENERIC and not _has(topic, text)]
    new = [text for text in new if not any(frame in question.frames for frame in senses_of(text))]
    if any(text in _WHEN for text in new) and (OPEN in question.frames or any(text in _WHEN for text in topic)):
        return False
    if not any(text[0].isdigit() for text in topic):
        new = [text for text in new if not text[0].isdigit()]
    verb = next((index for index, text in enumerate(statement) if _is_verb(text) or (index and senses_of(text))), 0)
    subject = [] if statement[0] in PRONOUNS else [text for text in statement[:verb] if text not in _EMPTY]
    is_pair = not {"and", "or", "und", "oder"}.isdisjoint(statement)  # dogs and cats
    if any(text in new for text in subject) and not (is_pair and any(text not in new for text in subject)):
        return False
    if question.objects and new and not any(_has(statement, text) for text in question.objects):
        return False
    return not new or any(_has(statement, text) for text in topic)


def _is_verb(text: str) -> bool:
    return text in AUXILIARIES or text in _MODALS or is_verb_form(text)


def _has(texts: Sequence[str], text: str) -> bool:
    return any(is_same(other, text) for other in texts)
