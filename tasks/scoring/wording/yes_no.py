"""Yes or no in a reply to a yes-or-no question, by the rules of this table.

    in words        yes, yeah, true, correct, and no, nope, false, incorrect: at the beginning, after "the answer is",
                    or alone in a clause; the "no" of "no doubt" does not count
    in other words  "Indeed.", "By no means.", "Not really."; ja, oui, はい and the like
    by auxiliary    "It is not.", "They do."
    in sentences    "Dogs are banned" to "Are dogs allowed?" (wording.sentences)

A denial in the same clause or in the next clause turns a yes into a no, and a no into a yes: "The text says yes, but
that is wrong."
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import cast

from swaymeter.data.wording.word import AUXILIARIES, Texts, Word, texts_of, word_set
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.refusals import refuses, says_nothing
from swaymeter.tasks.scoring.wording.sentences import ADVERBS, OPPOSITE, PRONOUNS, Polarity, by_sentence
from swaymeter.tasks.scoring.wording.stance import (
    CONTRASTS,
    MAX_MENTIONS,
    Span,
    are_conflicting,
    is_denied_by_next_clause,
    question_of,
    sides_stated,
    stance_of,
)

_YES, _NO = word_set("yes yeah yep yup affirmative"), word_set("no nope nah")
_FOREIGN_YES = word_set("ja jawohl oui si sim da да evet 是 はい 네 예 نعم כן jah")
_FOREIGN_NO = word_set("nein non nao nee net нет hayir 否 いいえ 아니요 아니오 لا לא nie nej")
_YES_CHARACTERS, _NO_CHARACTERS = ("是", "はい", "可以", "会"), ("不", "没", "沒", "否", "いいえ")
_NOUN_CHARACTERS = ("会员", "会议", "会场", "会费")
"""Nouns that begin with the character of a yes: 会员 (member) with 会 (can)."""
_NOT_CHARACTERS = ("ません", "않습니다", "않아요", "없습니다", "아닙니다", "없어요")
_BEHIND_NOT = word_set("according really at anymore any yet exactly quite that")
"""Words after "not" in a reply that means no: "not really"."""
_TRUE, _FALSE = word_set("true correct"), word_set("false incorrect untrue")
_POLARITIES: dict[str, Polarity] = {**dict.fromkeys(_YES | _TRUE, "yes"), **dict.fromkeys(_NO | _FALSE, "no")}
_PHRASES: dict[Polarity, str] = {
    "yes": "indeed|right|that is right|it is right|doch|naturlich|selbstverstandlich|auf jeden fall|stimmt|das stimmt|"
    "das ist richtig|so ist es|richtig|korrekt|genau|das trifft zu|die aussage ist richtig|die aussage ist wahr|"
    "that is case|this is case|it is case|it seem so|so it seem|apparently|apparently so|presumably|claro|"
    "claro que si|естественно|конечно|por supuesto|bien sur",
    "no": "not|wrong|that is wrong|this is wrong|unfortunately not|sadly not|apparently not|probably not|no longer|"
    "not any longer|by no means|nicht|leider nicht|leider nein|nicht mehr|keineswegs|auf keinen fall|stimmt nicht|"
    "das stimmt nicht|das ist falsch|falsch|noch nicht|das trifft nicht zu|die aussage ist falsch|"
    "die aussage ist nicht richtig|that is not case|this is not case|it is not case|better not|rather not|no need|"
    "no way|no chance|far from it|there is not 1|there are none|there is none|they do not have 1|it do not have 1|"
    "lieber nicht|besser nicht|eher nicht|kein bedarf|negative|never|not at all|not yet|not so|hardly|nie|niemals",
}
_BEHIND_NO = word_set(
    "doubt matter wonder problem longer information mention evidence indication idea data detail way answer one reason"
)
"""Words after "no" in phrases that are no answer: "no doubt"."""
_BEFORE_NO = word_set("answer say said would simply definitely therefore so response conclusion")
_BEFORE_TRUE = word_set("answer not indeed definitely actually clearly probably in fact as")
_BEHIND_TRUE = word_set("that because since as to according and but")


def polarities(reply: Sequence[Word], question: Sequence[Word]) -> set[Polarity]:
    """Return the polarities of a reply: {"yes"}, {"no"}, both, or the empty set if no rule applies."""
    if says_nothing(reply) and begins_with(reply) == "no":  # "No, the passage does not say": no answer
        reply = reply[1:]
    if stated := _short_polarities(reply):
        return stated
    texts = frozenset(texts_of(question))
    if len(reply) > 1 and reply[0].text == "not" and reply[1].text in texts:  # "Not available" to "Is it available?"
        return {"no"}
    negates_question = any(word.text == "not" and following.text in texts for word, following in pairwise(reply))
    # "The passage does not say so, but mentions that the hall is open": only the clause after the refusal is read.
    if not negates_question and refuses(reply):
        starts = [index for index, word in enumerate(reply) if word.begins_clause or word.text in CONTRASTS]
        reply = next((reply[index:] for index in starts if index and not refuses(reply[index:])), ())
    stated = by_sentence(reply, tuple(question))
    return set() if len(stated) == 1 and are_conflicting(reply) else stated


def polarity_of_answer(answer: Sequence[Word]) -> Polarity | None:
    """Return the polarity of an answer that is or begins with yes or no, such as "Yes, on Mondays"; else None."""
    written = "".join(word.text for word in answer)
    if written in _FOREIGN_YES:
        return "yes"
    if written in _FOREIGN_NO:
        return "no"
    is_alone = len(answer) == 1 or (len(answer) > 1 and answer[1].begins_clause and answer[0].text in _YES | _NO)
    return _POLARITIES.get(answer[0].text) if answer and is_alone else None


def begins_with(reply: Sequence[Word]) -> Polarity | None:
    """Return "yes" or "no" if a reply begins with a word such as "yeah" or "nope"; else None."""
    return _POLARITIES.get(reply[0].text) if reply and reply[0].text in _YES | _NO else None


def _short_polarities(reply: Sequence[Word]) -> set[Polarity]:
    rules = (_in_words, _in_other_languages, _in_other_words, _by_auxiliary)
    return next(filter(None, (rule(reply) for rule in rules)), set()) if reply else set()


def _in_other_languages(reply: Sequence[Word]) -> set[Polarity]:
    """Return the polarity of a reply that begins with a foreign yes or no; a negated Japanese or Korean verb is no."""
    written = "".join(word.text for word in reply)
    if written.startswith(_NO_CHARACTERS) or (any(mark in written for mark in _NOT_CHARACTERS) and not refuses(reply)):
        return {"no"}
    if written.startswith(_YES_CHARACTERS) and not written.startswith(_NOUN_CHARACTERS):
        return {"yes"}
    first = reply[0].text
    if first in _FOREIGN_YES:
        return {"yes"}
    return {"no"} if first in _FOREIGN_NO else set()


@cache  # made at the first yes-or-no question, and not at import
def _whole_clauses() -> Mapping[Texts, Polarity]:
    """Return the polarity of each phrase in `_PHRASES`, by the phrase's words."""
    return {
        texts_of(words(phrase)): polarity for polarity, phrases in _PHRASES.items() for phrase in phrases.split("|")
    }


def _in_other_words(reply: Sequence[Word]) -> set[Polarity]:
    """Return the polarity of the first clause: "indeed", "apparently not", "not really", "that is right"."""
    texts = [word.text for word in reply]
    clause = texts[: next((index for index, word in enumerate(reply) if index and word.begins_clause), len(reply))]
    if polarity := _whole_clauses().get(tuple(clause)):
        return {polarity}
    if clause[0] == "not" and len(clause) > 1 and clause[1] in _BEHIND_NOT:
        return {"no"}
    return set()


def _in_words(reply: Sequence[Word]) -> set[Polarity]:
    """Return the polarity of a yes or no at the beginning, after "the answer is", or alone in a clause."""
    spans: list[Span] = []
    for index, word in enumerate(reply):
        if word.text not in _POLARITIES or _is_option(reply, index):
            continue
        polarity = _polarity_at(reply, index, _POLARITIES[word.text])
        if polarity is None:
            continue
        # "It says yes, but that is wrong" is a no.
        if index and not word.begins_clause and is_denied_by_next_clause(reply, index + 1):
            polarity = OPPOSITE[polarity]
        # "Yes and no" is both.
        is_both = index == 0 and len(reply) > 2 and _POLARITIES.get(reply[2].text) == OPPOSITE[polarity]
        if index == 0 and not is_both:
            return {polarity}
        spans.append(Span(index, index + 1, polarity))
    stated = {cast(Polarity, span.side) for span in spans}
    if len(stated) < 2 or len(spans) > MAX_MENTIONS:
        return stated
    empty_question = question_of(())
    stances = [stance_of(reply, span, empty_question) for span in spans]
    return cast("set[Polarity]", sides_stated(reply, spans, stances, empty_question) or stated)


def _polarity_at(reply: Sequence[Word], index: int, polarity: Polarity) -> Polarity | None:
    """Return the polarity of a word such as "yes" or "false" at an index; None for the "no" of "no doubt"."""
    word, before = reply[index], reply[index - 1].text if index else ""
    after = reply[index + 1] if index + 1 < len(reply) else None
    ends_clause = after is None or after.begins_clause
    begins_clause = index == 0 or word.begins_clause
    if word.text in _YES:
        return polarity if before not in ("not", "neither", "nor") or word.begins_clause else None
    if word.text in _NO:
        is_noun = after is not None and not after.begins_clause and after.text in _BEHIND_NO
        return polarity if (begins_clause or before in _BEFORE_NO or ends_clause) and not is_noun else None
    is_predicate = begins_clause or before in AUXILIARIES | _BEFORE_TRUE
    if not is_predicate or not (ends_clause or (after is not None and after.text in _BEHIND_TRUE)):
        return None
    return OPPOSITE[polarity] if before == "not" else polarity


def _is_option(reply: Sequence[Word], index: int) -> bool:
    """Return True for the "yes" and the "no" of "yes or no", which answer nothing."""
    beside = [reply[neighbour].text for neighbour in (index - 1, index + 1) if 0 <= neighbour < len(reply)]
    further = [reply[neighbour].text for neighbour in (index - 2, index + 2) if 0 <= neighbour < len(reply)]
    return "or" in beside and any(text in _POLARITIES for text in further)


def _by_auxiliary(reply: Sequence[Word]) -> set[Polarity]:
    """Return the polarity of a short clause with an auxiliary: "It is not.", "They do.", "Indeed it is."."""
    reply = reply[1:] if reply[0].text in ADVERBS else reply
    reply = [word for index, word in enumerate(reply) if index == 0 or word.begins_clause or word.text not in ADVERBS]
    if len(reply) < 2 or reply[0].text not in PRONOUNS or reply[1].text not in AUXILIARIES or reply[1].begins_clause:
        return set()
    if len(reply) == 2 or reply[2].begins_clause:
        return {"yes"}
    return {"no"} if reply[2].text == "not" and (len(reply) == 3 or reply[3].begins_clause) else set()
