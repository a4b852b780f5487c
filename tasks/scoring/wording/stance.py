"""The stance of a reply towards each answer that it mentions, and the sides whose answer it states.

Each mention gets the first stance of this table that fits its clause:

    DENIED      not, instead of, "X is wrong", "but that is wrong" in the next clause
    CONCEDED    at the beginning of the clause: although, while, despite, formerly
    SET_ASIDE   formerly elsewhere, "from X to Y", "Y replaced X", the brother of X, compared with X, "X joined later"
    ASSERTED    actually, in fact, the correct answer, corrects this to
    REPORTED    the passage says, according to, listed, is believed
    PLAIN       none of these

If a reply mentions the answers of both sides, `sides_stated` weighs them. An answer that is denied, conceded or set
aside yields to an answer with another stance. An asserted answer wins over an answer that is not asserted. If both
answers are reported, or are joined ("X and Y"), the reply states both. For other pairs, a contrast ("but") or the
question's words decide; if neither decides, the stances are unclear. Sentences are not parsed. For languages other than
English, the tables have only the commonest words.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from swaymeter.data.wording.word import AUXILIARIES, FUNCTION_WORDS, Word, phrase_set, texts_of, word_set
from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.sentences import NEGATING

NEAR = 40
"""Limit of the words of a clause that are read beside a mention, so that a long reply takes linear time."""
MAX_MENTIONS = 30
"""Limit of the mentions whose stances are weighed."""
_REACH = 6
"""Approximate limit of the words between a negation and a mention that it denies."""

# Denial
_NEGATIONS = word_set(
    "not never neither nor unlike hardly scarcely barely unlikely except excluding doubt deny denie denied reject "
    "incorrectly wrongly mistakenly erroneously falsely falschlich falschlicherweise irrtumlich "
    "nicht kein keine keinen pas jamais niet geen не ни ليس وليس ליסא nao 不 没 沒 非"
)
_NEGATING_PAIRS = phrase_set(
    "no longer|instead of|contrary to|false that|wrong that|incorrect that|untrue that|wrong to|incorrect to|"
    "apart from|ruled out|mistaken in|wrong in|mistaken about|wrong about"
)
_BEHIND_NO = word_set("evidence proof indication sign mention reason record claim way")
"""Words after "no" in phrases that deny what follows: "no evidence that it was Oslo"."""
_SCOPE_ENDS = word_set(
    "but only just merely simply until because although though exceed sondern sino mais ma mas maar но 而 是 بل لكن"
)
"""Words that end the scope of a negation."""
_HARMLESS = word_set("surprisingly unexpectedly coincidentally unusually only just merely")
"""Words after a negation that cancel its effect: "not surprisingly X" does not deny X."""
_PASSING_ON = word_set("that whether if think believe know say")
"""Words that pass a negation on to their object: "not true that it is"."""
_MAIN_VERBS = word_set("is was are were am has have had called named became")
_IS = AUXILIARIES | word_set("ist war sind est etait es esta era fue e")
_FALSE = word_set("wrong incorrect false untrue inaccurate mistaken outdated obsolete falsch faux falso incorrecto")
_TRUE = word_set("true correct right accurate case richtig korrekt vrai correcto cierto")
_POINTING = word_set("that this it which das dies was cela ce eso esto это эт bu هذا")
"""Pronouns that stand for the clause before, as in "that is wrong"."""
_DENIALS_BEHIND = ("ではな", "ではあり", "じゃな", "이아니", "가아니", "아니", "아닌", "아닙", "degil")
"""Denials that follow the denied answer in Japanese, Korean and Turkish."""

# Setting aside
_CONCEDING = word_set(
    "although though despite while whereas formerly previously originally supposedly allegedly "
    "angeblich obwohl zwar fruher wahrend aunque antes bien хот раньше"
)
_UNTIL = word_set("until till bis")
_FORMER_STATE = word_set(
    "formerly previously originally former previous predecessor outdated obsolete superseded lobbied planned "
    "fruher vorganger vorgangerin bisher"
)
_FORMER = _UNTIL | _FORMER_STATE
"""Words beside an answer that was once valid, or was only planned: "formerly X", "X was planned"."""
_LATER = frozenset(
    texts_of(words("later afterwards subsequently später danach позже потом затем sonra ثم 나중에 이후"))
)
_REPLACING = word_set("replaced succeeded superseded followed replacing succeeding ersetzte defeated beat beating")
"""Verbs before the answer that they set aside: "Y replaced X"."""
_CHANGES = phrase_set("from to|von auf|von nach")
"""The words before and after a former value: "from X to Y"."""
_COMPARED = phrase_set("up from|down from|compared with|compared to|opposed to|border with|confused with")
_LIMITED_ROLES = phrase_set("used to|based on|only as")
"""Words before an answer that holds in a limited role only: "used to be X", "based on X"."""
_RELATIVES = word_set(
    "brother sister sibling wife husband widow widower spouse son daughter child father mother parent stepson cousin "
    "nephew niece uncle aunt grandson grandfather grandmother teacher student pupil mentor assistant friend rival "
    "colleague successor predecessor partner opponent bruder schwester vater mutter sohn tochter schwiegersohn "
    "ehemann ehefrau witwe vetter neffe nichte onkel tante lehrer schuler freund rivale kollege nachfolger vorganger"
)
"""Persons who are identified by their relation to another person: "the brother of X"."""
_OF = word_set("of von des der to")

# Assertion and report
_ASSERTING = word_set(
    "actually fact reality truth correct actual real really right corrected correction "
    "tatsachlich eigentlich wirklichkeit wahrheit richtig richtige korrekt "
    "realidad verdad correcta realite verite bonne aslinda gercekte 其实 其實 الصحيح الحقيقة"
)
_ASSERTING_CHARACTERS = (
    "其实",
    "实际",
    "事实上",
    "正确",
    "実際",
    "本当は",
    "正しくは",
    "실제로",
    "사실은",
    "насамомдел",
)
"""Phrases to find in a clause whose spaces are removed; насамомдел is "на самом деле" (in fact)."""
_NOW = word_set("now today current currently since heute jetzt inzwischen nunmehr")
_SAYING = word_set(
    "say said state stated mention mentioned claim claimed list listed describe described report reported name named "
    "cite cited suggest suggested indicate indicated give given put place call called attribute attributed credit "
    "credited believe believed thought considered rumored according dates sagt nennt laut gemass schreibt "
    "steht genannt selon según segun"
)
_SOURCES = word_set(
    "passage text context article document source manual leaflet handbook notice flyer report website page letter "
    "edition version brochure chart snippet paragraph transcript policy email guide quelle texte fuente fuentes texto "
    "источник источники"
)
_SOURCE_CHARACTERS = ("文中", "原文", "资料", "資料", "本文", "텍스트", "지문", "текст")
_DOUBTING = word_set("rely doubt doubtful dubious unreliable unverified deny denie denied dispute disputed")
CONTRASTS = word_set(
    "but however actually while whereas yet instead though although aber jedoch allerdings sondern dagegen hingegen "
    "mais pero sino но а لكن ولكن 但 可"
)

# Two answers that are both stated
_CONFLICTS = word_set(
    "contradict contradictory disagree differ conflict conflicting inconsistent respectively either both depend "
    "depending alternately jointly varie "
    "widersprechen unterschiedlich verschieden abwechselnd gemeinsam beide je расход разн "
)
_CONFLICT_CHARACTERS = ("矛盾", "两种", "兩種", "不同", "異なり", "食い違", "расход", "함께", "다르", "엇갈")
_DIFFERENT = word_set("different other another anderen otro autre")
_OPENING = _LATER | _NOW | word_set("it he she they i we es er sie")
"""Words that begin a further clause about an answer: "It is the capital", "and later moved"."""
JOINING = word_set("and or and/or as well also either both plus und oder sowie et ou y o и или 和 或 与 と や 及")
_CONDITION_PREPOSITIONS = word_set("for in on at during if when among before after from until bei fur im am")
"""Prepositions of a condition that each of two answers may have: "X for members and Y for guests"."""


class Stance(Enum):
    """The stance of a reply towards one mention of an answer."""

    DENIED = "denied"
    CONCEDED = "conceded"
    SET_ASIDE = "set aside"
    REPORTED = "reported"
    PLAIN = "plain"
    ASSERTED = "asserted"


WEAK = frozenset((Stance.CONCEDED, Stance.SET_ASIDE))
"""Stances with which an answer yields to another answer. A reply with only such stances is unclear."""


class Span(NamedTuple):
    """A mention of an answer.

    Attributes:
        start: The index of the first word.
        end: The index after the last word.
        side: The side of the answer.
    """

    start: int
    end: int
    side: str


class Question(NamedTuple):
    """The words of a question that decide between stances.

    Attributes:
        texts: All words.
        content: The words other than function words.
        is_negated: True if the question has a negation.
    """

    texts: frozenset[str]
    content: frozenset[str]
    is_negated: bool


def question_of(texts: Collection[str]) -> Question:
    """Return the words of a question that decide between stances."""
    content = frozenset(texts) - FUNCTION_WORDS - AUXILIARIES
    return Question(frozenset(texts), content, not NEGATING.isdisjoint(texts))


def stance_of(reply: Sequence[Word], span: Span, question: Question) -> Stance:
    """Return the stance of a reply towards one mention."""
    start, end = span.start, span.end
    if is_denied(reply, start, end, is_question_negated=question.is_negated):
        return Stance.DENIED
    first, last = _clause_start(reply, start), _clause_end(reply, end)
    before, after = texts_of(reply[first:start]), texts_of(reply[end:last])
    if not _CONCEDING.isdisjoint(before[:2]):
        return Stance.CONCEDED
    if _is_set_aside(reply, start, end, before, after, question):
        return Stance.SET_ASIDE
    clause = (*before, *after)
    written = "".join(clause)
    if not _ASSERTING.isdisjoint(clause) or _has_any(written, _ASSERTING_CHARACTERS):
        return Stance.ASSERTED
    if _is_reported(before, after) or _has_any(written, _SOURCE_CHARACTERS):
        return Stance.REPORTED
    return Stance.PLAIN


def sides_stated(
    reply: Sequence[Word], spans: Sequence[Span], stances: Sequence[Stance], question: Question
) -> set[str] | None:
    """Return the sides that a reply with mentions of both sides states; None if the stances are unclear."""
    if len(spans) > MAX_MENTIONS:
        return None
    by_side: dict[str, set[Stance]] = {}
    for span, stance in zip(spans, stances, strict=True):
        by_side.setdefault(span.side, set()).add(stance)
    (left, left_stances), (right, right_stances) = by_side.items()
    left_stance, right_stance = _strongest(left_stances), _strongest(right_stances)
    if Stance.DENIED in (left_stance, right_stance):
        if left_stance is right_stance:
            return set()
        other = right if left_stance is Stance.DENIED else left
        return {other} if WEAK.isdisjoint((left_stance, right_stance)) else None
    if (left_stance is Stance.ASSERTED) != (right_stance is Stance.ASSERTED):
        return {left} if left_stance is Stance.ASSERTED else {right}
    if _are_two_sources(reply, spans) or _are_joined(reply, spans, question):
        return {left, right}
    if (left_stance in WEAK) != (right_stance in WEAK):
        other, aside = (right, left) if left_stance in WEAK else (left, right)
        if Stance.SET_ASIDE in (left_stance, right_stance):
            return {other}
        # "She grew up in X, although she was born in Y": if the question has "born", Y may be the answer.
        clauses = _clauses_by_side(reply, spans)
        return None if question.content & clauses[aside] - clauses[other] else {other}
    if left_stance is right_stance is Stance.REPORTED:
        return {left, right}
    return _by_contrast(reply, spans, stances, question) or _by_question(reply, spans, question)


def _strongest(stances: Iterable[Stance]) -> Stance:
    present = set(stances)
    order = (
        Stance.ASSERTED,
        Stance.DENIED,
        Stance.PLAIN,
        Stance.REPORTED,
        Stance.CONCEDED,
        Stance.SET_ASIDE,
    )
    return next(stance for stance in order if stance in present)


def _by_question(reply: Sequence[Word], spans: Sequence[Span], question: Question) -> set[str] | None:
    """Return both sides if their clauses have the same words of the question.

    Return the first side if only its clause has words of the question, and None if these words do not decide.
    """
    clauses = _clauses_by_side(reply, spans)
    left, right = clauses
    left_words, right_words = question.content & clauses[left], question.content & clauses[right]
    # Both clauses answer only if the first clause has a word that the second clause lacks. A clause with a relative,
    # such as "brother", does not answer.
    can_both_answer = not (clauses[left] <= clauses[right]) and _RELATIVES.isdisjoint(clauses[left] | clauses[right])
    if left_words and left_words == right_words and can_both_answer:
        return {left, right}
    return {left} if left_words and not right_words and len(clauses[right]) > 2 else None


def _clauses_by_side(reply: Sequence[Word], spans: Sequence[Span]) -> dict[str, set[str]]:
    """Return, for each side, the words of the clauses that mention its answers."""
    clauses: dict[str, set[str]] = {}
    for span in spans:
        clauses.setdefault(span.side, set()).update(_clause(reply, span))
    return clauses


def _by_contrast(
    reply: Sequence[Word], spans: Sequence[Span], stances: Sequence[Stance], question: Question
) -> set[str] | None:
    """Return the side after a contrast, if any: "the text says X, but it is Y", "X is larger, but the capital is Y"."""
    last = spans[-1]
    others = [(span, stance) for span, stance in zip(spans, stances, strict=True) if span.side != last.side]
    other, other_stance = others[-1]
    if any(span.side == last.side and span.start < other.start for span in spans):  # Y, then X, then Y again
        return None
    if CONTRASTS.isdisjoint(texts_of(reply[other.end : last.start])):
        return None
    if other_stance is Stance.REPORTED and stances[-1] is Stance.PLAIN:
        return {last.side}
    # "X is larger, but the capital is Y": only the last clause has "the capital".
    clause_start = next((index for index in range(last.start, other.end, -1) if reply[index].begins_clause), other.end)
    words_of_last = question.content.intersection(texts_of(reply[clause_start : last.start]))
    words_of_other = texts_of(reply[_clause_start(reply, other.start) : clause_start])
    return {last.side} if words_of_last.difference(words_of_other) else None


def are_conflicting(reply: Sequence[Word]) -> bool:
    """Return True if a reply says that sources differ."""
    texts = texts_of(reply[: NEAR * 4])
    if not _CONFLICTS.isdisjoint(texts) or _has_any("".join(texts), _CONFLICT_CHARACTERS):
        return True
    return not (_DIFFERENT.isdisjoint(texts) or _SOURCES.isdisjoint(texts))


def _are_two_sources(reply: Sequence[Word], spans: Sequence[Span]) -> bool:
    """Return True if a reply says that sources differ, or reports each side from a source."""
    if are_conflicting(reply):
        return True
    before = [texts_of(reply[_clause_start(reply, span.start) : span.start]) for span in spans]
    # "the passage says X": beside the verb, a clause must have words for the source.
    reported = {
        span.side
        for span, clause in zip(spans, before, strict=True)
        if not _SAYING.isdisjoint(clause) and "i" not in clause and (set(clause) - _SAYING - CONTRASTS)
    }
    return len(reported) == 2


def doubts_report(reply: Sequence[Word]) -> bool:
    """Return True if a reply doubts what it reports: "the passage says X, but I would not rely on that"."""
    return not _DOUBTING.isdisjoint(texts_of(reply))


def answers_elsewhere(reply: Sequence[Word], spans: Sequence[Span], question: Question) -> bool:
    """Return True if only a clause after the mentions answers the question.

    To a question about the editor, "X is a compiler; the editor is written in C#" does not answer with X. A bare answer
    with a clause about it does answer: "X. It is the capital of Norway."
    """
    end = _clause_end(reply, spans[-1].end)
    is_bare = _clause_start(reply, spans[0].start) == spans[0].start and spans[0].end == end
    if is_bare or len(question.content) < 2 or (end < len(reply) and reply[end].text in _OPENING | _POINTING):
        return False
    before, after = frozenset(texts_of(reply[:end])), frozenset(texts_of(reply[end:]))
    return question.content.isdisjoint(before) and 2 * len(question.content & after) > len(question.content)


def _are_joined(reply: Sequence[Word], spans: Sequence[Span], question: Question) -> bool:
    """Return True if two answers stand side by side: "X or Y", "X and Y", "X for members and Y for guests".

    With conditions, such as "for members", the words after both answers must match the question equally.
    """
    for left, right in pairwise(spans):
        if left.side == right.side:
            continue
        between = [word.text for word in reply[left.end : right.start] if word.kind != "unit"]
        is_bare = not between and not reply[right.start].begins_clause
        before_left = reply[left.start - 1].text if left.start else ""  # "in X or in Y" repeats "in"
        if is_bare or (0 < len(between) <= 4 and all(text in JOINING or text == before_left for text in between)):
            return True
        after_left = reply[left.end].text if left.end < right.start else ""
        after_right = reply[right.end].text if right.end < len(reply) else ""
        is_list = not {"and", "or", "und", "oder"}.isdisjoint(between)
        if is_list and after_left in _CONDITION_PREPOSITIONS and after_left == after_right:
            matches = [
                question.content.intersection(texts_of(reply[span.end : span.end + 4])) for span in (left, right)
            ]
            return matches[0] == matches[1]
    return False


def _is_reported(before: Sequence[str], after: Sequence[str]) -> bool:
    if "i" in before[:2]:  # I believe
        return False
    return not (_SAYING.isdisjoint(before) and _SOURCES.isdisjoint(before) and _SOURCES.isdisjoint(after))


def _is_set_aside(
    reply: Sequence[Word], start: int, end: int, before: Sequence[str], after: Sequence[str], question: Question
) -> bool:
    """Return True if a clause names a former, later or compared answer, or a relative: "the brother of X"."""
    if _is_change(reply, start, end) or _is_compared(reply, start):
        return True
    if not _LIMITED_ROLES.isdisjoint(pairwise(before[-5:])):  # used to
        return True
    if _identifies_relative(reply, start, end, question):
        return True
    asks_for_former = not _FORMER.isdisjoint(question.texts)
    if before and before[-1] in _REPLACING and not asks_for_former and _REPLACING.isdisjoint(question.texts):
        return True  # Y replaced X
    # Normalised times: clock1530 on a clock of 24 hours, dial0330 on a clock of 12 hours.
    is_amount = reply[start].kind == "number" or reply[start].text.startswith(("clock", "dial"))
    clause = (*before, *after)
    if not is_amount and not _LATER.isdisjoint(clause) and (_NOW | _LATER).isdisjoint(question.texts):
        return True
    former = _FORMER_STATE if is_amount else _FORMER  # "open until 5 p.m." does not set 5 p.m. aside
    return not asks_for_former and not former.isdisjoint(clause)


def _is_change(reply: Sequence[Word], start: int, end: int) -> bool:
    """Return True for the former value X of a change "from X to Y"; "from 9:00 to 17:00" is no change."""
    if not start or end >= len(reply) or reply[start].text.startswith(("clock", "dial")):
        return False
    after = [*texts_of(reply[end : end + 3])]
    return any((reply[start - 1].text, text) in _CHANGES for text in after)


def _is_compared(reply: Sequence[Word], start: int) -> bool:
    """Return True if a mention only serves a comparison: "down from X", "bordering X", "more likely than X"."""
    if start < 2:
        return False
    if texts_of(reply[start - 2 : start]) in _COMPARED or reply[start - 1].text in ("alongside", "bordering"):
        return True
    return reply[start - 1].text == "than" and reply[start - 2].text in ("likely", "plausible", "probable", "credible")


def _identifies_relative(reply: Sequence[Word], start: int, end: int, question: Question) -> bool:
    """Return True if a mention identifies a relative: "X's brother", "the brother of X".

    If the question has relatives, such as "father", only these count: "the daughter of X" then answers with X.
    """
    relatives = _RELATIVES & question.texts or _RELATIVES
    for index in range(end, min(end + 3, len(reply))):
        word = reply[index]
        if word.begins_clause or word.text in FUNCTION_WORDS:
            break
        if word.text in relatives:
            return True
        if word.capitals:
            break
    for index in range(start - 1, max(start - 4, 0), -1):
        if reply[index + 1].begins_clause:
            break
        if reply[index].text in _OF:
            return reply[index - 1].text in relatives and not reply[index].begins_clause
    return False


def is_denied(reply: Sequence[Word], start: int, end: int, *, is_question_negated: bool) -> bool:
    """Return True if a reply denies its words from start to end."""
    return (
        _is_denied_before(reply, start)
        or (not is_question_negated and _is_denied_behind(reply, end))
        or "".join(texts_of(reply[end : end + 4])).startswith(_DENIALS_BEHIND)
        or is_denied_by_next_clause(reply, end)
    )


def _is_denied_before(reply: Sequence[Word], start: int) -> bool:
    """Return True if a negation before an index denies what follows: "is not X", "instead of X"."""
    has_verb = passes_on = False
    for index in range(start - 1, max(start - 3 - _REACH, -1), -1):
        word, following = reply[index], reply[index + 1]
        if following.begins_clause:
            return False
        pair = (word.text, following.text)
        if pair in _NEGATING_PAIRS:
            return True
        if word.text == "than":
            return index > 0 and reply[index - 1].text in ("rather", "other")
        is_no = word.text in ("no", "non") and (following.text in _BEHIND_NO | _IS or index == start - 1)
        if is_no or (word.text in _NEGATIONS and not _is_harmless(reply, index)):
            # A verb between "not" and X ends the scope of "not", unless a word passes it on: "not true that it was X".
            return not has_verb or passes_on or is_no or word.text in ("neither", "nor")
        # 是 (is) ends the scope, but not in 不是 (is not).
        if word.text in _SCOPE_ENDS and not (word.text == "是" and index and reply[index - 1].text == "不"):
            return False
        has_verb = has_verb or word.text in _MAIN_VERBS
        passes_on = passes_on or word.text in _PASSING_ON
    return False


def _is_harmless(reply: Sequence[Word], index: int) -> bool:
    """Return True for a negation without effect: "not surprisingly", "prime or not", "no doubt"."""
    before = reply[index - 1].text if index else ""
    after = reply[index + 1].text if index + 1 < len(reply) else ""
    if reply[index].text == "doubt":
        return before in ("no", "not")
    return after in _HARMLESS or before == "or" or after == "doubt"


def _is_denied_behind(reply: Sequence[Word], end: int) -> bool:
    """Return True if a verb after a mention denies it: "X is not", "X is wrong"."""
    if end == len(reply) or reply[end].begins_clause or reply[end].text not in _IS:
        return False
    after = [*reply[end : end + 4], *[Word("")] * 4]
    if after[1].begins_clause:
        return False
    has_filler = after[1].text in ("be", "been", "have", "has", "clearly", "actually", "certainly")
    denial, further = (after[2], after[3]) if has_filler else (after[1], after[2])
    is_denial = denial.text in _FALSE or denial.text in _NEGATIONS or (denial.text, further.text) in _NEGATING_PAIRS
    return is_denial and not denial.begins_clause and further.text not in _SCOPE_ENDS


def is_denied_by_next_clause(reply: Sequence[Word], end: int) -> bool:
    """Return True if the next clause denies the words before it: "but that is wrong", "which is not true"."""
    start = next((index for index in range(end, min(end + 2 * _REACH, len(reply))) if reply[index].begins_clause), None)
    return start is not None and denies_previous_clause(reply[start : _clause_end(reply, start + 1)])


def denies_previous_clause(clause: Sequence[Word]) -> bool:
    """Return True if a clause says that the clause before it is wrong: "but this claim is incorrect"."""
    first = int(clause[0].text in CONTRASTS)
    texts = texts_of(clause[first:])
    if len(texts) < 2 or texts[0] not in _POINTING | _IS:
        return False
    return any(
        verb.text in _IS and (after.text in _FALSE or (after.text in ("not", "nicht", "pas") and further.text in _TRUE))
        for verb, after, further in zip(
            clause[first:], clause[first + 1 :], (*clause[first + 2 :], Word("")), strict=False
        )
    )


def _clause(reply: Sequence[Word], span: Span) -> tuple[str, ...]:
    return texts_of(reply[_clause_start(reply, span.start) : _clause_end(reply, span.end)])


def _clause_start(reply: Sequence[Word], index: int) -> int:
    """Return the beginning of the clause around an index; punctuation or a word of contrast begins a clause."""
    start = index
    while start and index - start < NEAR and not reply[start].begins_clause:
        if start < index and (reply[start].text in CONTRASTS or _opens_clause(reply, start)):
            break
        start -= 1
    return start


def _clause_end(reply: Sequence[Word], index: int) -> int:
    """Return the index at which a clause ends, searched from an index in the clause, over at most NEAR words."""
    end = index
    while end < len(reply) and end - index < NEAR and not reply[end].begins_clause and reply[end].text not in CONTRASTS:
        if _opens_clause(reply, end):
            break
        end += 1
    return end


def _opens_clause(reply: Sequence[Word], index: int) -> bool:
    """Return True if an "and" at an index begins a clause: "and it was", "and later moved"."""
    return reply[index].text in ("and", "und") and index + 1 < len(reply) and reply[index + 1].text in _OPENING


def _has_any(written: str, parts: Iterable[str]) -> bool:
    return not written.isascii() and any(part in written for part in parts)
