"""What changed between two datasets: facts and questions added, gone, and those that say something else.

A fact's subject is known again by its IRI, a question's by its Wikidata id and property; where one of the two datasets
has none of a relation's subjects, by its name. A disputed sentence is known again by its page and its two answers. So a
fact that was static and is temporal now is the same question, in another partition.

What only one of the two says of any row, such as the degrees that a sample has not, is not compared: it is no change in
the world. Nor is where a row comes from, or which revisions were read. What comes from where, and what is not compared,
counts in the versions, which can so differ where no row does; edits and page views do not count in them.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from data.dataset.dataset import Dataset
from data.dataset.row_differences import (
    Change,
    Changed,
    Kind,
    RelationDifference,
    Value,
    changes,
    knows,
    rows_difference,
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
    questions: tuple[RelationDifference[Question], ...]
    questions_not_compared: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether any fact or question does."""
        by_relation: Iterable[RelationDifference[Any]] = (*self.relations, *self.questions)
        return any(relation.differs for relation in by_relation)


def difference(old: Dataset, new: Dataset) -> Difference:
    """What was added, gone and changed from the old dataset to the new one."""
    facts = rows_difference(old.facts, new.facts, _FACTS)
    questions = rows_difference(old.questions, new.questions, _QUESTIONS)
    return Difference(old, new, *facts, *questions)


def _fact_identity(old: Sequence[Fact], new: Sequence[Fact]) -> Callable[[Fact], Hashable]:
    with_iris = knows(old, "subject_uri") and knows(new, "subject_uri")
    return lambda fact: ("IRI", fact.subject_uri) if with_iris and fact.subject_uri else ("name", fact.subject)


def _same_object(old: Fact, new: Fact) -> bool:
    if old.object_uri and new.object_uri:
        return old.object_uri == new.object_uri
    return old.object == new.object


_FACTS = Kind[Fact](
    fields=FIELDS,
    order=lambda fact: (fact.subject, fact.subject_uri or "", fact.object),
    identity=_fact_identity,
    alike=(lambda old, new: not changes(old, new, FIELDS), _same_object, lambda old, new: True),
)


def _question_identity(old: Sequence[Question], new: Sequence[Question]) -> Callable[[Question], Hashable]:
    with_ids = knows(old, "subject_id") and knows(new, "subject_id")
    with_properties = knows(old, "property_id") and knows(new, "property_id")

    def identity(question: Question) -> Hashable:
        if question.partition == "disputable":
            return "page", question.page or question.subject
        of = question.property_id if with_properties else None
        return ("id", question.subject_id, of) if with_ids and question.subject_id else ("name", question.subject, of)

    return identity


def _same_answers(old: Question, new: Question) -> bool:
    """Of a dispute both answers: which of them was put back last may have turned since."""
    if old.partition == "disputable":
        return _both_answers(old) == _both_answers(new)
    if old.object_id and new.object_id:
        return old.object_id == new.object_id
    return old.object == new.object


def _both_answers(question: Question) -> set[str]:
    return {question.object.casefold(), question.replacement.casefold()}


_QUESTIONS = Kind[Question](
    fields=QUESTION_FIELDS,
    order=lambda one: (one.subject, one.subject_id or "", one.object, one.replacement, one.question),
    identity=_question_identity,
    alike=(
        lambda old, new: not changes(old, new, QUESTION_FIELDS),
        lambda old, new: old.original_context == new.original_context and _same_answers(old, new),
        _same_answers,
        lambda old, new: old.partition != "disputable",
    ),
)
