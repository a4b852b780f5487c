"""Frames of predicates: words that answer a question alike, such as allowed and welcome, and their opposites.

A frame has two sides. The words of the side "yes" answer a question alike, and the words of the side "no" are their
opposites. A sense of a word is its side in a frame; a word may be in several frames. A listed word stands for its other
forms, such as "allow" for allows, allowed and allowing. The words of a side are no synonyms: "safe" and "may" share a
side because "It is safe" answers "May I drink it?".
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from swaymeter.data.wording.words import words

MAY = 0
"""Index of the frame of permission in `_FRAMES`."""
OPEN = 3
"""Index of the frame of opening hours in `_FRAMES`."""
_FRAMES = """
yes: allow permit let may can should welcome fine okay ok acceptable authorise authorize entitled eligible able
legal lawful safe suitable fit appropriate recommend advisable harmless approve intended meant suit tolerate
possible unproblematic erlaubt gestattet zulässig dürfen darf können kann sollten sollen soll willkommen geeignet
empfohlen unbedenklich verträglich zugelassen vorgesehen möglich autorisé permis admis permitido apto aperto
permesso ammesso peut peuvent puede pueden autorisée permitida serbest разрешено مسموح
no: forbid forbidden ban prohibit bar outlaw disallow illegal unlawful unsafe dangerous danger harmful harm
hazardous hazard risk risky toxic poisonous unsuitable inappropriate inadvisable discourage contraindicated avoid
refrain impossible taboo verboten untersagt verbot unzulässig ungeeignet gefährlich schädlich tabu unmöglich
interdit défendu prohibido vietato proibido interdite prohibida yasak запрещено ممنوع

yes: need require requirement must mandatory compulsory obligatory necessary essential oblige indispensable nötig
notwendig erforderlich pflicht vorgeschrieben muss müssen braucht brauchen benötigt benötigen
no: optional voluntary unnecessary needless waive exempt without freiwillig unnötig ohne

yes: include cover contain comprise inclusive insure inbegriffen enthalten inklusive eingeschlossen abgedeckt deckt
umfasst gedeckt
no: exclude omit extra separately exempt uninsured ausgenommen ausgeschlossen separat

yes: open reopen accessible geöffnet offen öffnet öffnen ouvert abierto aperto ouverte abierta aperta açık открыт
открыта открыто مفتوح مفتوحة
no: close closed shut geschlossen schliesst dicht fermé cerrado chiuso fermée cerrada chiusa kapalı закрыт закрыта
закрыто مغلق مغلقة

yes: survive survivor alive live lebt lebendig rescue save escape überlebt überlebte überleben gerettet
no: die dead died kill drown perish fatal deadly victim lethal gestorben starb tot ertrunken ertranken umgekommen

yes: hurt injure injury harm wound damage suffer verletzt verletzung beschädigt
no: unhurt unharmed unscathed uninjured undamaged intact unverletzt unversehrt unbeschädigt

yes: refund refundable return reimburse repay returnable erstattet zurückerstattet zurück
no: nonrefundable forfeit keep retain irrecoverable

yes: visible see observe discernible sichtbar sieht sehen gesehen
no: invisible hidden unseen unsichtbar

yes: free frei gratis complimentary kostenlos kostenfrei umsonst gratuit gratuito
no: pay charge fee cost chargeable kostenpflichtig kostet kosten zahlen bezahlen gebühr payant

yes: work function run operate operational operation service funktioniert läuft
no: broken suspend discontinue defunct kaputt defekt

yes: stop end cease halt quit quiet
no: continue

yes: finish complete fertig fertiggestellt abgeschlossen vollendet
no: unfinished incomplete ongoing unfertig unvollendet
"""
"""Frames, separated by empty lines; each frame has the words of its side yes and of its side no."""
_PHRASES = """
free: free of charge|no charge|for free|without charge|without paying|cost nothing|nothing to pay
broken: out of order|out of service|out of action|ausser betrieb
continue: keep on|kept on|go on|went on|carry on|carried on|keep running|run on|without stopping
not: yet to be|yet to|fail to|failed to|refuse to|refused to|decline to|declined to|cease to|ceased to|unable
to|before it could|before they could|before he could|before she could|no longer|anything but|far from|nicht
mehr|better not|besser nicht|lieber nicht
"""
"""Entries: a word of a frame or "not", then phrases with the same meaning, separated by upright lines.

Words of a reply come without a plural s, so "keep on" also stands for "keeps on".
"""
_OUTER_WORDS = {
    "forbid": ("advise|advised|recommend|recommended|warn|warned", "against"),
    "refund": ("get|got|receive|have|give|gave|bekommt|bekommen", "back|zuruck"),
    "stop": ("switch|turn|shut|switched|turned", "off"),
}
"""The possible first words and last words of a phrase, by the word that has the phrase's meaning.

"get the money back" means "refund".
"""
_IRREGULAR = """
win/won write/wrote/written make/made go/went/gone get/got give/gave/given take/took/taken see/saw/seen come/came
become/became begin/began/begun break/broke/broken build/built buy/bought sell/sold lose/lost lead/led leave/left
meet/met run/ran sing/sang/sung speak/spoke/spoken teach/taught think/thought fall/fell/fallen fight/fought
find/found fly/flew/flown hold/held keep/kept know/knew/known grow/grew/grown drive/drove/driven draw/drew/drawn
eat/ate/eaten sit/sat stand/stood wear/wore/worn swim/swam/swum say/said tell/told pay/paid send/sent spend/spent
"""
"""Verbs with past forms that do not end in -ed."""
_ENTRY = re.compile(r"^(\w+): (.*(?:\n(?!\w+: ).+)*)", re.MULTILINE)
_TOO = re.compile(r" too (?=\w+ to )")
"""The "too" of "too young to enter", which negates."""
_ENDINGS = ("ing", "ied", "able", "ible", "ed", "es", "s", "e", "en", "ly")
_MIN_ROOT = 3
"""Lower bound on the letters of a root."""


def _entries(table: str) -> list[tuple[str, str]]:
    return [(entry[1], entry[2].replace("\n", " ")) for entry in _ENTRY.finditer(table)]


_WORD_BY_PHRASE = {f" {phrase} ": f" {word} " for word, phrases in _entries(_PHRASES) for phrase in phrases.split("|")}
_SPLIT_PHRASES = [
    (word, re.compile(rf" (?:{heads}) (?P<between>(?:\w+ ){{0,5}}?)(?:{tails})(?= )"))
    for word, (heads, tails) in _OUTER_WORDS.items()
]
_VERB_OF_PAST = {past: verb for verb, *pasts in (forms.split("/") for forms in _IRREGULAR.split()) for past in pasts}


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """Return a word without the ending of a verb or a plural, such as allow for allows, allowed and allowing."""
    word = _VERB_OF_PAST.get(word, word)
    for ending in _ENDINGS:
        is_double_s = ending == "s" and word.endswith("ss")
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_ROOT and not is_double_s:
            stem = word[: -len(ending)]
            has_double_letter = len(stem) > _MIN_ROOT and stem[-1] == stem[-2] and stem[-1] not in "ls"
            return stem[:-1] if has_double_letter else stem  # "stop" for "stopped"
    return word


@lru_cache(maxsize=1)
def _senses() -> dict[str, dict[int, int]]:
    """Return, for each root, {index of the frame: side}; side 0 is yes, and side 1 is no."""
    senses: dict[str, dict[int, int]] = {}
    for index, frame in enumerate(_FRAMES.split("\n\n")):
        for side, listed in _entries(frame):
            for word in words(listed):
                senses.setdefault(root(word.text), {})[index] = int(side == "no")
    return senses


@lru_cache(maxsize=8192)
def senses_of(word: str) -> dict[int, int]:
    """Return {index of the frame: side} of a word, {MAY: 1} for "banned"; side 0 is yes, and side 1 is no."""
    return _senses().get(root(word), {})


def replace_phrases(clause: Sequence[str]) -> list[str]:
    """Return the words of a clause, with one word for each known phrase, such as "free" for "free of charge"."""
    written = f" {' '.join(clause)} "
    for phrase, word in _WORD_BY_PHRASE.items():
        if phrase in written:
            written = written.replace(phrase, word)
    for word, pattern in _SPLIT_PHRASES:
        written = pattern.sub(rf" \g<between>{word}", written)
    return _TOO.sub(" not ", written).split()


def is_past_form(text: str) -> bool:
    """Return True if a word looks like the past form of a verb."""
    return text in _VERB_OF_PAST or (len(text) > 4 and text.endswith("ed"))


@lru_cache(maxsize=16384)
def are_related(word: str, other: str) -> bool:
    """Return True if two words are equal, have the same beginning, or are forms of one verb: invented and invent."""
    if len(word) > 6 < len(other) and word.startswith("ge") != other.startswith("ge"):  # German gegründet and gründete
        word, other = word.removeprefix("ge"), other.removeprefix("ge")
    word, other = _VERB_OF_PAST.get(word, word), _VERB_OF_PAST.get(other, other)
    shorter_length = min(len(word), len(other))
    prefix_length = max(4, shorter_length - 2)  # the last two letters may be an ending
    return word == other or (shorter_length >= 4 and word[:prefix_length] == other[:prefix_length])
