"""Items whose edits save revisions under Wikibase's summaries, and the world of all items and pages."""

import json
import uuid
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.data.sources.servers.wiki_world.pages import EVERYTHING, Part, Revision, Views, Wiki

CURATOR, ROBOT, PASSER_BY = "Carol Claims", "Danbot", "192.0.2.7"


class Item:
    """An item on a wiki.

    The methods identify a statement by its property and value. Each edit takes `user`, and returns the saved revision.
    """

    def __init__(
        self,
        wiki: Wiki,
        item_id: str,
        label: str | None,
        *,
        language: str = "en",
        description: str | None = None,
        aliases: Iterable[str] = (),
        article: str | None = None,
        claims: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Save the first revision, whose statements are `claims`."""
        self.wiki, self.item_id, self.statement_count = wiki, item_id, 0
        self.content: dict[str, Any] = {
            "type": "item",
            "id": item_id,
            "labels": {} if label is None else {language: {"language": language, "value": label}},
            "descriptions": {"en": {"language": "en", "value": description}} if description else {},
            "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else {},
            "claims": {},
            "sitelinks": {"enwiki": {"site": "enwiki", "title": article, "badges": []}} if article else {},
        }
        for property_id, value in claims:
            self._put(property_id, value)
        self.save("/* wbeditentity-create-item:0| */")

    def add(self, property_id: str, value: str, *, user: str = CURATOR) -> Revision:
        self._put(property_id, value)
        return self.save(f"/* wbcreateclaim-create:1| */ {_summary_part(property_id, value)}", user=user)

    def change(self, property_id: str, old: str, new: str, *, user: str = CURATOR, addition: str = "") -> Revision:
        self._statement(property_id, old)["mainsnak"] = _snak(property_id, new)
        return self.save(f"/* wbsetclaimvalue:1| */ {_summary_part(property_id, new)}{addition}", user=user)

    def remove(self, property_id: str, value: str, *, user: str = CURATOR) -> Revision:
        self._take(property_id, value)
        return self.save(f"/* wbremoveclaims-remove:1| */ {_summary_part(property_id, value)}", user=user)

    def qualify(self, property_id: str, value: str, *, user: str = CURATOR) -> Revision:
        """Add a point in time to a statement; the summary names the qualifier's property, not the statement's."""
        statement = self._statement(property_id, value)
        statement["qualifiers"] = {"P585": [_text_snak("P585", "2024")]}
        return self.save("/* wbsetqualifier-add:1| */ [[Property:P585]]: 2024", user=user)

    def cite(self, property_id: str, value: str, *, user: str = CURATOR) -> Revision:
        """Add a reference to a statement; the summary names the statement's property."""
        snak = _text_snak("P854", "https://example.org/source")
        self._statement(property_id, value)["references"] = [{"hash": "0", "snaks": {"P854": [snak]}}]
        return self.save(f"/* wbsetreference-add:2| */ {_summary_part(property_id, value)}", user=user)

    def rank(self, property_id: str, value: str, rank: str, *, user: str = CURATOR) -> Revision:
        self._statement(property_id, value)["rank"] = rank
        return self.save(f"/* wbsetclaim-update-rank:2||1 */ {_summary_part(property_id, value)}", user=user)

    def set_label(self, language: str, label: str, *, user: str = CURATOR) -> Revision:
        is_set = language in self.content["labels"]
        self.content["labels"][language] = {"language": language, "value": label}
        return self.save(f"/* wbsetlabel-{'set' if is_set else 'add'}:1|{language} */ {label}", user=user)

    def edit_in_bulk(
        self,
        *,
        added: Iterable[tuple[str, str]] = (),
        removed: Iterable[tuple[str, str]] = (),
        labels: Mapping[str, str] | None = None,
        user: str = ROBOT,
        comment: str = "/* wbeditentity-update:0| */ batch #17",
    ) -> Revision:
        for property_id, value in removed:
            self._take(property_id, value)
        for property_id, value in added:
            self._put(property_id, value)
        for language, label in (labels or {}).items():
            self.content["labels"][language] = {"language": language, "value": label}
        return self.save(comment, user=user)

    def undo(self, *, user: str = CURATOR) -> Revision:
        """Undo the last revision: save its parent's content, under a summary in free words."""
        history = self.wiki.pages[self.item_id].revisions
        undone, stored = history[-1], json.loads(history[-2].content)
        self.content = {key: value if value else {} for key, value in deepcopy(stored).items()}
        editor = f"[[Special:Contributions/{undone.user}|{undone.user}]]"
        return self.save(f"Undo revision {undone.revision_id} by {editor}", user=user, tags=("mw-undo",))

    def merge_into(self, other: "Item", *, user: str = CURATOR) -> Revision:
        """Copy the statements to another item, make this item a redirect, and return the other item's new revision."""
        self.save(f"/* wbmergeitems-to:0||{other.item_id} */", user=user)
        for property_id, statements in self.content["claims"].items():
            existing = [_value(statement["mainsnak"]) for statement in other.content["claims"].get(property_id, ())]
            for value in (_value(statement["mainsnak"]) for statement in statements):
                if value not in existing:
                    other._put(property_id, value)
        merged = other.save(f"/* wbmergeitems-from:0||{self.item_id} */", user=user)
        redirect = json.dumps({"entity": self.item_id, "redirect": other.item_id}, separators=(",", ":"))
        self.wiki.save(
            self.item_id, redirect, user=user, comment=f"/* wbcreateredirect:0||{self.item_id}|{other.item_id} */"
        )
        self.wiki.redirects[self.item_id] = other.item_id
        return merged

    def hide(self, *parts: Part) -> None:
        """Hide parts of the latest revision; without parts, all of them."""
        self.wiki.pages[self.item_id].latest.hidden = frozenset(parts) or EVERYTHING

    def save(self, comment: str, *, user: str = CURATOR, tags: Iterable[str] = ()) -> Revision:
        """Save the content as a revision; as in Wikibase, empty maps are stored as empty lists."""
        stored = {key: value if value else [] for key, value in self.content.items()}
        text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
        return self.wiki.save(self.item_id, text, user=user, comment=comment, tags=tags)

    def _put(self, property_id: str, value: str) -> None:
        self.statement_count += 1
        guid = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.item_id} {self.statement_count}")).upper()
        snak = _snak(property_id, value)
        statement = {"mainsnak": snak, "type": "statement", "id": f"{self.item_id}${guid}", "rank": "normal"}
        self.content["claims"].setdefault(property_id, []).append(statement)

    def _take(self, property_id: str, value: str) -> None:
        statements = self.content["claims"][property_id]
        statements.remove(self._statement(property_id, value))
        if not statements:
            del self.content["claims"][property_id]

    def _statement(self, property_id: str, value: str) -> dict[str, Any]:
        statements = self.content["claims"][property_id]
        return next(statement for statement in statements if _value(statement["mainsnak"]) == value)


def _summary_part(property_id: str, value: str) -> str:
    special = {"somevalue": "unknown value", "novalue": "no value"}.get(value)
    return f"[[Property:{property_id}]]: {special or f'[[{value}]]'}"


def _snak(property_id: str, value: str) -> dict[str, Any]:
    if value in ("somevalue", "novalue"):
        return {"snaktype": value, "property": property_id}
    target = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
    datavalue = {"value": target, "type": "wikibase-entityid"}
    return {"snaktype": "value", "property": property_id, "datavalue": datavalue}


def _text_snak(property_id: str, text: str) -> dict[str, Any]:
    return {"snaktype": "value", "property": property_id, "datavalue": {"value": text, "type": "string"}}


def _value(snak: Mapping[str, Any]) -> str:
    return str(snak["datavalue"]["value"]["id"]) if snak["snaktype"] == "value" else str(snak["snaktype"])


@dataclass
class World:
    """The content of all services; edits of items and pages may change it while it is served.

    Attributes:
        wikidata: The wiki with items and properties.
        wikipedia: The wiki with articles.
        items: The items by their ids.
        views: The page views by titles.
        similar_items: The most similar items of an item, the most similar first.
    """

    wikidata: Wiki = field(default_factory=lambda: Wiki("wikibase-item", "application/json"))
    wikipedia: Wiki = field(default_factory=lambda: Wiki("wikitext", "text/x-wiki"))
    items: dict[str, Item] = field(default_factory=dict)
    views: dict[str, Views] = field(default_factory=dict)
    similar_items: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def item(self, item_id: str, label: str | None, **options: Any) -> Item:
        """Add an item; `options` are arguments of `Item`."""
        self.items[item_id] = Item(self.wikidata, item_id, label, **options)
        return self.items[item_id]

    def property(self, property_id: str, label: str, datatype: str = "wikibase-item") -> None:
        labels = {"en": {"language": "en", "value": label}}
        entity = {"type": "property", "datatype": datatype, "id": property_id, "labels": labels}
        content = json.dumps(entity | {"descriptions": [], "aliases": [], "claims": []})
        summary = "/* wbeditentity-create-property:0| */"
        self.wikidata.save(f"Property:{property_id}", content, user=CURATOR, comment=summary, namespace=120)

    def article(
        self, title: str, text: str, *, item_id: str | None = None, views: int | Views | None = None, namespace: int = 0
    ) -> Revision:
        saved = self.wikipedia.save(title, text, user="Wanda Writer", comment="new article", namespace=namespace)
        self.wikipedia.pages[title].item_id = item_id
        if views is not None:
            self.views[title] = Views(views) if isinstance(views, int) else views
        return saved
