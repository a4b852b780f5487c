"""Items of Wikidata, or of another wiki with Wikibase: what they are called, what they state, who they are elsewhere.

Labels and descriptions are hostile text. A statement's value is compared, never shown: its main snak in one way of
writing, whatever keys and numbers the wiki wrote it with.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from data.errors import InputError
from data.records import WikidataId
from data.sources.wikimedia.mediawiki import Wiki
from data.sources.wikimedia.mediawiki_answers import text, whole

SOURCE = "Wikidata"
LICENCE = "CC0 1.0"
BATCH = 50
"""How many items one request may ask for."""
LARGEST_NUMBER = 2**31 - 1
"""No id has a larger number; a request that names one is refused as a whole."""
LANGUAGES = ("en", "mul")
"""English, and what is the same in all languages."""
WIKIPEDIA = "enwiki"
DEPRECATED = "deprecated"
_LETTERS = {"item": "Q", "property": "P"}


@dataclass(frozen=True, slots=True)
class Statement:
    """What an item states under a property.

    value: the main snak (that a value is there, unknown or none, and the value) as canonical JSON: two statements say
    the same when their values are equal. item_id: the item that is the value; None where it is none. rank: preferred,
    normal or deprecated.
    """

    statement_id: str
    property_id: WikidataId
    value: str
    item_id: WikidataId | None
    rank: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item or property as it was at `revision`: its English names, its statements, its page of English Wikipedia.

    item_id: of an item that was merged, the one that it was merged into. label: in English, else the one for all
    languages. statements: property -> statements, in the item's order. wikipedia: the page's title.
    """

    item_id: WikidataId
    revision: int
    label: str | None
    aliases: tuple[str, ...]
    description: str | None
    statements: Mapping[WikidataId, tuple[Statement, ...]]
    wikipedia: str | None
    retrieved_at: datetime

    def values(self, property_id: str, *, deprecated: bool = False) -> tuple[WikidataId, ...]:
        """The items that it states under a property, each once; deprecated: those that are held wrong, too."""
        stated = self.statements.get(WikidataId(property_id), ())
        return tuple(
            dict.fromkeys(
                one.item_id for one in stated if one.item_id is not None and (deprecated or one.rank != DEPRECATED)
            )
        )


class Wikidata:
    """Asks a wiki with Wikibase for its items."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki

    def items(self, ids: Iterable[str]) -> dict[WikidataId, Item]:
        """The items and properties by the id that was asked for; those that do not exist, or no longer, are absent.

        InputError for what is no id; ServiceError where the wiki cannot be asked or answers nonsense.
        """
        asked = dict.fromkeys(map(WikidataId, ids))
        possible = (one for one in asked if int(one[1:]) <= LARGEST_NUMBER)
        found: dict[WikidataId, Item] = {}
        while batch := list(islice(possible, BATCH)):
            found.update(self._batch(batch))
        return found

    def _batch(self, ids: Sequence[WikidataId]) -> dict[WikidataId, Item]:
        form = {
            "action": "wbgetentities",
            "ids": "|".join(ids),
            "props": "info|labels|aliases|descriptions|claims|sitelinks",
            "languages": "|".join(LANGUAGES),
            "sitefilter": WIKIPEDIA,
        }
        answer = self.wiki.ask(form, reads=lambda content: _read(content, ids, datetime.min))
        return _read(answer.content, ids, answer.retrieved_at)


def statements_of(entity: Mapping[str, Any]) -> dict[WikidataId, tuple[Statement, ...]]:
    """The statements of an item's JSON, as a wiki answers or stores it, by property; none where the item was merged.

    Raises one of MISREAD where it is no such JSON.
    """
    if "redirect" in entity:
        return {}
    # Where there is none, a stored item says [], which is how PHP writes an empty map.
    stated = entity["claims"] or {}
    return {_id(one): tuple(_statement(_id(one), said) for said in statements) for one, statements in stated.items()}


def _statement(property_id: WikidataId, said: Mapping[str, Any]) -> Statement:
    snak = said["mainsnak"]
    kind, value, item_id = text(snak["snaktype"]), snak.get("datavalue"), None
    if value is not None and value["type"] == "wikibase-entityid":
        named = _entity_id(value["value"])
        item_id = _id(named) if named.startswith("Q") else None
        value = {"type": value["type"], "value": named}
    canonical = json.dumps([kind, _plain(value)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Statement(text(said["id"]), property_id, canonical, item_id, text(said["rank"]))


def _id(said: Any) -> WikidataId:
    try:
        return WikidataId(text(said))
    except InputError as error:
        raise ValueError(str(error)) from None


def _entity_id(said: Mapping[str, Any]) -> str:
    """The id of an entity that is a value; older wikis say only its kind and number."""
    return text(said["id"]) if "id" in said else f"{_LETTERS[said['entity-type']]}{whole(said['numeric-id'])}"


def _plain(value: Any) -> Any:
    """The value without what says nothing, and whole numbers in one way of writing."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read(content: Any, asked: Sequence[WikidataId], retrieved_at: datetime) -> dict[WikidataId, Item]:
    entities = {one: content["entities"][one] for one in asked}
    return {one: _item(said, retrieved_at) for one, said in entities.items() if said.get("missing") is None}


def _item(said: Mapping[str, Any], retrieved_at: datetime) -> Item:
    link = (said.get("sitelinks") or {}).get(WIKIPEDIA)
    return Item(
        item_id=_id(said["id"]),
        revision=whole(said["lastrevid"]),
        label=_term(said["labels"]),
        aliases=_aliases(said["aliases"]),
        description=_term(said["descriptions"]),
        statements=statements_of(said),
        wikipedia=None if link is None else text(link["title"]),
        retrieved_at=retrieved_at,
    )


def _term(said: Any) -> str | None:
    terms = said or {}
    return next((text(terms[language]["value"]) for language in LANGUAGES if language in terms), None)


def _aliases(said: Any) -> tuple[str, ...]:
    terms = said or {}
    return tuple(dict.fromkeys(text(one["value"]) for language in LANGUAGES for one in terms.get(language, ())))
