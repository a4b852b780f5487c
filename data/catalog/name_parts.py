"""Names of invented entities, listed in invented.yaml, and the parts in name_parts.yaml, of which more names are made.

A pattern of names, such as "Leaving {town}", has slots. A slot has the name of a list of texts earlier in the file.
The slots {digit} and {letter} stand for one character.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, Text, Texts, document, mapping, validated
from swaymeter.data.catalog.relation_file import ENTITY_CLASSES
from swaymeter.data.errors import InputError, UnknownName

FILE = "name_parts.yaml"
SLOT = re.compile(r"\{(\w+)\}")
DRAWN_SLOTS = {"digit": "123456789", "letter": "ABCDEFGHJKLMNPQRSTUVWXYZ"}
"""Slots for one character, with the possible characters. I and O are left out, because they look like 1 and 0."""


@dataclass(frozen=True, config=ENTRY)
class NamesOfClass:
    """The patterns and parts of the names of a class of entities.

    Attributes:
        called: the class in the plural, such as "films".
        names: patterns of names, such as "Leaving {town}".
        parts: lists of texts for slots of these patterns, by the name of the slot.
    """

    called: Text
    names: Texts
    parts: Mapping[str, Texts] = field(default_factory=dict)


class NameParts(NamedTuple):
    """The content of name_parts.yaml.

    Attributes:
        classes: patterns and parts of the names of each class of entities, by class.
        fillers: lists of texts for slots, by the name of the list; a text may have slots, too.
        forbidden_words: lower-case words that no invented name may have, because real names have them.
    """

    classes: Mapping[str, NamesOfClass]
    fillers: Mapping[str, tuple[str, ...]]
    forbidden_words: frozenset[str]


@cache
def invented_entities(entity_class: str) -> tuple[str, ...]:
    """Return the names of a class in invented.yaml; UnknownName for a class that the file lacks."""
    classes = mapping("invented.yaml", "classes")
    if entity_class not in classes:
        raise UnknownName("entity class", entity_class, classes)
    names: tuple[str, ...] = validated(f"invented.yaml: classes.{entity_class}", Texts, classes[entity_class])
    return names


@cache
def name_parts() -> NameParts:
    """Return the content of name_parts.yaml; InputError for a slot without an earlier list, or for an unknown class."""
    classes: dict[str, NamesOfClass] = {}
    fillers: dict[str, tuple[str, ...]] = {}
    common_parts = validated(f"{FILE}: parts.", Mapping[str, Texts], mapping(FILE, "parts"))
    _add_fillers("parts", common_parts, fillers)
    for name, entry in mapping(FILE, "classes").items():
        classes[name] = validated(f"{FILE}: classes.{name}.", NamesOfClass, entry)
        _add_fillers(f"classes.{name}.parts", classes[name].parts, fillers)
        # Names of a class are a list, too: the slot {city} of a later pattern is filled with the name of a city.
        _add_fillers(f"classes.{name}", {name: classes[name].names}, fillers)
    if differing := set(classes) ^ set(ENTITY_CLASSES):
        names = ", ".join(sorted(differing))
        raise InputError(
            f"{FILE}: the keys below `classes` must be all classes of entities, and no others; missing or unknown: "
            f"{names}"
        )
    forbidden_words = frozenset(validated(f"{FILE}: real", Texts, document(FILE).get("real")))
    return NameParts(MappingProxyType(classes), MappingProxyType(fillers), forbidden_words)


def names_of_class(entity_class: str) -> NamesOfClass:
    """Return the patterns and parts of a class of entities; UnknownName for any other class, such as date."""
    classes = name_parts().classes
    if entity_class not in classes:
        raise UnknownName("class of entities", entity_class, classes)
    return classes[entity_class]


def list_of_slot(slot: str) -> str:
    """Return the name of the list that fills a slot, such as noun for {noun} and for the capitalised {Noun}."""
    return slot[0].lower() + slot[1:]


def _add_fillers(key: str, lists: Mapping[str, tuple[str, ...]], fillers: dict[str, tuple[str, ...]]) -> None:
    """Add the lists below a key of the file to `fillers`; InputError for a repeated name or an unknown slot."""
    for name, texts in lists.items():
        if name in fillers or name in DRAWN_SLOTS:
            raise InputError(f"{FILE}: {key}: the name {name!r} is already used or reserved; choose another name")
        for text in texts:
            for slot in SLOT.findall(text):
                if list_of_slot(slot) not in (*fillers, *DRAWN_SLOTS):
                    raise InputError(
                        f"{FILE}: {key}.{name}: the slot {{{slot}}} of {text!r} needs a list {list_of_slot(slot)!r} "
                        "earlier in the file"
                    )
            if set(SLOT.sub("", text)) & set("{}"):
                raise InputError(
                    f"{FILE}: {key}.{name}: {text!r} has a brace that belongs to no slot; remove the brace, or "
                    "complete the slot"
                )
        fillers[name] = texts
