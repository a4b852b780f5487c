"""The contents of items.

The values of statements are a mapping by property, then by the last letter of the statement's id:
`{"P106": {"a": "Q101", "b": "Q102 deprecated"}}`. A value is an item, "?" (unknown), "-" (no value) or a text
without spaces; a rank other than normal follows a space. A single statement may be a value alone: `{"P106": "Q101"}`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

Values = Mapping[str, str | Mapping[str, str]]


def snak(property_id: str, value: str) -> dict[str, Any]:
    """Return a snak, Wikibase's form of a value: with an item (Q585), an unknown value (?), no value (-) or a text."""
    if value in ("?", "-"):
        return {"snaktype": "somevalue" if value == "?" else "novalue", "property": property_id, "hash": "0"}
    datavalue: dict[str, Any] = {"value": value, "type": "string"}
    if value.startswith("Q"):
        item = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
        datavalue = {"value": item, "type": "wikibase-entityid"}
    return {"snaktype": "value", "property": property_id, "hash": "0", "datavalue": datavalue}


def item_content(
    item_id: str,
    *,
    label: str | Mapping[str, str] = "",
    description: str = "",
    aliases: Iterable[str] = (),
    article: str = "",
    values: Values | None = None,
    qualifier: str = "",
    reference: str = "",
) -> str:
    """Return the stored content of an item; as in Wikibase, empty maps are stored as empty lists.

    Args:
        label: The English label, or the labels by language.
        qualifier: The point in time of every statement.
        reference: The reference of every statement.
    """

    def statement(property_id: str, letter: str, text: str) -> dict[str, Any]:
        value, _, rank = text.partition(" ")
        qualifiers = {"qualifiers": {"P585": [snak("P585", qualifier)]}} if qualifier else {}
        references = {"references": [{"hash": "0", "snaks": {"P143": [snak("P143", reference)]}}]} if reference else {}
        statement_id, main = f"{item_id}${letter}", snak(property_id, value)
        parts = {"mainsnak": main, "type": "statement", "id": statement_id, "rank": rank or "normal"}
        return parts | qualifiers | references

    def texts(by_language: Mapping[str, str]) -> dict[str, dict[str, str]]:
        return {language: {"language": language, "value": text} for language, text in by_language.items() if text}

    values_by_letter: dict[str, Mapping[str, str]] = {
        property_id: {"a": value} if isinstance(value, str) else value for property_id, value in (values or {}).items()
    }
    claims = {
        property_id: [statement(property_id, letter, text) for letter, text in by_letter.items()]
        for property_id, by_letter in values_by_letter.items()
        if by_letter
    }
    content = {
        "type": "item",
        "id": item_id,
        "labels": texts({"en": label} if isinstance(label, str) else label),
        "descriptions": texts({"en": description}),
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else {},
        "claims": claims,
        "sitelinks": {"enwiki": {"site": "enwiki", "title": article, "badges": []}} if article else {},
    }
    return json.dumps({key: part or [] for key, part in content.items()}, ensure_ascii=False)
