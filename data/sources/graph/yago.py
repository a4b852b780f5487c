"""Facts from YAGO, or from any graph in its words: a seeded sample of a relation's pairs, with names and degrees.

The graph is asked for pairs in the order of their sampling keys (`yago_pairs`), until enough of them are facts: who is
asked about and what is answered have a name in English, and not the same one; of two entities of one name the one whose
key comes first stays; an entity has one fact, its first. Then everything else that the graph holds true of the chosen
entities and of others that are called the same, and how many triples each is part of (`yago_entities`).
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from data.catalog import Relation
from data.catalog.name_parts import name_parts
from data.errors import InputError
from data.records import Fact, RelationName
from data.sources.graph import literals
from data.sources.graph.entities import (
    BATCH,
    LABEL,
    LANGUAGES,
    MOST_ROWS,
    Entities,
    degrees,
    in_batches,
    objects,
    relation_degrees,
)
from data.sources.graph.pairs import Pair, sampled_pairs
from data.sources.graph.sparql import Literal, SparqlStore, Term, Uri, bound, iri, is_iri, string

log = logging.getLogger(__name__)

SOURCE = "YAGO"
LICENCE = "CC BY 4.0"
ID_SOURCE = "yago"
NAMES = (LABEL, "http://schema.org/alternateName", "http://www.w3.org/2004/02/skos/core#altLabel")
"""What joins an entity to its names and other names, in YAGO and in Wikidata."""

FURTHER_LANGUAGES = ("es", "fr", "de", "it", "pt", "nl", "nb")
"""Languages in which names are looked for whatever the generator's are; Wikidata's labels have nb, not no."""
TEXTS = 400
"""How many texts, each in one language, a query looks for."""

NO_NAME = "no English name for who is asked about"
NO_ANSWER = "no English name for what is answered"
NO_VALUE = "a value that reads as none"
OWN_NAME = "the answer is the name of who is asked about"
NAME_TAKEN = "another entity of the same name came first"
NO_ENTITY = "a value in the place of who is asked about"
NOT_AN_IRI = "an IRI that no query can name"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The facts of a relation in the order of their keys, why other pairs became none, and how many were looked at.

    A pair of an entity that has its fact already is looked at and not counted as rejected: it is among the fact's
    other_objects. So are all objects of every other entity that was looked at and has the name of the fact's.
    """

    facts: list[Fact]
    rejected: Mapping[str, int]
    asked: int


def facts(
    store: SparqlStore, relation: Relation, *, pairs: int, seed: int, source: str = SOURCE, licence: str = LICENCE
) -> Fetched:
    """A sample of a relation's facts, at most `pairs`, the same for the same seed and graph.

    Of a reversed relation the subject is what the graph has as the object.

    Args:
        store: The graph.
        relation: The relation of the catalog.
        pairs: The most pairs that become facts.
        seed: Draws the sample.
        source: What the facts cite.
        licence: The licence of the graph.

    Raises:
        InputError: YAGO has no predicate for the relation, or the graph has no fact.
        ServiceTimeout: Even the smallest queries need too long.
    """
    if not relation.yago:
        raise InputError(f"relation {relation.name}: YAGO has no predicate for it; choose another source")
    choice = _Choice(relation, Entities(store))
    for block in _blocks(sampled_pairs(store, relation, seed=seed, page=min(2 * pairs, MOST_ROWS // 2)), pairs):
        choice.known.learn(choice.unknown(block))
        for pair in block:
            choice.consider(pair)
            if len(choice.chosen) == pairs:
                break
        if len(choice.chosen) == pairs:
            break
    said = ", ".join(f"{reason} ({count})" for reason, count in choice.rejected.most_common()) or "nothing"
    if not choice.chosen:
        raise InputError(
            f"relation {relation.name}: {store.address} holds no fact of {', '.join(relation.yago)} that can be used; "
            f"rejected of {choice.asked} pairs: {said}"
        )
    log.info("relation %s: %d facts of %d pairs; rejected: %s", relation.name, len(choice.chosen), choice.asked, said)
    return Fetched(_facts(store, choice, source, licence), dict(choice.rejected), choice.asked)


def existing(store: SparqlStore, names: Sequence[str]) -> set[str]:
    """Those of the names that are a name or other name of anything in the graph, letter by letter.

    In English, in no language and in those that invented names sound like; in others nobody looks.
    """
    languages = languages_of_names()

    def query(batch: Sequence[str]) -> str:
        texts = " ".join(string(name, language) for name in batch for language in (None, *languages))
        return (
            f"SELECT DISTINCT ?name WHERE {{\n  VALUES ?name {{ {texts} }}\n"
            f"  ?e {'|'.join(map(iri, NAMES))} ?name .\n}}"
        )

    size = max(1, TEXTS // (len(languages) + 1))
    found = {bound(row, "name") for row in in_batches(store, list(dict.fromkeys(names)), query, size=size)}
    return {term.value for term in found if isinstance(term, Literal)} & set(names)


@cache
def languages_of_names() -> tuple[str, ...]:
    """The languages in which a name is looked for: English, the generator's, and some that many labels are in."""
    parts = name_parts()
    generator = {locale.split("_")[0] for locale in (*parts.locales, *parts.town_locales)}
    return tuple(sorted(generator | {*LANGUAGES, *FURTHER_LANGUAGES}))


@dataclass(frozen=True, slots=True)
class _Chosen:
    pair: Pair
    name: str
    answer: str
    object_uri: Uri | None


class _Choice:
    """Which pairs become facts, told one after the other."""

    def __init__(self, relation: Relation, known: Entities) -> None:
        self.relation, self.known = relation, known
        self.chosen: dict[Uri, _Chosen] = {}
        self.rejected: Counter[str] = Counter()
        self.asked = 0
        self.called: dict[str, dict[Uri, None]] = defaultdict(dict)
        """The entities of each name, whether they have a fact or were rejected: nobody who reads it can tell which."""
        self._names: set[str] = set()

    def unknown(self, block: Sequence[Pair]) -> Iterator[Uri]:
        """Whose names the block needs: entities, answers and units, as far as a query can name them."""
        for pair in block:
            entity, value = pair.directed(self.relation)
            if entity in self.chosen:
                continue
            unit = literals.unit_of(value) if isinstance(value, Literal) else None
            for term in (entity, Uri(unit) if unit else value):
                if isinstance(term, Uri) and is_iri(term):
                    yield term

    def consider(self, pair: Pair) -> None:
        self.asked += 1
        entity, value = pair.directed(self.relation)
        if entity in self.chosen:
            return
        if not isinstance(entity, Uri):
            self.rejected[NO_ENTITY] += 1
            return
        name = self.known.name(entity) if is_iri(entity) else None
        if name is not None:
            self.called[name][entity] = None
        if not is_iri(entity) or (isinstance(value, Uri) and not is_iri(value)):
            self.rejected[NOT_AN_IRI] += 1
            return
        answer = self.answer(value)
        if name is None:
            self.rejected[NO_NAME] += 1
        elif answer is None:
            self.rejected[NO_ANSWER if isinstance(value, Uri) else NO_VALUE] += 1
        elif answer == name:
            self.rejected[OWN_NAME] += 1
        elif name in self._names:
            self.rejected[NAME_TAKEN] += 1
        else:
            self._names.add(name)
            self.chosen[entity] = _Chosen(pair, name, answer, value if isinstance(value, Uri) else None)

    def answer(self, value: Term) -> str | None:
        if isinstance(value, Uri):
            return self.known.name(value)
        return literals.text(value, self.relation, self.known.names)


def _blocks(pairs: Iterator[Pair], wanted: int) -> Iterator[list[Pair]]:
    """A few more than are wanted, since some are no facts; at most as many as a query asks about."""
    while block := list(islice(pairs, min(BATCH, wanted + 20))):
        yield block


def _facts(store: SparqlStore, choice: _Choice, source: str, licence: str) -> list[Fact]:
    entities = list(choice.chosen)
    called = [one for found in choice.chosen.values() for one in choice.called[found.name]]
    answers = [found.object_uri for found in choice.chosen.values() if found.object_uri]
    everything = objects(store, choice.relation, called, choice.known)
    total = degrees(store, [*entities, *answers])
    of_entities = relation_degrees(store, choice.relation, entities, as_subject=not choice.relation.reverse)
    of_answers = relation_degrees(store, choice.relation, answers, as_subject=choice.relation.reverse)
    ids = choice.known.ids
    written = []
    for entity, found in choice.chosen.items():
        uri, answer = found.object_uri, found.pair.answer
        true = {choice.answer(value) for one in choice.called[found.name] for value in everything.get(one, ())}
        written.append(
            Fact(
                relation=RelationName(choice.relation.name),
                subject=found.name,
                object=found.answer,
                subject_id=ids.get(entity),
                object_id=ids.get(uri) if uri else None,
                id_source=ID_SOURCE if entity in ids or uri in ids else None,
                source=source,
                licence=licence,
                subject_uri=str(entity),
                object_uri=str(uri) if uri else None,
                other_objects=tuple(sorted(other for other in true - {found.answer} if other is not None)),
                subject_degree=total[entity],
                subject_relation_degree=of_entities[entity],
                object_degree=total[uri] if uri else None,
                object_relation_degree=of_answers[uri] if uri else None,
                address=answer.address,
                query=answer.query,
                retrieved_at=answer.retrieved_at.isoformat(timespec="seconds"),
            )
        )
    return written
