"""The entities of queries, and the queries and contexts about them [Du et al. 2024, section 4.1].

The catalog has the templates for the facts of a relation. A base or assertive context states an object that is false of
its entity, such as "The capital of Norway is Lima". The first negation about an entity denies the entity's object ("The
capital of Norway is not Oslo"); further negations deny other objects.

A group of a study file has its own templates, and entities that have a label but no answer [Du et al. 2024, section 6
and appendix G]. A sentence with slots, such as {entity}, is written about each entity or pair of entities. Such a
sentence is relevant only to queries about this entity or pair. A sentence without slots is relevant to no query.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation, Sentence
from swaymeter.data.errors import InputError
from swaymeter.data.randomness import drawn_first, generator
from swaymeter.data.records import Context, ContextKind, Fact, Query, QueryType, RelationName, WikidataId, identity
from swaymeter.data.sources.own.facts import ContextRow
from swaymeter.data.sources.source import Group, LabelledEntity

Choice = Literal["random", "degree"]
"""The rule that chooses real entities: at random, or by degree (the entities with the most facts in the graph)."""


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a relation with its object.

    Attributes:
        name: its name.
        invented: True for an invented entity.
        object: the right answer of its queries.
        wikidata_id: its item of Wikidata; None if unknown.
        other_objects: further true objects, which occur in no context.
        degree: its number of facts in the graph.
        relation_degree: its number of facts of this relation.
    """

    name: str
    invented: bool
    object: str
    wikidata_id: WikidataId | None = None
    other_objects: tuple[str, ...] = ()
    degree: int | None = None
    relation_degree: int | None = None


def objects(facts: Sequence[Fact]) -> list[str]:
    """Return the different objects of the facts, sorted: the pool of objects for contexts and invented entities."""
    return sorted({fact.object for fact in facts})


def choose_entities(
    relation: RelationName,
    facts: Sequence[Fact],
    names: Sequence[str],
    *,
    real: int,
    invented: int,
    seed: int,
    choice: Choice = "random",
) -> list[Entity]:
    """Choose the entities of a study's queries: `real` subjects of the facts, then `invented` names.

    Raises:
        InputError: too few facts, names or objects, or a choice by degree from a source without degrees.
    """
    by_subject = {fact.subject: fact for fact in facts}
    if len(by_subject) < real:
        raise InputError(
            f"relation {relation}: {real} real entities are requested, but the facts have only {len(by_subject)}; "
            "lower `real_entities` under `facts`, or leave the relation out"
        )
    entities = [
        Entity(
            fact.subject,
            False,
            fact.object,
            fact.subject_id,
            fact.other_objects,
            fact.subject_degree,
            fact.subject_relation_degree,
        )
        for fact in map(by_subject.__getitem__, _draw_subjects(relation, by_subject, real, seed, choice))
    ]
    unknown, pool = unknown_names(relation, names, by_subject, invented), objects(facts)
    if len(pool) < 2:
        raise InputError(
            f"relation {relation}: contexts need at least 2 different objects, but the facts have only {len(pool)}; "
            "leave the relation out"
        )
    # An invented entity has no facts in the graph; its degree is None if the source has no degrees.
    degree = 0 if any(fact.subject_degree is not None for fact in facts) else None
    for name in drawn_first(unknown, invented, seed, relation, "invented"):
        index = generator(seed, relation, name, "answer").integers(len(pool))
        entities.append(Entity(name, True, pool[index], degree=degree, relation_degree=degree))
    return entities


def unknown_names(relation: RelationName, names: Sequence[str], subjects: Collection[str], count: int) -> list[str]:
    """Return the names that no subject of the facts has; InputError for fewer than `count`."""
    unknown = [name for name in names if name not in subjects]
    if len(unknown) < count:
        raise InputError(
            f"relation {relation}: {count} invented entities are requested, but only {len(unknown)} names are "
            "available; lower `invented_entities`, or set `invented: names` (both under `facts`), which generates "
            "more names"
        )
    return unknown


def _draw_subjects(
    relation: RelationName, by_subject: dict[str, Fact], count: int, seed: int, choice: Choice
) -> list[str]:
    names = drawn_first(by_subject, len(by_subject) if choice == "degree" else count, seed, relation, "real")
    if choice == "random":
        return names
    degrees = {name: fact.subject_degree for name, fact in by_subject.items() if fact.subject_degree is not None}
    if len(degrees) < len(by_subject):
        raise InputError(
            f"relation {relation}: the source has no degrees to choose entities by; set `choice: random` under `facts`"
        )
    return sorted(names, key=lambda name: -degrees[name])[:count]  # equal degrees keep the order of the draw


log = logging.getLogger(__name__)


def write_queries(relation: Relation, entities: Sequence[Entity]) -> list[Query]:
    """Write two open and two closed queries about each entity, in order; only closed queries mention the answer."""
    types: tuple[tuple[QueryType, tuple[str, str]], ...] = (("open", relation.open), ("closed", relation.closed))
    return [
        Query(
            query_id=identity(relation.name, query_type, form, entity.name, entity.invented, entity.object),
            relation=RelationName(relation.name),
            query_type=query_type,
            form=form,
            entity=entity.name,
            entity_id=entity.wikidata_id,
            invented=entity.invented,
            answer=entity.object,
            text=catalog.fill(template, entity=entity.name, answer=entity.object),
            degree=entity.degree,
            relation_degree=entity.relation_degree,
        )
        for entity in entities
        for query_type, templates in types
        for form, template in enumerate(templates, start=1)
    ]


def write_contexts(
    relation: Relation,
    entities: Sequence[Entity],
    pool: Sequence[str],
    *,
    per_kind: Mapping[ContextKind, int],
    seed: int,
) -> list[Context]:
    """Write contexts of a relation: about each entity, `per_kind[kind]` contexts of each kind, with objects of `pool`.

    A draw depends on seed, relation, entity, kind and pool. If a kind needs more contexts than the pool has false
    objects, the objects repeat, each time in the next template.

    Raises:
        InputError: the pool has no false object.
    """
    contexts: list[Context] = []
    repeating: set[str] = set()
    name = relation.name
    for entity in entities:
        true_objects = {entity.object, *entity.other_objects}
        false_objects = [other for other in pool if not _is_true(relation, other, true_objects)]
        for kind, count in per_kind.items():
            if count and not false_objects:
                raise InputError(
                    f"relation {name}: {kind} contexts need an object that is false of {entity.name}, but the facts "
                    "have none; leave the relation out"
                )
            order = generator(seed, name, entity.name, kind).permutation(len(false_objects))
            entity_object = [entity.object] if kind == "negation" else []
            context_objects = [*entity_object, *(false_objects[index] for index in order)]
            if count > len(context_objects):
                repeating.add(entity.name)
            for context_index in range(count):
                # The entity's object is used once; the false objects repeat.
                repetition = max(context_index - len(entity_object), 0) // len(false_objects)
                index = context_index - repetition * len(false_objects)
                # The first template of an object is drawn; each repetition takes the next template.
                templates = relation.contexts[kind]
                first = generator(seed, name, entity.name, kind, index, "template").integers(len(templates))
                template, answer = templates[(first + repetition) % len(templates)], context_objects[index]
                text = catalog.fill(template, entity=entity.name, answer=answer)
                context_id = identity(name, entity.name, entity.invented, kind, context_index, answer, template)
                about = RelationName(name), kind, entity.name, entity.invented
                contexts.append(Context(context_id, *about, object=answer, text=text))
    if repeating:
        log.warning(
            "relation %s: %d of %d entities have fewer false objects than contexts of a kind, so objects occur in "
            "several of their contexts",
            name,
            len(repeating),
            len(entities),
        )
    return contexts


def own_contexts(rows: Iterable[ContextRow], entities: Sequence[Entity]) -> list[Context]:
    """Return the user's own contexts of a relation, in order; each ends with a newline, as in `write_contexts`."""
    invented = {entity.name for entity in entities if entity.invented}
    return [
        Context(
            context_id=identity(row.relation, "own", row.kind, row.entity or "", row.object or "", row.text),
            relation=RelationName(row.relation),
            kind=row.kind,
            entity=row.entity or "",
            invented=row.entity in invented,
            object=row.object or "",
            text=f"{row.text}\n",
        )
        for row in rows
    ]


def _is_true(relation: Relation, object_: str, true_objects: Collection[str]) -> bool:
    """Return True if an object is true of an entity; a date may be more or less precise: 1879 or 14 March 1879."""
    if relation.object_class != "date":
        return object_ in true_objects
    return any(f" {object_}".endswith(f" {date}") or f" {date}".endswith(f" {object_}") for date in true_objects)


def labelled_queries(relation: RelationName, group: Group) -> list[Query]:
    """Return the queries of a group: every query form about every entity, in the order of the entities."""
    types: tuple[tuple[QueryType, tuple[str, ...]], ...] = (("open", group.open), ("closed", group.closed))
    return [
        Query(
            query_id=identity(relation, "labelled", query_type, form, *entity.names),
            relation=relation,
            query_type=query_type,
            form=form,
            entity=entity.name,
            entity_id=None,
            invented=False,
            answer="",
            text=catalog.fill(template, **entity.slots),
            label=entity.label,
            type=entity.type,
        )
        for entity in group.entities
        for query_type, templates in types
        for form, template in enumerate(templates, start=1)
    ]


def labelled_contexts(relation: RelationName, group: Group) -> list[Context]:
    """Return the contexts of a group: each sentence with slots about each entity, then the sentences without slots."""
    with_slots = [sentence for sentence in group.sentences if "{" in sentence.text]
    contexts: list[tuple[LabelledEntity | None, Sentence]] = [
        *((entity, sentence) for entity in group.entities for sentence in with_slots),
        *((None, sentence) for sentence in group.sentences if sentence not in with_slots),
    ]
    return [
        Context(
            context_id=identity(relation, "labelled", sentence.text, *(entity.names if entity else ())),
            relation=relation,
            kind="base",
            entity=entity.name if entity else "",
            invented=False,
            object="",
            text=f"{catalog.fill(sentence.text, **(entity.slots if entity else {}))}\n",
            template=sentence.text,
            label=sentence.label,
            strength=sentence.strength,
        )
        for entity, sentence in contexts
    ]
