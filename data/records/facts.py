"""Rows of fetched data: facts and invented names, candidates of questions, and counts in a corpus."""

from dataclasses import dataclass
from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, RelationName, WikidataId, table


@table("facts", "a subject and its object under a relation")
class Fact:
    """A subject and its object under a relation, with its source.

    The subject is the entity of the query; for a reversed relation, it is the source's object. Degrees count the
    source's triples of an entity, or its triples of the relation in the same position [Du et al. 2024]. They are None
    if the source is not a graph, or the object not an entity.
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
    address: Annotated[str | None, Meaning("where the source was asked", in_digest=False)] = None
    query: Annotated[str | None, Meaning("what it was asked, in SPARQL", in_digest=False)] = None
    retrieved_at: Annotated[str | None, Meaning("when it answered (UTC, ISO 8601)", in_digest=False)] = None


@table("invented", "an invented entity's name, found nowhere it was looked for")
class InventedName:
    """The name of an entity that does not exist."""

    entity_class: Annotated[str, Meaning("the class that it would belong to, were there such a thing")]
    name: Annotated[str, Meaning("the name")]
    made_by: Annotated[str, Meaning("who made it up: the catalog's list, the generator of names, or a language model")]
    absent_from: Annotated[tuple[str, ...], Meaning("the addresses where nothing has that name", in_digest=False)]


@table("triples", "a fact of Wikidata that a list names, to be made into a question")
class Triple:
    """A fact of Wikidata that a list names, to be made into a question; missing parts are looked up."""

    relation: Annotated[RelationName, Meaning("the property's name")]
    subject_id: Annotated[WikidataId, Meaning("Wikidata id of the subject")]
    property_id: Annotated[WikidataId, Meaning("Wikidata id of the property")]
    object_id: Annotated[WikidataId, Meaning("Wikidata id of the object")]
    source: Annotated[str, Meaning("the list")]
    licence: Annotated[str, Meaning("under which terms")]
    subject: Annotated[str | None, Meaning("the subject's name in the list")] = None
    property: Annotated[str | None, Meaning("the property's name in the list")] = None
    object: Annotated[str | None, Meaning("the object's name in the list")] = None
    question: Annotated[str | None, Meaning("the question in the list")] = None
    answers: Annotated[tuple[str, ...], Meaning("every form of the answer that the list counts as right")] = ()
    list_id: Annotated[str | None, Meaning("the fact's id in the list")] = None
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", in_digest=False)] = None


@table("pages", "a page whose disputes are looked for")
class Page:
    """A page that is searched for disputes."""

    page: Annotated[str, Meaning("its title")]
    listed_on: Annotated[str, Meaning("the page or the study that lists it")]
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", in_digest=False)]


@table("disputes", "two spans of text that editors of a page put in each other's place")
class Dispute:
    """Two spans of text that editors of a page exchange, and the sentence that they dispute."""

    page: Annotated[str, Meaning("the page's title")]
    page_revision: Annotated[int, Meaning("the revision that the sentence is from", in_digest=False)]
    context: Annotated[str, Meaning("the disputed sentence")]
    place: Annotated[int, Meaning("where the object begins in the sentence, in characters from 0")]
    object: Annotated[str, Meaning("the span that stood there and was put back")]
    replacement: Annotated[str, Meaning("the span that took its place and was undone")]
    reversions: Annotated[int, Meaning("how often one of the two undid the other", in_digest=False)]
    edit_revisions: Annotated[tuple[int, ...], Meaning("those edits and their reversions, in pairs", in_digest=False)]
    similarity: Annotated[float, Meaning("cosine similarity of the two spans", in_digest=False)]
    subject_popularity: Annotated[float | None, Meaning("page views of the page", "views a month", in_digest=False)]
    hidden_edits: Annotated[int, Meaning("revisions of the page that nobody may read", in_digest=False)]
    source: Annotated[str, Meaning("where the page is from")]
    licence: Annotated[str, Meaning("under which terms")]
    address: Annotated[str, Meaning("where the source was asked", in_digest=False)]
    retrieved_at: Annotated[str, Meaning("when it answered (UTC, ISO 8601)", in_digest=False)]

    def countered(self) -> str | None:
        """Return the context with the replacement in the object's position; None if the object is not there."""
        if not self.object or not self.context.startswith(self.object, self.place):
            return None
        return self.context[: self.place] + self.replacement + self.context[self.place + len(self.object) :]


@table("rejected", "a candidate that became no question, and the reason")
class Rejected:
    """A candidate that did not become a question, and the rejection reason."""

    partition: Annotated[
        str | None, Meaning("static, temporal or disputable; own of a row of one's own file; NULL where not known yet")
    ]
    relation: Annotated[RelationName, Meaning("the property's name, or disputable")]
    part: Annotated[str, Meaning("the property's id or the page that was being read")]
    subject: Annotated[str, Meaning("who or what it would have been about")]
    reason: Annotated[str, Meaning("the rejection reason")]
    source: Annotated[str, Meaning("where it comes from")]
    licence: Annotated[str, Meaning("under which terms")]
    detail: Annotated[str | None, Meaning("what was found there")] = None
    subject_id: Annotated[WikidataId | None, Meaning("Wikidata id of the subject")] = None
    property_id: Annotated[WikidataId | None, Meaning("Wikidata id of the property")] = None
    object: Annotated[str | None, Meaning("the original answer")] = None
    object_id: Annotated[WikidataId | None, Meaning("Wikidata id of the object")] = None
    replacement: Annotated[str | None, Meaning("the counter-memory answer")] = None
    revisions: Annotated[tuple[int, ...], Meaning("the revisions that were read", in_digest=False)] = ()
    retrieved_at: Annotated[str | None, Meaning("when the source answered (UTC, ISO 8601)", in_digest=False)] = None


CountKind = Literal["words", "tokens", "approximate"]
"""Units of a count: words (decision 0007), tokens of an index in the spellings of a name, or an estimate."""


@table("counted_pairs", "an entity and an answer that are looked for in the corpus", key=("entity", "answer"))
class CountedPair:
    """An entity of queries and its answer, each with all of its names."""

    entity: Annotated[str, Meaning("the entity asked about")]
    answer: Annotated[str, Meaning("its answer, as in queries")]
    entity_names: Annotated[tuple[str, ...], Meaning("the entity's name and its aliases")]
    answer_names: Annotated[tuple[str, ...], Meaning("the answer and its aliases")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """The counts of a pair."""

    entity: Annotated[str, Meaning("the entity asked about")]
    answer: Annotated[str, Meaning("its answer, as in queries")]
    entity_count: Annotated[int, Meaning("occurrences of the entity's names")]
    capitals_count: Annotated[int, Meaning("occurrences of those names of one word that have capitals")]
    lower_case_count: Annotated[int, Meaning("occurrences of those names of one word in small letters")]
    pair_count: Annotated[int, Meaning("occurrences of the entity's names with the answer's within the window")]
    entity_counted: Annotated[CountKind, Meaning("what entity_count is of: words, tokens, or approximate")]
    pair_counted: Annotated[CountKind, Meaning("what pair_count is of: words, tokens, or approximate")]


@table("shard_counts", "a pair of names in a shard of the corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCount(PairCount):
    """The counts of a pair in a shard."""


@table("shards", "a file of the corpus, or an index of it, that was counted", key=("shard",))
@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A file of the corpus with the amounts that were read, or an index."""

    shard: Annotated[str, Meaning("the name of the file or index")]
    size: Annotated[int | None, Meaning("of the file; NULL of an index", "bytes")]
    read: Annotated[int | None, Meaning("of text and what is around it, unpacked; NULL of an index", "bytes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL of an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL of an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL of a file")]
    unreadable: Annotated[int, Meaning("lines that were left out, of a text file bytes that are not UTF-8")]
    problem: Annotated[str | None, Meaning("where the first of these stands, and what is wrong; NULL where none does")]
    digest: Annotated[str, Meaning("of the file's bytes; of an index, of the names and sizes of its files")]
    counted_at: Annotated[str, Meaning("when it was counted (UTC, ISO 8601)", in_digest=False)]


@table("frequencies", "a pair of names in the whole corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(PairCount):
    """The counts of an entity in the corpus, and of its occurrences near its answer."""

    excluded: Annotated[str | None, Meaning("why the counts say nothing of the entity; NULL where they do")]
    corpus: Annotated[str, Meaning("what the study calls the corpus")]
    window_words: Annotated[int, Meaning("how many words an answer may be away from its entity")]
    shards: Annotated[int, Meaning("files of the corpus that were read, or indexes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL of an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL of an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL of files")]
    counted_at: Annotated[str, Meaning("when the last file or index was counted (UTC, ISO 8601)", in_digest=False)]
