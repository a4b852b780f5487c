"""The columns of every table, said once: Parquet files, the database and its documentation are made from these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from data.keys import table_digest

ARROW: Mapping[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "DOUBLE": pa.float64(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
    "BIGINT[]": pa.list_(pa.int64()),
    "DOUBLE[]": pa.list_(pa.float64()),
}


@dataclass(frozen=True)
class Column:
    """One column: its SQL type, what it means, its unit, and whether it may be NULL.

    counts: whether it makes a row another one. What only says when and how a row came here does not: the same rows
    fetched again leave everything that was made from them as it is.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    nullable: bool = False
    counts: bool = True


@dataclass(frozen=True)
class Table:
    """One table: its name, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The table's columns as Arrow has them."""
        return pa.schema([pa.field(c.name, ARROW[c.type], nullable=c.nullable) for c in self.columns])

    def digest(self, rows: pa.Table) -> str:
        """The digest of the rows' columns that count."""
        return table_digest(rows.select([c.name for c in self.columns if c.counts]))

    def of(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        """The rows as an Arrow table; a missing, superfluous or NULL value where none may be raises."""
        names = {c.name for c in self.columns}
        for row in rows:
            if row.keys() != names:
                raise ValueError(f"table {self.name}: columns differ: {sorted(names ^ row.keys())}")
        made = pa.Table.from_pylist([dict(row) for row in rows], schema=self.schema)
        made.validate(full=True)
        for column in self.columns:
            if not column.nullable and made[column.name].null_count:
                raise ValueError(f"table {self.name}: {column.name} may not be NULL")
        return made


PROVENANCE = (
    Column("model", "VARCHAR", "the model's name: a catalog alias, a hub id or a folder's name"),
    Column("model_revision", "VARCHAR", "what tells this copy of the weights from another: a digest or a commit"),
    Column("dtype", "VARCHAR", "the number format that the model computed in"),
    Column("device", "VARCHAR", "where the model ran: cpu, cuda:0, or cuda:0+cuda:1 where it is spread"),
    Column("engine", "VARCHAR", "which way the score was computed"),
    Column(
        "dataset_version", "VARCHAR", "the digest of the queries and contexts, or of the questions, that were asked"
    ),
    Column("stand_in", "VARCHAR", "what stood in for what; NULL where nothing did", nullable=True),
)

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

QUESTIONS = Table(
    "questions",
    "a DynamicQA question with its two contexts",
    (
        Column("question_id", "VARCHAR", "the question's id"),
        Column("relation", "VARCHAR", "the property's name, or disputable"),
        Column("partition", "VARCHAR", "static, temporal or disputable"),
        Column("subject", "VARCHAR", "who or what it is about"),
        Column("subject_id", "VARCHAR", "Wikidata id of the subject", nullable=True),
        Column("property_id", "VARCHAR", "Wikidata id of the property", nullable=True),
        Column("object", "VARCHAR", "the original answer"),
        Column("object_id", "VARCHAR", "Wikidata id of the object", nullable=True),
        Column("answers", "VARCHAR[]", "every form of the original answer that counts as right"),
        Column("replacement", "VARCHAR", "the counter-memory answer"),
        Column("question", "VARCHAR", "the question"),
        Column("original_context", "VARCHAR", "the snippet with the original answer"),
        Column("counter_memory_context", "VARCHAR", "the snippet with the replacement"),
        Column(
            "edits",
            "BIGINT",
            "edits of the fact (static 1, temporal more) or reversions (disputable)",
            nullable=True,
            counts=False,
        ),
        Column(
            "subject_popularity", "DOUBLE", "page views of the subject", "views a month", nullable=True, counts=False
        ),
        Column("object_popularity", "DOUBLE", "page views of the object", "views a month", nullable=True, counts=False),
        Column("id_source", "VARCHAR", "where the ids come from", nullable=True),
        Column("source", "VARCHAR", "where the question comes from"),
        Column("licence", "VARCHAR", "under which terms"),
        Column("flags", "VARCHAR[]", "the rules that the row breaks"),
        Column("property", "VARCHAR", "the property's name, as the source has it", nullable=True),
        Column("replacement_id", "VARCHAR", "Wikidata id of the counter-memory answer", nullable=True),
        Column(
            "replacement_by",
            "VARCHAR",
            "what chose the counter-memory answer: wembedder, embeddings, or reversion (disputable)",
            nullable=True,
            counts=False,
        ),
        Column(
            "replacement_quality",
            "DOUBLE",
            "cosine similarity of the two answers, by what chose the second",
            nullable=True,
            counts=False,
        ),
        Column("item_revision", "BIGINT", "newest revision of the subject's item then", nullable=True, counts=False),
        Column("page", "VARCHAR", "the page that the snippet is from", nullable=True),
        Column(
            "page_revision", "BIGINT", "the revision of the page that the snippet is from", nullable=True, counts=False
        ),
        Column("edit_revisions", "BIGINT[]", "the revisions that `edits` counts", counts=False),
        Column("hidden_edits", "BIGINT", "revisions that nobody may read, in no count", nullable=True, counts=False),
        Column("list_id", "VARCHAR", "the question's id in the list that it comes from", nullable=True),
        Column("address", "VARCHAR", "where the source was asked", nullable=True, counts=False),
        Column("retrieved_at", "VARCHAR", "when it answered (UTC, ISO 8601)", nullable=True, counts=False),
    ),
)

SEEDS = Table(
    "seeds",
    "a fact of Wikidata that a list names, to be made into a question",
    (
        Column("relation", "VARCHAR", "the property's name"),
        Column("subject_id", "VARCHAR", "Wikidata id of the subject"),
        Column("property_id", "VARCHAR", "Wikidata id of the property"),
        Column("object_id", "VARCHAR", "Wikidata id of the object"),
        Column("source", "VARCHAR", "the list"),
        Column("licence", "VARCHAR", "under which terms"),
        Column("subject", "VARCHAR", "the subject's name in the list", nullable=True),
        Column("property", "VARCHAR", "the property's name in the list", nullable=True),
        Column("object", "VARCHAR", "the object's name in the list", nullable=True),
        Column("question", "VARCHAR", "the question in the list", nullable=True),
        Column("answers", "VARCHAR[]", "every form of the answer that the list counts as right"),
        Column("list_id", "VARCHAR", "the fact's id in the list", nullable=True),
        Column("retrieved_at", "VARCHAR", "when the list was fetched (UTC, ISO 8601)", nullable=True, counts=False),
    ),
)

DISPUTES = Table(
    "disputes",
    "two spans of text that editors of a page put in each other's place",
    (
        Column("page", "VARCHAR", "the page's title"),
        Column("page_revision", "BIGINT", "the revision that the sentence is from"),
        Column("context", "VARCHAR", "the disputed sentence"),
        Column("object", "VARCHAR", "the span that stood there and was put back"),
        Column("replacement", "VARCHAR", "the span that took its place and was undone"),
        Column("reversions", "BIGINT", "how often one of the two undid the other", counts=False),
        Column("edit_revisions", "BIGINT[]", "those edits and their reversions, in pairs", counts=False),
        Column("similarity", "DOUBLE", "cosine similarity of the two spans", counts=False),
        Column("subject_popularity", "DOUBLE", "page views of the page", "views a month", nullable=True, counts=False),
        Column("hidden_edits", "BIGINT", "revisions of the page that nobody may read", counts=False),
        Column("source", "VARCHAR", "where the page is from"),
        Column("licence", "VARCHAR", "under which terms"),
        Column("address", "VARCHAR", "where the source was asked", counts=False),
        Column("retrieved_at", "VARCHAR", "when it answered (UTC, ISO 8601)", counts=False),
    ),
)

DROPPED = Table(
    "dropped",
    "what became no question, and why",
    (
        Column("partition", "VARCHAR", "static, temporal or disputable; NULL where not known yet", nullable=True),
        Column("relation", "VARCHAR", "the property's name, or disputable"),
        Column("part", "VARCHAR", "the property's id or the page that was being read"),
        Column("subject", "VARCHAR", "who or what it would have been about"),
        Column("reason", "VARCHAR", "the rule by which it was dropped"),
        Column("source", "VARCHAR", "where it comes from"),
        Column("licence", "VARCHAR", "under which terms"),
        Column("detail", "VARCHAR", "what was found there", nullable=True),
        Column("subject_id", "VARCHAR", "Wikidata id of the subject", nullable=True),
        Column("property_id", "VARCHAR", "Wikidata id of the property", nullable=True),
        Column("object", "VARCHAR", "the original answer", nullable=True),
        Column("object_id", "VARCHAR", "Wikidata id of the object", nullable=True),
        Column("replacement", "VARCHAR", "the counter-memory answer", nullable=True),
        Column("revisions", "BIGINT[]", "the revisions that were looked at", counts=False),
        Column("retrieved_at", "VARCHAR", "when the source answered (UTC, ISO 8601)", nullable=True, counts=False),
    ),
)

ANNOTATIONS = Table(
    "annotations",
    "what an annotator says of a question",
    (
        Column("question_id", "VARCHAR", "the question's id"),
        Column("annotator", "VARCHAR", "who says so"),
        Column("choice", "VARCHAR", "accept, change, discard, misinformation or incomplete"),
        Column("question", "VARCHAR", "the changed question; NULL where it stays", nullable=True),
        Column("object", "VARCHAR", "the changed original answer; NULL where it stays", nullable=True),
        Column("replacement", "VARCHAR", "the changed counter-memory answer; NULL where it stays", nullable=True),
        Column("context", "VARCHAR", "the changed context; NULL where it stays", nullable=True),
        Column("note", "VARCHAR", "what the annotator adds", nullable=True),
        Column("file", "VARCHAR", "the spreadsheet it was read from", counts=False),
        Column("imported_at", "VARCHAR", "when it was read (UTC, ISO 8601)", counts=False),
    ),
)

STATISTICS = Table(
    "statistics",
    "one test on one relation",
    (
        Column("comparison", "VARCHAR", "relevance, familiarity, assertiveness or negation"),
        Column("measure", "VARCHAR", "the score that is compared: persuasion or susceptibility"),
        Column("model", "VARCHAR", "the model's name"),
        Column("dtype", "VARCHAR", "the number format that the model computed in"),
        Column("relation", "VARCHAR", "the relation's name"),
        Column("query_type", "VARCHAR", "open or closed"),
        Column("group_a", "VARCHAR", "the first group"),
        Column("group_b", "VARCHAR", "the second group"),
        Column("n_a", "BIGINT", "rows of the first group"),
        Column("n_b", "BIGINT", "rows of the second group"),
        Column("mean_a", "DOUBLE", "mean of the first group; NULL where it is empty", "nats", nullable=True),
        Column("mean_b", "DOUBLE", "mean of the second group; NULL where it is empty", "nats", nullable=True),
        Column("statistic", "DOUBLE", "the t statistic; NULL where untestable", nullable=True),
        Column("alternative", "VARCHAR", "greater (the first group's mean) or two-sided"),
        Column("p", "DOUBLE", "permutation p-value; NULL where untestable", nullable=True),
        Column("p_adjusted", "DOUBLE", "after Benjamini-Hochberg over relations; NULL where untestable", nullable=True),
        Column(
            "effect_size", "DOUBLE", "Cohen's d with pooled standard deviation; NULL where untestable", nullable=True
        ),
        Column("untestable", "VARCHAR", "why there is no test; NULL where there is one", nullable=True),
    ),
)

AGREEMENT = Table(
    "agreement",
    "two measures of the same queries, correlated",
    (
        Column("model", "VARCHAR", "the model's name"),
        Column("dtype", "VARCHAR", "the number format that the model computed in"),
        Column(
            "measure_a",
            "VARCHAR",
            "fisher, fisher_top_k, answer_set_susceptibility, memorization_ratio, log_degree or log_relation_degree",
        ),
        Column("measure_b", "VARCHAR", "susceptibility"),
        Column("level", "VARCHAR", "what a pair is: a query, an entity or a relation with the means of its queries"),
        Column("relation", "VARCHAR", "the relation whose pairs these are; all where it is every relation's"),
        Column("query_type", "VARCHAR", "open, closed or all"),
        Column("n", "BIGINT", "pairs; what lacks one of the two scores is none"),
        Column("pearson", "DOUBLE", "Pearson's r; NULL where untestable", nullable=True),
        Column("pearson_p", "DOUBLE", "its two-sided p-value", nullable=True),
        Column("spearman", "DOUBLE", "Spearman's rho; NULL where untestable", nullable=True),
        Column("spearman_p", "DOUBLE", "its two-sided p-value", nullable=True),
        Column("untestable", "VARCHAR", "why there is no correlation; NULL where there is one", nullable=True),
    ),
)

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
