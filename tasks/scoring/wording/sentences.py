"""Yes or no in the sentences of a reply: the question said again, as it is, negated, or by an opposite.

    the same words   "Dogs are not allowed in the office" to "Are dogs allowed in the office?"
    predicates       a word of a frame of the question (senses), and the question's subject, a pronoun or a word that
                     stands for it: "The tower was demolished in 1961" to "Is the tower of Ulm still standing?"

Negations count by parity: "not" and "never" turn a whole clause, "no" and "without" the words behind them. A clause
that concedes, asks or hedges says nothing. Of clauses that differ the one that sets right wins, else both count.
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
    Word,
    texts_of,
    word_set,
)
from swaymeter.tasks.scoring.wording.senses import (
    MAY,
    NEED,
    OPEN,
    is_negated_form,
    is_same,
    is_verb_form,
    senses_of,
    with_phrases,
)
from swaymeter.tasks.scoring.wording.stance import calls_false

Polarity = Literal["yes", "no"]
OPPOSITE: dict[Polarity, Polarity] = {"yes": "no", "no": "yes"}

_MODALS = word_set(
    "can may could should darf durfen kann konnen sollte sollten muss mussen soll sollen must peut puede"
)
_HEDGES = word_set("may might could perhap whether unclear depend would possibly vielleicht ob")
_NEGATING = word_set(
    "not never neither nor nobody nothing hardly scarcely deny denie denied stopped ceased nicht nie niemals weder "
    "niemand nichts pas jamais nao niet нет не degil 不 没 沒 未"
)
_NO = word_set("no none without lack lacked kein keine keinen keiner keinerlei ohne aucun aucune sin sans geen")
_ADVERBS = word_set(
    "also always very most probably likely certainly indeed definitely clearly actually really generally usually "
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
_KINDS = {
    "pet": word_set("dog cat hamster rabbit parrot"),
    "animal": word_set("dog cat horse rabbit"),
    "haustier": word_set("hund katze"),
    "vehicle": word_set("car bike motorbike van"),
    "liquid": word_set("water bottle"),
    "food": word_set("snack sandwich"),
}
"""Kinds, and members of which is said what is said of the kind."""
_PRONOUNS = word_set(
    "it he she they you we i this that these those them him her its their your es er sie das dies diese wir ihr ihn "
    "ihm il elle on ils elles se lo la"
)
_ANAPHORIC = word_set("it he she they es er sie ihn ihm ihr this that das dies il elle ils elles")
_BREAKS = word_set(
    "but while whereas although though because so if unless until since which who when provided however aber obwohl "
    "wahrend weil sondern wenn falls mais pero"
)
_ASIDE = word_set("although though despite obwohl even if unless until when wenn falls because weil since")
_SAYING = word_set(
    "say said mention mentioned think believe claim claimed state stated suggest suggested sagt behauptet schreibt"
)
_SOURCES = _SAYING | word_set("text passage article report website leaflet source call called according laut gemass")
_RIGHT = word_set("but actually fact reality truth however really correct aber tatsachlich wirklichkeit")
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
_EMPTY = FUNCTION_WORDS | AUXILIARIES | FUNCTION_WORDS_ELSEWHERE | _ADVERBS | _PRONOUNS | _MODALS | _NEGATING | _NO


class _Question(NamedTuple):
    """The parts of a question.

    Attributes:
        frames: The frames of its predicates, with their sides.
        content: Its words other than function words, with predicates.
        topic: Its content without predicates.
        subject: The topic before the predicate.
        objects: The topic behind the predicate.
        main: The frames of its last predicate, with their sides.
        is_modal: It asks for permission or ability.
        negations: Its words such as without.
    """

    frames: dict[int, int]
    content: tuple[str, ...]
    topic: tuple[str, ...]
    subject: tuple[str, ...]
    objects: tuple[str, ...]
    main: dict[int, int]
    is_modal: bool
    negations: frozenset[str]


def by_sentence(reply: Sequence[Word], question_words: tuple[Word, ...]) -> set[Polarity]:
    """Return what the clauses of a reply say: yes, no, or both if they differ."""
    question = _question(question_words)
    if not question.negations.isdisjoint(_NEGATING) or not question.content:
        return set()
    starts = [place for place, word in enumerate(reply) if place == 0 or word.clause or word.text in _BREAKS]
    clauses = [reply[one:two] for one, two in pairwise([*starts, len(reply)])]
    said: list[tuple[Polarity, tuple[str, ...]]] = []
    for place, clause in enumerate(clauses):
        if clause[0].text in _ASIDE:
            continue
        if polarity := _of_clause(clause, question):
            behind = clauses[place + 1] if place + 1 < len(clauses) else ()
            said.append((OPPOSITE[polarity] if behind and calls_false(behind) else polarity, texts_of(clause)))
    polarities = {polarity for polarity, _ in said}
    if len(polarities) == 2:
        (_, before), (last, further) = said[0], said[-1]
        is_of_source = [not _SOURCES.isdisjoint(texts) for texts in (before, further)]
        if not _RIGHT.isdisjoint(further) and is_of_source == [True, False]:
            return {last}
    return polarities


@lru_cache(maxsize=1024)
def _question(question: tuple[Word, ...]) -> _Question:
    texts = with_phrases(texts_of(question))
    frames: dict[int, int] = {}
    predicate = 0
    for place, text in enumerate(texts):
        if (
            (text in _MODALS and place)
            or text in ("have", "has")
            or text in FUNCTION_WORDS_ELSEWHERE - _MODALS
            or (text in AUXILIARIES and text not in _MODALS)
        ):
            continue
        for frame, side in senses_of(text).items():
            if not (frame == MAY and _is_of_body(texts, place)):
                frames.setdefault(frame, side)
                predicate = place
    end = next((place for place, text in enumerate(texts) if place and text in _ASIDE), len(texts))
    of_names = {two.text for one, two in pairwise(question) if one.capitals and two.text.isdigit()}  # the Brisa 40
    content = [text for text in texts[:end] if text not in _EMPTY | of_names]
    topic = [text for text in content if not senses_of(text)]
    is_modal = bool(texts) and texts[0] in _MODALS
    behind = [text for text in texts[predicate + 1 : end] if text in topic]
    objects = topic[1:] if not predicate or is_modal else behind
    subject = [text for text in texts[:predicate] if text in topic] if predicate and not is_modal else []
    main = senses_of(texts[predicate]) if frames else {}
    negations = (_NEGATING | _NO).intersection(texts)
    return _Question(
        frames, tuple(content), tuple(topic), tuple(subject), tuple(objects), main, is_modal, frozenset(negations)
    )


def _of_clause(clause: Sequence[Word], question: _Question) -> Polarity | None:
    said = with_phrases(_texts(clause))
    while said and (said[0] in _BREAKS or said[0] in ("and", "und", "then", "also")):
        said = said[1:]
    begins = next((place for place, text in enumerate(said, 1) if text in _SAYING), 0)
    if "that" in said and begins:
        begins = said.index("that") + 1
    said = said[begins:]
    if not said or (MAY not in question.frames and not _HEDGES.isdisjoint(said)):
        return None
    sides = _predicates(said, question)
    if len(sides) == 1 and _is_of_question(clause, said, question):
        return "yes" if sides.pop() else "no"
    return None if sides else _repeated(clause, said, question)


def _texts(clause: Sequence[Word]) -> list[str]:
    """Return the words of a clause, with the month of May as "month", and "nonrefundable" for "non-refundable"."""
    texts: list[str] = []
    for place, word in enumerate(clause):
        if word.joined and texts[-1:] == ["non"]:
            texts[-1] += word.text
        else:
            texts.append("month" if place and word.text == "may" and word.capitals == 1 else word.text)
    return texts


def _predicates(said: Sequence[str], question: _Question) -> set[bool]:
    """Return if the predicates of a clause stand on the side of the question's, negations counted."""
    matched: list[tuple[bool, int]] = []
    of_main: set[int] = set()
    for place, text in enumerate(said):
        is_other = (text == "must" and MAY in question.frames) or _is_of_body(said, place)
        if text in FUNCTION_WORDS_ELSEWHERE:  # los, which is no form of lose
            continue
        for frame, side in senses_of(text).items():
            if frame in question.frames and not (is_other and frame in (MAY, NEED)):
                matched.append((side == question.frames[frame], place))
                of_main |= {place} if frame in question.main else set()
    if len({same for same, _ in matched}) == 2:  # a permit, which is not permitted, is optional
        matched = [(same, place) for same, place in matched if place in of_main]
    answering = {place for _, place in matched}  # without, as the opposite of needed, is no negation
    negated = [
        {place for _, place in matched if one < place <= one + 3}
        for one, text in enumerate(said)
        if text in _NO and one not in answering and text not in question.negations
    ]
    whole = sum(text in _NEGATING for text in said) + sum(not places for places in negated)
    if MAY in question.frames and not matched and ("must", "not") in pairwise(said):
        return {False}
    # nobody has to pay nothing
    return {same ^ bool((whole + sum(place in places for places in negated)) % 2) for same, place in matched}


def _repeated(clause: Sequence[Word], said: Sequence[str], question: _Question) -> Polarity | None:
    """Return the polarity of a clause in the words of the question, or with a pronoun and its last word."""
    content = question.content
    opposed = [text for text in said if any(is_negated_form(text, one) for one in content)]
    missing = [text for text in content if not _has(said, text) and not any(is_negated_form(text, one) for one in said)]
    new = [text for text in said if text not in _EMPTY and text not in opposed and not _has(content, text)]
    if missing:
        is_short = len(said) <= _SHORT and not [text for text in new if text not in _GENERIC]
        is_about = said[0] in _PRONOUNS and content[-1] not in missing and 2 * len(missing) <= len(content)
        if not (is_short and is_about) or any(text in _WHEN or text[0].isdigit() for text in missing):
            return None
    if any(
        senses_of(text) or (text[0].isdigit() and text.endswith("th")) for text in new
    ):  # closed, the second largest
        return None
    is_able = any(text.endswith(("able", "ible")) for text in said)
    if question.is_modal and _MODALS.isdisjoint(said) and not opposed and not is_able:
        return None
    negations = sum(text in _NEGATING | _NO and text not in question.negations for text in said) + len(opposed)
    if negations > 1 or any(text in _WHEN for text in new):
        return None
    return "no" if negations else "yes"


def _is_of_question(clause: Sequence[Word], said: Sequence[str], question: _Question) -> bool:
    """Return if a clause has the question's subject, and puts nothing in the place of another of its words."""
    if _ALWAYS.search(written := " ".join(said)):
        topic, objects = (
            tuple(text for text in texts if text not in _WHEN) for texts in (question.topic, question.objects)
        )
        question, said = question._replace(topic=topic, objects=objects), _ALWAYS.sub("", written).split()
    topic = question.topic
    if said[-1] == "1" or any(one in _ANAPHORIC and two == "das" for one, two in pairwise(said)):  # a small one
        return True
    missing = [text for text in topic if not _has(said, text)]
    is_short = said[0] in _PRONOUNS and len(said) <= _SHORT
    if any(text in _WHEN or text[0].isdigit() for text in missing) and not is_short:
        return False
    new = [text for text in said if text not in _EMPTY and not _answers(text, question) and not _has(topic, text)]
    new = [text for text in new if text not in _GENERIC and not _is_kind(text, topic)]
    if any(text in _WHEN for text in new) and (OPEN in question.frames or any(text in _WHEN for text in topic)):
        return False
    if not any(text[0].isdigit() for text in topic):
        new = [text for text in new if not text[0].isdigit()]
    names = {word.text for word in clause[1:] if word.capitals and word.text not in _WHEN}
    is_german = any(text in FUNCTION_WORDS_ELSEWHERE for text in said)
    if not is_german and any(text in names for text in new):
        return False
    verb = next((place for place, text in enumerate(said) if _is_verb(text) or (place and senses_of(text))), 0)
    subject = [] if said[0] in _PRONOUNS else [text for text in said[:verb] if text not in _EMPTY]
    is_pair = not {"and", "or", "und", "oder"}.isdisjoint(said)  # dogs and cats
    if any(text in new for text in subject) and not (is_pair and any(text not in new for text in subject)):
        return False
    is_by_modal = not any(_answers(text, question) and text not in _MODALS for text in said)
    if is_by_modal and new and any(text in question.objects for text in missing):
        return False
    is_of_subject = not question.subject or _has_any(said, question.subject)
    if new and not is_of_subject and not (not subject and not _ANAPHORIC.isdisjoint(said)):
        return False
    if question.objects and new and not any(_has(said, text) for text in question.objects):
        return False
    if _has_any(said, topic):
        return True
    return not new or (said[0] in _ANAPHORIC and not question.objects and not is_by_modal)


def _is_of_body(texts: Sequence[str], place: int) -> bool:
    """Return if a council approves something, rather than a medicine being approved for somebody."""
    return texts[place].startswith("approv") and texts[place + 1 : place + 2] not in (["for"], ["to"])


def _answers(text: str, question: _Question) -> bool:
    """Return if a word stands in a frame of the question."""
    return any(frame in question.frames for frame in senses_of(text))


def _is_verb(text: str) -> bool:
    return text in AUXILIARIES or text in _MODALS or is_verb_form(text)


def _has(texts: Sequence[str], text: str) -> bool:
    return any(is_same(one, text) for one in texts)


def _has_any(said: Sequence[str], texts: Sequence[str]) -> bool:
    """Return if a clause has one of these words, or the kind of one."""
    return any(_has(said, text) or any(_is_kind(one, [text]) for one in said) for text in texts)


def _is_kind(text: str, topic: Sequence[str]) -> bool:
    return text in _KINDS and not _KINDS[text].isdisjoint(topic)
