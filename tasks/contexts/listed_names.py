"""The names in a language model's answer to a prompt for names: usually a list, with other text around it.

A name is a line without its bullet or number, its quotes, and an explanation behind it. A line is not a name if it
greets, introduces or apologises, is too short or too long, has markup, template syntax or an invisible character, or
repeats one word. The meaning of a name is not considered.
"""

import re
import unicodedata

from swaymeter.data.invented import LENGTHS

_MOST_WORDS = 12
_MOST_WORDS_OF_A_SENTENCE = 5
_MOST_WORDS_OF_A_PIECE = 5

_MARK = re.compile(r"^(?:[-–—•*·+#>|]\s*|\(?\d{1,3}[.):]\s*|\(?[a-z][.)]\s+)+")
_QUOTED = re.compile(r"^[\"“”„«‹](.+?)[\"“”»›]")
# A dash between spaces, a colon, a bracket, a tab; a sentence that follows; "is a"; ", which", ", a small town".
_ABOUT = re.compile(
    r"\s+[-–—]+\s|\s*[:|\t]\s|\s+[(\[=]|(?<=\w{4})\.\s|\s(?:is|was|are|were)\s"
    r"|,\s+(?:an?|the|which|who|whose|where)\s"
)
_SAYS = re.compile(r"\s(?:is|was|are|were)\s")
_AROUND = " \t\"'“”„‘’«»‹›*_`.,;:|"
_TALK = re.compile(
    r"^(?:sure|certainly|of course|okay|here (?:are|is)|here's|these (?:are|names)|i'm|i am|i can|i have|sorry|"
    r"as an ai|note|please|let me|the following)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"^and\s")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FORBIDDEN = frozenset("{}[]<>\\|=@\ufffd")


def names_in(answer: str, *, ended: bool = True, proper: bool = False) -> list[str]:
    """The names of an answer in their order, in normal form C, of 2 to 80 characters.

    ended: whether the model finished its answer; otherwise the last name may be incomplete and is left out. proper:
    whether a name must begin with a capital or a digit, as at least half of its words do.
    """
    text = _THOUGHT.sub("", unicodedata.normalize("NFC", answer))
    pieces = [piece for line in map(str.strip, text.splitlines()) if line for piece in _parted(line)]
    if not ended:
        pieces = pieces[:-1]
    names = (_name(piece) for piece in pieces)
    return [name for name in names if name and (_is_proper(name) or not proper)]


def folded(name: str) -> str:
    """The form in which two names are compared."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _parted(line: str) -> list[str]:
    """The line, or the names of a line that is a list itself."""
    for separator in (";", ","):
        pieces = [_AND.sub("", piece.strip()) for piece in line.strip("[]").split(separator)]
        alike = len({_MARK.match(piece) is None for piece in pieces if piece}) == 1
        short = all(len(piece.split()) <= _MOST_WORDS_OF_A_PIECE for piece in pieces)
        if len(pieces) > 2 and alike and short and not _is_greeting(line) and not _ABOUT.search(line.rstrip(".")):
            return pieces
    return [line]


def _name(line: str) -> str | None:
    if not line or _is_greeting(line) or _is_sentence(line):
        return None
    line = _MARK.sub("", line.replace("**", "").replace("`", ""))
    quoted = _QUOTED.match(line)
    text = " ".join((quoted[1] if quoted else _ABOUT.split(line, maxsplit=1)[0]).split()).strip(_AROUND)
    return text if _is_sound(text) else None


def _is_greeting(line: str) -> bool:
    return line[-1] == ":" or _TALK.match(line) is not None


def _is_sentence(line: str) -> bool:
    long = line[-1] in ".!?" and len(line.split()) > _MOST_WORDS_OF_A_SENTENCE
    return (long or _SAYS.search(line) is not None) and not _MARK.match(line)


def _is_sound(text: str) -> bool:
    words = text.casefold().split()
    repeats = len(words) >= 4 and 2 * len(set(words)) <= len(words)
    seen = all(unicodedata.category(c)[0] != "C" for c in text) and not _FORBIDDEN & set(text)
    letters = sum(c.isalpha() for c in text)
    return seen and not repeats and letters >= 2 and len(text) in LENGTHS and len(words) <= _MOST_WORDS


def _is_proper(name: str) -> bool:
    firsts = [next((c for c in word if c.isalnum()), "a") for word in name.split()]
    capital = [first.isdigit() or first != first.lower() for first in firsts]
    return capital[0] and 2 * sum(capital) >= len(capital)
