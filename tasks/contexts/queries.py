"""Queries: two open and two closed forms about each entity [Du et al. 2024, section 4.1]."""

from collections.abc import Sequence

from data import catalog
from data.records import Query, QueryType, RelationName, identity
from tasks.contexts.entities import Entity


def write_queries(relation: RelationName, entities: Sequence[Entity]) -> list[Query]:
    """Four queries an entity, in the order of the entities; open forms do not mention the answer."""
    forms = catalog.relation(relation)
    types: tuple[tuple[QueryType, tuple[str, str]], ...] = (("open", forms.open), ("closed", forms.closed))
    return [
        Query(
            query_id=identity(relation, query_type, form, entity.name, entity.invented, entity.object),
            relation=relation,
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
