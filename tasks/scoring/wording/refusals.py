"""Replies that decline to answer, or say that the answer is not known.

For English, each kind of refusal has a pattern over the normalised words, with " . " before each clause. Normalised
words have no final s and no contractions: "do not say" for "doesn't say". Other languages have phrases. The rules apply
to replies that state no answer, or only mention an answer. "Tomb of the Unknown Soldier" and "sorry for your loss" are
no refusals.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from swaymeter.data.wording.word import Texts, Word, texts_of, word_set
from swaymeter.data.wording.words import words

_SOURCE = (
    "(?:context|passage|text|article|document|snippet|paragraph|information|question|source|excerpt|story|author|report"
    "|leaflet|brochure|website|page|it)"
)
_TELL = (
    "(?:say|state|mention|specify|provide|give|tell|contain|include|indicate|name|answer|reveal|discus|describe|address"
    "|explain|identify|disclose|list|explicitly|offer|have any|have information)"
)
_ASK = "if|whether|who|what|when|where|why|how|which"
_END = (
    rf"(?=$| \.| (?:{_ASK}|to|in|from|based|at|as|because|since|given|and|but|about|of|by|for|yet|exactly|here|with)\b)"
)
"""The end of a refusal after a word such as "unknown"; in "the Unknown Soldier", a noun follows."""
_ADVERB = r"(?:\w+ly |just |still |been |yet |even |be |at all |quite )?"
_STATED = (
    rf"(?:(?:known|given|certain|named){_END}|stated|mentioned|specified|provided|clear|disclosed|discussed|described"
    "|indicated|answerable|applicable|explicit|explicitly|recorded|documented|determined|identified|revealed|enough|sure"
    r"|available|(?:found|present|included|listed|there|able|possible)"
    r"(?= in|$| \.| to (?:answer|say|tell|know|determine|provide|give|identify)))"
)
_FIND_OUT = (
    "(?:answered|determined|known|said|inferred|identified|established|ascertained|concluded|confirmed|deduced"
    "|recorded)"
)
_DATA = "(?:information|detail|data|context|evidence)"
_NOT_SYMPATHY = "(?! for (?!confusion|inconvenience|any)| to hear)"
"""Excludes "sorry for your loss" and "sorry to hear that"; "sorry for any confusion" is a refusal."""
_DO_NOT_KNOW = (
    "(?:know|answer|have|find|provide|help|assist|determine|tell|say|able|sure|certain|aware|comment|identify|give|see|allowed"
    "|comfortable|familiar|recall|remember|seem|speculate|confirm|enough|want to answer|recommend|advise|judge|verify)"
)
_SOURCE_SAYS_NOTHING = (
    rf"\bnothing (?:\w+ ){{0,3}}?{_SOURCE}\b"
    rf"|\b{_SOURCE} (?:\w+ )?(?:say|mention|state|contain|provide|give|reveal) (?:nothing|no)\b"
)
_NO_INFORMATION = (
    r"\bno (?:\w+ )?(?:information|answer|mention|idea|knowledge|detail|data|clue|indication|record|reference)\b"
    r"|\bno way (?:to|of) (?:tell|telling|know|knowing|say|saying|determin\w+)"
)
_KINDS = {
    "I do not know": rf"\bi {_ADVERB}(?:do|can|could|am|will|would|did|have) not {_ADVERB}{_DO_NOT_KNOW}",
    "cannot answer": rf"(?:^|\. |^sorry )(?:can|could|will|do) not {_ADVERB}"
    rf"(?:answer|say|tell|know|determine|help|{_FIND_OUT})",
    "the passage does not say": rf"\b{_SOURCE} (?:itself )?(?:do|did) not {_ADVERB}{_TELL}",
    "the passage says nothing": _SOURCE_SAYS_NOTHING,
    "not stated": rf"(?:^|\. |\b(?:answer|information|am|is|are|was|were|be|been) )not {_ADVERB}{_STATED}"
    rf"|\bnot in {_SOURCE}\b",
    "never determined": rf"\b(?:has|have|had) (?:not|never) {_ADVERB}been {_ADVERB}{_FIND_OUT}"
    r"|\b(?:detail|information|name|date|answer) (?:is|are) (?:missing|omitted|left out)\b"
    r"|\b(?:is|remain) (?:\w+ )?(?:debated|disputed|contested|matter of (?:dispute|debate))"
    r"(?=$| \.| (?:by|among|whether))",
    "cannot be answered": rf"\bcan not be {_ADVERB}{_FIND_OUT}"
    rf"|\b(?:answer|information|it|this|that) can not be found\b|\bcan not be found in {_SOURCE}",
    "nothing to be found": r"\byou will not find\b|\bthere is not? (?:\w+ )?answer\b",
    "no information": _NO_INFORMATION,
    "unknown": rf"(?:^|\. |\b(?:am|is|are|was|were|remain|be|currently|answer) ){_ADVERB}"
    rf"(?:unknown|unclear|uncertain|unsure|unanswerable|undetermined|unspecified|unavailable|undisclosed){_END}",
    "unable": r"\b(?:unable|impossible|difficult|hard|not possible|not able) to "
    "(?:answer|determine|say|tell|know|provide|identify|find|give|help|assist|confirm|verify|comment)"
    rf"|\b(?:insufficient|not enough|inadequate|lack of|(?:without|need) (?:more|further|additional)) {_DATA}",
    "the passage says something else": rf"\b{_SOURCE} {_TELL} only (?:\w+ )+\. (?:but |and )?not\b",
    "apology": rf"\bi am (?:very |so |truly )?sorry{_NOT_SYMPATHY}|\bi apologi[sz]e{_NOT_SYMPATHY}"
    r"|(?:^|\. )(?:sorry|my apology|apologie|apology)(?=$| \.| but| i)",
    "I decline": r"\bi (?:must |have to |will |would )?(?:respectfully )?(?:decline|refuse)\b"
    r"|\bi (?:would )?(?:rather|prefer) not\b|\bi have no\b",
}
_ANSWERING_KINDS = ("not stated", "never determined", "no information", "unknown", "apology")
"""Kinds whose words may also answer a yes-or-no question: "There is no record of it"."""
_REFUSAL_WORDS = word_set(
    "dispute debate "
    "ai apologie apologise apologize apology beyond contested debated decline difficult disputed fail failed "
    "guess hard impossible inadequate insufficient lack language left missing mystery need neglect neglected "
    "never no nobody none not nothing omitted open prefer rather refuse silent sorry unable unanswerable "
    "unanswered unavailable uncertain unclear undetermined undisclosed unknown unsaid unspecified unsure without"
)
"""Words of English refusals: every refusal has at least one of these words."""
_REFUSALS_AFTER_NO = (
    rf"\b{_SOURCE} (?:itself )?(?:do|did) not {_ADVERB}{_TELL}(?=$| \.| (?:{_ASK}|any|enough|that|this|anything)\b)"
    rf"|{_SOURCE_SAYS_NOTHING}|{_NO_INFORMATION}|^no (?:one|body) know"
)
"""Refusals that follow a "No" which is no answer: "No, the passage does not say"."""
_EMPTY = frozenset(("null", "none", "nil", "nan", "n/a", "na", "undefined"))
_MENTIONED = re.compile(
    rf"\b{_SOURCE} (?:only |just |does |do )*(?:mention|refer|talk|discus|describe)\b(?! that)"
    rf"|\b{_SOURCE} only (?:say|state)\b"
)
_STATES = rf"\b{_SOURCE} (?:only |just |simply |also |do )?(?:say|state|mention|indicate|suggest) that \w"
_CONCEDES = re.compile(rf"^(?:while|although|though) |(?:do|did|can|could) not .*{_STATES}")
"""A concession at the beginning, or "the text does not say X" followed by "the text says that Y"."""
_PHRASES = {
    "de": "ich weiß nicht|ich weiß es nicht|weiß ich nicht|weiß ich leider nicht|kann ich nicht sagen|"
    "kann ich leider nicht sagen|nicht entnehmen|keine Ahnung|sagt nichts|sagt der Text nichts|nicht gesagt|"
    "nicht beurteilen|nicht genannt|nicht ersichtlich|verrät nicht|verrät es nicht|nicht sicher|nicht überliefert|"
    "nicht geklärt|ungeklärt|nicht feststellen|weiß man nicht|weiß niemand|nicht beantworten|nicht beantwortet|"
    "steht nicht|nicht eindeutig|nicht hervor|keine Auskunft|keine Angabe|keine Angaben|nicht angegeben|"
    "nicht erwähnt|unbekannt|nicht bekannt|kann ich nicht beantworten|kann die Frage nicht beantworten|"
    "keine Information|keine Informationen|"
    "kann nicht beantwortet werden|geht aus dem Text nicht hervor|nicht im Text",
    "fr": "je ne sais pas|je n'ai pas|je ne peux pas|n'est pas mentionné|n'est pas précisé|n'est pas indiqué|inconnu|"
    "aucune information|non précisé|ne mentionne pas|ne précise pas|pas d'information|ne le dit pas|ne dit pas|"
    "ne dit rien|ne sait pas|pas mentionné|pas précisé|pas indiqué|pas connu",
    "es": "no lo sé|no sé|no se sabe|no se menciona|no se especifica|no se indica|no puedo|desconocido|"
    "no hay información|no tengo información|no menciona|no especifica|no está especificado|lo siento|no lo dice|"
    "no dice|no se conoce|no aparece",
    "ru": "не знаю|неизвестно|не указано|не упоминается|нет информации|не могу ответить|не сказано|не говорится|"
    "не сообщается|не упомянут|нет данных|информация отсутствует|не могу сказать|неизвестен|неизвестна|"
    "не указывается|ничего не говорится|в тексте нет|не даёт ответа|не содержит",
    "tr": "bilmiyorum|belirtilmemiş|bilinmiyor|bilgi yok|bilgi verilmemiştir|bilgi verilmemiş|bilgi bulunmuyor|"
    "yer almıyor|cevaplayamam|bilgi yer almamaktadır|bilgi bulunmamaktadır|belirtilmemiştir|belirtilmiyor|"
    "söylenmiyor|bahsedilmiyor|belli değil",
    "ar": "لا أعرف|لا أعلم|غير معروف|غير مذكور|لا يذكر|لا أستطيع|لم يذكر|لم يرد|لم يحدد|لا توجد معلومات|"
    "لا يوجد معلومات|ليس معروفا|غير محدد|غير واضح",
    "zh": "不知道|不清楚|未提及|没有提到|没有提及|未知|无法回答|无法确定|没有说明|未说明|我无法|抱歉|文中没有|"
    "沒有提到|無法回答|無法確定|并未提到|未提到|并未提及|无法得知|无从得知|不得而知|没有给出|没有提供|没有写明|"
    "没有指出|没有相关|没有信息|并未说明|未指明|未给出|没有记载|没有明确|不详",
    "ja": "わかりません|分かりません|知りません|不明|記載されていません|記載がありません|書かれていません|"
    "答えられません|情報がありません|記載はありません|記載がない|記載されていない|書かれていない|分からない|"
    "わからない|言及されていません|言及がありません|言及はありません|述べられていません|触れられていません|"
    "示されていません|情報はありません|判断できません|特定できません|明らかではありません|明記されていません|"
    "含まれていません|含まれていない",
    "ko": "모릅니다|모르겠습니다|알 수 없습니다|알 수 없|언급되지 않|명시되지 않|나와 있지 않|나오지 않|"
    "언급되어 있지 않|명시되어 있지 않|적혀 있지 않|언급이 없|정보가 없|정보는 없|내용이 없|내용은 없|알려져 있지 않|"
    "알려지지 않|확인할 수 없|답할 수 없|말할 수 없|알 수가 없",
}


# Compiling takes long, so a pattern is compiled only for a text with a refusal word.
@cache
def _english(*, is_polar: bool) -> re.Pattern[str]:
    """Return the pattern of English refusals; if `is_polar`, without the kinds that may answer yes or no."""
    kinds = (kind for name, kind in _KINDS.items() if not (is_polar and name in _ANSWERING_KINDS))
    return re.compile("|".join(f"(?:{kind})" for kind in kinds))


@cache
def _phrases_by_first() -> Mapping[str, Sequence[Texts]]:
    """Return the phrases, each as normal forms of words, by first word."""
    by_first: dict[str, list[Texts]] = {}
    for phrase in "|".join(_PHRASES.values()).split("|"):
        word_texts = texts_of(words(phrase))
        by_first.setdefault(word_texts[0], []).append(word_texts)
    return by_first


def refuses(text: Sequence[Word], *, is_polar: bool = False) -> bool:
    """Return True if a text declines to answer or says that the answer is not known.

    Args:
        text: The words of the text.
        is_polar: True for a yes-or-no question. Kinds whose words may answer such a question do not count: "It is not
            included", "There is no record of it".
    """
    word_texts = texts_of(text)
    if not _REFUSAL_WORDS.isdisjoint(word_texts) and _english(is_polar=is_polar).search(_with_clause_marks(text)):
        return True
    phrases = _phrases_by_first()
    if phrases.keys().isdisjoint(word_texts):
        return False
    return any(
        _has_phrase_at(word_texts, start, phrase)
        for start, first in enumerate(word_texts)
        for phrase in phrases.get(first, ())
    )


def _has_phrase_at(word_texts: Sequence[str], start: int, phrase: Sequence[str]) -> bool:
    *before, last = phrase
    end = start + len(before)
    if end >= len(word_texts) or list(word_texts[start:end]) != before:
        return False
    # Outside ASCII, the last word of a phrase may have a further ending in the text.
    return word_texts[end] == last or (not last.isascii() and word_texts[end].startswith(last))


def only_mentions(text: Sequence[Word]) -> bool:
    """Return True if a text says only that a source mentions something: "The passage mentions Oslo"."""
    return _MENTIONED.search(_with_clause_marks(text)) is not None


def says_nothing(text: Sequence[Word]) -> bool:
    """Return True if a source says nothing, so that "No" is no answer: "No, the passage does not say"."""
    return re.search(_REFUSALS_AFTER_NO, _with_clause_marks(text)) is not None


def only_concedes(text: Sequence[Word]) -> bool:
    """Return True if a refusal is only a concession, or if a source's statement follows the refusal.

    Examples: "While the text does not say it, ...", "The text does not say X. The text says that Y."
    """
    return _CONCEDES.search(_with_clause_marks(text)) is not None


def _with_clause_marks(text: Iterable[Word]) -> str:
    return " ".join(f". {word.text}" if word.begins_clause else word.text for word in text)


def is_empty(text: str) -> bool:
    """Return True if a text has neither letters nor digits, or is null, None or N/A."""
    return not any(map(str.isalnum, text)) or text.strip(" .*_`\"'()[]\n").casefold() in _EMPTY
