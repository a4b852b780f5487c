"""Names that are built to be nobody's, from a seeded generator: Faker's names and the catalog's parts, put together.

A surname or a town is the beginning of one that exists and the end of another, joined where both have the same letter,
so that every two letters in it follow each other in a name that exists; what is one letter off a name that Faker knows
is not taken.
Triple and class alone decide about the names, and the first n of a longer list are the list of n.
What it is not: a proof. A name may still exist somewhere; whoever has a graph at hand looks the names up there.
"""

import re
import unicodedata
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from data.catalog.name_parts import FILE, SLOT, class_of_names, name_parts, uncapitalised
from data.catalog.reading import digest
from data.errors import InputError, UsageError
from data.storage.keys import generator

if TYPE_CHECKING:
    from faker import Faker

GENERATOR_VERSION = f"1, Faker {version('Faker')}, parts {digest(FILE)[:12]}"
"""What besides seed and class decides about the names: with another version they may be others."""

LENGTHS = range(2, 81)

_TRIES = 20  # a class is used up where so many draws for each name, and a hundred more, do not give enough
_BLENDS = 500  # the same for two names that are to be joined
_BLENDED = range(6, 12)  # letters of a joined name
_ODD = re.compile(r"[^aeiouy]{4}|[aeiouy]{3}|(.)\1\1|^[^aeiouy]{3}")
_FORM = re.compile(r"\w+(?:(?:[ '.-]|\. | & )\w+)*\.?")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without I and O, which read like 1 and 0
_PROVIDERS = [f"faker.providers.{name}" for name in ("person", "address", "company")]


def invented_names(entity_class: str, count: int, *, seed: int) -> list[str]:
    """`count` different names of a class of entities: Latin letters, 2 to 80 characters, no word twice in a name.

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
        name = draw.name(patterns)
        if _is_sound(name):
            names.setdefault(name.casefold(), name)
    raise InputError(
        f"class {entity_class}: {count} invented names are asked for, its parts give {len(names)}; ask for fewer, or "
        f"give it more parts in data/catalog/{FILE}"
    )


class _Draw:
    """The draws for one list of names.

    One Faker a locale: a Faker of several draws its locale from a generator that it does not seed.
    """

    def __init__(self, seed: int, entity_class: str) -> None:
        self._identity = (seed, "invented names", entity_class)
        self._random = generator(*self._identity)
        self._fakers: dict[str, Faker] = {}
        self._locale = self._town_locale = self._gender = ""

    def name(self, patterns: tuple[str, ...]) -> str:
        """One name; its people are all of one locale and one gender, its towns of one locale."""
        parts = name_parts()
        self._locale, self._town_locale = self._drawn_from(parts.locales), self._drawn_from(parts.town_locales)
        self._gender = self._drawn_from(("female", "male"))
        return unicodedata.normalize("NFC", self._filled(self._drawn_from(patterns)))

    def _drawn_from(self, lines: tuple[str, ...] | str) -> str:
        return lines[self._random.integers(len(lines))]

    def _filled(self, line: str) -> str:
        return SLOT.sub(lambda slot: self._filling(slot[1]), line)

    def _filling(self, slot: str) -> str:
        name = uncapitalised(slot)
        text = self._drawn(name)
        return text if name == slot else " ".join(word[:1].upper() + word[1:] for word in text.split(" "))

    def _drawn(self, name: str) -> str:
        match name:
            case "digit":
                return self._drawn_from("123456789")
            case "letter":
                return self._drawn_from(_LETTERS)
            case "first_name":
                return self._faked(self._locale, f"first_name_{self._gender}")
            case "company_suffix":
                return str(self._faker(self._locale).company_suffix())
            case "surname":
                return self._blend(self._locale, f"last_name_{self._gender}", "last_names")
            case "town":
                return self._blend(self._town_locale, "city", "cities")
        return self._filled(self._drawn_from(name_parts().lines[name]))

    def _faker(self, locale: str) -> "Faker":
        if locale not in self._fakers:
            from faker import Faker  # slow to import, and most commands need no names

            faker = Faker(locale, providers=_PROVIDERS, use_weighting=False)
            faker.seed_instance(int(generator(*self._identity, locale).integers(2**63)))
            self._fakers[locale] = faker
        return self._fakers[locale]

    def _faked(self, locale: str, what: str) -> str:
        """One of Faker's names that is a single word."""
        draw = getattr(self._faker(locale), what)
        for _ in range(_BLENDS):
            name = str(draw())
            if name.isalpha() and name.istitle():
                return name
        raise InputError(f"{FILE}: Faker's {what} of {locale} is never a single word; take another locale")

    def _blend(self, locale: str, what: str, listed: str) -> str:
        known = _known(locale, listed)
        for _ in range(_BLENDS):
            head, tail = self._faked(locale, what), self._faked(locale, what)
            joints = [
                head[:end] + tail[start:]
                for end in range(2, len(head))
                for start in range(2, len(tail) - 1)
                if head[end - 1] == tail[start - 1] and end + len(tail) - start in _BLENDED
            ]
            sound = [blend for blend in joints if _is_new(blend, known)]
            if sound:
                return self._drawn_from(tuple(sound))
        raise InputError(f"{FILE}: Faker's {listed} of {locale} cannot be joined; take another locale")


@cache
def _known(locale: str, listed: str) -> frozenset[str]:
    """What is too near to Faker's own surnames or towns of a locale."""
    from faker import Faker

    providers = Faker(locale, providers=_PROVIDERS).get_providers()
    lists = [getattr(provider, name) for provider in providers for name in dir(provider) if name.startswith(listed)]
    return frozenset(near for names in lists for name in names for near in _near(_plain(name)))


def _plain(name: str) -> str:
    """Without marks and capitals."""
    return "".join(c for c in unicodedata.normalize("NFD", name.casefold()) if not unicodedata.combining(c))


def _near(plain: str) -> set[str]:
    """The name and all that lack one of its letters: names one letter apart have one of these in common."""
    return {plain, *(plain[:place] + plain[place + 1 :] for place in range(len(plain)))}


def _is_new(blend: str, known: frozenset[str]) -> bool:
    plain = _plain(blend)
    return known.isdisjoint(_near(plain)) and not _ODD.search(plain)


def _is_sound(name: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", name.casefold())
    latin = all(unicodedata.name(c, "").startswith("LATIN ") for c in name if c.isalpha())
    return latin and len(name) in LENGTHS and len(set(words)) == len(words) and _FORM.fullmatch(name) is not None
