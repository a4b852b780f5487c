"""A text as normalised words, so that two spellings of the same words are equal.

Unicode forms, full-width letters, digits of any script, marks of direction, accents, vowel marks, case, punctuation and
hyphens, apostrophes, possessive and plural s, articles and common abbreviations (St., Mt., No.) make no difference.
Numbers, units, dates and times have the normal forms of wording.numbers. A sign that is part of a name stays: C++, C#.

A word has stems, the forms without a suffix, a prefix or a particle:
    apostrophes   İstanbul'da, l'Italie: the parts on both sides
    Hangul        서울에서: without a particle or a copula
    Arabic        والقاهرة: without conjunction, preposition and article
A name matches a word or one of its stems. The word itself matches because its first letters may only seem a prefix.
Cyrillic case endings are cut from every word of four letters or more: Москва = Москве = Москву.

Scripts without spaces are not split into words, so each character is a word. Stems are cut without a dictionary, so a
stem that happens to be another word matches that word.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from swaymeter.data.wording.numbers.dates import with_dates
from swaymeter.data.wording.numbers.numerals import with_numerals
from swaymeter.data.wording.word import Token, Word, word_set

_MARKS = "".join(char for char in map(chr, range(0x300, 0x1D00)) if unicodedata.category(char)[0] == "M")
_LETTERS = str.maketrans(
    dict.fromkeys(map(chr, (*range(0x300, 0x370), *range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660))))
    | dict(zip("øØłŁđĐðÐı‘’ʼ`´−‐‑٫٬ىیک", "oOlLdDdDi'''''---.,ييك", strict=True))
    | {"♯": "#", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
)
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_COMPOSED: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(rf"(?<=\d{{4}})[{_SUPERSCRIPTS}]+|(?<=\d)¹|(?<=[^\W\d_]{{3}})[{_SUPERSCRIPTS}]+"), ""),  # footnotes
    (re.compile(rf"(?<=\d)[{_SUPERSCRIPTS}]+"), lambda match: f"^{unicodedata.normalize('NFKC', match[0])}"),
    (re.compile(r" ?([¼-¾⅐-⅞])"), r" \1"),
]
"""Characters that NFKC would join to the number before them (5² would be 52), with their replacements."""
_SPELLINGS = [
    (substring, re.compile(pattern), replacement)
    for substring, spellings in {
        "cannot": [(r"(?i)\bcannot\b", "can not")],
        "'": [
            (r"(?i)\bcan't\b", "can not"),
            (r"(?i)\bwon't\b", "will not"),
            (r"(?i)n't\b", " not"),
            (r"(?i)\b(it|that|he|she|there|here|what|who|where)'s\b", r"\1 is"),
            (r"(?i)'s\b", ""),
            (r"(?i)'m\b", " am"),
            (r"(?i)'d\b", " would"),
            (r"(?i)'ll\b", " will"),
            (r"(?i)'ve\b", " have"),
            (r"(?i)'re\b", " are"),
            (r"(?i)\b(?:[ldcjns]|qu|dell|nell|all|sull|dall)'(?=\w)", ""),  # l'Italie, dell'Italia
        ],
        # grades and blood groups: A-minus and AB plus become A- and AB+
        "minus": [(r"\b([A-Z]{1,2})-minus\b|\b([B-Z]|AB) minus\b|\b(A) minus(?=$|[.,;!])", r"\1\2\3-")],
        "plus": [(r"\b([A-Z]{1,2})-plus\b|\b([B-Z]|AB) plus\b(?! plus)|\b(A) plus(?=$|[.,;!])", r"\1\2\3+")],
        # versions: v2 becomes 2
        " v": [(r"\bv\.?(?=\d)", "")],
        "n/a": [(r"(?i)\bn/a\b", "unavailable")],
        " cent": [(r"(?i)\bp(?:er|our) cent\b", "percent")],
        "por cien": [(r"(?i)\bpor cien(?:to)?\b", "percent")],
        "minus ": [(r"(?i)\bminus (?=\d)", "-")],
        "below ": [(r"(?i)\b(\w+) ?(degrees?|°) ?(celsius|c\b)? below (?:zero|freezing)\b", r"minus \1 degrees \3")],
        "twice": [(r"(?i)\btwice\b", "two times")],
        "thrice": [(r"(?i)\bthrice\b", "three times")],
        " an hour": [(r"(?i)\b(miles?|kilomet(?:er|re)s?|km) an hour\b", r"\1 per hour")],
        "stunde": [
            (r"(?i)\bhalben? stunde\b", "30 minuten"),
            (r"(?i)\b(?:dreiviertelstunde|dreiviertel stunde)\b", "45 minuten"),
            (r"(?i)\bviertelstunde\b", "15 minuten"),
        ],
        "quarter": [
            (r"(?i)\bthree[- ]quarters? of an hour\b", "45 minutes"),
            (r"(?i)\b(?:a )?quarter (?:of an )?hour\b", "15 minutes"),
        ],
        "demi-heure": [(r"(?i)\bdemi-heure\b", "30 minutes")],
        "media hora": [(r"(?i)\bmedia hora\b", "30 minutes")],
        "fortnight": [(r"(?i)\b(?:a )?fortnight\b", "2 weeks")],
        "a decade": [(r"(?i)\ba decade\b", "10 years")],
        "viertel": [(r"(?i)\bein viertel\b(?! (?:nach|vor|uhr))", "1/4"), (r"(?i)\bdrei ?viertel\b", "3/4")],
        "drittel": [(r"(?i)\bein drittel\b", "1/3"), (r"(?i)\bzwei drittel\b", "2/3")],
        "degree": [(r"(?i)\bdegrees? (?=(?:celsius|fahrenheit)\b)", "")],
        "/": [(r"(?i)(?<=\d)( ?[a-z]{1,3})/(?=(?:h|s|min)\b)", r"\1 per ")],
        "x": [(r"(?i)(?<=\d) ?x ?(?=\d)", " x ")],
        "×": [(r"(?<=\d) ?× ?(?=\d)", " x ")],
        " by ": [(r"(?<=\d) by (?=\d)", " x ")],
        "no.": [(r"(?i)\bno\. ?(?=\d)", "number ")],
        "nr.": [(r"(?i)\bnr\. ?(?=\d)", "number ")],
        "#": [(r"(?<!\w)#(?=\d)", "number ")],
        " us": [(r"\bU\.?S\.? ?(?=\$|dollars?\b)", "")],
        " u.s": [(r"\bU\.?S\.? ?(?=\$|dollars?\b)", "")],
        " st": [(r"\bSt\.? (?=[A-Z])", "Saint ")],
        " mt": [(r"\bMt\.? (?=[A-Z])", "Mount ")],
        " ft": [(r"\bFt\.? (?=[A-Z])", "Fort ")],
    }.items()
    for pattern, replacement in spellings
]
"""Substrings, patterns and normal forms of spellings; a pattern is tried only on texts that contain its substring."""
_INITIALS = re.compile(r"(?<![\w.])(?:(?:[A-Z]\.)+[A-Z]\b\.?|(?:[A-Z]\. ?){2,})")
"""Initials such as U.S. and J. R. R., which become one word."""
_AMERICAN_SPELLINGS = {
    "grey": "gray",
    "colour": "color",
    "theatre": "theater",
    "centre": "center",
    "harbour": "harbor",
    "programme": "program",
    "aluminium": "aluminum",
}

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
_CHARACTERS = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u309f\u3400-\u9fff"
"""Characters of scripts without spaces: Thai, Lao, Khmer, hiragana and Chinese characters."""
_TOKEN = re.compile(
    r"(?P<number>(?=[-\d])(?:(?<![\w-])-)?(?:(?:(?<![\d./,:])\d{1,3} )?(?<![\d/.,:])\d{1,2}/(?:[2-68]|10|16)(?![\d/])"
    r"|\d{1,3}(?:[ ']\d{3})+(?![.,:]?\d)|\d+(?:[.,:]\d+)*(?:\^-?\d+)?))"
    rf"|(?P<katakana>[{_KATAKANA}])"
    rf"|(?P<character>[{_CHARACTERS}])"
    r"|(?P<sign>(?:[<>]=?|=[<>]|[≤≥])(?= ?[-$€£¥]?\d)|(?<=\d)\+(?![\w+])|(?<![\w<>/=-])(?:[<>]=?|[≤≥])(?![\w<>/=-]))"
    rf"|(?P<word>[%$€£¥]|°[cCfF]?\b|°|[^\W_](?:[^\W_{_MARKS}{_KATAKANA}{_CHARACTERS}]|[{_MARKS}]|'(?=[^\W_]))*"
    r"(?:\+{1,2}(?![\w+])|\#(?!\w)|(?<=\b[A-Z])-(?![\w-])|(?<=\b[A-Z]{2})-(?![\w-]))?)|(?P<other>\S)"
)

_HANGUL_SUFFIXES = sorted(
    word_set(
        "은 는 이 가 을 를 에 의 로 으로 와 과 도 만 에서 에게 까지 부터 께서 한테 처럼 보다 라고 이라고 이며 이고 "
        "이나 에는 에서는 에도 으로는 이다 입니다 이에요 예요 이었다 였다 이었습니다 였습니다 이었고 였고 인 이란 "
        "란 라는 이라는 에서의 으로의"
    )
)
_ARABIC_PREFIXES = re.compile(r"[وف]?[بلك]?(?:ال)?(?=[\u0621-\u064a]{3})")
_CYRILLIC_ENDING = re.compile(
    r"(?<=[\u0400-\u04ff]{3})(?:ами|ями|ыми|ими|ого|его|ому|ему|ой|ей|ом|ем|ым|им|ах|ях|ых|их|ов|ев|[аеиоуыэюяйьъ]{1,3})$"
)
_FAMILY_ENDING = re.compile(r"(?<=[\u0400-\u04ff]{3})[оеё]в$")
"""The ending of a family name such as Орлов, which is also a case ending."""
_SHORTEST_STEM = 3
"""Fewest letters of a stem before or after an apostrophe."""
_CONJUNCTIONS = word_set("and or to bis und oder")
"""Words between two numbers that share a unit, as in 38 and 52 metres."""


@lru_cache(maxsize=4096)  # a question and its answers are compared with every reply
def words(text: str) -> tuple[Word, ...]:
    """Return the normalised words of a text without articles; at the end of a clause, A stays, as in "group A".

    The time is linear in the length of the text.
    """
    tokens = [*_tokens(with_dates(_plain_letters(text)))]
    all_words = _with_shared_units([*with_numerals(tokens)])
    without_articles: list[Word] = []
    begins_clause = has_article = False
    for index, word in enumerate(all_words, 1):
        begins_clause |= word.begins_clause
        after = all_words[index] if index < len(all_words) else None
        if word.text in ("a", "an", "the") and after and not (after.begins_clause or after.joined):
            has_article = True
            continue
        if begins_clause or has_article:
            word = word._replace(begins_clause=begins_clause, article=has_article)
        without_articles.append(word)
        begins_clause = has_article = False
    return tuple(without_articles)


def _with_shared_units(all_words: list[Word]) -> list[Word]:
    """Return the words with a unit after each of two joined numbers: 38 metres and 52 metres for 38 and 52 metres."""
    with_units: list[Word] = []
    for index, word in enumerate(all_words):
        with_units.append(word)
        if word.kind != "number":
            continue
        phrase = all_words[index : index + 4]
        if [part.kind for part in phrase] == ["number", "word", "number", "unit"] and phrase[1].text in _CONJUNCTIONS:
            with_units.append(phrase[3]._replace(begins_clause=False))
    return with_units


def _plain_letters(text: str) -> str:
    """Return a text without accents and invisible characters, with digits 0 to 9 and the forms of `_SPELLINGS`."""
    if not text.isascii():
        for pattern, replacement in _COMPOSED:
            text = pattern.sub(replacement, text)
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text)).replace("⁄", "/")
        visible = (char for char in text if unicodedata.category(char) != "Cf")
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in visible)
        text = unicodedata.normalize("NFC", text.translate(_LETTERS))
    text = text.replace("&", " and ")
    lower = f" {text.lower()}"
    for substring, pattern, replacement in _SPELLINGS:
        if substring in lower:
            text = pattern.sub(replacement, text)
    return text if "." not in text else _INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]) + " ", text)


def _tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text. Punctuation is no token, but begins a clause or joins two words."""
    begins_clause, has_hyphen, end, kind = False, False, 0, "other"
    for match in _TOKEN.finditer(text):
        kind_before, kind = kind, match.lastgroup or ""
        follows_character = end == match.start()  # no space before the token
        follows_token = follows_character and kind_before != "other"
        begins_clause |= "\n" in text[end : match.start()]
        end = match.end()
        if kind == "other":
            has_hyphen = match[0] == "-" and follows_token and not text[end : end + 1].isspace()
            begins_clause |= match[0] in ".,;:!?()[]-–—。、，；：！？（）「」" and not has_hyphen
            continue
        lower = match[0].casefold()
        if kind in ("katakana", "character"):
            joined = follows_token and kind_before == kind == "katakana"
            yield Token("character", match[0], lower, begins_clause, joined, follows_token)
        else:
            has_stems = kind == "word" and (not lower.isascii() or "'" in lower)
            stems = tuple(_folded(stem) for stem in _stems(lower)) if has_stems else ()
            joined = has_hyphen and follows_character
            yield Token(kind, match[0], _folded(lower), begins_clause, joined, follows_token, stems)
        begins_clause = has_hyphen = False


@lru_cache(maxsize=16384)  # the words of a language recur
def _folded(word: str) -> str:
    """Return a word without plural s and case ending, in American spelling: city for cities, color for colour."""
    word = word.replace("'", "")
    if not word.isascii():
        return _without_ending(word)
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return _AMERICAN_SPELLINGS.get(word, word)
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes", "oes")) else word[:-1]


def _stems(word: str) -> tuple[str, ...]:
    """Return the stems of a word in lower case; an ASCII word has only the parts on both sides of an apostrophe."""
    stems: list[str] = []
    if "'" in word:
        stems += [part for part in word.split("'") if len(part) >= _SHORTEST_STEM]
    if word.isascii():
        return tuple(stems)
    first = word[0]
    if "\uac00" <= first <= "\ud7a3":
        stems += [word.removesuffix(ending) for ending in _HANGUL_SUFFIXES if word.endswith(ending) and word != ending]
    elif "\u0600" <= first <= "\u06ff" and (prefix := _ARABIC_PREFIXES.match(word)):
        stems += [word[length:] for length in range(1, prefix.end() + 1)]
        stems += [word[2:]] if word.startswith("لل") else []
    return tuple(stems)


def _without_ending(word: str) -> str:
    """Return a word of four letters or more without its Cyrillic case ending: Орлов = Орлова = Орловым."""
    if len(word) < 4 or not "\u0400" <= word[0] <= "\u04ff":
        return word
    return _FAMILY_ENDING.sub("", _CYRILLIC_ENDING.sub("", word))
