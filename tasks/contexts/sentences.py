"""Queries and contexts: sentences about an entity from the catalog's templates [Du et al. 2024, section 4.1].

Base and assertive contexts state an object that is not a true one of the entity, so that every context conflicts with
the facts; the first negation denies the entity's own object, further ones deny others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from data import catalog
from data.catalog import Relation
from data.errors import InputError
from data.records import Context, ContextKind, Query, QueryType, RelationName, identity
from data.sources.own.by_relation import ContextRow
from data.storage.keys import generator
from tasks.contexts.entities import Entity


def write_queries(relation: Relation, entities: Sequence[Entity]) -> list[Query]:
    """Four queries an entity, in the order of the entities; open forms do not mention the answer."""
    types: tuple[tuple[QueryType, tuple[str, str]], ...] = (("open", relation.open), ("closed", relation.closed))
    return [
        Query(
            query_id=identity(relation.name, query_type, form, entity.name, entity.invented, entity.object),
            relation=RelationName(relation.name), query_type=query_type, form=form, entity=entity.name,
            entity_id=entity.wikidata_id, invented=entity.invented, answer=entity.object,
            text=catalog.fill(template, entity=entity.name, answer=entity.object),
            degree=entity.degree, relation_degree=entity.relation_degree,
        )
        for entity in entities
        for query_type, templates in types
        for form, template in enumerate(templates, start=1)
    ]  # fmt: skip


def write_contexts(
    relation: Relation,
    entities: Sequence[Entity],
    pool: Sequence[str],
    *,
    per_kind: Mapping[ContextKind, int],
    seed: int,
) -> list[Context]:
    """The contexts of a relation: `per_kind` of each kind about each entity, objects drawn from `pool`.

    A draw depends on seed, entity, kind and pool. InputError where it has fewer other objects than contexts of a kind.
    """
    contexts = []
    for entity in entities:
        true = {entity.object, *entity.other_objects}
        others = [name for name in pool if not _is_true(relation, name, true)]
        for kind, count in per_kind.items():
            if len(others) < count:
                raise InputError(
                    f"relation {relation.name}: {count} {kind} contexts an entity are requested, "
                    f"the facts have {len(others)} other objects"
                )
            order = generator(seed, relation.name, entity.name, kind).permutation(len(others))
            stated = [others[index] for index in order]
            if kind == "negation":
                stated.insert(0, entity.object)
            contexts += [_context(relation, entity, kind, number, stated[number], seed) for number in range(count)]
    return contexts


def own_contexts(rows: Iterable[ContextRow], entities: Sequence[Entity]) -> list[Context]:
    """The contexts of one's own of a relation, in their order; each ends with a newline, as written ones do."""
    invented = {entity.name for entity in entities if entity.invented}
    return [
        Context(
            context_id=identity(row.relation, "own", row.kind, row.entity or "", row.object or "", row.text),
            relation=RelationName(row.relation), kind=row.kind, entity=row.entity or "",
            invented=row.entity in invented, object=row.object or "", text=f"{row.text}\n",
        )
        for row in rows
    ]  # fmt: skip


def _is_true(relation: Relation, name: str, true: Collection[str]) -> bool:
    """Whether the object is a true one; of a date also where one of the two is less precise: 1879, 14 March 1879."""
    if relation.object_class != "date":
        return name in true
    return any(f" {name}".endswith(f" {date}") or f" {date}".endswith(f" {name}") for date in true)


def _context(relation: Relation, entity: Entity, kind: ContextKind, number: int, stated: str, seed: int) -> Context:
    name, templates = relation.name, relation.contexts[kind]
    template = templates[generator(seed, name, entity.name, kind, number, "template").integers(len(templates))]
    return Context(
        context_id=identity(name, entity.name, entity.invented, kind, number, stated, template),
        relation=RelationName(name), kind=kind, entity=entity.name, invented=entity.invented, object=stated,
        text=catalog.fill(template, entity=entity.name, answer=stated),
    )  # fmt: skip
