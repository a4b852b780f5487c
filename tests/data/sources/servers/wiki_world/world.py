"""An invented world: items, pages, views and similar items, and the questions and disputes expected from them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from swaymeter.data.records import Partition
from tests.data.sources.servers.wiki_world.items import item_content
from tests.data.sources.servers.wiki_world.pages import Wiki


def _data(name: str) -> Any:
    return yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))


@dataclass
class World:
    """The content of all services; edits of items and pages may change it while it is served.

    Attributes:
        wikidata: The wiki with items and properties.
        wikipedia: The wiki with articles.
        items: The latest arguments of `item_content` by the ids of items.
        views: The monthly page views by titles; they repeat after the last number.
        similar_items: The ids of similar items, the most similar first, by the id of an item.
    """

    wikidata: Wiki = field(default_factory=Wiki)
    wikipedia: Wiki = field(default_factory=Wiki)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    views: dict[str, Sequence[int]] = field(default_factory=dict)
    similar_items: dict[str, Sequence[str]] = field(default_factory=dict)

    def item(self, item_id: str, label: str | Mapping[str, str], **fields: Any) -> None:
        """Add an item; `fields` are those of `edit`."""
        self.edit(item_id, "/* wbeditentity-create-item:0| */", label=label, **fields)

    def edit(self, item_id: str, summary: str, **fields: Any) -> None:
        """Save a revision of an item.

        Args:
            fields: Arguments of `Wiki.save`, and arguments of `item_content` that change; `values` replaces only the
                values of its properties.
        """
        options = {name: fields.pop(name) for name in ("user", "tags", "hidden") if name in fields}
        item = self.items.setdefault(item_id, {"values": {}})
        item |= fields | {"values": item["values"] | fields.get("values", {})}
        self.wikidata.save(item_id, item_content(item_id, **item), comment=summary, **options)

    def property(self, property_id: str, label: str) -> None:
        entity = {"type": "property", "datatype": "wikibase-item", "id": property_id}
        terms = {"labels": {"en": {"language": "en", "value": label}}, "descriptions": [], "aliases": [], "claims": []}
        self.wikidata.save(f"Property:{property_id}", json.dumps(entity | terms))

    def article(
        self, title: str, text: str, *, item_id: str | None = None, views: Sequence[int] = (), links: Sequence[str] = ()
    ) -> None:
        self.wikipedia.save(title, text)
        page = self.wikipedia.pages[title]
        page.item_id, page.links = item_id, links
        if views:
            self.views[title] = views


def world() -> World:
    """Return the world of `world.yaml` and `wars.yaml`."""
    invented, content = World(), _data("world")
    for property_id, label in content["properties"].items():
        invented.property(property_id, label)
    for item_id, fields in content["items"].items():
        edits = fields.pop("edits", ())
        invented.item(item_id, **fields)
        for edit in edits:
            invented.edit(item_id, **edit)
    for title, fields in content["articles"].items():
        if "trade" in fields:
            fields["text"] = content["person"].format(name=title, trade=fields.pop("trade"))
        invented.article(title, **fields)
    for title, war in _data("wars").items():
        for user, *optional in war["revisions"]:
            changed_spans = optional[0] if optional else {}
            hidden = optional[1] if len(optional) > 1 else ()
            text = war["text"]
            spans = dict(enumerate(war["spans"], start=1)) | changed_spans
            for number, span in spans.items():
                text = text.replace(f"@{number}", span)
            invented.wikipedia.save(title, text, user=user, hidden=hidden)
        if "views" in war:
            invented.views[title] = war["views"]
    invented.wikidata.redirects |= content["redirects"]["wikidata"]
    invented.wikipedia.redirects |= content["redirects"]["wikipedia"]
    invented.similar_items |= content["similar_items"]
    return invented


Fact = tuple[str, str, str]
"""Subject, property and object in a list of facts, by their ids."""


class Expected(NamedTuple):
    """The expected question about a fact, whose fields are described in `facts.yaml`."""

    partition: Partition
    edits: Sequence[int]
    replacement: str
    views: Sequence[float | None]
    hidden: Sequence[int] = ()
    page: str | None = None
    current_ids: Sequence[str] | None = None


class War(NamedTuple):
    """An expected dispute about a span of a sentence.

    Attributes:
        object: The span that editors restored last.
        replacement: The span that other editors wrote in its place.
        sentence: The sentence with `object`.
        pairs: Positions of each edit and of its reversion in the page's history, from 1.
        views: Mean monthly page views.
    """

    object: str
    replacement: str
    sentence: str
    pairs: Sequence[tuple[int, int]]
    views: float


def _fact(ids: str) -> Fact:
    subject_id, property_id, object_id = ids.split()
    return subject_id, property_id, object_id


_OUTCOMES = {_fact(ids): outcome for ids, outcome in _data("facts").items()}
FACTS = tuple(_OUTCOMES)
"""The list of facts."""
EXPECTED = {fact: Expected(**outcome) for fact, outcome in _OUTCOMES.items() if isinstance(outcome, dict)}
"""The expected question of each usable fact."""
UNUSABLE = {fact: outcome for fact, outcome in _OUTCOMES.items() if isinstance(outcome, str)}
"""The expected rejection reason of each other fact."""
WARS = {title: tuple(War(**war) for war in page.get("disputes", ())) for title, page in _data("wars").items()}
"""The expected disputes of each controversial page."""
UNCOUNTED: Mapping[str, Mapping[str, int]] = {title: page.get("uncounted", {}) for title, page in _data("wars").items()}
"""Number of reverted edits that are no dispute, by controversial page and rejection reason."""
