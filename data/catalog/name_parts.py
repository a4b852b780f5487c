"""name_parts.yaml: what invented names are put together from; and the prompt that asks a language model for names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from data.catalog.classes import ENTITY_CLASSES
from data.catalog.reading import document, fields, mapping, text, texts
from data.errors import InputError, UnknownName

FILE = "name_parts.yaml"
SLOT = re.compile(r"\{(\w+)\}")
DRAWN_SLOTS = ("first_name", "surname", "town", "company_suffix", "digit", "letter")


@dataclass(frozen=True)
class ClassOfNames:
    """What the entities of a class are called, in the plural, and the patterns of their names."""

    called: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class NameParts:
    """Faker's locales for people and companies, those for towns, the classes, and the lines that may fill each slot."""

    locales: tuple[str, ...]
    town_locales: tuple[str, ...]
    classes: Mapping[str, ClassOfNames]
    lines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class NamesPrompt:
    """How a model is asked for names, in its chat form and in the plain one; slots {things} and {examples}."""

    chat: str
    plain: str


@cache
def name_parts() -> NameParts:
    """The whole of name_parts.yaml.

    Raises:
        InputError: Its classes are not those of entities, or nothing above a line fills one of its slots.
    """
    lines: dict[str, tuple[str, ...]] = {}
    classes: dict[str, ClassOfNames] = {}
    _add("parts", mapping(FILE, "parts"), lines)
    for name, entry in mapping(FILE, "classes").items():
        where = f"classes.{name}"
        known = fields(FILE, where, entry, ("called", "names", "parts"))
        _add(f"{where}.parts", known.get("parts", {}), lines)
        _add(where, {name: known.get("names")}, lines)
        classes[name] = ClassOfNames(text(FILE, f"{where}.called", known.get("called")), lines[name])
    if differing := set(classes) ^ set(ENTITY_CLASSES):
        raise InputError(f"{FILE}: its classes must be those of entities; these differ: {', '.join(sorted(differing))}")
    locales, towns = (texts(FILE, key, document(FILE).get(key)) for key in ("locales", "town_locales"))
    return NameParts(locales, towns, MappingProxyType(classes), MappingProxyType(lines))


def class_of_names(entity_class: str) -> ClassOfNames:
    """How names of a class are made; raises UnknownName for what is no class of entities, such as dates."""
    classes = name_parts().classes
    if entity_class not in classes:
        raise UnknownName("class of entities", entity_class, classes)
    return classes[entity_class]


@cache
def names_prompt() -> NamesPrompt:
    """How a model is asked for names; raises InputError for a prompt with other slots than {things} and {examples}."""
    entries = mapping("prompts.yaml", "names")
    prompts = {key: text("prompts.yaml", f"names.{key}", entries.get(key)) for key in NamesPrompt.__dataclass_fields__}
    for key, prompt in prompts.items():
        if sorted(SLOT.findall(prompt)) != ["examples", "things"]:
            raise InputError(f"prompts.yaml: names.{key} must have the slots things and examples, each once")
    return NamesPrompt(**prompts)


def uncapitalised(slot: str) -> str:
    """The name of what fills a slot: {Noun} is filled with nouns too."""
    return slot[0].lower() + slot[1:]


def _add(where: str, entries: object, lines: dict[str, tuple[str, ...]]) -> None:
    if not isinstance(entries, Mapping):
        raise InputError(f"{FILE}: {where} must be a mapping")
    for name, values in entries.items():
        if name in lines or name in DRAWN_SLOTS:
            raise InputError(f"{FILE}: {where}: {name!r} is the name of something above; choose another")
        added = texts(FILE, f"{where}.{name}", values)
        for line in added:
            _check_slots(f"{where}.{name}", line, lines)
        lines[name] = added


def _check_slots(where: str, line: str, lines: Mapping[str, object]) -> None:
    for slot in SLOT.findall(line):
        if uncapitalised(slot) not in lines and uncapitalised(slot) not in DRAWN_SLOTS:
            raise InputError(f"{FILE}: {where}: nothing above fills the slot {{{slot}}} of {line!r}")
    if set(SLOT.sub("", line)) & set("{}"):
        raise InputError(f"{FILE}: {where}: {line!r} has a brace that belongs to no slot")
