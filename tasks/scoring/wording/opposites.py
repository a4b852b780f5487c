"""A table of words that say yes and no to a question: open and closed, survived and drowned; prefixes that negate.

Two words are about the same where they are equal, forms of one verb, of one sense, or of opposite senses.

What it is not: a thesaurus. Only what is one or the other stands here: "small" is not the opposite of "large". Nor a
stemmer: words of four letters or more are compared by their beginnings.
"""

from functools import lru_cache

from swaymeter.data.wording.word import word_set
from swaymeter.data.wording.words import words

_PAIRS = (
    ("open opened opens", "closed close shut"),
    ("allowed allow permitted permissible welcome", "forbidden prohibited banned barred outlawed disallowed"),
    (
        "required require needed need necessary mandatory compulsory obligatory must",
        "optional unnecessary voluntary needless without",
    ),
    ("survive survived alive survivor", "die died dead drown drowned killed perish perished victim"),
    ("legal lawful", "illegal unlawful"),
    ("possible", "impossible"),
    ("safe harmless", "dangerous hazardous unsafe harmful"),
    ("edible", "poisonous toxic inedible"),
    ("win won receive received", "lose lost beaten defeated"),
    ("pass passed", "fail failed"),
    ("approve approved accept accepted granted", "reject rejected refuse refused denied declined"),
    ("included include", "excluded extra"),
    ("present", "absent"),
    ("guilty convicted", "innocent acquitted"),
    ("occupied", "vacant"),
    ("public", "private"),
    ("married", "single unmarried"),
    ("permanent", "temporary"),
    ("increase increased", "decrease decreased"),
    ("rise rose risen", "fall fell fallen"),
    ("real genuine authentic", "fake forged"),
    (
        "extant stand standing stood exist exists existed",
        "extinct demolished destroyed collapsed razed vanished dissolved disbanded",
    ),
    ("finished finish completed complete", "unfinished incomplete ongoing"),
    ("working works functioning", "broken"),
    ("run runs ran operate operates", "suspended"),
    ("geöffnet offen", "geschlossen"),
    ("erlaubt gestattet zulässig dürfen darf", "verboten untersagt"),
    (
        "free gratis complimentary kostenlos kostenfrei frei umsonst gratuit gratuite gratuito",
        "pay paid paying charge charged fee cost kostenpflichtig kostet kosten zahlen bezahlen gebühr payant",
    ),
    ("überlebt überlebte lebt lebendig", "gestorben tot ertrunken umgekommen starb ertrank"),
    ("steht stehen existiert besteht", "abgerissen zerstört eingestürzt gesprengt aufgelöst"),
    ("nötig notwendig erforderlich braucht brauchen benötigt muss müssen", "unnötig freiwillig ohne"),
    ("möglich", "unmöglich"),
    ("verheiratet heiratete", "unverheiratet ledig"),
    ("fertig fertiggestellt vollendet", "unfertig unvollendet unfinished"),
    ("gewonnen gewann", "verloren verlor"),
    ("ouvert ouverte", "fermé fermée"),
    ("autorisé autorisée permis", "interdit interdite"),
    ("abierto abierta", "cerrado cerrada"),
    ("permitido permitida", "prohibido prohibida"),
    ("aperto aperta", "chiuso chiusa"),
    ("permesso", "vietato"),
    ("açık", "kapalı"),
    ("serbest", "yasak"),
    ("открыт открыта открыто", "закрыт закрыта закрыто"),
    ("разрешено", "запрещено"),
    ("مفتوح مفتوحة", "مغلق مغلقة"),
    ("مسموح", "ممنوع"),
)
FORBIDDING = word_set(
    "forbidden prohibited banned impossible illegal verboten untersagt interdit prohibido vietato yasak"
)
"""Words that say no to "can" and "may"."""
_PHRASES = {
    f" {phrase} ": word
    for word, phrases in {
        "unfinished": "under construction|still being built|being built|noch im bau|im bau|yet to be finished",
        "not": "yet to be|yet to|no longer|nicht mehr|failed to|refused to|declined to|ceased to",
        "must": "have to|has to",
        "free": "free of charge|for free",
        "rejected": "turned down|turned it down|voted down|voted it down",
        "demolished": "torn down|pulled down|burned down|burnt down",
        "died": "did not make it|lost his life|lost her life|lost their life",
        "closed": "shut down",
        "broken": "out of order|out of service|not in service",
        "single": "lifelong bachelor",
    }.items()
    for phrase in phrases.split("|")
}
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")


@lru_cache(maxsize=1)
def _senses() -> dict[str, tuple[int, int]]:
    """The pair of each word, and its side of it."""
    return {
        word.text: (number, side)
        for number, pair in enumerate(_PAIRS)
        for side, listed in enumerate(pair)
        for word in words(listed)
    }


def has_sense(word: str) -> bool:
    """Whether a word stands in the table."""
    return word in _senses()


def with_senses(said: list[str]) -> list[str]:
    """A text with one word of the table for each phrase that says the same: under construction, free of charge."""
    written = f" {' '.join(said)} "
    if not any(phrase in written for phrase in _PHRASES):
        return said
    for phrase, word in _PHRASES.items():
        written = written.replace(phrase, f" {word} ")
    return written.split()


def is_synonym(one: str, other: str) -> bool:
    """Whether two words stand on one side of a pair."""
    sense = _senses().get(one)
    return sense is not None and sense == _senses().get(other)


def is_opposite(one: str, other: str) -> bool:
    """Whether two words stand on both sides of a pair, or one is the other with a prefix that negates."""
    first, second = _senses().get(one), _senses().get(other)
    if first and second and first[0] == second[0]:
        return first[1] != second[1]
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) > 3 and longer.endswith(shorter) and longer.removesuffix(shorter) in _PREFIXES


IRREGULAR = {
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
"""The verbs of past forms that do not end in -ed."""


def is_about(one: str, other: str) -> bool:
    """Whether two words are the same, of one sense, or of opposite senses."""
    return is_same(one, other) or is_synonym(one, other) or is_opposite(one, other)


def is_same(one: str, other: str) -> bool:
    """Equal, or with the same beginning, or one verb: invented and invent, won and win."""
    if is_opposite(one, other):
        return False
    if len(one) > 6 < len(other) and one.startswith("ge") != other.startswith("ge"):  # gegründet, gründete
        one, other = one.removeprefix("ge"), other.removeprefix("ge")
    one, other = IRREGULAR.get(one, one), IRREGULAR.get(other, other)
    shorter = min(len(one), len(other))
    return one == other or (shorter >= 4 and one[: max(4, shorter - 2)] == other[: max(4, shorter - 2)])
