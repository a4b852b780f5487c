"""Facts of a list, checked against Wikidata and Wikipedia. A fact becomes the parts of a question, or is rejected."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from swaymeter.data import catalog, reasons
from swaymeter.data.records import SLOT, Partition, Rejected, Triple, WikidataId, identity
from swaymeter.data.sources.slots import QUESTION_CONTAINS_ANSWER, flags_of
from swaymeter.data.sources.wikimedia import wikidata, wikipedia
from swaymeter.data.sources.wikimedia.edit_history import EditHistory, edit_history
from swaymeter.tasks.contexts.texts import fold_without_qualifier
from swaymeter.tasks.contexts.wikidata.mentions import CONTROL, SHORT, find_snippet

ID_SOURCE = "wikidata"
LICENCE = f"facts: {wikidata.SOURCE} {wikidata.LICENCE}; texts: {wikipedia.SOURCE} {wikipedia.LICENCE}"

KIND = ("P31", "P279")
"""Properties that name the kind of an item: instance of, subclass of."""
WIDER = (*KIND, "P131", "P361", "P460")
"""Properties whose values an item implies: KIND, located in, part of, said to be the same as."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """The parts of an item that questions need.

    Attributes:
        item_id: its current id.
        label: its label on one line.
        aliases: its other names, each on one line.
        description: its description.
        wikipedia: the title of its article.
        kinds: values of the properties KIND.
        wider: values of the properties WIDER.
        values: values of the requested property, such as P36 (capital), without deprecated values.
        values_with_deprecated: values of the requested property, with deprecated values.
        retrieved_at: time of the response.
    """

    item_id: WikidataId
    label: str | None
    aliases: tuple[str, ...]
    description: str | None
    wikipedia: str | None
    kinds: frozenset[WikidataId]
    wider: frozenset[WikidataId]
    values: tuple[WikidataId, ...]
    values_with_deprecated: tuple[WikidataId, ...]
    retrieved_at: datetime

    @property
    def name(self) -> str:
        """The label; the id of an item without a label."""
        return self.label or self.item_id

    @property
    def names(self) -> tuple[str, ...]:
        """The label, if any, and the aliases."""
        return tuple(dict.fromkeys(name for name in (self.label, *self.aliases) if name))


class Items:
    """Items of Wikidata, looked up and cached.

    Args:
        wikidata_client: the client.
        property_id: the property whose values are read.
    """

    def __init__(self, wikidata_client: wikidata.Wikidata, property_id: WikidataId) -> None:
        self._wikidata, self._property_id = wikidata_client, property_id
        self._cache: dict[WikidataId, KnownItem | None] = {}

    def learn(self, ids: Iterable[WikidataId]) -> None:
        """Request and cache the items that are not cached yet; raises ServiceError."""
        new = [item_id for item_id in dict.fromkeys(ids) if item_id not in self._cache]
        items = self._wikidata.items(new)
        for item_id in new:
            self._cache[item_id] = self._item_parts(items[item_id]) if item_id in items else None

    def get(self, item_id: WikidataId) -> KnownItem | None:
        """Return a cached item; for a merged item, its target; None if the item does not exist."""
        return self._cache[item_id]

    def true_id(self, item_id: WikidataId) -> WikidataId:
        """Return the item's current id, which a merge of items may have changed."""
        item = self._cache[item_id]
        return item.item_id if item else item_id

    def _item_parts(self, item: wikidata.Item) -> KnownItem:
        return KnownItem(
            item_id=item.item_id,
            label=_single_line(item.label),
            aliases=tuple(alias for alias in map(_single_line, item.aliases) if alias),
            description=_single_line(item.description),
            wikipedia=item.wikipedia,
            kinds=_values(item, KIND),
            wider=_values(item, WIDER),
            values=item.values(self._property_id),
            values_with_deprecated=item.values(self._property_id, deprecated=True),
            retrieved_at=item.retrieved_at,
        )


def _values(item: wikidata.Item, properties: Iterable[str]) -> frozenset[WikidataId]:
    return frozenset(value for property_id in properties for value in item.values(property_id))


def _single_line(name: str | None) -> str | None:
    """Return the name on one line; None if no character of it is visible."""
    line = " ".join(CONTROL.sub(" ", name or "").split())
    return line if any(unicodedata.category(character)[0] not in "CZ" for character in line) else None


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A listed fact that Wikidata states, with a subject and an object that have names."""

    triple: Triple
    subject: KnownItem
    object: KnownItem

    @property
    def question_id(self) -> str:
        """The identity of the triple, independent of its list."""
        return identity(ID_SOURCE, self.subject.item_id, self.triple.property_id, self.object.item_id)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the object, and further forms in the list."""
        return tuple(dict.fromkeys((*self.object.names, *(form for form in self.triple.answers if form.strip()))))

    @property
    def likely_forms(self) -> tuple[str, ...]:
        """The label, and the forms of more than three letters; a shorter form, such as IN for India, is ambiguous."""
        return tuple(form for form in self.answers if form == self.object.label or len(form) > SHORT)

    def property_name(self, items: Items) -> str:
        """Return the property's name in the list, else its label in `items`, else its id."""
        item = None if self.triple.property else items.get(self.triple.property_id)
        return self.triple.property or (item and item.label) or self.triple.property_id

    def question(self, items: Items) -> str:
        """Return the list's question, else the catalog's question for the property, else a generic question."""
        if self.triple.question and self.triple.question.strip():
            return self.triple.question.strip()
        for relation in catalog.relations().values():
            if relation.wikidata == self.triple.property_id and not relation.reverse:
                query = catalog.fill(relation.open[0], entity=self.subject.name)
                return query.removeprefix("Q: ").removesuffix("\nA:")
        return f"What is the {self.property_name(items)} of {self.subject.name}?"


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact with the edits of its value and the snippet of its page; `page.text` is empty."""

    stated_fact: StatedFact
    history: EditHistory
    page: wikipedia.Page
    snippet: str


def origin(triple: Triple) -> dict[str, Any]:
    """Return the sources of a question of this triple (its list, Wikidata and Wikipedia) and their licences."""
    sources = dict.fromkeys((triple.source, wikidata.SOURCE, wikipedia.SOURCE))
    return {"source": ", ".join(sources), "licence": f"list: {triple.licence}; {LICENCE}"}


def stated_facts(triples: Sequence[Triple], items: Items) -> Iterator[StatedFact | Rejected]:
    """Yield each listed fact in order, or its rejection; a repeated fact is rejected.

    Args:
        triples: the listed facts.
        items: cached items, with the subjects, the objects and the values of the subjects.
    """
    seen: set[str] = set()
    for triple in triples:
        fact = _check_triple(triple, items)
        if isinstance(fact, StatedFact) and fact.question_id in seen:
            fact = reject(fact, reasons.DOUBLED)
        elif isinstance(fact, StatedFact):
            seen.add(fact.question_id)
        yield fact


def _check_triple(triple: Triple, items: Items) -> StatedFact | Rejected:
    """Return the fact of a triple if Wikidata states it and a question can ask for it; otherwise its rejection."""
    subject, answer = items.get(triple.subject_id), items.get(triple.object_id)
    if subject is None or answer is None:
        return _reject_triple(triple, reasons.SUBJECT_MISSING if subject is None else reasons.OBJECT_MISSING)
    fact = StatedFact(triple, subject, answer)
    if subject.label is None:
        return reject(fact, reasons.SUBJECT_UNNAMED)
    if answer.label is None:
        return reject(fact, reasons.OBJECT_UNNAMED)
    if answer.item_id not in map(items.true_id, subject.values):
        current_values = ", ".join(subject.values) or "none"
        return reject(fact, reasons.NOT_A_VALUE, detail=f"values: {current_values}"[:200])
    if fold_without_qualifier(subject.label) == fold_without_qualifier(answer.label):
        return reject(fact, reasons.OBJECT_IS_SUBJECT)
    question = fact.question(items)
    if any(QUESTION_CONTAINS_ANSWER in flags_of(question, (), form, "") for form in fact.likely_forms):
        return reject(fact, QUESTION_CONTAINS_ANSWER, detail=question[:200])
    return fact


def read_fact(
    fact: StatedFact,
    wikidata_client: wikidata.Wikidata,
    wikipedia_client: wikipedia.Wikipedia,
    items: Items,
    *,
    words: int,
) -> ReadFact | Rejected:
    """Return a fact with its edits and a snippet of about `words` words, or its rejection; raises ServiceError."""
    history = edit_history(wikidata_client, fact.subject.item_id, fact.triple.property_id)
    if history is None:
        return reject(fact, reasons.SUBJECT_MISSING)
    if history.count == 0:
        return reject(fact, reasons.NOT_EDITED, history, f"hidden revisions: {len(history.hidden)}")
    if fact.subject.wikipedia is None:
        return reject(fact, reasons.NO_PAGE, history)
    page = wikipedia_client.page(fact.subject.wikipedia)
    if page is None:
        return reject(fact, reasons.PAGE_MISSING, history, fact.subject.wikipedia)
    if not _is_about(page, fact, items):
        return reject(fact, reasons.PAGE_OF_ANOTHER, history, f"{page.title} ({page.item_id})")
    snippet = find_snippet(page.text, fact.object.names, subject=(*fact.subject.names, page.title), words=words)
    if snippet is None:
        reason = reasons.SLOT_IN_TEXT if SLOT in page.text else reasons.NOT_MENTIONED
        if not page.text.strip():
            reason = reasons.PAGE_WITHOUT_TEXT
        return reject(fact, reason, history, f"{page.title}, revision {page.revision}")
    return ReadFact(fact, history, replace(page, text=""), snippet)


def _is_about(page: wikipedia.Page, fact: StatedFact, items: Items) -> bool:
    """Return True if a page is about the fact's subject, or names no item of Wikidata."""
    if page.item_id is None or page.item_id == fact.subject.item_id:
        return True
    items.learn([page.item_id])
    return items.true_id(page.item_id) == fact.subject.item_id


def reject(fact: StatedFact, reason: str, history: EditHistory | None = None, detail: str | None = None) -> Rejected:
    """Return the row of a rejected fact, with its partition if its history is known."""
    row = _reject_triple(fact.triple, reason)
    return replace(
        row,
        partition=partition_of(history) if history and history.count else None,
        subject=fact.subject.label or row.subject,
        subject_id=fact.subject.item_id,
        object=fact.object.label or row.object,
        object_id=fact.object.item_id,
        detail=detail,
        revisions=history.edits if history else (),
        retrieved_at=(history or fact.subject).retrieved_at.isoformat(timespec="seconds"),
    )


def _reject_triple(triple: Triple, reason: str) -> Rejected:
    return Rejected(
        partition=None,
        relation=triple.relation,
        part=triple.property_id,
        subject=triple.subject or triple.subject_id,
        reason=reason,
        subject_id=triple.subject_id,
        property_id=triple.property_id,
        object=triple.object,
        object_id=triple.object_id,
        retrieved_at=triple.retrieved_at,
        **origin(triple),
    )


def partition_of(history: EditHistory) -> Partition:
    """Return "static" if the value was set once, otherwise "temporal"."""
    return "static" if history.count == 1 else "temporal"
