"""The world itself: two wikis, who reads what, and what is like what."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.data.sources.servers.wiki_world.items import CURATOR, Item
from tests.data.sources.servers.wiki_world.other_services import Views
from tests.data.sources.servers.wiki_world.pages import Revision, Wiki


@dataclass
class World:
    """What the services know. It may be changed while it is served, by deeds on its items and new revisions of pages.

    views: page title -> how often it is read. most_similar: item -> the items most like it, best first.
    """

    wikidata: Wiki = field(default_factory=lambda: Wiki("wikibase-item", "application/json"))
    wikipedia: Wiki = field(default_factory=lambda: Wiki("wikitext", "text/x-wiki"))
    items: dict[str, Item] = field(default_factory=dict)
    views: dict[str, Views] = field(default_factory=dict)
    most_similar: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def item(self, item_id: str, label: str | None, **said: Any) -> Item:
        """A new item, whose first revision already holds the claims; said: as for `Item`."""
        self.items[item_id] = Item(self.wikidata, item_id, label, **said)
        return self.items[item_id]

    def property(self, property_id: str, label: str, datatype: str = "wikibase-item") -> None:
        labels = {"en": {"language": "en", "value": label}}
        bare = {"type": "property", "datatype": datatype, "id": property_id, "labels": labels}
        content = json.dumps(bare | {"descriptions": [], "aliases": [], "claims": []})
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
