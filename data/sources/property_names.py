"""Names of the relations of Wikidata's properties.

The name is the first of these:

1. the name in the catalog
2. the label in camel case, such as `placeOfBurial`. If the id is known, the name must be neither "disputable" nor the
   catalog's name of another relation
3. the id, such as `P119`
"""

import re
from collections import Counter
from collections.abc import Iterable

from swaymeter.data import catalog
from swaymeter.data.errors import InputError
from swaymeter.data.records import RelationName, WikidataId

DISPUTABLE = RelationName("disputable")


def relation_of(property_id: str | None, label: str | None = None) -> RelationName:
    """Return the relation of a property, or of its English label; InputError if neither gives a valid name."""
    if property_id and (catalog_name := _catalog_name(property_id)) is not None:
        return catalog_name
    name = _camel_case(label or "")
    is_reserved = property_id and (name == DISPUTABLE or name in catalog.relations())
    if name is not None and not is_reserved:
        return name
    if not property_id:
        raise InputError(
            f"{(label or '')[:60]!r} is not a valid relation name; a relation name begins with a letter A to Z"
        )
    return RelationName(WikidataId(property_id))


def relations_of(listed: Iterable[tuple[WikidataId, str | None]]) -> dict[WikidataId, RelationName]:
    """Return a relation for each property, from its first label.

    Properties with the same label are named by their ids, unless the catalog has a name for them.
    """
    labels: dict[WikidataId, str | None] = {}
    for property_id, label in listed:
        labels[property_id] = labels.get(property_id) or label
    relations = {property_id: relation_of(property_id, label) for property_id, label in labels.items()}
    uses = Counter(name.casefold() for name in relations.values())
    for property_id, name in relations.items():
        if uses[name.casefold()] > 1 and _catalog_name(property_id) is None:
            relations[property_id] = RelationName(property_id)
    return relations


def _catalog_name(property_id: str) -> RelationName | None:
    for relation in catalog.relations().values():
        # A reversed relation asks for the property's subject, so its name does not fit the property.
        if not relation.reverse and relation.wikidata == property_id:
            return RelationName(relation.name)
    return None


def _camel_case(label: str) -> RelationName | None:
    first, *others = re.findall(r"[A-Za-z0-9]+", label) or [""]
    name = "".join([first.lower(), *map(str.capitalize, others)])
    try:
        return RelationName(name)
    except InputError:
        return None
