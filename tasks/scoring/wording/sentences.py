"""Yes or no in sentences of a reply that repeat the question: unchanged, negated, or with an opposite word.

    the same words   "Dogs are not allowed in the office" answers "Are dogs allowed in the office?": no
    predicates       "Dogs are banned" answers the same question: no. The clause has a word with the meaning of the
                     question's predicate, or with the opposite meaning (wording.senses). The clause's subject is the
                     question's subject, a pronoun, or a word that stands for the subject, such as "visitors"

The polarity of a clause is yes or no. Two negations of a predicate cancel each other. A clause that concedes, hedges or
quotes the question ("Are dogs allowed?") has no polarity. If one clause says yes and another clause says no, the reply
has both polarities. Nothing is inferred: "It is cold" is no answer to "Is it heated?".
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from swaymeter.data.wording.word import (
    AUXILIARIES,
    FOREIGN_FUNCTION_WORDS,
    FUNCTION_WORDS,
    MONTHS,
    Texts,
    Word,
    texts_of,
    word_set,
)
from swaymeter.tasks.scoring.wording.mentions import is_part
from swaymeter.tasks.scoring.wording.senses import MAY, OPEN, are_related, is_past_form, replace_phrases, senses_of

Polarity = Literal["yes", "no"]
OPPOSITE: dict[Polarity, Polarity] = {"yes": "no", "no": "yes"}

_MODALS = word_set(
    "can may could should darf durfen kann konnen sollte sollten muss mussen soll sollen must peut puede"
)
_QUESTION_VERBS = word_set("ist sind war hat haben wird kann konnen darf durfen muss mussen gibt gab")
"""German verbs that begin a yes-or-no question."""
_HEDGES = word_set("may might could perhap whether unclear depend would possibly vielleicht ob")
"""Normalised words, which have no plural s: perhap for perhaps, depend for depends."""
NEGATING = word_set(
    "not never neither nor nobody nothing hardly scarcely deny denie denied stopped ceased nicht nie niemals weder "
    "niemand nichts pas jamais nao niet нет не degil 不 没 沒 未"
)
_LACKING = word_set("no none without lack lacked kein keine keinen keiner keinerlei ohne aucun aucune sin sans geen")
"""Negations of a noun, such as "no dogs" and "without a lift"."""
ADVERBS = word_set(
    "sure absolutely exactly course also always very most probably likely certainly indeed definitely clearly "
    "actually really generally usually "
    "still false incorrect fact reality truth myself itself himself herself themself themselve vote voted small "
    "single now already currently please only even just any some all fully entirely completely officially strictly "
    "simply explicitly expressly however yet true correct ever auch noch schon leider sogar immer nur bitte "
    "grundsatzlich derzeit aktuell laut gemass jemals je 吗 嗎 呢 か で す ま は が に を も の"
)
"""Adverbs, and other words that change neither the subject nor the predicate of a clause, such as "small" and "か"."""
_GENERIC = word_set(
    "everyone everybody anyone anybody people person one guest visitor customer passenger tenant resident user reader "
    "member student patient owner house rule text passage version edition source report article law policy regulation "
    "contract notice document page website leaflet sign manual study doctor expert author second third other another "
    "plan project bill proposal motion measure scheme request application decision result vote place building shop "
    "entrance entry admission eintritt product device machine vehicle drug medicine price ticket town company man "
    "woman team besucher gaste gast kunde kunden jeder mieter regel hausordnung antrag"
)
"""Words that stand for the subject of any question, such as "guest", or for a source, such as "report"."""
PRONOUNS = word_set(
    "it he she they you we i this that these those them him her its their your es er sie das dies diese wir ihr ihn "
    "ihm il elle on ils elles se lo la man none there one yes"
)
_CLAUSE_STARTS = word_set(
    "but while whereas although though because so if unless until since which who when provided however aber obwohl "
    "wahrend weil sondern wenn falls mais pero"
)
_CONCEDING = word_set("although though despite obwohl even if unless until when wenn falls because weil since")
"""Words that begin a concession, condition or reason; these clauses have no polarity: "although dogs are allowed"."""
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
"""Phrases such as "every day", with which a clause answers for any day that the question names."""
_MAX_SHORT_CLAUSE = 8
"""Limit of the words of a clause that answers with a pronoun, such as "It is heated."."""
_NO_PREDICATES = (FOREIGN_FUNCTION_WORDS | AUXILIARIES | word_set("have has")) - _MODALS
"""Words that are no predicates of a question, even if a frame of predicates (`senses`) has them."""
_NO_CONTENT = FUNCTION_WORDS | AUXILIARIES | FOREIGN_FUNCTION_WORDS | ADVERBS | PRONOUNS | _MODALS | NEGATING | _LACKING
"""Words that are no content of a question or clause."""


class _Question(NamedTuple):
    """The parts of a question; the examples are of "May visitors bring dogs into the gallery?".

    Attributes:
        frames: The senses of the question's predicates, {index of the frame: side} as in `senses_of`. {MAY: 0} in the
            example; {MAY: 1} in "Are dogs banned?".
        content: Words other than function words, modal verbs, adverbs and negations: visitor, bring, dog, gallery.
        topic: The content without predicates; in the example all of the content, because the predicate is "may".
        objects: The words of the topic after the last predicate. In a question with a modal verb or without a
            predicate, all words of the topic but the first: bring, dog, gallery.
        is_modal: True if the question begins with a modal verb, and so asks for permission or ability.
        negations: The negations in the question, such as "without".
    """

    frames: dict[int, int]
    content: tuple[str, ...]
    topic: tuple[str, ...]
    objects: tuple[str, ...]
    is_modal: bool
    negations: frozenset[str]


def by_sentence(reply: Sequence[Word], question_words: tuple[Word, ...]) -> set[Polarity]:
    """Return the polarities of a reply's clauses: {"yes"}, {"no"}, both, or the empty set."""
    question, question_texts = _question(question_words), texts_of(question_words)
    # "Are dogs not allowed?": yes and no would be ambiguous.
    if not question.negations.isdisjoint(NEGATING) or not question.content:
        return set()
    starts = [
        index for index, word in enumerate(reply) if index == 0 or word.begins_clause or word.text in _CLAUSE_STARTS
    ]
    clauses = [texts_of(reply[start:end]) for start, end in pairwise([*starts, len(reply)])]
    polarities: set[Polarity] = set()
    begins_with_verb = bool(question_texts) and question_texts[0] in AUXILIARIES | _QUESTION_VERBS
    for clause in clauses:
        quotes_question = begins_with_verb and is_part(clause, question_texts)
        if clause[0] in _CONCEDING or quotes_question:
            continue
        if polarity := _polarity(clause, question):
            polarities.add(polarity)
    return polarities


@lru_cache(maxsize=1024)
def _question(question: tuple[Word, ...]) -> _Question:
    texts = replace_phrases(texts_of(question))
    frames: dict[int, int] = {}
    predicate = 0  # index of the last predicate; 0 also for a question without a predicate
    for index, text in enumerate(texts):
        if text in _NO_PREDICATES or (index and text in _MODALS):
            continue
        for frame, side in senses_of(text).items():
            frames.setdefault(frame, side)
            predicate = index
    # A condition is no content: "if they are small".
    end = next((index for index, text in enumerate(texts) if index and text in _CONCEDING), len(texts))
    # Numbers that are part of a name, such as the product "Brisa 40", are no content.
    numbers = {following.text for word, following in pairwise(question) if word.capitals and following.text.isdigit()}
    content = tuple(text for text in texts[:end] if text not in _NO_CONTENT | numbers)
    topic = tuple(text for text in content if not senses_of(text))
    is_modal = bool(texts) and texts[0] in _MODALS
    behind_predicate = tuple(text for text in texts[predicate + 1 : end] if text in topic)
    objects = topic[1:] if not predicate or is_modal else behind_predicate
    return _Question(frames, content, topic, objects, is_modal, (NEGATING | _LACKING).intersection(texts))


def _polarity(clause: Texts, question: _Question) -> Polarity | None:
    """Return the polarity of a clause by its predicates or, without a predicate, by the question's words in it."""
    statement = replace_phrases(clause)
    while statement and (statement[0] in _CLAUSE_STARTS or statement[0] in ("and", "und", "then", "also")):
        statement = statement[1:]
    behind_saying = next((index for index, text in enumerate(statement, 1) if text in _SAYING), 0)
    if behind_saying and "that" in statement:  # "The text says that dogs are allowed": only "dogs are allowed" counts
        statement = statement[statement.index("that") + 1 :]
    else:
        statement = statement[behind_saying:]
    # "may" is a hedge, but to a question for permission it is an answer.
    if not statement or (MAY not in question.frames and not _HEDGES.isdisjoint(statement)):
        return None
    meanings = _meanings_of_predicates(statement, question)
    if len(meanings) == 1 and _is_about(statement, question):
        return "yes" if meanings.pop() else "no"
    return None if meanings else _polarity_of_repetition(statement, question)


def _meanings_of_predicates(statement: Sequence[str], question: _Question) -> set[bool]:
    """Return the meanings of a clause's predicates: True for yes ("not banned" for "allowed?"), and False for no."""
    matched = [
        (side == question.frames[frame], index)
        for index, text in enumerate(statement)
        if text not in FOREIGN_FUNCTION_WORDS  # Spanish "los" would be read as a form of "lose"
        for frame, side in senses_of(text).items()
        if frame in question.frames
    ]
    # "without" is a negation in "without dogs". To "Is a ticket needed?", "without" is a predicate that means "no".
    predicates = {index for _, index in matched}
    negations = (
        text for index, text in enumerate(statement) if text in NEGATING | _LACKING and index not in predicates
    )
    is_negated = sum(text not in question.negations for text in negations) % 2 == 1
    return {same != is_negated for same, _ in matched}


def _polarity_of_repetition(statement: Sequence[str], question: _Question) -> Polarity | None:
    """Return the polarity of a clause that has the question's words, or a pronoun and the question's last word.

    To "Is the hall heated?", "The hall is heated" and "It is heated" are yes.
    """
    content = question.content
    missing = [text for text in content if not _has_related(statement, text)]
    new = [text for text in statement if text not in _NO_CONTENT and not _has_related(content, text)]
    if missing:
        is_short = len(statement) <= _MAX_SHORT_CLAUSE and all(text in _GENERIC for text in new)
        has_last_word = content[-1] not in missing and 2 * len(missing) <= len(content)
        begins_with_pronoun = statement[0] in PRONOUNS  # "It is heated"
        lacks_time = any(text in _WHEN or text[0].isdigit() for text in missing)
        if not (is_short and begins_with_pronoun and has_last_word) or lacks_time:
            return None
    # "The jacket is washable" answers "Can the jacket be washed?"; "The jacket is washed" does not.
    is_able = any(text.endswith(("able", "ible")) for text in statement)
    if question.is_modal and _MODALS.isdisjoint(statement) and not is_able:
        return None
    negations = sum(text in NEGATING | _LACKING and text not in question.negations for text in statement)
    if negations > 1 or any(text in _WHEN for text in new):
        return None
    return "no" if negations else "yes"


def _is_about(statement: Sequence[str], question: _Question) -> bool:
    """Return True if a clause is about the question's subject, and adds no other subject and no time."""
    statement, question = _without_days(statement, question)
    if _has_pronoun_as_object(statement):
        return True
    topic, objects = question.topic, question.objects
    new = _new_words(statement, question)
    # A clause that adds words must also have a word of the topic and, if the question has objects, of the objects.
    return (
        _has_times(statement, topic)
        and not _adds_time(new, question)
        and not _has_another_subject(statement, new)
        and (not objects or not new or any(_has_related(statement, text) for text in objects))
        and (not new or any(_has_related(statement, text) for text in topic))
    )


def _without_days(statement: Sequence[str], question: _Question) -> tuple[Sequence[str], _Question]:
    """Drop the days of a question and the "every day" of a clause: "open every day" answers "open on Mondays?"."""
    written = " ".join(statement)
    if not _ALWAYS.search(written):
        return statement, question
    topic = tuple(text for text in question.topic if text not in _WHEN)
    objects = tuple(text for text in question.objects if text not in _WHEN)
    return _ALWAYS.sub("", written).split(), question._replace(topic=topic, objects=objects)


def _has_pronoun_as_object(statement: Sequence[str]) -> bool:
    """Return True if a clause ends in "one" (normalised to 1), or has a pronoun before "das": "dürfen sie das"."""
    return statement[-1] == "1" or any(text in PRONOUNS and after == "das" for text, after in pairwise(statement))


def _new_words(statement: Sequence[str], question: _Question) -> list[str]:
    """Return the words that a clause adds to a question, except predicates; numbers only if the topic has a number."""
    has_number = any(text[0].isdigit() for text in question.topic)
    return [
        text
        for text in statement
        if text not in _NO_CONTENT | _GENERIC
        and not _has_related(question.topic, text)
        and question.frames.keys().isdisjoint(senses_of(text))
        and (has_number or not text[0].isdigit())
    ]


def _has_times(statement: Sequence[str], topic: Texts) -> bool:
    """Return True if a clause has all times and numbers of the topic; a short clause with a pronoun implies them."""
    if statement[0] in PRONOUNS and len(statement) <= _MAX_SHORT_CLAUSE:
        return True
    return all(_has_related(statement, text) for text in topic if text in _WHEN or text[0].isdigit())


def _adds_time(new: Sequence[str], question: _Question) -> bool:
    """Return True if a clause adds a time to a question about times: "open on Sundays" to "open on Mondays?"."""
    has_time = OPEN in question.frames or not _WHEN.isdisjoint(question.topic)
    return has_time and not _WHEN.isdisjoint(new)


def _has_another_subject(statement: Sequence[str], new: Sequence[str]) -> bool:
    """Return True if a clause has another subject than the question: "cats" for "dogs", but not "dogs and cats"."""
    verb = next((index for index, text in enumerate(statement) if _is_verb(text) or (index and senses_of(text))), 0)
    subject = [] if statement[0] in PRONOUNS else [text for text in statement[:verb] if text not in _NO_CONTENT]
    is_pair = not {"and", "or", "und", "oder"}.isdisjoint(statement)
    has_topic = any(text not in new for text in subject)
    return any(text in new for text in subject) and not (is_pair and has_topic)


def _is_verb(text: str) -> bool:
    return text in AUXILIARIES or text in _MODALS or is_past_form(text)


def _has_related(texts: Sequence[str], text: str) -> bool:
    return any(are_related(other, text) for other in texts)
