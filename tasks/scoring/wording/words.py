"""A text as normalised words, so that two spellings of the same words are equal.

Unicode forms, full-width letters, digits of any script, marks of direction, accents, vowel marks, case, punctuation and
hyphens, apostrophes, possessive and plural s, articles and common abbreviations (St., Mt., No.) make no difference.
Numbers and units are as wording.numerals writes them, dates and times as wording.dates does; wording.stems says what a
word may be without what its language joins to it. A sign that is part of a name stays: C++, C#, A+, AB-.
What it is not: a splitter of scripts without spaces between words; their characters are the words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from tasks.scoring.wording.dates import with_dates
from tasks.scoring.wording.numerals import with_numerals
from tasks.scoring.wording.stems import stems, without_ending
from tasks.scoring.wording.word import Token, Word

_MARKS = "".join(char for char in map(chr, range(0x300, 0x1D00)) if unicodedata.category(char)[0] == "M")
_LETTERS = str.maketrans(
    dict.fromkeys(map(chr, (*range(0x300, 0x370), *range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660))))
    | dict(zip("øØłŁđĐðÐı‘’ʼ`´−‐‑٫٬ىیک", "oOlLdDdDi'''''---.,ييك", strict=True))
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_COMPOSED: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(rf"(?<=\d{{4}})[{_RAISED}]+|(?<=\d)¹|(?<=[^\W\d_]{{3}})[{_RAISED}]+"), ""),  # marks of footnotes
    (re.compile(rf"(?<=\d)[{_RAISED}]+"), lambda match: f"^{unicodedata.normalize('NFKC', match[0])}"),
    (re.compile(r" ?([¼-¾⅐-⅞])"), r" \1"),
]
"""Characters that NFKC would make a part of the number before them."""
_SPELLINGS = [
    (re.compile(pattern, flags), replacement)
    for pattern, flags, replacement in (
        (r"\bcan't\b|\bcannot\b", re.IGNORECASE, "can not"),
        (r"\bwon't\b", re.IGNORECASE, "will not"),
        (r"n't\b", re.IGNORECASE, " not"),
        (r"'m\b", re.IGNORECASE, " am"),
        (r"'d\b", re.IGNORECASE, " would"),
        (r"'ll\b", re.IGNORECASE, " will"),
        (r"'ve\b", re.IGNORECASE, " have"),
        (r"'re\b", re.IGNORECASE, " are"),
        (r"'s\b", re.IGNORECASE, ""),
        (r"\b(?:[ld]|qu|dell|nell|all|sull|dall)'(?=\w)", re.IGNORECASE, ""),  # l'Italie, dell'Italia
        (r"\bn/a\b", re.IGNORECASE, "unavailable"),
        (r"\bper cent\b", re.IGNORECASE, "percent"),
        (r"\bminus (?=\d)", re.IGNORECASE, "-"),
        (r"\bdegrees? (?=(?:celsius|fahrenheit)\b)", re.IGNORECASE, ""),
        (r"(?<=\d)( ?[a-z]{1,3})/(?=(?:h|s|min)\b)", re.IGNORECASE, r"\1 per "),
        (r"(?<=\d)(?: ?[x×] ?| by )(?=\d)", re.IGNORECASE, " x "),
        (r"(?<!\w)(?:no\. ?|nr\. ?|#|№ ?)(?=\d)", re.IGNORECASE, "number "),
        (r"\bU\.?S\.? ?(?=\$|dollars?\b)", 0, ""),
        (r"\bSt\.? (?=[A-Z])", 0, "Saint "),
        (r"\bMt\.? (?=[A-Z])", 0, "Mount "),
        (r"\bFt\.? (?=[A-Z])", 0, "Fort "),
    )
]
_OF_SPELLINGS = ("'", "/", "cannot", "per cent", "minus", "degree", "x", "×", " by ", "no.", "nr.", "#", "№", "$",
                 "dollar", "st ", "st.", "mt ", "mt.", "ft ", "ft.")  # fmt: skip
"""What none of these spellings is written without, in lower case."""
_INITIALS = re.compile(r"(?<![\w.])(?:(?:[A-Z]\.)+[A-Z]\b\.?|(?:[A-Z]\. ?){2,})")
_ABBREVIATIONS = {"jr": "junior", "sr": "senior", "vs": "versus", "dr": "doctor", "prof": "professor"}

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
_TOKEN = re.compile(
    r"(?P<number>(?:(?<![\w-])-)?(?:(?:(?<![\d./,:])\d{1,3} )?(?<![\d/.,:])\d{1,2}/(?:[2-68]|10|16)(?![\d/])"
    r"|\d{1,3}(?:[ ']\d{3})+(?![.,:]?\d)|\d+(?:[.,:]\d+)*(?:\^-?\d+)?))"
    rf"|(?P<katakana>[{_KATAKANA}])"
    r"|(?P<character>[\u0e00-\u0eff\u1780-\u17ff\u3040-\u309f\u3400-\u9fff])"
    r"|(?P<sign>(?:[<>]=?|=[<>]|[≤≥])(?= ?[-$€£¥]?\d)|(?<=\d)\+(?![\w+]))"
    rf"|(?P<word>[%$€£¥]|°[cf]?\b|°|[^\W_](?:[^\W_{_MARKS}]|[{_MARKS}]|'(?=[^\W_]))*"
    r"(?:\+{1,2}(?![\w+])|\#(?!\w)|(?<=\b(?-i:[A-Z]))-(?![\w-])|(?<=\b(?-i:[A-Z]{2}))-(?![\w-]))?)|(?P<other>\S)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)  # a question and its answers are looked at with every reply
def words(text: str) -> tuple[Word, ...]:
    """The normalised words of a text, without articles, except where an article ends a clause (group A).

    The time it takes is linear in the text's length.
    """
    found = list(with_numerals(list(_tokens(with_dates(_letters(text))))))
    kept: list[Word] = []
    clause = article = False
    for place, word in enumerate(found, 1):
        clause |= word.clause
        behind = found[place] if place < len(found) else None
        if word.text in ("a", "an", "the") and behind and not (behind.clause or behind.joined):
            article = True
            continue
        kept.append(word._replace(clause=clause, article=article) if clause or article else word)
        clause = article = False
    return tuple(kept)


def _letters(text: str) -> str:
    """Without accents and invisible characters, with the digits 0 to 9, contractions in full and initials together."""
    if not text.isascii():
        for pattern, replacement in _COMPOSED:
            text = pattern.sub(replacement, text)
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text)).replace("⁄", "/")
        visible = (char for char in text if unicodedata.category(char) != "Cf")
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in visible)
        text = unicodedata.normalize("NFC", text.translate(_LETTERS))
    text = text.replace("&", " and ")
    lower = text.lower()
    if any(mark in lower for mark in _OF_SPELLINGS):
        for pattern, replacement in _SPELLINGS:
            text = pattern.sub(replacement, text)
    return _INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]) + " ", text)


def _tokens(text: str) -> Iterator[Token]:
    clause, hyphen, end, behind = False, False, 0, "other"
    for match in _TOKEN.finditer(text):
        touches, before = end == match.start(), behind
        clause |= "\n" in text[end : match.start()]
        glued, end, behind = touches and before != "other", match.end(), match.lastgroup or ""
        if behind == "other":
            hyphen = match[0] == "-" and glued and not text[end : end + 1].isspace()
            clause |= match[0] in ".,;:!?()[]-–—。、，；：！？（）「」" and not hyphen
            continue
        if behind in ("katakana", "character"):
            joined = glued and before == behind == "katakana"
            yield Token("character", match[0], match[0].casefold(), clause, joined, glued)
        else:
            lower = match[0].casefold()
            found = () if behind != "word" or (lower.isascii() and "'" not in lower) else stems(lower)
            yield Token(behind, match[0], _folded(lower), clause, hyphen and touches, glued, found)
        clause = hyphen = False


def _folded(word: str) -> str:
    """Without a plural s and a case ending, and abbreviations in full: cities and city, clashes and clash."""
    word = word.replace("'", "")
    if not word.isascii():
        return without_ending(word)
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return _ABBREVIATIONS.get(word, word)
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes", "oes")) else word[:-1]
