"""Passages: the pieces of a context, and the text into which several passages are put together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning

OwnKind = Literal["supporting", "conflicting", "irrelevant", "neutral", "unknown"]
"""Kind of a passage in a user's file, by the answer that the passage states."""

OWN_KINDS: tuple[OwnKind, ...] = ("supporting", "conflicting", "irrelevant", "neutral", "unknown")

PLAIN = "{text}"
"""The form that writes a passage as its text alone."""

SEPARATOR = "\n\n"
"""The default text between two passages."""

SLOTS = ("number", "text", "title", "source", "date", "score")
_SLOT = re.compile("{(" + "|".join(SLOTS) + ")}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a context, as a search returns it; a missing property, such as a date, is None."""

    text: Annotated[str, Meaning("the passage's text")]
    kind: Annotated[
        OwnKind | None, Meaning("supporting, conflicting, irrelevant, neutral or unknown, by the answer that it states")
    ] = None
    answers: Annotated[tuple[str, ...], Meaning("the answers that the passage states, in all their forms")] = ()
    title: Annotated[str | None, Meaning("the passage's title")] = None
    source: Annotated[str | None, Meaning("the passage's source")] = None
    date: Annotated[str | None, Meaning("the passage's date, as its source writes it")] = None
    score: Annotated[float | None, Meaning("the search engine's score of the passage for the question")] = None


def text_of(passages: Sequence[Passage], form: str = PLAIN, separator: str = SEPARATOR) -> str:
    """Return passages as one text, each in the form, and numbered from 1.

    Args:
        passages: the passages.
        form: a text with the slots {number}, {text}, {title}, {source}, {date} and {score}. A line is removed if all of
            its slots are empty. Brackets are removed if missing values leave them empty.
        separator: the text between two passages.
    """
    return separator.join(_passage_text(passage, number, form) for number, passage in enumerate(passages, 1))


def _passage_text(passage: Passage, number: int, form: str) -> str:
    values: dict[str, object] = {name: getattr(passage, name, None) for name in SLOTS} | {"number": number}
    for name in ("title", "source", "date"):  # on one line, so that no value looks like the next passage
        value = values[name]
        values[name] = " ".join(value.split()) if isinstance(value, str) else None
    lines = []
    for line in form.split("\n"):
        slots = _SLOT.findall(line)
        if slots and all(values[slot] is None for slot in slots):
            continue
        lines.append(line if not slots else _fill_line(line, values))
    return "\n".join(lines)


def _fill_line(line: str, values: Mapping[str, object]) -> str:
    """Fill the slots of a line, and remove the commas and brackets around missing values."""
    if any(values[slot] is None for slot in _SLOT.findall(line)):
        line = _SLOT.sub(lambda slot: slot[0] if values[slot[1]] is not None else "", line)
        line = re.sub(r",\s*\)", ")", line)  # "(Atlas, )"
        line = re.sub(r"\(\s*,\s*", "(", line)  # "(, 2020)"
        line = re.sub(r"\s*\(\s*\)", "", line)
        line = re.sub(r"  +", " ", line).strip()
    return _SLOT.sub(lambda slot: str(values[slot[1]]), line)
