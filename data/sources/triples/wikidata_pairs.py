"""A sample of the facts of a property, from the Wikidata Query Service or any graph with Wikidata's predicates.

The graph is queried for pairs in the order of their sampling keys (`data.sources.graph.pairs`), until both items of
enough pairs have an article in the English Wikipedia. Of each subject, only the first such pair counts.
"""

import logging
import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from swaymeter.data.errors import InputError, ServiceTimeout
from swaymeter.data.records import Triple, WikidataId
from swaymeter.data.sources.graph.entities import LABEL, MAX_ROWS, in_batches
from swaymeter.data.sources.graph.literals import plain
from swaymeter.data.sources.graph.pairs import sampled_pairs
from swaymeter.data.sources.graph.sparql import Literal, SparqlStore, Term, Uri, bound, iri, iris, string
from swaymeter.data.sources.property_names import relation_of

log = logging.getLogger(__name__)

SOURCE = "Wikidata"
LICENCE = "CC0 1.0"
ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
"""Prefix of predicates for the best statements alone: not deprecated, and preferred if any statement is preferred."""
ARTICLE_OF = "http://schema.org/about"
PART_OF = "http://schema.org/isPartOf"
WIKIPEDIA = "https://en.wikipedia.org/"

BLOCK = 500
"""Number of pairs whose items are looked up together."""
PAIRS_PER_FACT = 10
"""Number of queried pairs for each requested fact, because most items have no article."""
_ITEM = re.compile(re.escape(ENTITY) + r"(Q[1-9][0-9]{0,15})")


def triples_of_property(store: SparqlStore, property_id: WikidataId, count: int, *, seed: int) -> list[Triple]:
    """Return at most `count` facts of a property; the same seed and graph give the same facts.

    A smaller sample is the beginning of a larger one.

    Raises:
        InputError: No pair of items has articles.
        ServiceTimeout: Even the smallest queries take too long.
    """
    try:
        chosen, examined = _pairs_with_articles(store, property_id, count, seed)
        labels = store.select(
            f"SELECT ?l WHERE {{ {iri(ENTITY + property_id)} {iri(LABEL)} ?l FILTER(LANG(?l) = {string('en')}) }}"
        )
    except ServiceTimeout as slow:
        raise ServiceTimeout(
            f"property {property_id}: {slow}; the property may be too large for a sample, so list its facts in a CSV"
        ) from None
    if not chosen:
        raise InputError(
            f"property {property_id}: none of the {examined} pairs at {store.address} joins two items with articles "
            "in the English Wikipedia; name another property"
        )
    texts = sorted(label.value for row in labels.rows if isinstance(label := bound(row, "l"), Literal))
    name = next(filter(None, map(plain, texts)), None)  # the first of several, in the order of code points
    log.info("property %s: %d facts of %d pairs", property_id, len(chosen), examined)
    relation = relation_of(property_id)
    return [
        Triple(relation, subject, property_id, object_, SOURCE, LICENCE, property=name, retrieved_at=at)
        for subject, object_, at in chosen
    ]


class _ItemPair(NamedTuple):
    """Two items that the property joins, and the time (UTC, ISO 8601) of the response."""

    subject: WikidataId
    object: WikidataId
    retrieved_at: str


def _pairs_with_articles(
    store: SparqlStore, property_id: WikidataId, count: int, seed: int
) -> tuple[list[_ItemPair], int]:
    """Return up to `count` pairs with articles, and the number of examined pairs."""
    page_size = min(max(BLOCK, PAIRS_PER_FACT * count), MAX_ROWS // 2)
    pairs = sampled_pairs(store, [DIRECT + property_id], seed=seed, page=page_size)
    has_article: dict[WikidataId, bool] = {}
    chosen: dict[WikidataId, _ItemPair] = {}
    examined = 0
    while len(chosen) < count and (block := list(islice(pairs, BLOCK))):
        item_pairs = [
            _ItemPair(subject, object_, pair.response.retrieved_at.isoformat())
            for pair in block
            if (subject := _item(pair.subject)) and (object_ := _item(pair.object)) and subject != object_
        ]
        examined += len(block)
        if not item_pairs and examined == len(block):
            break  # all values of a property are of one kind, and the first block has no items
        items = dict.fromkeys(item for pair in item_pairs for item in (pair.subject, pair.object))
        new_items = [item for item in items if item not in has_article]
        rows = in_batches(store, [ENTITY + item for item in new_items], _article_query, size=BLOCK)
        items_with_article = {bound(row, "e") for row in rows}
        has_article |= {item: Uri(ENTITY + item) in items_with_article for item in new_items}
        for pair in item_pairs:
            if len(chosen) < count and has_article[pair.subject] and has_article[pair.object]:
                chosen.setdefault(pair.subject, pair)
    return list(chosen.values()), examined


def _article_query(entities: Sequence[str]) -> str:
    return (
        f"SELECT DISTINCT ?e WHERE {{\n  VALUES ?e {{ {iris(entities)} }}\n"
        f"  ?article {iri(ARTICLE_OF)} ?e ; {iri(PART_OF)} {iri(WIKIPEDIA)} .\n}}"
    )


def _item(term: Term) -> WikidataId | None:
    match = _ITEM.fullmatch(term) if isinstance(term, Uri) else None
    return WikidataId(match[1]) if match else None
