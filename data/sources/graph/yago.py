"""YAGO, or any graph with YAGO's predicates, as a source of facts: a sample of pairs, with names and degrees.

Pairs are drawn in the order of their sampling keys (graph/pairs.py), until enough pairs are facts. A pair is a fact if
its subject has an English name, its object has an English name or a valid value, both texts differ, and no earlier fact
has a subject of this name. Then the graph is queried for all objects of the facts' subjects, and of other subjects with
the same names. The degree of an entity is the number of triples with it (graph/entities.py).
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
from typing import Literal as Constant

from pydantic import Field, model_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import LITERAL_CLASSES, Relation
from swaymeter.data.errors import InputError
from swaymeter.data.options import NamedPath
from swaymeter.data.records import Fact, RelationName
from swaymeter.data.sources.access import Access, GraphName
from swaymeter.data.sources.graph import literals
from swaymeter.data.sources.graph.dump import Graph
from swaymeter.data.sources.graph.entities import BATCH, LABEL, LANGUAGES, MAX_ROWS, Entities, in_batches
from swaymeter.data.sources.graph.pairs import Pair, sampled_pairs
from swaymeter.data.sources.graph.sparql import Literal, SparqlStore, Term, Uri, bound, count, iri, is_iri, string
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.source import FactsOptions, FactSource, FetchedFacts, with_advice

log = logging.getLogger(__name__)

VERSION = 3
SOURCE = "YAGO"
LICENCE = "CC BY 4.0"
ID_SOURCE = "yago"
ADVICE = "without this service, use `source: sample` or a `dump` of YAGO under `facts`, and set `absent_from: []`"
NAME_PREDICATES = (LABEL, "http://schema.org/alternateName", "http://www.w3.org/2004/02/skos/core#altLabel")
"""Predicates from an entity to its names and alternate names, in YAGO and in Wikidata."""

FURTHER_LANGUAGES = (
    "cs",
    "da",
    "de",
    "es",
    "et",
    "fi",
    "fr",
    "hr",
    "hu",
    "it",
    "lv",
    "nb",
    "nl",
    "no",
    "pl",
    "pt",
    "ro",
    "sk",
    "sl",
    "sv",
    "tr",
)
"""Languages besides English in which names are looked up; Wikidata writes nb for Norwegian."""
MAX_TEXTS = 400
"""Limit of the texts in a query that looks up names; each name is a text in every language, and without a language."""

# Rejection reasons of pairs of an entity and its answer.
NO_NAME = "no English name of the subject"
NO_ANSWER = "no English name of the answer"
NO_VALUE = "an invalid value"
OWN_NAME = "the answer has the subject's name"
NAME_TAKEN = "another entity of the same name came first"
NO_ENTITY = "a value in place of a subject"
INVALID_IRI = "an IRI that SPARQL does not allow"


def facts(
    store: SparqlStore, relation: Relation, *, pairs: int, seed: int, source: str = SOURCE, licence: str = LICENCE
) -> FetchedFacts:
    """Return a sample of a relation's facts in the order of their sampling keys, the same for the same seed and graph.

    In a reversed relation, the subject of a fact is the object of the triple. Further pairs of a fact's subject do not
    count as rejected. The fact's other_objects are all further objects of its subject, and the objects of other
    examined entities with the same name.

    Args:
        store: The graph.
        relation: The relation.
        pairs: Limit of the pairs that become facts.
        seed: A part of each sampling key.
        source: The source that the facts cite.
        licence: The licence that the facts cite.

    Raises:
        InputError: The relation has no predicate of YAGO, or the graph has no fact.
        ServiceTimeout: Even the smallest queries take too long.
    """
    if not relation.yago:
        raise InputError(
            f"relation {relation.name}: YAGO has no predicate for this relation; choose another source, or leave the "
            "relation out"
        )
    choice = _Choice(relation, Entities(store))
    # Some pairs are rejected. So a page has two pairs for each requested fact, but less than MAX_ROWS rows; and a block
    # has up to 20 pairs more than requested.
    pairs_in_order = sampled_pairs(
        store,
        relation.yago,
        seed=seed,
        page=min(2 * pairs, MAX_ROWS // 2),
        english_only=relation.object_class in LITERAL_CLASSES,
    )
    while len(choice.chosen) < pairs and (block := list(islice(pairs_in_order, min(BATCH, pairs + 20)))):
        choice.entities.learn(choice.terms(block))
        for pair in block:
            if len(choice.chosen) < pairs:
                choice.consider(pair)
    reasons = ", ".join(f"{reason} ({number})" for reason, number in choice.rejected.most_common()) or "nothing"
    if not choice.chosen:
        raise InputError(
            f"relation {relation.name}: {store.address} has no usable fact of {', '.join(relation.yago)} "
            f"among {choice.examined} pairs (rejected: {reasons}); choose another source, or leave the relation out"
        )
    log.info(
        "relation %s: %d facts of %d pairs; rejected: %s", relation.name, len(choice.chosen), choice.examined, reasons
    )
    return FetchedFacts(_facts(choice, source, licence), dict(choice.rejected), choice.examined)


def names_in_graph(store: SparqlStore, names: Sequence[str]) -> set[str]:
    """Return the names that an entity of the graph has in exactly this spelling, as its name or an alternate name.

    Names are looked up in English, without a language, and in further languages of Latin script.
    """
    languages = sorted({*LANGUAGES, *FURTHER_LANGUAGES})

    def query(batch: Sequence[str]) -> str:
        texts = " ".join(string(name, language) for name in batch for language in (None, *languages))
        return (
            f"SELECT DISTINCT ?name WHERE {{\n  VALUES ?name {{ {texts} }}\n"
            f"  ?e {'|'.join(map(iri, NAME_PREDICATES))} ?name .\n}}"
        )

    size = max(1, MAX_TEXTS // (len(languages) + 1))
    terms = {bound(row, "name") for row in in_batches(store, list(dict.fromkeys(names)), query, size=size)}
    return {term.value for term in terms if isinstance(term, Literal)} & set(names)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A pair that becomes a fact; `object_uri` is None if the answer is a literal."""

    pair: Pair
    name: str
    answer: str
    object_uri: Uri | None


class _Choice:
    """The pairs of a relation that become facts, by entity, and numbers of rejected pairs by reason."""

    def __init__(self, relation: Relation, entities: Entities) -> None:
        self.relation, self.entities = relation, entities
        self.chosen: dict[Uri, _Chosen] = {}
        self.rejected: Counter[str] = Counter()
        self.examined = 0
        self.namesakes: dict[str, dict[Uri, None]] = defaultdict(dict)
        """The examined entities by name, in order, because a model cannot tell entities of one name apart."""
        self._chosen_names: set[str] = set()

    def terms(self, block: Sequence[Pair]) -> Iterator[Uri]:
        """Yield the IRIs of a block that need a name: entities, answers and units."""
        for pair in block:
            entity, value = pair.directed(self.relation)
            if entity in self.chosen:
                continue
            unit = literals.unit_of(value) if isinstance(value, Literal) else None
            for term in (entity, Uri(unit) if unit else value):
                if isinstance(term, Uri) and is_iri(term):
                    yield term

    def consider(self, pair: Pair) -> None:
        """Choose a pair, or count its rejection reason; ignore a further pair of a chosen entity."""
        self.examined += 1
        entity, value = pair.directed(self.relation)
        if entity in self.chosen:
            return
        if not isinstance(entity, Uri):
            self.rejected[NO_ENTITY] += 1
            return
        name = self.entities.name(entity) if is_iri(entity) else None
        if name is not None:
            self.namesakes[name][entity] = None
        if not is_iri(entity) or (isinstance(value, Uri) and not is_iri(value)):
            self.rejected[INVALID_IRI] += 1
            return
        answer = self.answer(value)
        if name is None:
            self.rejected[NO_NAME] += 1
        elif answer is None:
            self.rejected[NO_ANSWER if isinstance(value, Uri) else NO_VALUE] += 1
        elif answer == name:
            self.rejected[OWN_NAME] += 1
        elif name in self._chosen_names:
            self.rejected[NAME_TAKEN] += 1
        else:
            self._chosen_names.add(name)
            self.chosen[entity] = _Chosen(pair, name, answer, value if isinstance(value, Uri) else None)

    def answer(self, value: Term) -> str | None:
        if isinstance(value, Uri):
            return self.entities.name(value)
        return literals.text(value, self.relation, self.entities.names)


def _facts(choice: _Choice, source: str, licence: str) -> list[Fact]:
    subjects = list(choice.chosen)
    namesakes = [namesake for chosen in choice.chosen.values() for namesake in choice.namesakes[chosen.name]]
    answers = [chosen.object_uri for chosen in choice.chosen.values() if chosen.object_uri]
    relation, entities, ids = choice.relation, choice.entities, choice.entities.ids
    objects = entities.objects(relation, namesakes)
    degrees = entities.degrees([*subjects, *answers])
    subject_degrees = entities.relation_degrees(relation, subjects, as_subject=not relation.reverse)
    answer_degrees = entities.relation_degrees(relation, answers, as_subject=relation.reverse)
    chosen_facts: list[Fact] = []
    for subject, chosen in choice.chosen.items():
        uri, response = chosen.object_uri, chosen.pair.response
        true_answers = {
            choice.answer(value) for namesake in choice.namesakes[chosen.name] for value in objects.get(namesake, ())
        }
        fact = Fact(
            RelationName(relation.name),
            chosen.name,
            chosen.answer,
            ids.get(subject),
            ids.get(uri) if uri else None,
            id_source=ID_SOURCE if subject in ids or uri in ids else None,
            source=source,
            licence=licence,
            subject_uri=str(subject),
            object_uri=str(uri) if uri else None,
            other_objects=tuple(sorted(other for other in true_answers - {chosen.answer} if other is not None)),
            subject_degree=degrees[subject],
            subject_relation_degree=subject_degrees[subject],
            object_degree=degrees[uri] if uri else None,
            object_relation_degree=answer_degrees[uri] if uri else None,
            address=response.address,
            query=response.query,
            retrieved_at=response.retrieved_at.isoformat(timespec="seconds"),
        )
        chosen_facts.append(fact)
    return chosen_facts


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate, its number of triples, and the most frequent classes of its subjects."""

    iri: str
    triples: int
    subject_classes: tuple[str, ...]


def predicates(store: SparqlStore) -> Iterator[Predicate]:
    """Yield every predicate, the most frequent first, with at most three classes of its subjects.

    Raises:
        ServiceTimeout: The service takes too long.
    """
    counted = store.select("SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) ?p")
    for row in counted.rows:
        predicate = bound(row, "p")
        if isinstance(predicate, Uri) and is_iri(predicate):
            classes = store.select(
                f"SELECT ?c (COUNT(DISTINCT ?s) AS ?n) WHERE {{ ?s {iri(predicate)} ?o . ?s a ?c FILTER(isIRI(?c)) }} "
                "GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 3"
            )
            subject_classes = tuple(str(bound(class_row, "c")) for class_row in classes.rows)
            yield Predicate(str(predicate), count(bound(row, "n")), subject_classes)


class YagoFacts(FactsOptions):
    """Facts of YAGO, from its endpoint, another endpoint (`services.yago.address`), or dump files."""

    display_name: ClassVar[str] = "YAGO"

    source: Constant["yago"] = "yago"
    """YAGO, a knowledge graph."""
    dump: tuple[NamedPath, ...] = ()
    """RDF files (.ttl, .nt, .nq, also with .gz) that replace the endpoint."""
    pairs: int = Field(default=200, ge=2, le=1_000_000)
    """Number of facts that are drawn for each relation, apart from rejected pairs; at least `real_entities`."""
    citation: str = Field(default=SOURCE, min_length=1)
    """The source that every fact cites, if the endpoint or the dump is not YAGO itself."""
    licence: str = Field(default=LICENCE, min_length=1)
    """The licence that every fact cites, if the endpoint or the dump is not YAGO itself."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return the relations with a predicate of YAGO."""
        return catalog.relations_of_yago()

    @model_validator(mode="after")
    def _enough_pairs(self) -> "YagoFacts":
        if self.pairs < self.real_entities:
            raise ValueError(
                f"`pairs` is {self.pairs}, but must be at least `real_entities`, which is {self.real_entities}; raise "
                "`pairs`"
            )
        return self


def _key(options: YagoFacts, relation: str, seed: int, access: Access) -> dict[str, Any]:
    entry = catalog.relation(relation)
    return {
        "source": "yago",
        "version": VERSION,
        "relation": relation,
        "graph": _graph(options, access).identity(),
        "predicates": list(entry.yago),
        "reverse": entry.reverse,
        "unit": entry.unit,
        "object_class": entry.object_class,
        "pairs": options.pairs,
        "seed": seed,
        "citation": options.citation,
        "licence": options.licence,
    }


def _fetch(options: YagoFacts, relation: str, seed: int, access: Access) -> FetchedFacts:
    with with_advice("" if options.dump else ADVICE):
        return facts(
            _graph(options, access).open(),
            catalog.relation(relation),
            pairs=options.pairs,
            seed=seed,
            source=options.citation,
            licence=options.licence,
        )


def _graph(options: YagoFacts, access: Access) -> Graph:
    return Graph("yago", access, tuple(Path(file).expanduser() for file in options.dump))


def _graphs(options: YagoFacts, access: Access) -> list[Graph]:
    """Return the graphs in which invented names must not occur: by default YAGO, with Wikidata for the public YAGO."""
    is_public = not options.dump and access.address("yago") == SERVICES["yago"].address
    default: tuple[GraphName, ...] = ("yago", "wikidata") if is_public else ("yago",)
    names = default if options.absent_from is None else options.absent_from
    return [_graph(options, access) if name == "yago" else Graph(name, access) for name in names]


YAGO = FactSource("yago", YagoFacts, _key, _fetch, _graphs, _graph)
