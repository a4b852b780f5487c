"""Names of invented entities, which a seeded generator composes from parts in the catalog.

The names depend only on the seed and the class. A shorter list is the beginning of a longer list.
`tasks/contexts/invented_names.py` looks each name up in graphs, because something real may have the name.
"""

import re

from swaymeter.data.catalog.name_parts import DRAWN_SLOTS, FILE, SLOT, list_of_slot, name_parts, names_of_class
from swaymeter.data.catalog.reading import digest
from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.randomness import generator

GENERATOR_VERSION = f"2, parts {digest(FILE)[:12]}"
"""Version of the generator; this version, the seed and the class determine the names."""

LENGTHS = range(2, 81)
"""Possible numbers of characters of a name."""

_DRAWS_PER_NAME = 20
"""Limit of the draws for each requested name; a list gets 100 more draws."""
_REPETITION = re.compile(r"(\w)\1\1|(\w\w)\2")
"""A letter three times in a row, as in Fellleni, or two letters twice in a row, as in Kararan."""


def invented_names(entity_class: str, count: int, *, seed: int) -> list[str]:
    """Return `count` different names of a class of entities, each of 2 to 80 characters and without a repeated word.

    Raises:
        UnknownName: No class of entities has this name.
        UsageError: The count is negative.
        InputError: The parts of the class give fewer names.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are requested; request 0 or more")
    patterns = names_of_class(entity_class).names
    draw = _Draw(seed, entity_class)
    names: dict[str, str] = {}
    for _ in range(_DRAWS_PER_NAME * count + 100):
        if len(names) == count:
            break
        name = draw.fill(draw.choose(patterns))
        if _is_valid(name):
            names.setdefault(name.casefold(), name)
    if len(names) < count:
        raise InputError(
            f"class {entity_class}: {count} invented names are requested, but the name parts of this class give "
            f"only {len(names)} names; set `invented_entities` lower, or add name parts in data/catalog/{FILE}"
        )
    return list(names.values())


class _Draw:
    def __init__(self, seed: int, entity_class: str) -> None:
        self._random = generator(seed, "invented names", entity_class)

    def choose(self, choices: tuple[str, ...] | str) -> str:
        return choices[self._random.integers(len(choices))]

    def fill(self, pattern: str) -> str:
        """Return a pattern such as "{Noun} of {place}" with a drawn text in each slot."""
        return SLOT.sub(lambda slot: self._filler(slot[1]), pattern)

    def _filler(self, slot: str) -> str:
        """Return a drawn text for a slot; {Noun} gets a noun whose words have capitals."""
        name = list_of_slot(slot)
        if name in DRAWN_SLOTS:
            text = self.choose(DRAWN_SLOTS[name])
        else:
            text = self.fill(self.choose(name_parts().fillers[name]))
        return text if name == slot else " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def _is_valid(name: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", name.casefold())
    is_allowed = name_parts().forbidden_words.isdisjoint(words)
    has_repetition = len(set(words)) < len(words) or _REPETITION.search(name.casefold()) is not None
    return is_allowed and not has_repetition and len(name) in LENGTHS
