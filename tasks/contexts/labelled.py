"""Queries and contexts about entities in groups, from texts of their own [Du et al. 2024, section 6, appendix G].

A query has no answer: an entity has a label, which no query asks for. A sentence with slots is a context about each
entity, or each pair, and relevant to the queries about it alone; one without slots is a context of the whole set, and
relevant to none. All contexts of a set stand before every query.
"""

from swaymeter.data import catalog
from swaymeter.data.catalog import Sentence
from swaymeter.data.records import Context, Query, QueryType, RelationName, identity
from swaymeter.data.sources.labelled import Group, LabelledEntity


def labelled_queries(relation: RelationName, group: Group) -> list[Query]:
    """Every form about every entity, in the order of the entities."""
    types: tuple[tuple[QueryType, tuple[str, ...]], ...] = (("open", group.open), ("closed", group.closed))
    return [
        Query(
            query_id=identity(relation, "labelled", query_type, form, *entity.names), relation=relation,
            query_type=query_type, form=form, entity=entity.name, entity_id=None, invented=False, answer="",
            text=catalog.fill(template, **entity.slots), label=entity.label, type=entity.type,
        )
        for entity in group.entities
        for query_type, templates in types
        for form, template in enumerate(templates, start=1)
    ]  # fmt: skip


def labelled_contexts(relation: RelationName, group: Group) -> list[Context]:
    """Every sentence about every entity, then those that are about none."""
    about_each = [one for one in group.sentences if "{" in one.text]
    return [
        *(_context(relation, one, entity) for entity in group.entities for one in about_each),
        *(_context(relation, one, None) for one in group.sentences if one not in about_each),
    ]


def _context(relation: RelationName, sentence: Sentence, entity: LabelledEntity | None) -> Context:
    names, slots = (entity.names, entity.slots) if entity else ((), {})
    return Context(
        context_id=identity(relation, "labelled", sentence.text, *names), relation=relation, kind="base",
        entity=entity.name if entity else "", invented=False, object="",
        text=f"{catalog.fill(sentence.text, **slots)}\n", template=sentence.text,
        label=sentence.label, strength=sentence.strength,
    )  # fmt: skip
