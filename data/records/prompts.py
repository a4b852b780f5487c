"""Rows that the next-token measures read: queries and the contexts before them."""

from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, RelationName, WikidataId, table

QueryType = Literal["open", "closed"]
ContextKind = Literal["base", "assertive", "negation"]

CONTEXT_KINDS: tuple[ContextKind, ...] = ("base", "assertive", "negation")


@table("queries", "a complete query", key=("query_id",))
class Query:
    """A complete query about an entity or a pair of entities."""

    query_id: Annotated[str, Meaning("the query's id")]
    relation: Annotated[RelationName, Meaning("the relation's name")]
    query_type: Annotated[QueryType, Meaning("open (a question or a sentence to complete) or closed (yes or no)")]
    form: Annotated[int, Meaning("number of the query's form among the forms of its type, from 1")]
    entity: Annotated[str, Meaning("the entity of the query; for a pair, both names")]
    entity_id: Annotated[WikidataId | None, Meaning("the entity's Wikidata id")]
    invented: Annotated[bool, Meaning("true for an invented entity")]
    answer: Annotated[str, Meaning("the entity's object; a drawn object for an invented entity; empty in groups")]
    text: Annotated[str, Meaning("the query as the model reads it")]
    degree: Annotated[int | None, Meaning("triples of the graph with the entity", in_digest=False)] = None
    relation_degree: Annotated[
        int | None,
        Meaning("triples of the relation with the entity as subject or object, as in its fact", in_digest=False),
    ] = None
    label: Annotated[
        str | None, Meaning("the label of the entity or pair in a file of groups, such as enemy", in_digest=False)
    ] = None
    type: Annotated[
        str | None, Meaning("the type of the entity or pair in a file of groups, such as sports", in_digest=False)
    ] = None


@table("contexts", "a context that stands before the queries of its relation", key=("context_id",))
class Context:
    """A text that is put before the queries of its relation, and ends with a newline.

    A context precedes every query of the relation, unless a sample of contexts is drawn for each query. If a context of
    a user's file names no entity and no object, these columns are empty.
    """

    context_id: Annotated[str, Meaning("the context's id")]
    relation: Annotated[RelationName, Meaning("the relation's name")]
    kind: Annotated[ContextKind, Meaning("base, assertive or negation")]
    entity: Annotated[str, Meaning("the entity of the context")]
    invented: Annotated[bool, Meaning("true for an invented entity")]
    object: Annotated[str, Meaning("the object that the context states or denies")]
    text: Annotated[str, Meaning("the context as the model reads it")]
    template: Annotated[
        str | None, Meaning("the wording with slots, for a context about entities in groups", in_digest=False)
    ] = None
    label: Annotated[
        str | None, Meaning("the label of the sentence in a file of groups, such as positive", in_digest=False)
    ] = None
    strength: Annotated[int | None, Meaning("the degree of this label, from 0", "", in_digest=False)] = None


def is_relevant(context: Context, query: Query) -> bool:
    """Return True if the context mentions the query's entity; for a pair, both of its names."""
    return query.entity in (context.entity, context.object)
