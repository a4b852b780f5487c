"""Items of Wikidata, or of another wiki with Wikibase: their names and statements, and items similar to them.

The values of statements are canonical JSON; they are compared with each other and never shown.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import InputError, shown
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.http.response import reading_check
from swaymeter.data.sources.wikimedia.mediawiki import Wiki, integer, text

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

SOURCE = "Wikidata"
LICENCE = "CC0 1.0"
BATCH = 50
"""Number of items in a request."""
LARGEST_NUMBER = 2**31 - 1
"""The largest number of an id; the wiki refuses a request if any id in it has a larger number."""
LANGUAGES = ("en", "mul")
"""English, and `mul` for names that are the same in all languages."""
WIKIPEDIA = "enwiki"
"""The name of the English Wikipedia in Wikibase."""
DEPRECATED = "deprecated"
_LETTERS = {"item": "Q", "property": "P"}
_ITEM_ID = re.compile(r"Q[1-9][0-9]*")
_MAX_SIMILARITY = 1.001  # a cosine is at most 1, and a rounded one a little more


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an item under a property.

    Attributes:
        value: Canonical JSON of the value and its kind, such as somevalue for an unknown value.
        item_id: The item that is the value; None if the value is no item.
        rank: preferred, normal or deprecated.
    """

    statement_id: str
    value: str
    item_id: WikidataId | None
    rank: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item or property at a revision: its English names, its statements, its page of English Wikipedia.

    Attributes:
        item_id: The id; for a merged item, the id of the item into which it was merged.
        label: The English label; without one, the label for all languages.
        statements: Statements by property, in the item's order.
        wikipedia: The title of the page.
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
        """Return the items that are values of a property, each once; `deprecated` adds deprecated statements."""
        statements = self.statements.get(WikidataId(property_id), ())
        chosen = (statement for statement in statements if deprecated or statement.rank != DEPRECATED)
        return tuple(dict.fromkeys(statement.item_id for statement in chosen if statement.item_id is not None))


class Wikidata:
    """The items of a wiki with Wikibase."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki

    def items(self, ids: Iterable[str]) -> dict[WikidataId, Item]:
        """Return the existing items and properties by the requested id; InputError for an invalid id."""
        requested = dict.fromkeys(map(WikidataId, ids))
        possible = (item_id for item_id in requested if int(item_id[1:]) <= LARGEST_NUMBER)
        items: dict[WikidataId, Item] = {}
        while batch := list(islice(possible, BATCH)):
            items.update(self._batch(batch))
        return items

    def _batch(self, ids: Sequence[WikidataId]) -> dict[WikidataId, Item]:
        form = {
            "action": "wbgetentities",
            "ids": "|".join(ids),
            "props": "info|labels|aliases|descriptions|claims|sitelinks",
            "languages": "|".join(LANGUAGES),
            "sitefilter": WIKIPEDIA,
        }
        # The check reads only to find errors, so any time will do.
        response = self.wiki.ask(form, check=lambda content: _read(content, ids, retrieved_at=datetime.min))
        return _read(response.content, ids, response.retrieved_at)


def statements_of(entity: Mapping[str, Any]) -> dict[WikidataId, tuple[Statement, ...]]:
    """Return the statements in an item's JSON by property; {} for the JSON of a redirect to another item."""
    if "redirect" in entity:
        return {}
    # An item without statements is stored with [], PHP's form of an empty map.
    claims = entity["claims"] or {}
    return {
        _id(property_id): tuple(_statement(statement) for statement in statements)
        for property_id, statements in claims.items()
    }


def _statement(statement: Mapping[str, Any]) -> Statement:
    snak = statement["mainsnak"]
    kind = text(snak["snaktype"])
    value = snak.get("datavalue")
    item_id = None
    if value is not None and value["type"] == "wikibase-entityid":
        entity_id = value["value"].get("id")
        if entity_id is None:  # older wikis have only the kind and the number
            entity_id = f"{_LETTERS[value['value']['entity-type']]}{integer(value['value']['numeric-id'])}"
        entity_id = text(entity_id)
        item_id = _id(entity_id) if entity_id.startswith("Q") else None
        value = {"type": value["type"], "value": entity_id}
    canonical = json.dumps([kind, _plain(value)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Statement(text(statement["id"]), canonical, item_id, text(statement["rank"]))


def _id(value: Any) -> WikidataId:
    try:
        return WikidataId(text(value))
    except InputError as error:
        raise ValueError(str(error)) from None


def _plain(value: Any) -> Any:
    """Return a value of JSON without its null parts, and with integers for whole floats."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read(content: Any, ids: Sequence[WikidataId], retrieved_at: datetime) -> dict[WikidataId, Item]:
    entities = {item_id: content["entities"][item_id] for item_id in ids}
    return {
        item_id: _item(entity, retrieved_at) for item_id, entity in entities.items() if entity.get("missing") is None
    }


def _item(entity: Mapping[str, Any], retrieved_at: datetime) -> Item:
    link = (entity.get("sitelinks") or {}).get(WIKIPEDIA)
    by_language = entity["aliases"] or {}
    aliases = dict.fromkeys(text(alias["value"]) for language in LANGUAGES for alias in by_language.get(language, ()))
    return Item(
        _id(entity["id"]),
        integer(entity["lastrevid"]),
        _term(entity["labels"]),
        tuple(aliases),
        _term(entity["descriptions"]),
        statements_of(entity),
        None if link is None else text(link["title"]),
        retrieved_at,
    )


def _term(by_language: Any) -> str | None:
    terms = by_language or {}
    return next((text(terms[language]["value"]) for language in LANGUAGES if language in terms), None)


@dataclass(frozen=True, slots=True)
class SimilarItem:
    """An item, and its cosine similarity to the requested item."""

    item_id: WikidataId
    similarity: float


class Wembedder:
    """The Wembedder service: embeddings of Wikidata's graph of June 2017 (Nielsen 2017)."""

    def __init__(self, session: "Session") -> None:
        self.session = session

    def similar_items(self, item_id: WikidataId) -> tuple[SimilarItem, ...] | None:
        """Return the items that are similar to an item, the most similar first; None for an unknown item."""
        path = f"most-similar/{item_id}"
        response = self.session.ask({}, path=path, allow=(200, 404), error_of=reading_check(_similar))
        similar = _similar(response.content)
        if similar is None:
            return None
        return tuple(sorted((item for item in similar if item.item_id != item_id), key=lambda item: -item.similarity))


def _similar(content: Any) -> list[SimilarItem] | None:
    if "most_similar" not in content and str(content["message"]).startswith("Not found"):
        return None
    entries = [(entry["item"], entry["similarity"]) for entry in content["most_similar"]]
    for name, similarity in entries:
        if not isinstance(name, str) or type(similarity) not in (int, float) or abs(similarity) > _MAX_SIMILARITY:
            raise ValueError(
                f"an entry of `most_similar` lacks an id as text, or a similarity from -1 to 1: "
                f"{shown([name, similarity])}"
            )
    return [
        SimilarItem(WikidataId(name), float(similarity)) for name, similarity in entries if _ITEM_ID.fullmatch(name)
    ]
