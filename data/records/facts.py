"""Rows about entities: facts of a source, and the names of invented entities."""

from typing import Annotated

from swaymeter.data.records.identifiers import RelationName, WikidataId
from swaymeter.data.records.row import Meaning, table


@table("facts", "a subject and its object under a relation")
class Fact:
    """A subject and its object under a relation, with where it comes from.

    The subject is who is asked about: of a reversed relation, what the source has as the object. Degrees count the
    source's triples that an entity is part of, or those of the relation that it stands in as it does in this fact
    [Du et al. 2024]; None where the source is not a graph, or the object not an entity.
    """

    relation: Annotated[RelationName, Meaning("the relation's name")]
    subject: Annotated[str, Meaning("the subject's name")]
    object: Annotated[str, Meaning("the object's name")]
    subject_id: Annotated[WikidataId | None, Meaning("the subject's Wikidata id, where a source gives it")]
    object_id: Annotated[WikidataId | None, Meaning("the object's Wikidata id, where a source gives it")]
    id_source: Annotated[str | None, Meaning("where the ids come from; NULL where there are none")]
    source: Annotated[str, Meaning("where the fact comes from")]
    licence: Annotated[str, Meaning("under which terms")]
    subject_uri: Annotated[str | None, Meaning("the subject's IRI in the source's graph")] = None
    object_uri: Annotated[str | None, Meaning("the object's IRI; NULL for dates, numbers and texts")] = None
    other_objects: Annotated[
        tuple[str, ...], Meaning("what else the source holds true of the subject under the relation")
    ] = ()
    subject_degree: Annotated[int | None, Meaning("triples of the graph that the subject is part of")] = None
    subject_relation_degree: Annotated[int | None, Meaning("those of the relation with it as the subject")] = None
    object_degree: Annotated[int | None, Meaning("triples of the graph that the object is part of")] = None
    object_relation_degree: Annotated[int | None, Meaning("those of the relation with it as the object")] = None
    address: Annotated[str | None, Meaning("where the source was asked", counts=False)] = None
    query: Annotated[str | None, Meaning("what it was asked, in SPARQL", counts=False)] = None
    retrieved_at: Annotated[str | None, Meaning("when it answered (UTC, ISO 8601)", counts=False)] = None


@table("invented", "an invented entity's name, found nowhere it was looked for")
class InventedName:
    """The name of an entity that does not exist."""

    entity_class: Annotated[str, Meaning("the class that it would belong to, were there such a thing")]
    name: Annotated[str, Meaning("the name")]
    made_by: Annotated[str, Meaning("who made it up: the catalog's list, the generator of names, or a language model")]
    absent_from: Annotated[tuple[str, ...], Meaning("the addresses where nothing has that name", counts=False)]
