"""Tables of predicates that answer one another: allowed, welcome and banned; approved, adopted and voted down.

A frame has words that say yes to one another, and words that say no to these; a word may stand in several frames.
One form of a word stands for all: "allow" for allows, allowed and allowing.
What it is not: a thesaurus. "Safe" and "may" share a frame because a question of the one is answered by the other.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from swaymeter.data.wording.words import words

MAY = 0
"""The frame of permission."""
NEED = 1
"""The frame of necessity."""
OPEN = 4
"""The frame of opening hours."""
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

yes: approve accept adopt pass endorse ratify back agree consent support sanction greenlit clear grant genehmigt
bewilligt zugestimmt angenommen beschlossen verabschiedet gebilligt
no: reject refuse decline deny block veto oppose dismiss scrap shelve abgelehnt verworfen verweigert

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

yes: exist stand standing besteht stehen remain extant preserve steht existiert erhalten
no: demolish destroy eingestürzt gesprengt aufgelöst collapse raze vanish dissolve disband abolish remove extinct
abgerissen zerstört

yes: stop end cease halt quit quiet
no: continue

yes: finish complete fertig fertiggestellt abgeschlossen vollendet
no: unfinished incomplete ongoing unfertig unvollendet

yes: succeed win pass gewonnen gewann bestanden
no: fail lose lost defeat flunk verloren verlor durchgefallen

yes: reach arrive erreicht erreichte ankam angekommen
no: sink sank capsize miss verfehlt

yes: stay remain keep bleibt bleiben
no: leave left quit depart move verlässt verliess

yes: available stock erhältlich verfügbar lieferbar
no: unavailable soldout ausverkauft vergriffen

yes: valid force gültig
no: invalid expire void lapse ungültig abgelaufen

yes: cancel postpone abgesagt entfällt ausfallen
no: happen statt

yes: drinkable drink potable edible eat edibles trinkbar trinken essbar essen
no: undrinkable inedible poisonous toxic ungeniessbar giftig

yes: guilty convict schuldig verurteilt
no: innocent acquit unschuldig freigesprochen

yes: find found locate recover gefunden
no: missing vermisst verschollen

yes: real genuine authentic original echt
no: fake forge counterfeit copy replica gefälscht fälschung

yes: increase rise grow gestiegen stieg
no: decrease fall drop shrink decline sink gesunken sank

yes: marry married verheiratet heiratete
no: unmarried single divorced ledig unverheiratet

yes: know famous bekannt
no: unknown unbekannt

yes: agree
no: disagree

yes: same identical gleich
no: different differ verschieden

yes: full booked ausgebucht voll
no: vacant vacancy

yes: deliver ship liefert geliefert
no: collect

yes: heat heated beheizt
no: unheated cold unbeheizt

yes: raise
no: lower

yes: join
no: leave left withdraw

yes: begin start
no: finish

yes: present
no: absent

yes: public
no: private

yes: permanent
no: temporary

yes: occupied
no: vacant
"""
"""Frames between empty lines: the words that say yes, and those that say no."""
_PHRASES = """
forbid: off limits|stay at home|stay outside|stay out|keep out|draussen bleiben|out of question|zu hause
bleiben|finger weg
allow: free to|have right to|has right to|no problem|in ordnung
reject: say no to|said no to|voted against|vote against|decided against|came out against|sprach sich gegen|stimmte
gegen|stimmte dagegen
approve: go ahead|in favour of|in favor of|vote for|voted for|say yes to|said yes to|signed off on|waved
through|grunes licht
exclude: left out|leave out|charged separately|paid separately|paid for separately|not part of|except|additional
cost|additional charge|ausser
include: part of|come with|came with|fall under|falls under
died: lost his life|lost her life|lost their life|did not make it|no survivor
survived: escaped with his life|escaped with her life|escaped with their life|made it out|make it out|away with his
life|away with her life|away with their life
unhurt: safe and sound|without scratch|without single scratch
refund: money back|paid back|pay back
keep: only get voucher|only receive voucher|no refund
free: free of charge|no charge|for free|without charge|without paying|cost nothing|nothing to pay
broken: out of order|out of service|out of action|ausser betrieb
stop: switch off|switche off|turn off|shut off|switched off|turned off|go quiet|fall silent|come to halt
continue: keep on|keeps on|kept on|go on|goe on|went on|carry on|carries on|carried on|keep running|run on|without
stopping
unfinished: under construction|being built|im bau|in progress|in bau
soldout: sold out|out of stock|run out|ran out
happen: take place|took place|findet statt|fand statt
reach: get to|got to|made it to|make it to|came to
closed: shut down|bleibt zu|hat zu|macht zu
open: hat auf|macht auf
must: have to|has to|had to
need: apply for|applied for
not: yet to be|yet to|fail to|failed to|refuse to|refused to|decline to|declined to|cease to|ceased to|unable
to|before it could|before they could|before he could|before she could|no longer|anything but|far from|nicht
mehr|better not|besser nicht|lieber nicht
demolish: torn down|pulled down|burned down|burnt down|knocked down
"""
"""A word of a frame, and phrases that mean the same, between upright lines."""
_AROUND = {
    "forbid": (
        "leave|left|advise|advised|recommend|recommended|warn|warned",
        "at home|outside|behind|at cloakroom|against",
    ),
    "reject": ("vote|voted|turn|turned|throw|threw|thrown|shot|shoot|strike|struck|lehnte|lehnt", "down|out|ab"),
    "approve": (
        "give|gave|given|get|got|gotten|receive|received|has|stimmte|stimmt",
        "go ahead|goahead|green light|blessing|nod|approval|consent|ok|okay|zu",
    ),
    "exclude": ("leave|left", "out"),
    "include": ("deckt", "ab"),
    "refund": ("get|got|receive|have|give|gave|bekommt|bekommen", "back|zuruck"),
    "stop": ("switch|switche|turn|shut|switched|turned", "off"),
    "open": ("macht", "auf"),
    "close": ("macht", "zu"),
}
"""Phrases with other words within them: voted the plan down."""
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
_ENDINGS = ("ing", "ied", "able", "ible", "ed", "es", "s", "e", "en", "ly")
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")
_SHORTEST = 3


def _entries(table: str) -> list[tuple[str, str]]:
    return [(entry[1], entry[2].replace("\n", " ")) for entry in _ENTRY.finditer(table)]


def _around(heads: str, tails: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{heads}) (?P<between>(?:\w+ ){{0,5}}?)(?:{tails})(?= )")


_ONE_WORD = {f" {phrase} ": f" {word} " for word, phrases in _entries(_PHRASES) for phrase in phrases.split("|")}
_PATTERNS = [(word, _around(*parts)) for word, parts in _AROUND.items()]
_VERBS = {past: verb for verb, *pasts in (forms.split("/") for forms in _IRREGULAR.split()) for past in pasts}


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """Return a word without the ending of a verb or a plural: allow for allows, allowed and allowing."""
    word = _VERBS.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not (ending == "s" and word[-2:] == "ss"):
            word = word[: -len(ending)]
            return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "ls" else word
    return word


@lru_cache(maxsize=1)
def _senses() -> dict[str, dict[int, int]]:
    """Return the frames of each root, and its side in each: 0 for yes, 1 for no."""
    senses: dict[str, dict[int, int]] = {}
    for number, frame in enumerate(_FRAMES.split("\n\n")):
        for side, listed in _entries(frame):
            for word in words(listed):
                senses.setdefault(root(word.text), {})[number] = int(side == "no")
    return senses


@lru_cache(maxsize=8192)
def senses_of(word: str) -> dict[int, int]:
    """Return the frames of a word, and its side in each."""
    return _senses().get(root(word), {})


def with_phrases(texts: Sequence[str]) -> list[str]:
    """Return the words of a clause with one word of the frames for each phrase: gave it the green light, sold out."""
    written = f" {' '.join(texts)} "
    for phrase, word in _ONE_WORD.items():
        if phrase in written:
            written = written.replace(phrase, word)
    for word, pattern in _PATTERNS:
        written = pattern.sub(rf" \g<between>{word}", written)
    return _TOO.sub(" not ", written).split()


def is_verb_form(text: str) -> bool:
    """Return if a word looks like the past form of a verb."""
    return text in _VERBS or (len(text) > 4 and text.endswith("ed"))


@lru_cache(maxsize=16384)
def is_same(one: str, other: str) -> bool:
    """Return if two words are equal, have the same beginning, or are forms of one verb: invented and invent."""
    if is_negated_form(one, other):
        return False
    if len(one) > 6 < len(other) and one.startswith("ge") != other.startswith("ge"):  # gegründet, gründete
        one, other = one.removeprefix("ge"), other.removeprefix("ge")
    one, other = _VERBS.get(one, one), _VERBS.get(other, other)
    shorter = min(len(one), len(other))
    return one == other or (shorter >= 4 and one[: max(4, shorter - 2)] == other[: max(4, shorter - 2)])


def is_negated_form(one: str, other: str) -> bool:
    """Return if one word is the other with a prefix that negates: legal and illegal, transfer and nontransferable."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    prefix = next((prefix for prefix in _PREFIXES if longer.startswith(prefix)), "")
    if not prefix or len(shorter) < 4:
        return False
    rest = longer.removeprefix(prefix)
    return rest == shorter or (len(rest) > 4 and root(rest) == root(shorter))
