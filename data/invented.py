"""Names that are built to be nobody's, from a seeded generator that puts the catalog's parts together.

Seed and class alone decide about the names, and the first n of a longer list are the list of n.
What it is not: a proof. A name may still exist somewhere; whoever has a graph at hand looks the names up there.
"""

import re

from swaymeter.data.catalog.name_parts import DRAWN_SLOTS, FILE, SLOT, class_of_names, name_parts, uncapitalised
from swaymeter.data.catalog.reading import digest
from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.randomness import generator

GENERATOR_VERSION = f"2, parts {digest(FILE)[:12]}"
"""Version of the generator: with the seed and the class it determines the names."""

LENGTHS = range(2, 81)

_TRIES = 20  # a class is used up where so many draws for each name, and a hundred more, do not give enough
_ODD = re.compile(r"(\w)\1\1|(\w\w)\2")  # three equal letters, or two twice: Felleni, Kararan


def invented_names(entity_class: str, count: int, *, seed: int) -> list[str]:
    """`count` different names of a class of entities: 2 to 80 characters of ASCII, no word twice in a name.

    Raises UnknownName where the class is not one of entities, UsageError for a negative count, InputError where the
    parts of the class do not give so many.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are asked for; ask for 0 or more")
    patterns = class_of_names(entity_class).names
    draw = _Draw(seed, entity_class)
    names: dict[str, str] = {}
    for _ in range(_TRIES * count + 100):
        if len(names) == count:
            return list(names.values())
        name = draw.filled(draw.drawn_from(patterns))
        if _is_sound(name):
            names.setdefault(name.casefold(), name)
    raise InputError(
        f"class {entity_class}: {count} invented names are asked for, its parts give {len(names)}; ask for fewer, or "
        f"give it more parts in data/catalog/{FILE}"
    )


class _Draw:
    """The draws for one list of names."""

    def __init__(self, seed: int, entity_class: str) -> None:
        self._random = generator(seed, "invented names", entity_class)

    def drawn_from(self, choices: tuple[str, ...] | str) -> str:
        return choices[self._random.integers(len(choices))]

    def filled(self, pattern: str) -> str:
        return SLOT.sub(lambda slot: self._filling(slot[1]), pattern)

    def _filling(self, slot: str) -> str:
        name = uncapitalised(slot)
        text = self.drawn_from(DRAWN_SLOTS[name]) if name in DRAWN_SLOTS else self.filled(self._filler(name))
        return text if name == slot else " ".join(word[:1].upper() + word[1:] for word in text.split(" "))

    def _filler(self, name: str) -> str:
        return self.drawn_from(name_parts().fillers[name])


def _is_sound(name: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", name.casefold())
    is_new = len(set(words)) == len(words) and name_parts().forbidden_words.isdisjoint(words)
    return is_new and len(name) in LENGTHS and not _ODD.search(name.casefold())
