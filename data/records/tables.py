"""The columns of every table, said once: Parquet files, the database and its documentation are made from these."""

from data.records.question_tables import ANNOTATIONS, DISPUTES, PAGES, QUESTIONS, REJECTED, TRIPLES
from data.records.row import table_of
from data.records.statistics import CorrelationRow, EnvelopePoint, GroupTest, Summary
from data.records.table import PROVENANCE, Column, Table

__all__ = [
    "ANNOTATIONS",
    "CONTEXTS",
    "CORRELATIONS",
    "DISPUTES",
    "ENVELOPES",
    "FACTS",
    "INVENTED",
    "PAGES",
    "PROVENANCE",
    "QUERIES",
    "QUESTIONS",
    "REJECTED",
    "RUNS",
    "STATISTICS",
    "SUMMARIES",
    "TRIPLES",
    "Column",
    "Table",
]

FACTS = Table(
    "facts",
    "a subject and its object under a relation",
    (
        Column("relation", "VARCHAR", "the relation's name"),
        Column("subject", "VARCHAR", "the subject's name"),
        Column("object", "VARCHAR", "the object's name"),
        Column("subject_id", "VARCHAR", "the subject's Wikidata id, where a source gives it", nullable=True),
        Column("object_id", "VARCHAR", "the object's Wikidata id, where a source gives it", nullable=True),
        Column("id_source", "VARCHAR", "where the ids come from; NULL where there are none", nullable=True),
        Column("source", "VARCHAR", "where the fact comes from"),
        Column("licence", "VARCHAR", "under which terms"),
        Column("subject_uri", "VARCHAR", "the subject's IRI in the source's graph", nullable=True),
        Column("object_uri", "VARCHAR", "the object's IRI; NULL for dates, numbers and texts", nullable=True),
        Column("other_objects", "VARCHAR[]", "what else the source holds true of the subject under the relation"),
        Column("subject_degree", "BIGINT", "triples of the graph that the subject is part of", nullable=True),
        Column("subject_relation_degree", "BIGINT", "those of the relation with it as the subject", nullable=True),
        Column("object_degree", "BIGINT", "triples of the graph that the object is part of", nullable=True),
        Column("object_relation_degree", "BIGINT", "those of the relation with it as the object", nullable=True),
        Column("address", "VARCHAR", "where the source was asked", nullable=True, counts=False),
        Column("query", "VARCHAR", "what it was asked, in SPARQL", nullable=True, counts=False),
        Column("retrieved_at", "VARCHAR", "when it answered (UTC, ISO 8601)", nullable=True, counts=False),
    ),
)

INVENTED = Table(
    "invented",
    "an invented entity's name, found nowhere it was looked for",
    (
        Column("entity_class", "VARCHAR", "the class that it would belong to, were there such a thing"),
        Column("name", "VARCHAR", "the name"),
        Column("made_by", "VARCHAR", "who made it up: the catalog's list, the generator of names, or a language model"),
        Column("looked_for_in", "VARCHAR[]", "the addresses where nothing has that name", counts=False),
    ),
)

QUERIES = Table(
    "queries",
    "a complete query",
    (
        Column("query_id", "VARCHAR", "the query's id"),
        Column("relation", "VARCHAR", "the relation's name"),
        Column("query_type", "VARCHAR", "open (a question or a sentence to complete) or closed (yes or no)"),
        Column("form", "BIGINT", "which of the two forms of its type: 1 or 2"),
        Column("entity", "VARCHAR", "the entity asked about"),
        Column("entity_id", "VARCHAR", "its Wikidata id", nullable=True),
        Column("invented", "BOOLEAN", "whether the entity is invented"),
        Column("answer", "VARCHAR", "the entity's object; a drawn one where the entity is invented"),
        Column("degree", "BIGINT", "triples of the graph that the entity is part of", nullable=True, counts=False),
        Column(
            "relation_degree", "BIGINT", "those of the relation with it as the subject", nullable=True, counts=False
        ),
        Column("text", "VARCHAR", "the query as the model reads it"),
    ),
)

CONTEXTS = Table(
    "contexts",
    "a context that stands before every query of its relation",
    (
        Column("context_id", "VARCHAR", "the context's id"),
        Column("relation", "VARCHAR", "the relation's name"),
        Column("kind", "VARCHAR", "base, assertive or negation"),
        Column("entity", "VARCHAR", "the entity it is about"),
        Column("invented", "BOOLEAN", "whether that entity is invented"),
        Column("object", "VARCHAR", "the object it states or denies"),
        Column("text", "VARCHAR", "the context as the model reads it"),
    ),
)

STATISTICS = table_of(GroupTest)
SUMMARIES = table_of(Summary)
CORRELATIONS = table_of(CorrelationRow)
ENVELOPES = table_of(EnvelopePoint)

RUNS = Table(
    "runs",
    "one stored file of scores: what was computed, when, with which versions",
    (
        Column("relation", "VARCHAR", "the relation's name"),
        Column("model", "VARCHAR", "the model's name"),
        Column("measure", "VARCHAR", "the measure's name"),
        Column("measure_version", "BIGINT", "the measure's own version"),
        Column("key", "VARCHAR", "digest of everything the file was made from"),
        Column("file", "VARCHAR", "where it lies in the workspace"),
        Column("rows", "BIGINT", "rows in the file"),
        Column("dtype", "VARCHAR", "the number format that the model computed in"),
        Column("seed", "BIGINT", "the study's seed"),
        Column("started_at", "VARCHAR", "when its first chunk was begun (UTC, ISO 8601)"),
        Column("finished_at", "VARCHAR", "when its last chunk was written (UTC, ISO 8601)"),
        Column("seconds", "DOUBLE", "time spent computing its chunks, shared by the measures of a family", "s"),
        Column("forward_passes", "BIGINT", "calls of the model, shared by the measures of a family"),
        Column("prompts", "BIGINT", "prompts scored or answered, shared by the measures of a family"),
        Column("swaymeter_version", "VARCHAR", "version of this package"),
        Column("torch_version", "VARCHAR", "version of torch"),
        Column("transformers_version", "VARCHAR", "version of transformers"),
    ),
)
