"""From listed facts of Wikidata to static and temporal questions, or to the reason why there is none.

A property's facts are read in stages: all items, then the edits and the page of each fact, then what may stand in the
answer's place. A fact that falls short of a rule is rejected, and the others go on; a service that fails fails the
whole, which begins again from the answers that are kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from data import reasons
from data.errors import InputError, ServiceError
from data.records import SLOT, Question, Rejected, Triple, WikidataId
from data.sources.slots import fill_slot, flags_of, flags_of_snippet
from data.sources.wikimedia.pageviews import PageViews
from data.sources.wikimedia.wembedder import Similar, Wembedder
from data.sources.wikimedia.wikidata import Wikidata
from data.sources.wikimedia.wikipedia import Wikipedia
from tasks.contexts.wikidata.counter_memory import Embed, Replacement, of_embeddings, of_similar, remembering, truth
from tasks.contexts.wikidata.facts import (
    ID_SOURCE,
    ReadFact,
    StatedFact,
    licence,
    read_fact,
    reject,
    sources,
    stated_facts,
)
from tasks.contexts.wikidata.items import Items, KnownItem
from tasks.contexts.wikidata.mentions import is_written
from tasks.contexts.wikidata.snippets import WORDS


@dataclass(frozen=True, slots=True)
class Clients:
    """The services that are asked; without Wembedder, embeddings alone choose the counter-memory answers."""

    wikidata: Wikidata
    wikipedia: Wikipedia
    pageviews: PageViews
    wembedder: Wembedder | None


@dataclass(frozen=True, slots=True)
class Built:
    """The questions, and what became none."""

    questions: list[Question]
    rejected: list[Rejected]


def questions_of_property(
    triples: Sequence[Triple],
    clients: Clients,
    *,
    words: int = WORDS,
    months: tuple[str, str],
    embed: Embed,
) -> Built:
    """The questions of one property's listed facts, with all that says where they come from.

    Args:
        triples: The listed facts, of one property.
        clients: The services that are asked.
        words: The most words of a snippet (`find_snippet`).
        months: The first and the last month whose page views count (YYYY-MM).
        embed: Asked where Wembedder names nothing that fits.

    Raises:
        InputError: The list mixes properties.
        ServiceError: A service fails; ServiceTimeout and ServiceBudget as the clients raise them.
    """
    if not triples:
        return Built([], [])
    items = Items(clients.wikidata, _one_property(triples))
    items.learn(triple.property_id for triple in triples if not triple.property)
    items.learn(item_id for triple in triples for item_id in (triple.subject_id, triple.object_id))
    items.learn(value for triple in triples if (subject := items.get(triple.subject_id)) for value in subject.stated)

    rejected: list[Rejected] = []
    facts = _without(rejected, stated_facts(triples, items))
    read = _without(
        rejected, (read_fact(fact, clients.wikidata, clients.wikipedia, items, words=words) for fact in facts)
    )
    similar = [_similar(one.stated, clients.wembedder) for one in read]
    items.learn(alike.item_id for listed in similar for alike in listed)

    questions, objects, embed = [], [fact.object for fact in facts], remembering(embed)
    for one, listed in zip(read, similar, strict=True):
        replacement = _replacement(one.stated, listed, objects, items, embed)
        if replacement is None:
            by_service = f"{len(listed)} by Wembedder, " if clients.wembedder else ""
            among = f"{by_service}{len({known.item_id for known in objects})} answers of the property"
            rejected.append(reject(one.stated, reasons.NO_REPLACEMENT, one.history, f"none fits of {among}"))
        else:
            questions.append(_question(one, replacement, clients.pageviews, items, months))
    return Built(questions, rejected)


Held = TypeVar("Held", StatedFact, ReadFact)


def _one_property(triples: Sequence[Triple]) -> WikidataId:
    different = sorted({triple.property_id for triple in triples})
    if len(different) > 1:
        raise InputError(f"facts of {len(different)} properties are listed as one's: {', '.join(different)[:80]}")
    return different[0]


def _without(rejected: list[Rejected], found: Iterable[Held | Rejected]) -> list[Held]:
    """What is kept; what is not joins `rejected`."""
    kept: list[Held] = []
    for one in found:
        if isinstance(one, Rejected):
            rejected.append(one)
        else:
            kept.append(one)
    return kept


def _similar(fact: StatedFact, wembedder: Wembedder | None) -> tuple[Similar, ...]:
    try:
        return (wembedder and wembedder.most_similar(fact.object.item_id)) or ()
    except ServiceError as error:
        raise type(error)(f"{error}; or set `counter_memory: embeddings` under `questions`") from error


def _replacement(
    fact: StatedFact, similar: Sequence[Similar], objects: Sequence[KnownItem], items: Items, embed: Embed
) -> Replacement | None:
    known = truth(fact.subject, fact.object, items, answers=fact.triple.answers)
    return of_similar(similar, items, known) or of_embeddings(objects, known, embed)


def _question(
    fact: ReadFact, replacement: Replacement, pageviews: PageViews, items: Items, months: tuple[str, str]
) -> Question:
    triple, subject, answer = fact.stated.triple, fact.stated.subject, fact.stated.object
    asked, answers = fact.stated.question(items), fact.stated.answers
    first, last = months
    of_object = pageviews.monthly_mean(answer.wikipedia, first=first, last=last).mean if answer.wikipedia else None
    return Question(
        question_id=fact.stated.question_id,
        relation=triple.relation,
        partition=fact.partition,
        subject=subject.name,
        subject_id=subject.item_id,
        property_id=triple.property_id,
        object=answer.name,
        object_id=answer.item_id,
        answers=answers,
        replacement=replacement.name,
        question=asked,
        original_context=fill_slot(fact.snippet.text, answer.name),
        counter_memory_context=fill_slot(fact.snippet.text, replacement.name),
        edits=fact.history.count,
        subject_popularity=pageviews.monthly_mean(fact.page.title, first=first, last=last).mean,
        object_popularity=of_object,
        id_source=ID_SOURCE,
        source=sources(triple),
        licence=licence(triple),
        flags=(*flags_of(asked, answers, answer.name, replacement.name), *_flags_of_snippet(fact)),
        property=fact.stated.property_name(items),
        replacement_id=replacement.item_id,
        replacement_by=replacement.by,
        replacement_quality=replacement.quality,
        item_revision=fact.history.latest,
        page=fact.page.title,
        page_revision=fact.page.revision,
        edit_revisions=fact.history.edits,
        hidden_edits=len(fact.history.hidden),
        list_id=triple.list_id,
        address=fact.page.address,
        retrieved_at=fact.page.retrieved_at.isoformat(timespec="seconds"),
    )


def _flags_of_snippet(fact: ReadFact) -> tuple[str, ...]:
    """Of the forms that the text has as they are written: "reading" leaves no town in it."""
    text = fact.snippet.text
    return flags_of_snippet(text, [form for form in fact.stated.meant if is_written(text.replace(SLOT, " "), form)])
