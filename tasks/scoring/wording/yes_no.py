"""Whether a reply to a question of yes or no says yes or no.

    in so many words   yes, yeah, true, correct, and no, nope, false, incorrect: first, behind "the answer is", or alone
                       in a clause; not the no of "no doubt"
    in other words     "Of course.", "Certainly not.", "I am afraid not."; ja, oui, はい and the like
    by an auxiliary    "It is not.", "They do."
    in a sentence      which has all the words of the question that mean something, with one negation or none: "Dogs are
                       not allowed in the office" to "Are dogs allowed in the office?"; a word of the opposite sense
                       negates it ("It is closed" to "Is it open?"), and "every day" is any day of the week

What it is not: inference. "It is cold" says nothing to "Is it heated?".
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from swaymeter.tasks.scoring.wording.denials import AUXILIARIES, NEGATING_WORDS
from swaymeter.tasks.scoring.wording.opposites import FORBIDDING, is_opposite, is_synonym
from swaymeter.tasks.scoring.wording.vocabulary import FUNCTION_WORDS
from swaymeter.tasks.scoring.wording.word import Word, word_set

Polarity = Literal["yes", "no"]
_YES, _NO = word_set("yes yeah yep yup affirmative"), word_set("no nope nah")
_YES_ELSEWHERE = word_set("ja jawohl oui si sim da да evet 是 はい 네 예 نعم כן jah")
_NO_ELSEWHERE = word_set("nein non nao nee net нет hayir 否 いいえ 아니요 아니오 لا לא nie nej")
_YES_CHARACTERS, _NO_CHARACTERS = ("是", "はい", "可以", "会"), ("不", "没", "沒", "否", "いいえ")
_IS = word_set("is es est ist lautet e text texte texto respuesta antwort reponse risposta")
_BEHIND_NOT = word_set("according really at anymore any yet")
_SURE = word_set("certainly sure absolutely definitely indeed exactly course")
_TRUE, _FALSE = word_set("true correct"), word_set("false incorrect untrue")
_NAMES: dict[str, Polarity] = {
    **dict.fromkeys(_YES | _TRUE, "yes"),
    **dict.fromkeys(_NO | _FALSE, "no"),
}
_OPPOSITE: dict[Polarity, Polarity] = {"yes": "no", "no": "yes"}
_WHOLE_CLAUSES: dict[str, Polarity] = {
    **dict.fromkeys(
        ("indeed", "that is right", "it is right", "doch", "naturlich", "selbstverstandlich", "auf jeden fall",
         "stimmt",
         "das stimmt", "das ist richtig", "so ist es"), "yes",
    ),
    **dict.fromkeys(
        ("not", "unfortunately not", "sadly not", "apparently not", "probably not", "no longer", "not any longer",
         "by no means", "nicht", "leider nicht", "leider nein", "nicht mehr", "keineswegs", "auf keinen fall",
         "stimmt nicht",
         "das stimmt nicht", "das ist falsch"), "no",
    ),
}  # fmt: skip
_ALWAYS = ("every day", "daily", "year round", "round clock", "around clock", "jeden tag", "taglich", "ganzjahrig")
_WHEN = word_set(
    "monday tuesday wednesday thursday friday saturday sunday weekend night day winter summer spring autumn holiday "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag dienstags donnerstags freitags montags mittwochs "
    "samstags sonntags wochenende nacht nachts winter sommer feiertag"
)
"""What "every day" stands for in a question."""
_NO_NEGATION = word_set(
    "doubt matter wonder problem longer information mention evidence indication idea data detail way answer one reason"
)
_BEFORE = word_set("answer is was be say said would simply definitely therefore so response conclusion")
_BEFORE_TRUE = word_set("answer not indeed definitely actually clearly probably in fact as")
_BEHIND_TRUE = word_set("that because since as to according and but")
_SHORT = 8
_PRONOUNS = word_set("it he she they es er this that there i we you one yes")
_IRREGULAR = {
    past: verb
    for verb, pasts in {
        "win": "won", "write": "wrote written", "make": "made", "go": "went gone", "get": "got", "give": "gave given",
        "take": "took taken", "see": "saw seen", "come": "came", "become": "became", "begin": "began begun",
        "break": "broke broken", "build": "built", "buy": "bought", "sell": "sold", "lose": "lost", "lead": "led",
        "leave": "left", "meet": "met", "run": "ran", "sing": "sang sung", "speak": "spoke spoken", "teach": "taught",
        "think": "thought", "fall": "fell fallen", "fight": "fought", "find": "found", "fly": "flew flown",
        "hold": "held", "keep": "kept", "know": "knew known", "grow": "grew grown", "drive": "drove driven",
        "draw": "drew drawn", "eat": "ate eaten", "sit": "sat", "stand": "stood", "wear": "wore worn",
        "swim": "swam swum", "say": "said", "tell": "told", "pay": "paid", "send": "sent", "spend": "spent",
    }.items()
    for past in pasts.split()
}  # fmt: skip
_EMPTY = (
    FUNCTION_WORDS
    | AUXILIARIES
    | _TRUE
    | _FALSE
    | word_set(
        "der die das den dem des ein eine einen in im am an auf zu mit von und fur ist sind war hat haben wird kann "
        "darf es sie er man mi mu ли gun gunu gunleri "
        "la el los las le les un una une est elle il on se esta son hay del de a en e"
    )
)
_NEGATIONS = NEGATING_WORDS | word_set("nicht kein keine keinen pas aucun aucune nao non niet geen не нет degil")
_LACKS = word_set("without lack lacked lacking ohne")
_LINKS = word_set("but and so therefore thus however because then also aber und")
_HEDGES = word_set("if whether may might maybe perhap possibly or could should unless unclear")


def named(name: Sequence[Word]) -> Polarity | None:
    """What an answer that is yes or no, or begins with it, means."""
    written = "".join(word.text for word in name)
    if written in _YES_ELSEWHERE | _NO_ELSEWHERE:
        return "yes" if written in _YES_ELSEWHERE else "no"
    is_alone = len(name) == 1 or (len(name) > 1 and name[1].clause and name[0].text in _YES | _NO)
    return _NAMES.get(name[0].text) if name and is_alone else None


def stated(reply: Sequence[Word], asked: Sequence[Word]) -> set[Polarity]:
    """What a reply says in so many words or by an auxiliary: yes, no, both, or neither; the question is not read."""
    reply = _without(reply, asked)
    kinds = (_in_words, _in_other_languages, _in_other_words, _by_auxiliary)
    return next(filter(None, (kind(reply) for kind in kinds)), set()) if reply else set()


def _without(reply: Sequence[Word], asked: Sequence[Word]) -> Sequence[Word]:
    """The reply without the question, where it repeats that word by word."""
    texts, length = [word.text for word in asked], len(asked)
    for start in range(len(reply) - length + 1 if length > 2 else 0):
        if reply[start].text == texts[0] and [word.text for word in reply[start : start + length]] == texts:
            return (*reply[:start], *reply[start + length :])
    return reply


def _in_other_languages(reply: Sequence[Word]) -> set[Polarity]:
    """Where a reply begins with it, or ends a clause with it behind "is"; and negated verbs of Chinese and Japanese."""
    written = "".join(word.text for word in reply)
    if written.startswith(_NO_CHARACTERS) or "ません" in written:
        return {"no"}
    if written.startswith(_YES_CHARACTERS):
        return {"yes"}
    end = Word("", clause=True)
    for before, word, behind in zip((end, *reply), reply, (*reply[1:], end), strict=False):
        opens = before is end or (before.text in _IS and behind.clause)
        if opens and word.text in _YES_ELSEWHERE | _NO_ELSEWHERE:
            return {"yes" if word.text in _YES_ELSEWHERE else "no"}
    return set()


def _in_other_words(reply: Sequence[Word]) -> set[Polarity]:
    """Of course, certainly not, not really, I am afraid not, I think so: what a reply begins with."""
    texts = [word.text for word in reply]
    clause = texts[: next((place for place, word in enumerate(reply) if place and word.clause), len(reply))]
    if whole := _WHOLE_CLAUSES.get(" ".join(clause)):
        return {whole}
    first = clause[1:] if clause[0] == "of" else clause
    if first and first[0] in _SURE:
        return {"no"} if first[1:2] == ["not"] else {"yes"} if len(first) == 1 else set()
    if clause[0] == "not" and len(clause) > 1 and clause[1] in _BEHIND_NOT:
        return {"no"}
    if clause[-2:] == ["afraid", "not"] or clause[-5:] == ["do", "not", "think", "so"]:
        return {"no"}
    return {"yes"} if clause[-2:] in (["think", "so"], ["believe", "so"]) and "not" not in clause else set()


def begins_with(reply: Sequence[Word]) -> Polarity | None:
    """Yes or no where a reply begins with it."""
    return _NAMES.get(reply[0].text) if reply and reply[0].text in _YES | _NO else None


def _in_words(reply: Sequence[Word]) -> set[Polarity]:
    found: set[Polarity] = set()
    for place, word in enumerate(reply):
        polarity = _NAMES.get(word.text)
        if polarity is None or _is_option(reply, place):
            continue
        before = reply[place - 1].text if place else ""
        behind = reply[place + 1] if place + 1 < len(reply) else None
        ends = behind is None or behind.clause
        if word.text in _YES:
            says = before not in ("not", "neither", "nor") or word.clause
        elif word.text in _NO:
            opens = place == 0 or word.clause or before in _BEFORE
            says = (opens or ends) and not (behind and not behind.clause and behind.text in _NO_NEGATION)
        else:
            opens = place == 0 or word.clause or before in AUXILIARIES | _BEFORE_TRUE
            says = opens and (ends or (behind is not None and behind.text in _BEHIND_TRUE))
            if before == "not" and says:
                polarity = _OPPOSITE[polarity]
        if says:
            found.add(polarity)
            if place == 0 and not (behind and behind.text in ("and", "but") and _has_other(reply, polarity)):
                return found
    return found


def _is_option(reply: Sequence[Word], place: int) -> bool:
    """Whether it is one of "yes or no"."""
    beside = [reply[one].text for one in (place - 1, place + 1) if 0 <= one < len(reply)]
    further = [reply[one].text for one in (place - 2, place + 2) if 0 <= one < len(reply)]
    return "or" in beside and any(text in _NAMES for text in further)


def _has_other(reply: Sequence[Word], polarity: Polarity) -> bool:
    """Whether the reply begins with "yes and no"."""
    return len(reply) > 2 and _NAMES.get(reply[2].text) == _OPPOSITE[polarity]


def _by_auxiliary(reply: Sequence[Word]) -> set[Polarity]:
    """It is not. They do. Indeed it is."""
    reply = reply[1:] if reply[0].text in _SURE else reply
    if len(reply) < 2 or reply[0].text not in _PRONOUNS or reply[1].text not in AUXILIARIES or reply[1].clause:
        return set()
    if len(reply) == 2 or reply[2].clause:
        return {"yes"}
    return {"no"} if reply[2].text == "not" and (len(reply) == 3 or reply[3].clause) else set()


def in_a_sentence(reply: Sequence[Word], asked: Sequence[Word]) -> set[Polarity]:
    """What a clause of a reply says that is the question said again, as it is or with a negation."""
    content = [word for word in asked if word.text not in _EMPTY]
    if not content or any(word.text in _NEGATIONS for word in asked):
        return set()
    starts = [place for place, word in enumerate(reply) if place == 0 or word.clause]
    found = (_in_a_clause(reply[one:two], content) for one, two in pairwise([*starts, len(reply)]))
    return next(filter(None, found), set())


def _in_a_clause(clause: Sequence[Word], asked: Sequence[Word]) -> set[Polarity]:
    begins = next((place for place, word in enumerate(clause) if word.text not in _LINKS), len(clause))
    said = [word.text for word in clause[begins:]]
    if not said or _HEDGES.intersection(said):
        return set()
    has_names = any(word.capitals for word in clause[begins + 1 :])  # of a name that is left out none stands instead
    content = [word.text for word in asked if has_names or not word.capitals or word is asked[-1]]
    phrase = f" {' '.join(said)} "
    always = {text for words in _ALWAYS if f" {words} " in phrase for text in words.split()}
    if always:
        content = [text for text in content if text not in _WHEN]
    missing = [text for text in content if not any(_is_about(text, other) for other in said)]
    is_pronoun = said[0] in _PRONOUNS
    meaning = [text for text in said if text not in _EMPTY | _NEGATIONS | _LACKS | always]
    is_only_subject = len(asked) > 1 and all(text == asked[0].text for text in meaning)
    if missing and (is_pronoun or said[0] == "not") and not is_only_subject and len(said) <= _SHORT:
        missing = [text for text in meaning if not any(_is_about(text, other) for other in content)]
        is_pronoun = False
    if missing and not (is_pronoun and content[-1] not in missing and 2 * len(missing) <= len(content)):
        return set()
    negations = sum(text in _NEGATIONS | _LACKS | FORBIDDING and text not in content for text in said)
    opposed = any(_is_opposed(text, content, said) for text in said if text not in FORBIDDING)
    return {"no" if negations ^ opposed else "yes"} if negations < 2 else set()


def _is_about(one: str, other: str) -> bool:
    return _is_same(one, other) or is_synonym(one, other) or is_opposite(one, other)


def _is_opposed(text: str, asked: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a word of a clause is the opposite of one of the question that the clause does not have."""
    return text not in asked and any(is_opposite(text, one) and one not in said for one in asked)


def _is_same(one: str, other: str) -> bool:
    """Equal, or with the same beginning, or one verb: invented and invent, won and win."""
    if is_opposite(one, other):
        return False
    one, other = _IRREGULAR.get(one, one), _IRREGULAR.get(other, other)
    shorter = min(len(one), len(other))
    return one == other or (shorter >= 4 and one[: max(4, shorter - 2)] == other[: max(4, shorter - 2)])
