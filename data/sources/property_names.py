"""What relations the properties of Wikidata are called: work is cut into relations, and a property is one of them.

The catalog's name where it knows the property; else the property's words as one word, such as `placeOfBurial`; else its
id. What a name stands for already (a relation of the catalog, `disputable`) is no other property's.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from data import catalog
from data.errors import InputError
from data.records import RelationName, WikidataId

DISPUTABLE = RelationName("disputable")


def relation_of(property_id: str | None, words: str | None = None) -> RelationName:
    """The relation of a property. words: what the property is called in English, where that is known.

    InputError where there are neither an id nor words that make a name, or the id is none.
    """
    if property_id:
        known = _of_catalog(property_id)
        if known is not None:
            return known
    name = _joined(words or "")
    taken = property_id and name is not None and (name == DISPUTABLE or name in catalog.relations())
    if name is not None and not taken:
        return name
    if not property_id:
        raise InputError(f"{(words or '')[:60]!r} makes no relation name, which begins with a letter A to Z")
    return RelationName(WikidataId(property_id))


def relations_of(listed: Iterable[tuple[WikidataId, str | None]]) -> dict[WikidataId, RelationName]:
    """One relation for each property of a list: a property's first words count, and no two properties share a name.

    Those whose words make the same name are called by their ids.
    """
    words: dict[WikidataId, str | None] = {}
    for property_id, said in listed:
        words[property_id] = words.get(property_id) or said
    named = {property_id: relation_of(property_id, said) for property_id, said in words.items()}
    sharing: dict[str, list[WikidataId]] = defaultdict(list)
    for property_id, name in named.items():
        sharing[name.casefold()].append(property_id)
    for several in sharing.values():
        for property_id in several if len(several) > 1 else ():
            if _of_catalog(property_id) is None:
                named[property_id] = RelationName(property_id)
    return named


def _of_catalog(property_id: str) -> RelationName | None:
    for known in catalog.relations().values():
        if not known.reverse and known.wikidata == property_id:
            return RelationName(known.name)
    return None


def _joined(words: str) -> RelationName | None:
    parts = re.findall(r"[A-Za-z0-9]+", words)
    name = "".join(part.lower() if first == 0 else part.capitalize() for first, part in enumerate(parts))
    try:
        return RelationName(name)
    except InputError:
        return None
