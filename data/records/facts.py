"""Rows of fetched data: facts, invented names, candidates for questions, and counts in a corpus."""

from dataclasses import dataclass
from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, RelationName, WikidataId, table


@table("facts", "a subject and its object under a relation")
class Fact:
    """A subject and its object under a relation, with the source.

    The subject is the entity of the query. For a reversed relation, the subject is the object of the source's triple.
    The degree of an entity is the number of the source's triples with the entity. The relation degree counts only
    triples of the relation with the entity in the same role as in the fact's triple [Du et al. 2024].
    Degrees are None for a date, number or text, and if the source is no graph.
    """

    relation: Annotated[RelationName, Meaning("the relation's name")]
    subject: Annotated[str, Meaning("the subject's name")]
    object: Annotated[str, Meaning("the object's name")]
    subject_id: Annotated[WikidataId | None, Meaning("the subject's Wikidata id; NULL if no source gives it")]
    object_id: Annotated[WikidataId | None, Meaning("the object's Wikidata id; NULL if no source gives it")]
    id_source: Annotated[str | None, Meaning("the source of the ids; NULL without ids")]
    source: Annotated[str, Meaning("the source of the fact")]
    licence: Annotated[str, Meaning("the source's licence")]
    subject_uri: Annotated[str | None, Meaning("the subject's IRI in the source's graph")] = None
    object_uri: Annotated[str | None, Meaning("the object's IRI; NULL for dates, numbers and texts")] = None
    other_objects: Annotated[
        tuple[str, ...], Meaning("other true objects of the subject under the relation, by the source")
    ] = ()
    subject_degree: Annotated[int | None, Meaning("triples of the graph with the subject")] = None
    subject_relation_degree: Annotated[
        int | None, Meaning("the relation's triples with the subject as subject; as object for a reversed relation")
    ] = None
    object_degree: Annotated[int | None, Meaning("triples of the graph with the object")] = None
    object_relation_degree: Annotated[
        int | None, Meaning("the relation's triples with the object as object; as subject for a reversed relation")
    ] = None
    address: Annotated[str | None, Meaning("the address of the service", in_digest=False)] = None
    query: Annotated[str | None, Meaning("the query to the service, in SPARQL", in_digest=False)] = None
    retrieved_at: Annotated[str | None, Meaning("the time of the response (UTC, ISO 8601)", in_digest=False)] = None


@table("invented", "the name of an invented entity, which no searched graph has")
class InventedName:
    """The name of an entity that does not exist."""

    entity_class: Annotated[str, Meaning("the class of the invented entity, such as city")]
    name: Annotated[str, Meaning("the name")]
    made_by: Annotated[str, Meaning("the origin: the catalog's list, the generator of names, or a language model")]
    absent_from: Annotated[
        tuple[str, ...], Meaning("the addresses of graphs in which no entity has the name", in_digest=False)
    ]


@table("triples", "a fact of Wikidata that a list names, to be made into a question")
class Triple:
    """A fact of Wikidata in a list, from which a question is built; Wikidata gives the values that the list lacks."""

    relation: Annotated[RelationName, Meaning("the property's name")]
    subject_id: Annotated[WikidataId, Meaning("Wikidata id of the subject")]
    property_id: Annotated[WikidataId, Meaning("Wikidata id of the property")]
    object_id: Annotated[WikidataId, Meaning("Wikidata id of the object")]
    source: Annotated[str, Meaning("the list")]
    licence: Annotated[str, Meaning("the list's licence")]
    subject: Annotated[str | None, Meaning("the subject's name in the list")] = None
    property: Annotated[str | None, Meaning("the property's name in the list")] = None
    object: Annotated[str | None, Meaning("the object's name in the list")] = None
    question: Annotated[str | None, Meaning("the question in the list")] = None
    answers: Annotated[tuple[str, ...], Meaning("every form of the answer that the list counts as right")] = ()
    list_id: Annotated[str | None, Meaning("the fact's id in the list")] = None
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", in_digest=False)] = None


@table("pages", "a page that is searched for disputes")
class Page:
    """A page that is searched for disputes."""

    page: Annotated[str, Meaning("the page's title")]
    listed_on: Annotated[str, Meaning("the page or the study that lists it")]
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", in_digest=False)]


@table("disputes", "two spans of text that editors of a page exchanged several times")
class Dispute:
    """Two spans of text that editors of a page exchange, and the disputed sentence."""

    page: Annotated[str, Meaning("the page's title")]
    page_revision: Annotated[int, Meaning("the revision that the sentence is from", in_digest=False)]
    context: Annotated[str, Meaning("the disputed sentence")]
    place: Annotated[int, Meaning("position of the object in the sentence, in characters from 0")]
    object: Annotated[str, Meaning("the span that was replaced and restored")]
    replacement: Annotated[str, Meaning("the span that replaced the object and was undone")]
    reversions: Annotated[int, Meaning("how often editors undid the exchange of the two spans", in_digest=False)]
    edit_revisions: Annotated[
        tuple[int, ...],
        Meaning("the revisions: each edit that wrote the replacement, then the edit that undid it", in_digest=False),
    ]
    similarity: Annotated[float, Meaning("cosine similarity of the two spans", in_digest=False)]
    subject_popularity: Annotated[float | None, Meaning("page views of the page", "views a month", in_digest=False)]
    hidden_edits: Annotated[int, Meaning("revisions of the page whose content is hidden", in_digest=False)]
    source: Annotated[str, Meaning("the source of the page")]
    licence: Annotated[str, Meaning("the source's licence")]
    address: Annotated[str, Meaning("the address of the service", in_digest=False)]
    retrieved_at: Annotated[str, Meaning("the time of the response (UTC, ISO 8601)", in_digest=False)]

    def counter_memory_context(self) -> str | None:
        """Return the context with the replacement in place of the object; None if the object is not at `place`."""
        if not self.object or not self.context.startswith(self.object, self.place):
            return None
        return self.context[: self.place] + self.replacement + self.context[self.place + len(self.object) :]


@table("rejected", "a candidate that became no question, and the reason")
class Rejected:
    """A candidate that did not become a question, and the rejection reason."""

    partition: Annotated[
        str | None, Meaning("static, temporal or disputable; own for a row of a user's file; NULL: not known yet")
    ]
    relation: Annotated[RelationName, Meaning("the property's name, or disputable")]
    part: Annotated[
        str,
        Meaning("the part of the source that has the candidate: the property's id, the page, or the row of the file"),
    ]
    subject: Annotated[str, Meaning("the subject of the candidate, or its question")]
    reason: Annotated[str, Meaning("the rejection reason")]
    source: Annotated[str, Meaning("the source of the candidate")]
    licence: Annotated[str, Meaning("the source's licence")]
    detail: Annotated[str | None, Meaning("details of the reason, such as the wrong value")] = None
    subject_id: Annotated[WikidataId | None, Meaning("Wikidata id of the subject")] = None
    property_id: Annotated[WikidataId | None, Meaning("Wikidata id of the property")] = None
    object: Annotated[str | None, Meaning("the original answer")] = None
    object_id: Annotated[WikidataId | None, Meaning("Wikidata id of the object")] = None
    replacement: Annotated[str | None, Meaning("the counter-memory answer")] = None
    revisions: Annotated[tuple[int, ...], Meaning("the revisions that were read", in_digest=False)] = ()
    retrieved_at: Annotated[
        str | None, Meaning("the time of the source's response (UTC, ISO 8601)", in_digest=False)
    ] = None


CountKind = Literal["words", "tokens", "approximate"]
"""Units of a count: `words` of the texts, `tokens` of an index, or `approximate` for an estimate in tokens."""


@table("counted_pairs", "an entity and an answer that are counted in the corpus", key=("entity", "answer"))
class CountedPair:
    """An entity of queries and its answer, each with all of its names."""

    entity: Annotated[str, Meaning("the entity of the queries")]
    answer: Annotated[str, Meaning("the entity's answer, as in queries")]
    entity_names: Annotated[tuple[str, ...], Meaning("the entity's name and its aliases")]
    answer_names: Annotated[tuple[str, ...], Meaning("the answer and its aliases")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """The counts of an entity, and of its occurrences near its answer."""

    entity: Annotated[str, Meaning("the entity of the queries")]
    answer: Annotated[str, Meaning("the entity's answer, as in queries")]
    entity_count: Annotated[int, Meaning("occurrences of the entity's names")]
    capitals_count: Annotated[int, Meaning("occurrences, with capitals, of the entity's names that are a single word")]
    lower_case_count: Annotated[int, Meaning("occurrences of the same names in small letters")]
    pair_count: Annotated[int, Meaning("occurrences of the entity's names with a name of the answer within the window")]
    entity_counted: Annotated[CountKind, Meaning("unit of entity_count: words, tokens, or approximate")]
    pair_counted: Annotated[CountKind, Meaning("unit of pair_count: words, tokens, or approximate")]


@table("shard_counts", "a pair of names in a shard of the corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCount(PairCount):
    """The counts of an entity and its answer in a shard: a file of the corpus, or an index."""


@table("shards", "a file of the corpus, or an index of it, that was counted", key=("shard",))
@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A file of the corpus with the amounts that were read, or an index."""

    shard: Annotated[str, Meaning("the name of the file or index")]
    size: Annotated[int | None, Meaning("size of the file; NULL for an index", "bytes")]
    read: Annotated[int | None, Meaning("unpacked size of what was read; NULL for an index", "bytes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL for an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL for an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL for a file")]
    unreadable: Annotated[int, Meaning("documents that were left out; in a text file, bytes that are not UTF-8")]
    problem: Annotated[str | None, Meaning("location and problem of the first unreadable document; NULL: none")]
    digest: Annotated[str, Meaning("digest of the file's bytes; empty for an index")]
    counted_at: Annotated[str, Meaning("time of counting (UTC, ISO 8601)", in_digest=False)]


@table("frequencies", "a pair of names in the whole corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(PairCount):
    """The counts of an entity in the corpus, and of its occurrences near its answer."""

    excluded: Annotated[str | None, Meaning("the reason why the counts do not describe the entity; NULL: they do")]
    corpus: Annotated[str, Meaning("the study's name of the corpus")]
    window_words: Annotated[int, Meaning("greatest distance between an entity and its answer, in words")]
    shards: Annotated[int, Meaning("files of the corpus that were read, or indexes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL for an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL for an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL for files")]
    counted_at: Annotated[str, Meaning("time at which counting ended (UTC, ISO 8601)", in_digest=False)]
