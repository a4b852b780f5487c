"""Names of entities that exist nowhere: those listed in invented.yaml, and the parts of name_parts.yaml to build more.

A part has slots, such as {town}: what fills one stands above it, or is a digit or a letter.
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
"""Without the letters I and O, which read like 1 and 0."""


@dataclass(frozen=True, config=ENTRY)
class ClassOfNames:
    """What the entities of a class are called, in the plural, the patterns of their names, and parts for these."""

    called: Text
    names: Texts
    parts: Mapping[str, Texts] = field(default_factory=dict)


class NameParts(NamedTuple):
    """The classes, the lines that may fill each slot, and words in small letters that no invented name may have."""

    classes: Mapping[str, ClassOfNames]
    lines: Mapping[str, tuple[str, ...]]
    real: frozenset[str]


@cache
def invented_entities(entity_class: str) -> tuple[str, ...]:
    """The listed names of a class; raises UnknownName for a class the catalog lacks."""
    classes = mapping("invented.yaml", "classes")
    if entity_class not in classes:
        raise UnknownName("entity class", entity_class, classes)
    names: tuple[str, ...] = validated(f"invented.yaml: classes.{entity_class}", Texts, classes[entity_class])
    return names


@cache
def name_parts() -> NameParts:
    """All of name_parts.yaml; raises InputError where nothing above fills a slot, or a class is not one of entities."""
    classes: dict[str, ClassOfNames] = {}
    lines: dict[str, tuple[str, ...]] = {}
    _add("parts", validated(f"{FILE}: parts.", Mapping[str, Texts], mapping(FILE, "parts")), lines)
    for name, entry in mapping(FILE, "classes").items():
        classes[name] = validated(f"{FILE}: classes.{name}.", ClassOfNames, entry)
        _add(f"classes.{name}.parts", classes[name].parts, lines)
        _add(f"classes.{name}", {name: classes[name].names}, lines)
    if differing := set(classes) ^ set(ENTITY_CLASSES):
        raise InputError(f"{FILE}: its classes must be those of entities; these differ: {', '.join(sorted(differing))}")
    real = frozenset(validated(f"{FILE}: real", Texts, document(FILE).get("real")))
    return NameParts(MappingProxyType(classes), MappingProxyType(lines), real)


def class_of_names(entity_class: str) -> ClassOfNames:
    """How names of a class are built; raises UnknownName where the class is not one of entities, such as dates."""
    classes = name_parts().classes
    if entity_class not in classes:
        raise UnknownName("class of entities", entity_class, classes)
    return classes[entity_class]


def uncapitalised(slot: str) -> str:
    """The name of what fills a slot: {Noun} is filled with nouns too."""
    return slot[0].lower() + slot[1:]


def _add(where: str, added: Mapping[str, tuple[str, ...]], lines: dict[str, tuple[str, ...]]) -> None:
    for name, texts in added.items():
        if name in lines or name in DRAWN_SLOTS:
            raise InputError(f"{FILE}: {where}: {name!r} is the name of something above; choose another")
        for text in texts:
            for slot in SLOT.findall(text):
                if uncapitalised(slot) not in (*lines, *DRAWN_SLOTS):
                    raise InputError(f"{FILE}: {where}.{name}: nothing above fills the slot {{{slot}}} of {text!r}")
            if set(SLOT.sub("", text)) & set("{}"):
                raise InputError(f"{FILE}: {where}.{name}: {text!r} has a brace that belongs to no slot")
        lines[name] = texts
