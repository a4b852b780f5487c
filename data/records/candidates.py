"""Rows that may become questions: triples of a list, pages and their disputes; and what was rejected."""

from typing import Annotated

from swaymeter.data.records.identifiers import RelationName, WikidataId
from swaymeter.data.records.row import Meaning, table


@table("triples", "a fact of Wikidata that a list names, to be made into a question")
class Triple:
    """A fact of Wikidata that a list names, to be made into a question; what the list lacks is looked up."""

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
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", counts=False)] = None


@table("pages", "a page whose disputes are looked for")
class Page:
    """A page whose disputes are looked for."""

    page: Annotated[str, Meaning("its title")]
    listed_on: Annotated[str, Meaning("the page or the study that lists it")]
    retrieved_at: Annotated[str | None, Meaning("when the list was fetched (UTC, ISO 8601)", counts=False)]


@table("disputes", "two spans of text that editors of a page put in each other's place")
class Dispute:
    """Two spans of text that editors of a page put in each other's place, and the sentence that they dispute."""

    page: Annotated[str, Meaning("the page's title")]
    page_revision: Annotated[int, Meaning("the revision that the sentence is from", counts=False)]
    context: Annotated[str, Meaning("the disputed sentence")]
    place: Annotated[int, Meaning("where the object begins in the sentence, in characters from 0")]
    object: Annotated[str, Meaning("the span that stood there and was put back")]
    replacement: Annotated[str, Meaning("the span that took its place and was undone")]
    reversions: Annotated[int, Meaning("how often one of the two undid the other", counts=False)]
    edit_revisions: Annotated[tuple[int, ...], Meaning("those edits and their reversions, in pairs", counts=False)]
    similarity: Annotated[float, Meaning("cosine similarity of the two spans", counts=False)]
    subject_popularity: Annotated[float | None, Meaning("page views of the page", "views a month", counts=False)]
    hidden_edits: Annotated[int, Meaning("revisions of the page that nobody may read", counts=False)]
    source: Annotated[str, Meaning("where the page is from")]
    licence: Annotated[str, Meaning("under which terms")]
    address: Annotated[str, Meaning("where the source was asked", counts=False)]
    retrieved_at: Annotated[str, Meaning("when it answered (UTC, ISO 8601)", counts=False)]

    def countered(self) -> str | None:
        """The context with the replacement where the object stands, and nowhere else; None where it does not."""
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
    revisions: Annotated[tuple[int, ...], Meaning("the revisions that were read", counts=False)] = ()
    retrieved_at: Annotated[str | None, Meaning("when the source answered (UTC, ISO 8601)", counts=False)] = None
