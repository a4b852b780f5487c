"""Whether a text denies a name that stands in it.

    before it   not, never, neither, nor, hardly and the like, up to six words before it in the same clause with no
                other verb between: "the country that is not in the EU is Norway" denies nothing. Verbs of saying and
                thinking hand a negation on: "not true that it is", "no evidence that it is", "I doubt that it is".
    behind it   "is not", "is false" and the like, unless the question itself is asked with not; "the claim that ... is
                false"; "but that is wrong" in the next clause, also of other languages
    beside it   than, instead of, rather than, unlike, except, no longer

"not only", "not surprisingly", "prime or not" deny nothing; "but", "only" or "until" end what a negation reaches.
Where a text names two answers, it may concede one ("although the text says Oslo", "Oslo, but the right answer is
Bergen") or give one in the words of the question ("Oslo is the largest city, but the capital is Bergen").
What it is not: a parser of sentences. Of other languages it knows the commonest negations.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

from swaymeter.data.wording.word import AUXILIARIES, FUNCTION_WORDS, Word, phrase_set, texts_of, word_set
from swaymeter.data.wording.words import words

REACH = 6
_NEAR = 40
"""Of so many words beside a name; a long reply takes linear time."""
_NEGATIONS = word_set(
    "not never neither nor unlike hardly scarcely barely unlikely except excluding doubt deny denie denied "
    "incorrectly wrongly mistakenly erroneously falsely falschlich falschlicherweise irrtumlich"
)
NEGATING_WORDS = word_set("not never no neither nor hardly scarcely none nobody nothing unlikely")
_NEGATING_PAIRS = phrase_set(
    "no longer|instead of|contrary to|false that|wrong that|incorrect that|untrue that|wrong to|incorrect to|"
    "apart from|ruled out|mistaken in|wrong in|mistaken about|wrong about"
)
_NO = word_set("evidence proof indication sign mention reason record claim way")
_ENDS = word_set(
    "but only just merely simply until because although though doubt exceed sondern sino mais ma mas maar но 而 是 بل "
    "لكن"
)
_ELSEWHERE = word_set("nicht kein keine keinen pas jamais niet geen не ни ليس وليس ליסא nao 不 没 沒 非")
"""Negations of other languages that stand before what they deny."""
_NO_ELSEWHERE = word_set("es esta fue era son se hay en 是 在 e")
"""What stands behind no or non where it is a negation of Spanish or Italian."""
_BEHIND_ELSEWHERE = [
    texts_of(words(phrase))
    for phrase in ("ではな", "ではあり", "じゃな", "이 아니", "가 아니", "아닙니다", "아니다", "değil", "degildir")
]
_HARMLESS = word_set("surprisingly unexpectedly coincidentally unusually only just merely")
_HANDING_ON = word_set(
    "think believe know known say said state stated mention mean suggest imply indicate claim prove proven show true "
    "correct right accurate case clear sure certain likely possible agree confirm confirmed support specify that "
    "whether evidence proof indication sign reason record doubt deny denie denied false wrong incorrect untrue be"
)
_MAIN_VERBS = word_set("is was are were am has have had called named became")
_IS_ELSEWHERE = word_set("ist war sind est etait es era fue e")
_DENIALS = word_set(
    "not never wrong incorrect false untrue inaccurate mistaken hardly unlikely nicht falsch pas faux fausse falso "
    "incorrecto nao"
)
_FALSE = word_set("wrong incorrect false untrue inaccurate mistaken falsch faux falso incorrecto")
_TRUE = word_set("true correct right accurate richtig korrekt vrai correcto cierto")
_CLAIMS = word_set("claim claimed statement idea notion belief assertion suggestion rumor rumour myth say saying state")
_SUCCEEDING = word_set("replaced succeeded superseded followed ersetzte")
_SUCCEEDED = _SUCCEEDING | word_set("ersetzt abgelost")
_BEATING = word_set("beat beating defeated defeating against over")
_LOST = word_set("lose lost beat beaten defeated against over opponent")
_LEAVING = word_set("resigned retired left died stepped")
_PREDECESSORS = word_set("predecessor vorganger vorgangerin")
_UNTIL = word_set("until till bis")
_NOW = word_set("now today current currently heute jetzt later") | _UNTIL
_LATER = frozenset(
    texts_of(words("later afterwards subsequently später danach позже потом затем sonra ثم 나중에 이후"))
)
_LATER_CHARACTERS = ("后来", "之后", "後來", "後に", "その後", "のちに")
_PAST = word_set("was were did had war waren wurde until when wann")
_OF_FORMER = _SUCCEEDED | word_set(
    "replace succeed supersede follow ersetzen predecessor previou previous former first before previously originally"
)
"""Words of a question that asks for the one who was succeeded."""
_CONCEDING = word_set(
    "although though while whereas despite formerly previously originally used supposedly allegedly reportedly "
    "хот angeblich obwohl zwar fruher aunque antes bien"
)
_TURNING = word_set(
    "but however actually fact reality truth tatsachlich eigentlich wirklichkeit "
    "لكن ولكن но 但 aber jedoch doch sondern "
    "mais pero ma mas"
)
_OPINION = word_set("attributed credited thought believed considered supposed rumored rumoured")
_OTHERS = word_set("other another some second 2th")
_AWAY = word_set("of from to")
_DIRECTIONS = word_set("north south east west northeast northwest southeast southwest far away close next")
_CHANGING = phrase_set("from to|von auf|von nach")
_COMPARING = phrase_set("up from|down from|compared with|compared to|opposed to|border with")
_IN_TRUTH = word_set(
    "其实 实际 事实上 正确 実際 本当は 正しくは 실제로 사실은 aslinda gercekte الصحيح الحقيقة насамдел"
)
_BESIDE = word_set("alongside border bordering")
_RIGHT = word_set("correct right actual actually real really true fact reality richtig richtige tatsachlich korrekt "
                  "eigentlich wirklich wirklichkeit truth realidad correcta realite bonne reponse verdad")  # fmt: skip
_TURNING_BEHIND = word_set("aber jedoch allerdings dagegen hingegen")
"""What stands behind the subject: die Hauptstadt ist aber Bern."""
_POINTING = word_set("that this it which das dies was cela ce eso esto это эт bu هذا") | _IS_ELSEWHERE
_NOT_RIGHT = word_set("stimmt zutrifft zutreffend")
_FALSE_ALONE = frozenset(
    texts_of(words("неверно неправильно ошибочно ошибка yanlış hatalı خطأ falsch faux falso incorrecto"))
)
_FALSE_CHARACTERS = word_set(
    "错误 错的 不正确 不对 有误 不准确 不符 誤り 間違い 誤って 正しくない 正しくありま 事実ではな"
)
_POINTING_CHARACTERS = ("但", "这", "這", "可", "然", "不过", "それ", "これ", "しか", "この", "その", "が")


def is_denied(text: Sequence[Word], start: int, end: int, *, is_question_negated: bool) -> bool:
    """Whether the words from start to end are denied."""
    return (
        _is_denied_before(text, start)
        or (not is_question_negated and (_is_denied_behind(text, end) or _is_topic_denied(text, end)))
        or (end < len(text) and text[end].text.startswith(("아니", "아닌", "아닙")))
        or any(texts_of(text[end : end + len(texts)]) == texts for texts in _BEHIND_ELSEWHERE)
        or _is_claim_denied(text, start, end)
        or is_called_false(text, end)
    )


def is_conceded(text: Sequence[Word], start: int, end: int) -> bool:
    """Whether words are named to be set right: although the text says Oslo; Oslo, but the right answer is Bergen."""
    is_time = text[start].text.startswith(("clock", "dial"))
    if start and end < len(text) and not is_time and (text[start - 1].text, text[end].text) in _CHANGING:
        return True
    if start > 1 and (texts_of(text[start - 2 : start]) in _COMPARING or text[start - 1].text in _BESIDE):
        return True
    before = texts_of(text[max(start - 4, 0) : start])
    if before[-1:] == ("and",) and "between" in before and text[start].kind != "number":
        return True
    if start > 1 and text[start].kind == "number" and text[start - 1].text == "of":  # seven of the nine, 7 out of 9
        return text[start - 2 - (text[start - 2].text == "out")].kind == "number"
    is_away = start > 1 and text[start - 1].text in _AWAY
    if is_away and (text[start - 2].kind == "unit" or text[start - 2].text in _DIRECTIONS):
        return True
    place = start
    while place and start - place < _NEAR and not text[place].clause:
        place -= 1
    first = texts_of(text[place : min(place + 2, start)])
    if first[:1] in (("while",), ("whereas",)) and not _OTHERS.isdisjoint(texts_of(text[place:start])):
        return False
    if not _CONCEDING.isdisjoint(first) or first == ("before", "that"):
        return True
    texts = [word.text for word in text[end : end + 2 * REACH]]
    is_opinion = not _OPINION.isdisjoint(texts_of(text[max(place, start - 4) : start]))
    if is_opinion and "but" in texts and _OTHERS.isdisjoint(texts):
        return True
    turn = next((place for place, one in enumerate(texts) if one in _TURNING), len(texts))
    if any(one in "".join(texts) for one in _IN_TRUTH):
        return True
    if any(one == "i" and two in ("think", "believe") for one, two in pairwise(texts[turn:])):
        return True
    return not _RIGHT.isdisjoint(texts[max(turn - 2, 0) :] if turn < len(texts) else ())


def is_succeeded(text: Sequence[Word], start: int, end: int, asked: Collection[str]) -> bool:
    """Whether another took the place of what is named: Ann replaced Bob, Bob was succeeded by Ann."""
    if not _OF_FORMER.isdisjoint(asked):
        return False
    before, behind = texts_of(text[max(start - 3, 0) : start]), texts_of(text[end : end + REACH])
    last, following = "".join(before[-1:]), "".join(behind[:1])
    if last in _SUCCEEDING or before == ("took", "over", "from") or before[-2:-1] == ("successor",):
        return True
    if following in _LEAVING or not _PREDECESSORS.isdisjoint(before):
        return True
    if _LOST.isdisjoint(asked) and (last in _BEATING or following == "lost"):
        return True
    if last in ("for", "fur") and text[start].capitals > 0 and {"for", "fur"}.isdisjoint(asked):
        return True
    if _ends_before_now(text, start, end, asked) or _is_later(text, start, asked):
        return True
    is_passive = following in ("was", "were", "is", "wurde")
    return is_passive and not _SUCCEEDED.isdisjoint(behind) and not {"by", "durch", "von"}.isdisjoint(behind)


def _clause_start(text: Sequence[Word], place: int, *links: str) -> int:
    """Where the clause of a place begins: behind punctuation, or one of the links."""
    while place and not text[place].clause and text[place - 1].text not in links:
        place -= 1
    return place


def _clause_end(text: Sequence[Word], place: int, *links: str) -> int:
    """The first place from this one on that is not of its clause."""
    while place < len(text) and not text[place].clause and text[place].text not in links:
        place += 1
    return place


def _ends_before_now(text: Sequence[Word], start: int, end: int, asked: Collection[str]) -> bool:
    """Whether the words around a name say until when it was so, where the question asks for now."""
    if text[start].kind == "number" or not _PAST.isdisjoint(asked):
        return False
    place, end = _clause_start(text, start, "and"), _clause_end(text, end, "and", "but")
    return not _UNTIL.isdisjoint(texts_of(text[place:end]))


def _is_later(text: Sequence[Word], start: int, asked: Collection[str]) -> bool:
    """Whether it became so later than what is asked for: born in Oslo, and later moved to Bergen."""
    if not _NOW.isdisjoint(asked) or text[start].kind == "number":
        return False
    texts = texts_of(text[_clause_start(text, start, "and") : start])
    is_clause = not _LATER.isdisjoint(texts) and any(one not in FUNCTION_WORDS | _LATER for one in texts)
    return is_clause or any(one in "".join(texts) for one in _LATER_CHARACTERS)


def is_in_focus(text: Sequence[Word], start: int, end: int, asked: Collection[str]) -> bool:
    """Whether a clause behind "but" gives the answer in the words of the question: but the capital is Oslo."""
    place = _clause_start(text, start)
    texts = texts_of(text[place : _clause_end(text, end)])
    turn = next((place for place, one in enumerate(texts) if one in _TURNING), len(texts))
    first = 0 if not _TURNING_BEHIND.isdisjoint(texts[turn : start - place]) else turn
    last = len(texts) if first == turn < start - place else start - place
    return any(one in asked and one not in FUNCTION_WORDS for one in texts[first:last])


def _is_denied_before(text: Sequence[Word], start: int) -> bool:
    has_verb, handed_on = False, False
    for place in range(start - 1, max(start - 3 - REACH, -1), -1):
        word, following = text[place], text[place + 1]
        if following.clause:
            return False
        pair = (word.text, following.text)
        if word.text == "than":
            return _excludes(text, place, start)
        is_negation = word.text in _NEGATIONS and not _is_harmless(text, place)
        is_negation |= word.text in _ELSEWHERE or (word.text in ("no", "non") and following.text in _NO_ELSEWHERE)
        is_no = word.text == "no" and (following.text in _NO or place == start - 1)
        if is_negation or is_no or pair in _NEGATING_PAIRS:
            return not has_verb or handed_on or word.text in ("neither", "nor") or pair in _NEGATING_PAIRS or is_no
        if word.text in _ENDS and not (word.text == "是" and place and text[place - 1].text == "不"):
            return pair[0] == "but" and place > 0 and text[place - 1].text == "anything"
        has_verb = has_verb or word.text in _MAIN_VERBS
        handed_on = handed_on or word.text in _HANDING_ON
    return False


def _excludes(text: Sequence[Word], place: int, start: int) -> bool:
    """Whether "than" sets aside what follows: rather than Oslo, but not more than 8, none other than Oslo."""
    compared = place and text[place - 1].text not in ("rather", "other")
    if compared and text[start].text[0].isdigit():
        return False
    before = {word.text for word in text[max(place - 8, 0) : place]}
    return before.isdisjoint(("none", "no", "nothing", "nobody", "never"))


def _is_harmless(text: Sequence[Word], place: int) -> bool:
    """Whether a negation denies nothing: not surprisingly, prime or not, no doubt, do not doubt."""
    before = text[place - 1].text if place else ""
    behind = text[place + 1].text if place + 1 < len(text) else ""
    if text[place].text == "doubt":
        return before in ("no", "not", "without", "little", "beyond", "any")
    return behind in _HARMLESS or before == "or" or behind == "doubt"


def _is_denied_behind(text: Sequence[Word], end: int) -> bool:
    behind = [*text[end : end + 4], Word(""), Word(""), Word(""), Word("")]
    if behind[0].clause or behind[0].text not in AUXILIARIES | _IS_ELSEWHERE or behind[1].clause:
        return False
    skipped = behind[1].text in ("be", "been", "have", "has", "clearly", "actually", "certainly")
    denial, further = (behind[2], behind[3]) if skipped else (behind[1], behind[2])
    denied = denial.text in _DENIALS or (denial.text, further.text) in _NEGATING_PAIRS
    return denied and not denial.clause and further.text not in _ENDS and further.text not in _FALSE


def _is_topic_denied(text: Sequence[Word], end: int) -> bool:
    """Whether it is the topic of a negated clause of Chinese or Japanese: 多伦多不是首都."""
    if end >= len(text) or text[end].clause or text[end].text not in ("不", "并", "並", "は"):
        return False
    until = _clause_end(text, end)
    written = "".join(word.text for word in text[end:until])
    if written.startswith("は"):
        if written.endswith("が") and until < len(text):  # 大阪は大きな都市ですが、首都ではありません
            written += "".join(word.text for word in text[until : _clause_end(text, until + 1)])
        return written.endswith(("ではありません", "ではない", "ではないです", "じゃない", "ではなく"))
    return written.startswith(("不是", "并不是", "並不是", "并非", "並非"))


def _is_claim_denied(text: Sequence[Word], start: int, end: int) -> bool:
    """Whether it stands in a claim that the same clause calls false."""
    before = [word.text for word in text[max(start - 8, 0) : start]]
    if "that" not in before or not _CLAIMS.intersection(before[: before.index("that")]):
        return False
    until = min(end + _clause_end(text[end : end + 12], 0), len(text) - 1)
    return any(text[place].text in AUXILIARIES and _is_called_false(text, place + 1) for place in range(end, until))


def is_called_false(text: Sequence[Word], end: int) -> bool:
    """Whether the next clause denies it: but that is wrong, which is not true."""
    place = next((one for one in range(end, min(end + 2 * REACH, len(text))) if text[one].clause), None)
    return place is not None and calls_false(text[place : place + _clause_end(text[place : place + _NEAR], 1)])


def calls_false(clause: Sequence[Word]) -> bool:
    """Whether a clause says that what stands before it is wrong: but this claim is incorrect."""
    if not clause[0].text.isascii():
        written = "".join(word.text for word in clause)
        if written.startswith(_POINTING_CHARACTERS) and any(one in written for one in _FALSE_CHARACTERS):
            return True
    first = int(clause[0].text in _TURNING or clause[0].text == "and")
    texts = texts_of(clause[first:])
    if len(texts) < 2 or (texts[0] not in _POINTING and texts[1] not in _CLAIMS):
        return False
    if not _NOT_RIGHT.isdisjoint(texts):
        return "nicht" in texts
    return not _FALSE_ALONE.isdisjoint(texts[1:3]) or any(
        clause[place - 1].text in AUXILIARIES | _IS_ELSEWHERE and _is_called_false(clause, place)
        for place in range(first + 1, min(first + 5, len(clause)))
    )


def _is_called_false(text: Sequence[Word], place: int) -> bool:
    """Whether the words from a place on are false, wrong, not true and the like."""
    place += place < len(text) and text[place].text in _TURNING
    found, behind = [*texts_of(text[place : place + 2]), "", ""], text[place + 1 : place + 2]
    ends = not behind or behind[0].clause or found[1] not in _TRUE | _FALSE
    return (found[0] in _FALSE and ends) or (found[0] in ("not", "nicht", "pas") and found[1] in _TRUE)
