"""The tables of questions: what they are made of, what became of it, and what annotators say of them."""

from data.records.table import Column, Table

QUESTIONS = Table(
    "questions",
    "a DynamicQA question with its two contexts",
    (
        Column("question_id", "VARCHAR", "the question's id"),
        Column("relation", "VARCHAR", "the property's name, or disputable"),
        Column("partition", "VARCHAR", "static, temporal or disputable", counts=False),
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
        Column("flags", "VARCHAR[]", "the rules that the row breaks", counts=False),
        Column("property", "VARCHAR", "the property's name, as the source has it", nullable=True),
        Column("replacement_id", "VARCHAR", "Wikidata id of the counter-memory answer", nullable=True),
        Column(
            "replacement_by",
            "VARCHAR",
            "what chose the counter-memory answer: wembedder, embeddings, reversion (disputable), or annotators",
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

TRIPLES = Table(
    "triples",
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

PAGES = Table(
    "pages",
    "a page whose disputes are looked for",
    (
        Column("page", "VARCHAR", "its title"),
        Column("listed_on", "VARCHAR", "the page or the study that lists it"),
        Column("retrieved_at", "VARCHAR", "when the list was fetched (UTC, ISO 8601)", nullable=True, counts=False),
    ),
)

DISPUTES = Table(
    "disputes",
    "two spans of text that editors of a page put in each other's place",
    (
        Column("page", "VARCHAR", "the page's title"),
        Column("page_revision", "BIGINT", "the revision that the sentence is from", counts=False),
        Column("context", "VARCHAR", "the disputed sentence"),
        Column("place", "BIGINT", "where the object begins in the sentence, in characters from 0"),
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

REJECTED = Table(
    "rejected",
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
        Column("texts", "VARCHAR", "the digest of the context, the question and the answers that were shown"),
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
