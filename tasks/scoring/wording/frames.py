"""Tables of predicates that answer one another: allowed, welcome and banned; approved, adopted and voted down.

A frame has two sides, the words that say yes to one another and those that say no to them; a word may stand in several.
Words of one form stand for all: "allow" for allows, allowed and allowing.
What it is not: a thesaurus. "Safe" and "may" share a frame because a question of the one is answered by the other.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from swaymeter.data.wording.words import words
from swaymeter.tasks.scoring.wording.opposites import IRREGULAR

MAY = 0
"""The frame of what may be done."""
NEED = 1
"""The frame of what must be done."""
OPEN = 4
"""The frame of what is open."""
_FRAMES = (
    (
        "allow permit let may can should welcome fine okay ok acceptable authorise authorize entitled eligible able "
        "legal lawful safe suitable fit appropriate recommend advisable harmless approve intended meant suit tolerate "
        "possible unproblematic erlaubt gestattet zulässig dürfen darf können kann sollten sollen soll willkommen "
        "geeignet empfohlen unbedenklich verträglich zugelassen vorgesehen möglich autorisé permis admis permitido "
        "apto aperto permesso ammesso peut peuvent puede pueden",
        "forbid forbidden ban prohibit bar outlaw disallow illegal unlawful unsafe dangerous danger harmful harm "
        "hazardous hazard risk risky toxic poisonous unsuitable inappropriate inadvisable discourage contraindicated "
        "avoid refrain impossible taboo verboten untersagt verbot unzulässig ungeeignet gefährlich schädlich tabu "
        "unmöglich interdit défendu prohibido vietato proibido",
    ),
    (
        "need require requirement must mandatory compulsory obligatory necessary essential oblige indispensable nötig "
        "notwendig erforderlich pflicht vorgeschrieben muss müssen braucht brauchen benötigt benötigen",
        "optional voluntary unnecessary needless waive exempt without freiwillig unnötig ohne",
    ),
    (
        "approve accept adopt pass endorse ratify back agree consent support sanction greenlit clear grant genehmigt "
        "bewilligt zugestimmt angenommen beschlossen verabschiedet gebilligt",
        "reject refuse decline deny block veto oppose dismiss scrap shelve abgelehnt verworfen verweigert",
    ),
    (
        "include cover contain comprise inclusive insure inbegriffen enthalten inklusive eingeschlossen abgedeckt "
        "deckt umfasst gedeckt",
        "exclude omit extra separately exempt uninsured ausgenommen ausgeschlossen separat",
    ),
    (
        "open reopen accessible geöffnet offen öffnet öffnen ouvert abierto aperto",
        "close closed shut geschlossen schliesst dicht fermé cerrado chiuso",
    ),
    (
        "survive survivor alive live rescue save escape überlebt überlebte überleben gerettet",
        "die dead kill drown perish fatal deadly victim lethal gestorben starb tot ertrunken ertranken umgekommen",
    ),
    (
        "hurt injure injury harm wound damage suffer verletzt verletzung beschädigt",
        "unhurt unharmed unscathed uninjured undamaged intact unverletzt unversehrt unbeschädigt",
    ),
    (
        "refund refundable return reimburse repay returnable erstattet zurückerstattet zurück",
        "nonrefundable forfeit keep retain irrecoverable",
    ),
    (
        "visible see observe discernible sichtbar sieht sehen gesehen",
        "invisible hidden unseen unsichtbar",
    ),
    (
        "free gratis complimentary kostenlos kostenfrei umsonst gratuit gratuito",
        "pay charge fee cost chargeable kostenpflichtig kostet kosten zahlen bezahlen gebühr payant",
    ),
    (
        "work function run operate operational operation service funktioniert läuft",
        "broken suspend discontinue defunct kaputt defekt",
    ),
    (
        "exist stand standing remain extant preserve steht existiert erhalten",
        "demolish destroy collapse raze vanish dissolve disband abolish remove extinct abgerissen zerstört",
    ),
    (
        "stop end cease halt quit quiet",
        "continue",
    ),
    (
        "finish complete fertig abgeschlossen vollendet",
        "unfinished incomplete ongoing unfertig",
    ),
    (
        "succeed win pass gewonnen gewann bestanden",
        "fail lose lost defeat flunk verloren verlor durchgefallen",
    ),
    (
        "reach arrive erreicht erreichte ankam angekommen",
        "sink sank capsize miss verfehlt",
    ),
    (
        "stay remain keep bleibt bleiben",
        "leave left quit depart move verlässt verliess",
    ),
    (
        "available stock erhältlich verfügbar lieferbar",
        "unavailable soldout ausverkauft vergriffen",
    ),
    (
        "valid force gültig",
        "invalid expire void lapse ungültig abgelaufen",
    ),
    (
        "cancel postpone abgesagt entfällt ausfallen",
        "happen statt",
    ),
    (
        "drinkable drink potable edible eat edibles trinkbar trinken essbar essen",
        "undrinkable inedible poisonous toxic ungeniessbar giftig",
    ),
    ("guilty convict schuldig verurteilt", "innocent acquit unschuldig freigesprochen"),
    ("find found locate recover gefunden", "missing vermisst verschollen"),
    ("real genuine authentic original echt", "fake forge counterfeit copy replica gefälscht fälschung"),
    ("increase rise grow gestiegen stieg", "decrease fall drop shrink decline sink gesunken sank"),
    ("marry married verheiratet", "unmarried single divorced ledig unverheiratet"),
    ("know famous bekannt", "unknown unbekannt"),
    ("agree", "disagree"),
    ("same identical gleich", "different differ verschieden"),
    ("full booked ausgebucht voll", "vacant vacancy"),
    ("deliver ship liefert geliefert", "collect"),
    ("heat heated beheizt", "unheated cold unbeheizt"),
    ("raise", "lower"),
    ("join", "leave left withdraw"),
    ("begin start", "finish"),
)  # fmt: skip
_PHRASES = {
    "forbid": "off limits|stay at home|stay outside|stay out|keep out|draussen bleiben|out of question|"
    "zu hause bleiben|finger weg",
    "allow": "free to|have right to|has right to|no problem|in ordnung",
    "reject": "say no to|said no to|voted against|vote against|decided against|came out against|sprach sich gegen|"
    "stimmte gegen|stimmte dagegen",
    "approve": "go ahead|in favour of|in favor of|vote for|voted for|say yes to|said yes to|signed off on|"
    "waved through|grunes licht",
    "exclude": "left out|leave out|charged separately|paid separately|paid for separately|not part of|except|"
    "additional cost|additional charge|ausser",
    "include": "part of|come with|came with|fall under|falls under",
    "died": "lost his life|lost her life|lost their life|did not make it|no survivor",
    "survived": "escaped with his life|escaped with her life|escaped with their life|made it out|make it out|"
    "away with his life|away with her life|away with their life",
    "unhurt": "safe and sound|without scratch|without single scratch",
    "refund": "money back|paid back|pay back",
    "keep": "only get voucher|only receive voucher|no refund",
    "free": "free of charge|no charge|for free|without charge|without paying|cost nothing|nothing to pay",
    "broken": "out of order|out of service|out of action|ausser betrieb",
    "demolished": "torn down|pulled down|burned down|burnt down|knocked down",
    "stop": "switch off|switche off|turn off|shut off|switched off|turned off|go quiet|fall silent|come to halt",
    "continue": "keep on|keeps on|kept on|go on|goe on|went on|carry on|carries on|carried on|keep running|run on|"
    "without stopping",
    "unfinished": "under construction|being built|im bau|in progress|in bau",
    "soldout": "sold out|out of stock|run out|ran out",
    "happen": "take place|took place|findet statt|fand statt",
    "reach": "get to|got to|made it to|make it to|came to",
    "closed": "shut down|bleibt zu|hat zu|macht zu",
    "open": "hat auf|macht auf",
    "must": "have to|has to|had to",
    "need": "apply for|applied for",
    "not": "yet to be|yet to|fail to|failed to|refuse to|refused to|decline to|declined to|cease to|ceased to|"
    "unable to|before it could|before they could|before he could|before she could|no longer|anything but|far from|"
    "nicht mehr|better not|besser nicht|lieber nicht",
}  # fmt: skip
_AROUND = {
    "forbid": ("leave|left|advise|advised|recommend|recommended|warn|warned",
               "at home|outside|behind|at cloakroom|against"),
    "reject": ("vote|voted|turn|turned|throw|threw|thrown|shot|shoot|strike|struck|lehnte|lehnt", "down|out|ab"),
    "approve": ("give|gave|given|get|got|gotten|receive|received|has|stimmte|stimmt",
                "go ahead|goahead|green light|blessing|nod|approval|consent|ok|okay|zu"),
    "exclude": ("leave|left", "out"),
    "include": ("deckt", "ab"),
    "refund": ("get|got|receive|have|give|gave|bekommt|bekommen", "back|zuruck"),
    "stop": ("switch|switche|turn|shut|switched|turned", "off"),
    "open": ("macht", "auf"),
    "close": ("macht", "zu"),
}  # fmt: skip
"""Phrases with other words within them: voted the plan down."""


def _one_word(heads: str, tails: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{heads}) (?P<between>(?:\w+ ){{0,5}}?)(?:{tails})(?= )")


_TABLE = {f" {phrase} ": f" {word} " for word, phrases in _PHRASES.items() for phrase in phrases.split("|")}
_PATTERNS = [(word, _one_word(*parts)) for word, parts in _AROUND.items()]
_TOO = re.compile(r" too (?=\w+ to )")
_ENDINGS = ("ing", "ied", "ed", "es", "s", "e", "en", "ly")
_SHORTEST = 3


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """A word without the ending of a verb or a plural: allow for allows, allowed and allowing."""
    word = IRREGULAR.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not (ending == "s" and word[-2:] == "ss"):
            word = word[: -len(ending)]
            return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "ls" else word
    return word


@lru_cache(maxsize=1)
def _senses() -> dict[str, dict[int, int]]:
    """By the root of a word its side in each frame."""
    found: dict[str, dict[int, int]] = {}
    for number, frame in enumerate(_FRAMES):
        for side, listed in enumerate(frame):
            for word in words(listed):
                found.setdefault(root(word.text), {})[number] = side
    return found


def senses(word: str) -> dict[int, int]:
    """The frames that a word stands in, and its side in each."""
    return _senses().get(root(word), {})


def with_phrases(texts: Sequence[str]) -> list[str]:
    """The words of a clause with one word of the frames for each phrase: gave it the green light, sold out."""
    written = f" {' '.join(texts)} "
    for phrase, word in _TABLE.items():
        if phrase in written:
            written = written.replace(phrase, word)
    for word, pattern in _PATTERNS:
        written = pattern.sub(rf" \g<between>{word}", written)
    return _TOO.sub(" not ", written).split()
