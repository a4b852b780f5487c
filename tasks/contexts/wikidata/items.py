"""What questions need of Wikidata's items, each requested once for a property's questions."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.wikidata import Item, Wikidata

KIND = ("P31", "P279")
"""Instance of, subclass of."""
WIDER = (*KIND, "P131", "P361", "P460")
"""These, located in, part of, said to be the same as: the value of such a property is implied by its item."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """The parts of an item that questions need; its names are on one line each.

    kinds, wider: the items that it states under the properties KIND and WIDER; values: under the property at hand;
    stated: under that property, the deprecated ones, too. wikipedia: the title of its article.
    """

    item_id: WikidataId
    label: str | None
    aliases: tuple[str, ...]
    description: str | None
    wikipedia: str | None
    kinds: frozenset[WikidataId]
    wider: frozenset[WikidataId]
    values: tuple[WikidataId, ...]
    stated: tuple[WikidataId, ...]
    retrieved_at: datetime

    @property
    def name(self) -> str:
        """The label; the id if it has no label."""
        return self.label or self.item_id

    @property
    def names(self) -> tuple[str, ...]:
        """The label, if it has one, and the aliases."""
        return tuple(dict.fromkeys(name for name in (self.label, *self.aliases) if name))


class Items:
    """Looks items up and caches them; property_id: the property whose values matter."""

    def __init__(self, wikidata: Wikidata, property_id: WikidataId) -> None:
        self._wikidata, self._property_id = wikidata, property_id
        self._known: dict[WikidataId, KnownItem | None] = {}

    def learn(self, ids: Iterable[WikidataId]) -> None:
        """Requests the items that are not cached; raises ServiceError."""
        new = [item_id for item_id in dict.fromkeys(ids) if item_id not in self._known]
        items = self._wikidata.items(new)
        self._known |= {item_id: self._of(items[item_id]) if item_id in items else None for item_id in new}

    def get(self, item_id: WikidataId) -> KnownItem | None:
        """A cached item; for a merged one, the item that it was merged into; None where it does not exist."""
        return self._known[item_id]

    def true_id(self, item_id: WikidataId) -> WikidataId:
        """The item's present id."""
        known = self._known[item_id]
        return known.item_id if known else item_id

    def _of(self, item: Item) -> KnownItem:
        return KnownItem(
            item_id=item.item_id, label=_one_line(item.label),
            aliases=tuple(alias for alias in map(_one_line, item.aliases) if alias),
            description=_one_line(item.description), wikipedia=item.wikipedia, kinds=_stated(item, KIND),
            wider=_stated(item, WIDER), values=item.values(self._property_id),
            stated=item.values(self._property_id, deprecated=True), retrieved_at=item.retrieved_at,
        )  # fmt: skip


def _stated(item: Item, properties: Iterable[str]) -> frozenset[WikidataId]:
    return frozenset(value for property_id in properties for value in item.values(property_id))


def without_qualifier(name: str) -> str:
    """A name without the qualifier in brackets at its end."""
    before, opened, after = name.rpartition("(")
    return before.strip() if opened and after.endswith(")") and before.strip() else name


def _one_line(name: str | None) -> str | None:
    """The name on one line; None, too, for a name of invisible characters."""
    line = " ".join(_CONTROL.sub(" ", name or "").split())
    return line if any(unicodedata.category(character)[0] not in "CZ" for character in line) else None
