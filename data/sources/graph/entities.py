"""Entities of a graph: their names, Wikidata ids, objects and numbers of triples."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from swaymeter.data.catalog import Relation
from swaymeter.data.errors import ServiceTimeout
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.graph.literals import plain
from swaymeter.data.sources.graph.pairs import DIGITS, MAX_DIGITS, triple_pattern
from swaymeter.data.sources.graph.sparql import (
    Literal,
    Row,
    SparqlStore,
    Term,
    Uri,
    bound,
    count,
    iri,
    iris,
    is_iri,
    string,
)

BATCH = 100
"""Number of entities in a query; a batch that takes too long is halved."""
MAX_ROWS = 10_000
"""Limit of the rows of a response. Some services cut off rows, so a response with this many rows may be incomplete."""

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SAME_AS = ("http://www.w3.org/2002/07/owl#sameAs", "http://schema.org/sameAs")
LANGUAGES = ("en", "mul")
"""Languages of an English name, the preferred one first; `mul` is Wikidata's code for a name in all languages."""

_ENGLISH = f"IN ({', '.join(map(string, LANGUAGES))})"
_WIKIDATA = re.compile(r"https?://www\.wikidata\.org/(?:entity|wiki)/(Q[1-9][0-9]{0,15})")
_PLACEHOLDER = "Generic instance"
"""YAGO's label of an entity that stands for any member of its class."""


class Entities:
    """The names and Wikidata ids of entities, each queried once.

    A name is the first English label that `plain` accepts, in the order of LANGUAGES and then of code points. A generic
    instance of YAGO, which stands for any member of a class, has the name of this class. A stored name never changes.

    Attributes:
        names: Names by IRI.
        ids: Wikidata ids by IRI.
    """

    def __init__(self, store: SparqlStore) -> None:
        self._store = store
        self.names: dict[str, str] = {}
        self.ids: dict[str, WikidataId] = {}
        self._requested: set[str] = set()

    def learn(self, entities: Iterable[Uri]) -> None:
        """Query the names and ids of the entities that were not queried before."""
        new = [entity for entity in dict.fromkeys(entities) if entity not in self._requested]
        rows = list(in_batches(self._store, new, _labels_query))
        labels = _labels_by_entity(rows)
        same_as: dict[Term, list[str]] = defaultdict(list)
        for row in rows:
            if (address := row.get("same")) is not None:
                same_as[bound(row, "e")].append(address.value if isinstance(address, Literal) else address)
        for entity in new:
            self.name(entity, labels[entity])
            ids = [match[1] for match in map(_WIKIDATA.fullmatch, same_as[entity]) if match]
            if ids:  # the smallest number, if an entity has several ids
                self.ids[entity] = WikidataId(min(ids, key=lambda item_id: (len(item_id), item_id)))
        self._requested.update(new)
        generic = [entity for entity in new if _is_generic(entity, labels[entity])]
        class_labels = _labels_by_entity(in_batches(self._store, generic, _class_labels_query))
        for entity in generic:
            self.name(entity, class_labels[entity])

    def name(self, entity: str, labels: Iterable[Literal] = ()) -> str | None:
        """Return the entity's stored name, or store and return the first usable label; None without a usable label."""
        if entity not in self.names:
            usable = sorted(
                (LANGUAGES.index(label.language), label.value, name)
                for label in labels
                if label.language in LANGUAGES and label.value != _PLACEHOLDER and (name := plain(label.value))
            )
            if usable:
                self.names[entity] = usable[0][2]
        return self.names.get(entity)

    def objects(self, relation: Relation, entities: Sequence[Uri]) -> Mapping[str, list[Term]]:
        """Return all objects of each entity as the subject of the relation's facts, and learn the names of objects."""
        ends = ("?v", "?e") if relation.reverse else ("?e", "?v")
        pattern = triple_pattern(relation.yago, *ends)

        def query(batch: Sequence[str], prefix: str = "") -> str:
            return (
                f"SELECT ?e ?v ?l WHERE {{\n  VALUES ?e {{ {iris(batch)} }}\n  {pattern}\n"
                + (f"  FILTER(STRSTARTS(MD5(STR(?v)), {string(prefix)}))\n" if prefix else "")
                + f"  OPTIONAL {{ ?v {iri(LABEL)} ?l FILTER(LANG(?l) {_ENGLISH}) }}\n}} LIMIT {MAX_ROWS}"
            )

        def by_digits(entity: str, prefix: str = "") -> Iterator[Row]:
            """Query the objects of one entity in 16 parts, by the digit that follows the prefix in an object's MD5."""
            for longer_prefix in (prefix + digit for digit in DIGITS):
                can_split = len(longer_prefix) < MAX_DIGITS
                split = partial(by_digits, prefix=longer_prefix) if can_split else None
                yield from in_batches(self._store, [entity], partial(query, prefix=longer_prefix), split=split)

        object_labels: dict[Term, dict[Term, list[Literal]]] = defaultdict(lambda: defaultdict(list))
        for row in in_batches(self._store, entities, query, split=by_digits):
            labels = object_labels[bound(row, "e")][bound(row, "v")]
            if isinstance(label := row.get("l"), Literal):
                labels.append(label)
        nameless = [
            (value, labels)
            for labels_of_entity in object_labels.values()
            for value, labels in labels_of_entity.items()
            if isinstance(value, Uri) and self.name(value, labels) is None
        ]
        self.learn(value for value, labels in nameless if is_iri(value) and _is_generic(value, labels))
        return {str(entity): list(labels_of_entity) for entity, labels_of_entity in object_labels.items()}

    def degrees(self, entities: Sequence[Uri]) -> Mapping[str, int]:
        """Return the number of triples with each entity; a triple with the entity at both ends counts once."""
        return self._triple_counts(entities, ["?e ?p ?o", "?s ?p ?e FILTER(?s != ?e)"])

    def relation_degrees(self, relation: Relation, entities: Sequence[Uri], *, as_subject: bool) -> Mapping[str, int]:
        """Return the number of the relation's triples with each entity as the subject, or as the object.

        Source: Du et al. 2024. Their code counts entities only as subjects, or as objects in a reversed relation.
        """
        ends = "?e {} ?o" if as_subject else "?s {} ?e"
        # A UNION counts a pair once for each predicate that joins it; services count a path a|b differently.
        return self._triple_counts(entities, [ends.format(iri(predicate)) for predicate in relation.yago])

    def _triple_counts(self, entities: Sequence[Uri], patterns: Sequence[str]) -> Mapping[str, int]:
        def query(batch: Sequence[str]) -> str:
            values = f"VALUES ?e {{ {iris(batch)} }}"
            union = "\n  UNION ".join(f"{{ {values} {pattern} }}" for pattern in patterns)
            return f"SELECT ?e (COUNT(*) AS ?n) WHERE {{\n  {union}\n}} GROUP BY ?e"

        counts = dict.fromkeys(map(str, entities), 0)
        distinct = list(dict.fromkeys(entities))  # VALUES would count a repeated entity twice
        for row in in_batches(self._store, distinct, query):
            counts[str(bound(row, "e"))] = count(bound(row, "n"))
        return counts


def in_batches(
    store: SparqlStore,
    items: Sequence[str],
    query: Callable[[Sequence[str]], str],
    *,
    size: int = BATCH,
    split: Callable[[str], Iterator[Row]] | None = None,
) -> Iterator[Row]:
    """Query many items in batches, and yield the rows; a batch that takes too long is halved.

    Args:
        store: The graph.
        items: The items.
        query: Returns the query about a batch.
        size: Number of items in the first batch.
        split: Returns the rows of a single item whose query takes too long; with None, ServiceTimeout is raised.
    """
    start, first_size = 0, size
    while start < len(items):
        batch = items[start : start + size]
        try:
            response = store.select(query(batch))
            if len(response) >= MAX_ROWS:
                raise ServiceTimeout(
                    f"{store.address} answered with {len(response)} rows, and may have left rows out; use a dump of "
                    "the graph instead of the service"
                )
            rows: Iterable[Row] = response.rows
        except ServiceTimeout:
            if len(batch) > 1:
                size = (len(batch) + 1) // 2
                continue
            if split is None:
                raise
            rows, size = split(batch[0]), first_size
        yield from rows
        start += len(batch)


def _labels_query(batch: Sequence[str]) -> str:
    values = f"VALUES ?e {{ {iris(batch)} }}"
    return (
        f"SELECT ?e ?l ?same WHERE {{\n  {{ {values} ?e {iri(LABEL)} ?l FILTER(LANG(?l) {_ENGLISH}) }}\n  UNION\n"
        f"  {{ {values} ?e {'|'.join(map(iri, SAME_AS))} ?same }}\n}}"
    )


def _class_labels_query(batch: Sequence[str]) -> str:
    return (
        f"SELECT ?e ?l WHERE {{\n  VALUES ?e {{ {iris(batch)} }}\n"
        f"  ?e a ?class .\n  ?class {iri(LABEL)} ?l .\n  FILTER(LANG(?l) {_ENGLISH})\n}}"
    )


def _labels_by_entity(rows: Iterable[Row]) -> dict[Term, list[Literal]]:
    labels: dict[Term, list[Literal]] = defaultdict(list)
    for row in rows:
        if isinstance(label := row.get("l"), Literal):
            labels[bound(row, "e")].append(label)
    return labels


def _is_generic(entity: str, labels: Iterable[Literal]) -> bool:
    return entity.endswith("_generic_instance") or any(label.value == _PLACEHOLDER for label in labels)
