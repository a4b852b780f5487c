"""Static and temporal questions from listed facts of Wikidata.

A fact that breaks a rule is rejected. A failed service stops the whole task; a retry reads the cached responses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from swaymeter.data import reasons
from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.records import SLOT, Question, Rejected, Triple, both_contexts
from swaymeter.data.sources.slots import fill_slot, flags_of, flags_of_snippet
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import SimilarItem, Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.contexts.wikidata.counter_memory import (
    CounterMemory,
    Embed,
    answered_fact,
    cached_embeddings,
    embeddings_answer,
    wembedder_answer,
)
from swaymeter.tasks.contexts.wikidata.facts import (
    ID_SOURCE,
    Items,
    ReadFact,
    StatedFact,
    origin,
    partition_of,
    read_fact,
    reject,
    stated_facts,
)
from swaymeter.tasks.contexts.wikidata.mentions import WORDS, is_written


@dataclass(frozen=True, slots=True)
class Clients:
    """The clients of services; `wembedder` is None if the study chooses counter-memory answers by embeddings."""

    wikidata: Wikidata
    wikipedia: Wikipedia
    pageviews: PageViews
    wembedder: Wembedder | None


def questions_of_property(
    triples: Sequence[Triple], clients: Clients, *, words: int = WORDS, months: tuple[str, str], embed: Embed
) -> BuiltQuestions:
    """Build the questions of one property's listed facts.

    Args:
        triples: listed facts of one property.
        clients: clients of the services.
        words: limit of the words of a snippet.
        months: the first and the last month whose page views count (YYYY-MM).
        embed: maps texts to unit vectors, (n, d).

    Raises:
        InputError: the list mixes properties.
        ServiceError: a service fails.
    """
    if not triples:
        return BuiltQuestions([], [])
    properties = sorted({triple.property_id for triple in triples})
    if len(properties) > 1:
        raise InputError(
            f"the list has facts of {len(properties)} properties ({', '.join(properties)[:80]}); write a separate list "
            "for each property"
        )
    items = Items(clients.wikidata, properties[0])
    items.learn(triple.property_id for triple in triples if not triple.property)
    items.learn(item_id for triple in triples for item_id in (triple.subject_id, triple.object_id))
    items.learn(
        value
        for triple in triples
        if (subject := items.get(triple.subject_id))
        for value in subject.values_with_deprecated
    )

    listed_facts = list(stated_facts(triples, items))
    facts = [fact for fact in listed_facts if isinstance(fact, StatedFact)]
    outcomes = [read_fact(fact, clients.wikidata, clients.wikipedia, items, words=words) for fact in facts]
    read_facts = [fact for fact in outcomes if isinstance(fact, ReadFact)]
    rejected = [row for row in (*listed_facts, *outcomes) if isinstance(row, Rejected)]
    similar_items = [_similar_items(fact.stated_fact, clients.wembedder) for fact in read_facts]
    items.learn(item.item_id for similar in similar_items for item in similar)

    questions, objects, embed = [], [fact.object for fact in facts], cached_embeddings(embed)
    for fact, similar in zip(read_facts, similar_items, strict=True):
        fact_with_answers = answered_fact(
            fact.stated_fact.subject, fact.stated_fact.object, items, further_names=fact.stated_fact.triple.answers
        )
        replacement = wembedder_answer(similar, items, fact_with_answers)
        replacement = replacement or embeddings_answer(objects, fact_with_answers, embed)
        if replacement is None:
            by_service = f"{len(similar)} by Wembedder, " if clients.wembedder else ""
            candidates = f"{by_service}{len({answer.item_id for answer in objects})} among the answers of the property"
            detail = f"no candidate fits ({candidates})"
            rejected.append(reject(fact.stated_fact, reasons.NO_REPLACEMENT, fact.history, detail))
        else:
            questions.append(_question(fact, replacement, clients.pageviews, items, months))
    return BuiltQuestions(questions, rejected)


def _similar_items(fact: StatedFact, wembedder: Wembedder | None) -> tuple[SimilarItem, ...]:
    if wembedder is None:
        return ()
    try:
        return wembedder.similar_items(fact.object.item_id) or ()
    except ServiceError as error:
        raise type(error)(
            f"{error}; to do without Wembedder, set `counter_memory: embeddings` under `questions`"
        ) from error


def _question(
    fact: ReadFact, replacement: CounterMemory, pageviews: PageViews, items: Items, months: tuple[str, str]
) -> Question:
    triple, subject, answer = fact.stated_fact.triple, fact.stated_fact.subject, fact.stated_fact.object
    question, answers = fact.stated_fact.question(items), fact.stated_fact.answers
    text = fact.snippet.replace(SLOT, " ")
    # flags_of_snippet ignores case, but "reading" is not the town Reading.
    written_forms = [form for form in fact.stated_fact.likely_forms if is_written(text, form)]
    views = partial(pageviews.monthly_mean, first=months[0], last=months[1])
    return Question(
        question_id=fact.stated_fact.question_id,
        relation=triple.relation,
        partition=partition_of(fact.history),
        subject=subject.name,
        subject_id=subject.item_id,
        property_id=triple.property_id,
        object=answer.name,
        object_id=answer.item_id,
        answers=answers,
        replacement=replacement.name,
        question=question,
        contexts=both_contexts(
            fill_slot(fact.snippet, answer.name),
            fill_slot(fact.snippet, replacement.name),
            (answer.name, *answers),
            replacement.name,
        ),
        edits=fact.history.count,
        subject_popularity=views(fact.page.title),
        object_popularity=views(answer.wikipedia) if answer.wikipedia else None,
        id_source=ID_SOURCE,
        flags=(
            *flags_of(question, answers, answer.name, replacement.name),
            *flags_of_snippet(fact.snippet, written_forms),
        ),
        property=fact.stated_fact.property_name(items),
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
        **origin(triple),
        retrieved_at=fact.page.retrieved_at.isoformat(timespec="seconds"),
    )
