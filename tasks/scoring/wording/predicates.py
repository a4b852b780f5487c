"""What a reply says to a question of yes or no by a predicate that answers the question's: yes, no, both, or neither.

    1  a reply is cut into clauses; one that concedes ("although the text says so") or asks is left out
    2  of a clause the words count that stand in a frame of the question (frames), each with what negates it:
       "not" and "never" the whole clause, "no" and "without" the next words
    3  its subject must be the question's, a pronoun or a word that stands for it ("the plans", "guests"), and it must
       not put another object, day, number or name in the place of the question's
    4  clauses that differ: the one that sets right wins; of two sources, both; else neither

A clause may also say who did what is asked about: "the county built it" to "Was it built by the railway?"
What it is not: inference. "It is cold" says nothing to "Is it heated?".
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from swaymeter.data.wording.word import (
    AUXILIARIES,
    FUNCTION_WORDS,
    FUNCTION_WORDS_ELSEWHERE,
    MONTHS,
    Word,
    texts_of,
    word_set,
)
from swaymeter.tasks.scoring.wording.stance import calls_false
from swaymeter.tasks.scoring.wording.frames import MAY, NEED, OPEN, root, senses, with_phrases
from swaymeter.tasks.scoring.wording.opposites import IRREGULAR, is_same
from swaymeter.tasks.scoring.wording.yes_no import OPPOSITE, Polarity

_MODALS = word_set(
    "can may could should darf durfen kann konnen sollte sollten muss mussen soll sollen must peut puede"
)
_HEDGES = word_set("may might could perhap whether unclear depend would vielleicht ob")
_NEGATING = word_set("not never neither nor nobody nothing hardly nicht nie niemals weder niemand nichts pas jamais")
_NO = word_set("no none without kein keine keinen keiner keinerlei ohne aucun aucune sin sans")
_ADVERBS = word_set(
    "also always very most probably likely certainly indeed definitely clearly actually really generally usually "
    "still fact reality truth myself itself himself herself themself themselve vote voted small single now already "
    "currently please only even just any some all fully entirely completely officially strictly simply explicitly "
    "expressly however yet auch noch schon leider sogar immer nur bitte grundsatzlich derzeit aktuell laut gemass"
)
_GENERIC = word_set(
    "everyone everybody anyone anybody people person one guest visitor customer passenger tenant resident user reader "
    "member student patient owner house rule text passage version edition source report article law policy regulation "
    "contract notice document page website leaflet sign manual study doctor expert author second third other another "
    "plan project bill proposal motion measure scheme request application decision result vote place building shop "
    "product device machine vehicle drug medicine price ticket town company man woman team besucher gaste gast kunde "
    "kunden jeder mieter regel hausordnung antrag"
)
"""What stands for the subject of a question, or for a source, and is not another subject."""
_KINDS = {"pet": "dog cat hamster rabbit parrot", "animal": "dog cat horse rabbit", "haustier": "hund katze",
          "vehicle": "car bike motorbike van", "liquid": "water bottle", "food": "snack sandwich"}  # fmt: skip
"""What is said of all of a kind is said of each."""
_PRONOUNS = word_set(
    "it he she they you we i this that these those them him her its their your es er sie das dies diese wir ihr ihn "
    "ihm il elle on ils elles se lo la"
)
_ANAPHORIC = word_set("it he she they es er sie ihn ihm ihr this that das dies il elle ils elles")
_BREAKS = word_set(
    "but while whereas although though because so if unless until since which who when provided however aber obwohl "
    "wahrend weil sondern wenn falls mais pero"
)
_CONCEDING = word_set("although though despite obwohl even")
_ASIDE = word_set("if unless until when wenn falls because weil since")
_SAYING = word_set("say said claim claimed state stated suggest suggested sagt behauptet schreibt")
_SOURCES = _SAYING | word_set("text passage article report website leaflet source call called according laut gemass")
_RIGHT = word_set("but actually fact reality truth however really aber tatsachlich wirklichkeit")
_TWO = word_set("one other another first second 1 1th 2th version report source edition einer anderer")
_WHEN = frozenset(MONTHS) | word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays weekend weekday night winter summer spring "
    "autumn holiday montag montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags freitag freitags "
    "samstag samstags sonntag sonntags"
)
_EMPTY = FUNCTION_WORDS | AUXILIARIES | FUNCTION_WORDS_ELSEWHERE | _ADVERBS | _PRONOUNS | _MODALS | _NEGATING | _NO
_MAKING = frozenset(map(root, word_set("build founded invent discover write compose paint design direct create make")))
"""Verbs whose subject is one: what another built, this one did not."""


class _Question(NamedTuple):
    """What a question asks.

    frames: of its predicates, with their sides; topic: its other words; subject, objects: those before and behind the
    predicate; agent, verb: of "was it built by the railway company", else empty.
    """

    frames: dict[int, int]
    topic: tuple[str, ...]
    subject: tuple[str, ...]
    objects: tuple[str, ...]
    agent: tuple[str, ...]
    verb: str


def by_predicate(reply: Sequence[Word], asked: tuple[Word, ...]) -> set[Polarity]:
    """What the clauses of a reply say by predicates that answer the question's."""
    question = _question(asked)
    if not (question.frames or question.agent):
        return set()
    found: list[tuple[Polarity, tuple[str, ...]]] = []
    starts = [place for place, word in enumerate(reply) if place == 0 or word.clause or word.text in _BREAKS]
    clauses = [reply[one:two] for one, two in pairwise([*starts, len(reply)])]
    for place, clause in enumerate(clauses):
        if clause[0].text in _CONCEDING | _ASIDE:
            continue
        if polarity := _of_clause(clause, question, reply):
            behind = clauses[place + 1] if place + 1 < len(clauses) else ()
            if behind and calls_false(behind):
                polarity = OPPOSITE[polarity]
            found.append((polarity, texts_of(clause)))
    said = {polarity for polarity, _ in found}
    if len(said) < 2:
        return said
    (first, before), (last, behind_it) = found[0], found[-1]
    is_of_source = [not _SOURCES.isdisjoint(texts) for texts in (before, behind_it)]
    if first != last and not _RIGHT.isdisjoint(behind_it) and is_of_source == [True, False]:
        return {last}
    return said if all(is_of_source) or not (_TWO.isdisjoint(before) or _TWO.isdisjoint(behind_it)) else set()


@lru_cache(maxsize=1024)
def _question(asked: tuple[Word, ...]) -> _Question:
    texts = with_phrases(texts_of(asked))
    frames: dict[int, int] = {}
    predicate = 0
    for place, text in enumerate(texts):
        if (text in _MODALS and place) or text in ("have", "has") or (text in AUXILIARIES and text not in _MODALS):
            continue
        for frame, side in senses(text).items():
            if not (frame == MAY and _is_of_body(texts, place)):
                frames.setdefault(frame, side)
                predicate = place
    end = next((place for place, text in enumerate(texts) if place and text in _ASIDE), len(texts))
    of_names = {two.text for one, two in pairwise(asked) if one.capitals and two.text.isdigit()}  # the Brisa 40
    content = [text for text in texts[:end] if text not in _EMPTY | of_names and not senses(text)]
    is_modal = bool(texts) and texts[0] in _MODALS
    behind = [text for text in texts[predicate + 1 : end] if text in content]
    objects = content[1:] if not predicate or is_modal else behind
    subject = [text for text in texts[:predicate] if text in content] if predicate and not is_modal else []
    agent: list[str] = []
    verb = ""
    for place, text in enumerate(texts):
        if root(text) in _MAKING:
            verb = root(text)
            further = texts[place + 1 :]
            if further[:1] in (["by"], ["von"]):
                agent = [one for one in further[1:] if one not in _EMPTY]
    return _Question(frames, tuple(content), tuple(subject), tuple(objects), tuple(agent), verb)


def _of_clause(clause: Sequence[Word], question: _Question, reply: Sequence[Word]) -> Polarity | None:
    may = [place > 0 and word.text == "may" and word.capitals == 1 for place, word in enumerate(clause)]
    said = with_phrases(["month" if is_month else word.text for is_month, word in zip(may, clause, strict=True)])
    while said and (said[0] in _BREAKS or said[0] in ("and", "und", "then", "also")):
        said = said[1:]
    begins = next((place for place, text in enumerate(said, 1) if text in _SAYING), 0)
    if "that" in said and begins:
        begins = said.index("that") + 1
    said = said[begins:]
    if not said:
        return None
    if question.agent and (polarity := _by_agent(said, question, texts_of(reply))):
        return polarity
    if MAY not in question.frames and not _HEDGES.isdisjoint(said):
        return None
    sides = _sides(said, question)
    if len(sides) != 1 or not _is_of_question(clause, said, question):
        return None
    return "yes" if sides.pop() else "no"


def _sides(said: Sequence[str], question: _Question) -> set[bool]:
    """Whether the predicates of a clause stand on the side of the question's."""
    matched: list[tuple[bool, int]] = []
    for place, text in enumerate(said):
        is_other = (text == "must" and MAY in question.frames) or _is_of_body(said, place)
        for frame, side in senses(text).items():
            if frame in question.frames and not (is_other and frame in (MAY, NEED)):
                matched.append((side == question.frames[frame], place))
    negated = [
        {place for _, place in matched if one < place <= one + 3} for one, text in enumerate(said) if text in _NO
    ]
    whole = sum(text in _NEGATING for text in said) + sum(not places for places in negated)
    if MAY in question.frames and not matched and "must" in said and whole == 1:
        return {False}
    # nobody has to pay nothing
    return {same ^ bool((whole + sum(place in places for places in negated)) % 2) for same, place in matched}


def _is_of_question(clause: Sequence[Word], said: Sequence[str], question: _Question) -> bool:
    """Whether a clause has the question's subject, and puts nothing in the place of another of its words."""
    topic = question.topic
    if said[-1] == "1" or any(one in _ANAPHORIC and two == "das" for one, two in pairwise(said)):  # a small one
        return True
    missing = [text for text in topic if not _has(said, text)]
    if any(text in _WHEN or text[0].isdigit() for text in missing):
        return False
    new = [text for text in said if text not in _EMPTY and not _answers(text, question) and not _has(topic, text)]
    new = [text for text in new if text not in _GENERIC and not _is_kind(text, topic)]
    if any(text in _WHEN for text in new) and (OPEN in question.frames or any(text in _WHEN for text in topic)):
        return False
    if not any(text[0].isdigit() for text in topic):
        new = [text for text in new if text not in _WHEN and not text[0].isdigit()]
    names = {word.text for word in clause[1:] if word.capitals and word.text not in _WHEN}
    is_german = any(text in FUNCTION_WORDS_ELSEWHERE for text in said)
    if not is_german and any(text in names for text in new):
        return False
    verb = next((place for place, text in enumerate(said) if _is_verb(text) or (place and senses(text))), 0)
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
    """Whether a council approves it: nothing that one may take for that."""
    return root(texts[place]) == root("approve") and texts[place + 1 : place + 2] not in (["for"], ["to"])


def _answers(text: str, question: _Question) -> bool:
    """Whether a word stands in a frame of the question."""
    return any(frame in question.frames for frame in senses(text))


def _is_verb(text: str) -> bool:
    return text in AUXILIARIES or text in _MODALS or text in IRREGULAR or (len(text) > 4 and text.endswith("ed"))


def _has(texts: Sequence[str], text: str) -> bool:
    return any(is_same(one, text) for one in texts)


def _has_any(said: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a clause has one of these words, or what is of its kind."""
    return any(_has(said, text) or any(_is_kind(one, [text]) for one in said) for text in texts)


def _is_kind(text: str, topic: Sequence[str]) -> bool:
    return text in _KINDS and not set(_KINDS[text].split()).isdisjoint(topic)


def _by_agent(said: Sequence[str], question: _Question, reply: Sequence[str]) -> Polarity | None:
    """Who built it: the one of the question, or another than the one that the reply names beside it."""
    is_named = any(_has(said, text) for text in question.agent)
    place = next((place for place, text in enumerate(said) if root(text) == question.verb), None)
    negations = sum(text in _NEGATING | _NO for text in said)
    if is_named and "own" in said and not negations:
        return "yes"
    if place is None or negations:
        return None
    theme = [text for text in question.topic if text not in question.agent and root(text) != question.verb]
    rest = said[place + 1 :]
    if not any(_has(said, text) for text in theme) and _PRONOUNS.isdisjoint(said):
        return None
    doer = rest[rest.index("by") + 1 :] if "by" in rest else said[:place]
    if "by" not in rest and not AUXILIARIES.isdisjoint(doer):
        return None
    doer = [text for text in doer if text not in _EMPTY]
    if not doer or all(_has(theme, text) for text in doer):
        return None
    if any(_has(doer, text) for text in question.agent):
        return "yes"
    return "no" if any(_has(reply, text) for text in question.agent) else None
