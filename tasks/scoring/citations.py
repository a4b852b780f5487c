"""Citations of passages in a reply by their numbers, and statements that the passages disagree.

A reply cites a passage if it has

    a number in square brackets     [2], [1, 3], [1-3], [2†source], 【2】; also a footnote mark [^2]
    a number in round brackets      (2) or (1, 3), after a word and before the end of a clause or line. Marks of a list
                                    ("(1) nine (2) ten"), a repeated numeral ("two (2)") and other numberings
                                    ("Section 5 (2)") cite nothing
    a name of passages and a number  passage 2, documents 1 and 3, Source: 2, passage two; "the text 2" and "the
                                    context 2" cite nothing
    an ordinal and a name of passages  the second passage; in such a reply, "the third says" cites a passage, too

Passages are numbered from 1 in the order of the prompt. A number of more than three digits, such as a year, cites
nothing. A number in round brackets cites nothing if no passage has this number.
What it is not: a check of a passage's content. A number in square brackets that a reply copies from a passage, such as
a footnote's, counts as a citation. Names and ordinals are English.

A reply names the conflict of right and wrong passages (a mixed context) by any of these signs:

    contrast      a word of contrast (but, however, while, whereas, although, though, on the other hand, in or by
                  contrast, conversely, another, others, the other) separates two parts. One part states only the right
                  answer, and the other part states only the wrong answer. Besides, the reply names sources: it cites a
                  passage, or has a word such as passage, source, text, says, states, according to. After "while",
                  "whereas", "although" or "though", a comma separates two parts, too: "While passage 1 says nine,
                  passage 2 says ten".
    disagreement  the reply states both answers and has a word of disagreement: disagree, contradict, inconsistent,
                  discrepancy, conflicting, depending on the source. If the reply names sources, these words count,
                  too: "differ", "different" and "conflict". A word of the question does not count, nor a negated word
                  ("do not contradict").
    citations     the reply states both answers, and cites a passage of each answer

What it is not: a judgement of the reply. A reply can name the conflict and still choose one answer. A reply that states
both answers without any of these signs, "at nine and ten", does not name a conflict. The rules are for English. In
doubt, they find no conflict.
Source: this project.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice

from swaymeter.tasks.scoring.followed import Verdict

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_ONES, 1)}
_RANKS = (
    "first 1st",
    "second 2nd",
    "third 3rd",
    "fourth 4th",
    "fifth 5th",
    "sixth 6th",
    "seventh 7th",
    "eighth 8th",
    "ninth 9th",
    "tenth 10th",
)
_ORDINALS = {word: number for number, words in enumerate(_RANKS, 1) for word in words.split()}
_LIST = r"\d{1,4}(?:\s*(?:,\s*(?:and|or|&)?|;|&|\band\b|\bor\b|[-\u2013\u2014])\s*\#?\d{1,4})*"
"""Numbers of passages: 2; 1, 3 and 4; 1-3."""
_RANGE = re.compile(r"(\d+)\s*[-\u2013\u2014]\s*\#?(\d+)")
_SQUARE = re.compile(rf"[\[\u3010]\s*[\^#]?({_LIST})\s*(?:†[^\]\u3011]*)?[\]\u3011]")
_ROUND = re.compile(
    rf"(?<=[\w\"'\u201d\u2019%°.\])])\s?\(\s*({_LIST})\s*\)"
    r"(?=\s*(?:$|[\n.,;:!?)\](\[]|(?:and|or|but|while|whereas|though|although)\b))",
    re.MULTILINE,
)
_LIST_MARK = re.compile(r"^[^\S\n]*\(\d+\)", re.MULTILINE)
_OTHER_NUMBERING = re.compile(  # before a number in round brackets: Section 5 (2), f(2)
    r"(?:\b(?:sections?|articles?|clauses?|paragraphs?|chapters?|rules?|parts?|figures?|tables?|pages?|sec\.|art\.)"
    r"\s*[\d.]+\s*|(?<!\w)[a-z])$",
)
_NAMES = "passages?|documents?|docs?|sources?|contexts?|texts?|excerpts?|snippets?|references?|refs?|chunks?"
_CLAUSE_END = r"(?=\s*(?:$|[\n.,;:!?)\]\u3011]))"
_NAMED = re.compile(  # passage 2, documents 1 and 3, Source: 2
    rf"(\b(?:the|this|that|given|provided)\s+)?\b({_NAMES})\.?(\s*:)?\s*(?:no\.|nos\.|numbers?|\#)?\s*\#?({_LIST})(?![\w%])",
)
_SPELLED = re.compile(  # passage two
    r"\b(?:passage|document|source|excerpt|snippet)\s+"
    rf"(?:({'|'.join(_ONES[1:])})\b|(one)\b(?=\s*(?:$|[\n.,;:!?)\]]|and\b|or\b|says?\b|states?\b|claims?\b|gives\b)))",
)
_ORDINAL = "|".join(_ORDINALS)
_BY_ORDINAL = re.compile(  # the second passage
    rf"\b(?:({_ORDINAL})\s+(?:passage|excerpt|snippet)|the\s+({_ORDINAL})\s+(?:document|source|text))\b"
)
_BY_ORDINAL_ALONE = re.compile(  # the third says
    rf"\bthe\s+({_ORDINAL})\s+(?:one\s+)?(?:says|states|claims|mentions|gives|reports|indicates|suggests|has|puts)\b",
)

_SUBORDINATE = "while|whereas|although|though"
_CONTRAST = re.compile(
    rf"\b(?:but|however|({_SUBORDINATE})|on the other hand|(?:in|by) contrast|conversely|the other|another|others)\b",
    re.IGNORECASE,
)
_SOURCE_WORDS = re.compile(
    rf"\b(?:{_NAMES}|according|says?|said|saying|(?<!united )states?|stated|stating|claim(?:s|ed)?|mention(?:s|ed)?"
    r"|indicates?|indicated|suggest(?:s|ed)?|reports?|reported|articles?|accounts?|information)\b",
    re.IGNORECASE,
)
# Patterns of words of disagreement, by stem. A pattern is skipped if the question contains its stem.
_DISAGREES = {
    "disagree": r"disagree(?:s|d|ing|ments?)?",
    "contradict": r"contradict(?:s|ed|ing|ions?|ory)?",
    "inconsist": r"inconsistent|inconsistenc(?:y|ies)",
    "discrepan": r"discrepanc(?:y|ies)",
    "conflict": r"conflicting",
    "depending": r"depending on (?:the|which|what|whose) (?:passage|source|document|text)s?",
}
_DIFFERS = {
    "differ": r"differ(?:s|ed|ing|ently|ent|ences?)?",
    "conflict": r"conflict(?:s|ed|ing)?",
}
"""Further patterns of words of disagreement, which count only in a reply that names sources."""

_NEGATED = re.compile(
    r"(?:\b(?:no|not|never|without|nor|neither|cannot)|n['\u2019]t)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_MAX_CONTRASTS, _MAX_COMMAS = 20, 5
"""Limits of the contrasts and commas that are read in a long reply."""


def without_marks(reply: str) -> str:
    """Return the reply without marks such as [2], whose numbers are no part of an answer."""
    return _SQUARE.sub(" ", reply)


def cited_numbers(reply: str, passages: int) -> tuple[int, ...]:
    """Return the numbers by which a reply cites passages, sorted, each once, also numbers that no passage has.

    Args:
        reply: the reply.
        passages: the number of passages.
    """
    lines = unicodedata.normalize("NFKC", reply).lower().splitlines()
    text = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    numbers = {number for number in _citations(text, passages) if number <= max(999, passages)}
    return tuple(sorted(numbers))


def _citations(text: str, passages: int) -> Iterator[int]:
    """Yield the number of each citation, in the order of the forms in the module's docstring."""
    for match in _SQUARE.finditer(text):
        yield from _numbers(match[1], passages)
    if not _LIST_MARK.search(text):
        for match in _ROUND.finditer(text):
            numbers = _numbers(match[1], passages)
            # 80 characters are enough for "Section 5" and the like.
            before = text[max(0, match.start(1) - 80) : match.start(1)].rstrip().removesuffix("(")
            are_passages = all(1 <= number <= passages for number in numbers)
            if are_passages and not _is_other_number(before, numbers):
                yield from numbers
    for match in _NAMED.finditer(text):
        yield from _numbers_after_name(text, match, passages)
    for match in _SPELLED.finditer(text):
        yield _NUMBERS[match[1] or match[2]]
    by_ordinal = list(_BY_ORDINAL.finditer(text))
    for match in (*by_ordinal, *(_BY_ORDINAL_ALONE.finditer(text) if by_ordinal else ())):
        yield _ORDINALS[next(filter(None, match.groups()))]


def _is_other_number(before: str, numbers: list[int]) -> bool:
    """Return True if the text before a number in brackets shows that it cites nothing: two (2), Section 5 (2), f(2)."""
    last = (before.split() or [""])[-1].strip("\"'.,;:")
    is_repeated = last in map(str, numbers) or _NUMBERS.get(last) in numbers
    return is_repeated or bool(_OTHER_NUMBERING.search(before))


def _numbers_after_name(text: str, match: re.Match[str], passages: int) -> Iterator[int]:
    """Yield the numbers after a name of passages: all numbers after a plural or within brackets, else only the first.

    "Documents 1 and 3" cites 1 and 3; "document 1 and 3 people" cites 1.
    """
    determiner, name, colon, written = match.groups()
    after = text[match.end() :]
    if determiner and name.removesuffix("s") in ("text", "context"):  # "the text 2" is no name
        return
    if colon and not re.match(_CLAUSE_END, after):  # "Source: 2 people said"
        return
    numbers = _numbers(written, passages)
    is_list = name.endswith("s") or bool(re.match(r"\s*[)\]\u3011]", after))
    yield from numbers if is_list else numbers[:1]


def _numbers(written: str, passages: int) -> list[int]:
    """Return the numbers of a list, and the numbers within a range of existing passages: 1, 3 and 2 for "1-3"."""
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    for first, last in _RANGE.findall(written):
        if int(first) < int(last) <= passages:
            numbers += range(int(first) + 1, int(last))
    return numbers


def names_conflict(
    reply: str,
    verdict: Verdict,
    verdict_on: Callable[[str], Verdict],
    *,
    question: str,
    cites: Collection[int],
    right: Collection[int],
    wrong: Collection[int],
) -> bool:
    """Return True if a reply says that the right and the wrong passages of its prompt disagree.

    Args:
        reply: the reply.
        verdict: the verdict on the reply.
        verdict_on: returns the verdict on a part of the reply.
        question: the question.
        cites: the numbers that the reply cites.
        right: the numbers of the passages that state the right answer.
        wrong: the numbers of the passages that state the reply's wrong answer.
    """
    names_sources = bool(cites) or bool(_SOURCE_WORDS.search(reply))
    if verdict == "both":
        cites_both_sides = not set(cites).isdisjoint(right) and not set(cites).isdisjoint(wrong)
        patterns = {**_DISAGREES, **_DIFFERS} if names_sources else _DISAGREES
        if cites_both_sides or _disagrees(reply, question, patterns):
            return True
    return names_sources and any(
        {verdict_on(before), verdict_on(after)} == {"context", "original"} for before, after in _parts(reply)
    )


def _disagrees(reply: str, question: str, patterns: Mapping[str, str]) -> bool:
    """Return True if a reply has a word of disagreement that is not negated and not in the question."""
    question_text = question.lower()
    return any(
        not _NEGATED.search(reply[: match.start()])
        for stem, pattern in patterns.items()
        if stem not in question_text
        for match in re.finditer(rf"\b(?:{pattern})\b", reply, re.IGNORECASE)
    )


def _parts(reply: str) -> Iterator[tuple[str, str]]:
    """Yield the parts around each word of contrast; after while, whereas, although or though also around each comma.

    "Nine, but passage 2 says ten" gives "Nine," and " passage 2 says ten".
    """
    for match in islice(_CONTRAST.finditer(reply), _MAX_CONTRASTS):
        before, after = reply[: match.start()], reply[match.end() :]
        yield before, after
        if match[1]:
            for comma in islice(re.finditer(",", after), _MAX_COMMAS):
                yield after[: comma.start()], after[comma.end() :]
