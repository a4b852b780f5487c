"""What changed between two datasets: facts and questions added, gone, and those that say something else.

A fact's subject is known again by its IRI, a question's by its Wikidata id and property; where one of the two datasets
has none of a relation's subjects, by its name. A disputed sentence is known again by its page and its two answers. So a
fact that was static and is temporal now is the same question, in another partition.

What only one of the two says of any row, such as the degrees that a sample has not, is not compared: it is no change in
the world. Nor is where a row comes from, or which revisions were read. What comes from where, and what is not compared,
counts in the versions, which can so differ where no row does; edits and page views do not count in them.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from data.dataset.dataset import Dataset
from data.dataset.row_differences import (
    Change,
    Changed,
    Kind,
    RelationDifference,
    Value,
    knows,
    rows_difference,
    same_values,
)
from data.records import Fact, Question
from data.records.tables import FACTS, QUESTIONS

__all__ = ["FIELDS", "QUESTION_FIELDS", "Change", "Changed", "Difference", "RelationDifference", "Value", "difference"]

_PROVENANCE = ("relation", "id_source", "source", "licence")
_CONSTRUCTION = (
    "question_id", "flags", "replacement_by", "replacement_quality", "item_revision", "page_revision", "edit_revisions",
    "list_id", "address", "retrieved_at",
)  # fmt: skip
FIELDS = tuple(c.name for c in FACTS.columns if c.counts and c.name not in _PROVENANCE)
"""The fields of a fact that are compared."""
QUESTION_FIELDS = tuple(c.name for c in QUESTIONS.columns if c.name not in (*_PROVENANCE, *_CONSTRUCTION))
"""The fields of a question that are compared."""


@dataclass(frozen=True)
class Difference:
    """What changed from one dataset to another, by relation: facts in `relations`, questions in `questions`.

    not_compared, questions_not_compared: fields that only one of the two knows.
    """

    old: Dataset
    new: Dataset
    relations: tuple[RelationDifference[Fact], ...]
    not_compared: tuple[str, ...]
    questions: tuple[RelationDifference[Question], ...] = ()
    questions_not_compared: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether any fact or question does."""
        of_facts = any(relation.differs for relation in self.relations)
        return of_facts or any(relation.differs for relation in self.questions)


def difference(old: Dataset, new: Dataset) -> Difference:
    """What was added, gone and changed from the old dataset to the new one."""
    facts = rows_difference(old.facts, new.facts, _FACTS)
    questions = rows_difference(old.questions, new.questions, _QUESTIONS)
    return Difference(old, new, facts.relations, facts.not_compared, questions.relations, questions.not_compared)


def _order_of_fact(fact: Fact) -> tuple[str, ...]:
    return fact.subject, fact.subject_uri or "", fact.object


def _fact_identity(old: Sequence[Fact], new: Sequence[Fact]) -> Callable[[Fact], Hashable]:
    return _by_iri if knows(old, "subject_uri") and knows(new, "subject_uri") else _by_name


def _by_iri(fact: Fact) -> Hashable:
    return ("IRI", fact.subject_uri) if fact.subject_uri else _by_name(fact)


def _by_name(fact: Fact) -> Hashable:
    return "name", fact.subject


def _same_object(old: Fact, new: Fact) -> bool:
    if old.object_uri and new.object_uri:
        return old.object_uri == new.object_uri
    return old.object == new.object


def _any_fact(old: Fact, new: Fact) -> bool:
    return True


_FACTS = Kind[Fact](FIELDS, _order_of_fact, _fact_identity, (same_values(FIELDS), _same_object, _any_fact))


def _order_of_question(question: Question) -> tuple[str, ...]:
    return question.subject, question.subject_id or "", question.object, question.replacement, question.question


def _question_identity(old: Sequence[Question], new: Sequence[Question]) -> Callable[[Question], Hashable]:
    with_ids = knows(old, "subject_id") and knows(new, "subject_id")
    with_properties = knows(old, "property_id") and knows(new, "property_id")

    def identity(question: Question) -> Hashable:
        if question.partition == "disputable":
            return "page", question.page or question.subject
        of = question.property_id if with_properties else None
        return ("id", question.subject_id, of) if with_ids and question.subject_id else ("name", question.subject, of)

    return identity


def _same_sentence(old: Question, new: Question) -> bool:
    return old.original_context == new.original_context and _same_answers(old, new)


def _same_answers(old: Question, new: Question) -> bool:
    """Of a dispute both answers: which of them was put back last may have turned since."""
    if old.partition == "disputable":
        return {old.object.casefold(), old.replacement.casefold()} == {
            new.object.casefold(),
            new.replacement.casefold(),
        }
    if old.object_id and new.object_id:
        return old.object_id == new.object_id
    return old.object == new.object


def _both_answers(question: Question) -> set[str]:
    return {question.object.casefold(), question.replacement.casefold()}


def _of_one_fact(old: Question, new: Question) -> bool:
    return old.partition != "disputable"


_QUESTIONS = Kind[Question](
    QUESTION_FIELDS,
    _order_of_question,
    _question_identity,
    (same_values(QUESTION_FIELDS), _same_sentence, _same_answers, _of_one_fact),
)
