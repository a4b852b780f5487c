"""What changed between two datasets: facts and questions added, gone, and those that say something else.

A fact's subject is known again by its IRI, a question's by its Wikidata id and property; where one of the two datasets
has none of a relation's subjects, by its name. A disputed sentence is known again by its page and its two answers. So a
fact that was static and is temporal now is the same question, in another partition.

What only one of the two says of any row, such as the degrees that a sample has not, is not compared: it is no change in
the world. Nor is where a row comes from, or which revisions were read. What comes from where, and what is not compared,
counts in the versions, which can so differ where no row does; edits and page views do not count in them.

Rows of one subject are laid beside each other, first the ones that are alike in every way, then those alike in fewer.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.records import Fact, Question
from swaymeter.data.records.tables import FACTS, QUESTIONS

Value = str | int | float | tuple[str, ...] | None

_PROVENANCE = ("relation", "id_source", "source", "licence")
_CONSTRUCTION = (
    "question_id", "flags", "replacement_by", "replacement_quality", "item_revision", "page_revision", "edit_revisions",
    "list_id", "address", "retrieved_at",
)  # fmt: skip
FIELDS = tuple(c.name for c in FACTS.columns if c.counts and c.name not in _PROVENANCE)
_TEXTS = ("original_context", "counter_memory_context", "contexts")
QUESTION_FIELDS = tuple(
    field
    for column in QUESTIONS.columns
    if column.name not in (*_PROVENANCE, *_CONSTRUCTION)
    for field in (_TEXTS if column.name == "contexts" else [column.name])
)


@dataclass(frozen=True)
class Change:
    """A field of a row that says something else: what it said, and what it says now."""

    field: str
    old: Value
    new: Value


@dataclass(frozen=True)
class Changed:
    """A fact or question that was in both, and everything that it says otherwise."""

    old: Any
    new: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class RelationDifference:
    """What changed in a relation, each in the order of the subjects' names; same: how many rows did not."""

    relation: str
    added: tuple[Any, ...]
    gone: tuple[Any, ...]
    changed: tuple[Changed, ...]
    same: int

    @property
    def differs(self) -> bool:
        """Whether any row does."""
        return bool(self.added or self.gone or self.changed)


@dataclass(frozen=True)
class _Kind:
    """How rows are compared and known again.

    fields: what is compared. order: what rows are sorted by. identity: given the old and the new rows of a relation,
    what tells a subject from others. alike: ways in which two rows of a subject are the same one, the surest first.
    """

    fields: tuple[str, ...]
    order: Callable[[Any], tuple[str, ...]]
    identity: Callable[[Sequence[Any], Sequence[Any]], Callable[[Any], Hashable]]
    alike: tuple[Callable[[Any, Any], bool], ...]


@dataclass(frozen=True)
class Difference:
    """What changed from one dataset to another, by relation: facts in `relations`, questions in `questions`.

    not_compared, questions_not_compared: fields that only one of the two knows.
    """

    old: Dataset
    new: Dataset
    relations: tuple[RelationDifference, ...]
    not_compared: tuple[str, ...]
    questions: tuple[RelationDifference, ...]
    questions_not_compared: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether any fact or question does."""
        return any(relation.differs for relation in (*self.relations, *self.questions))


def difference(old: Dataset, new: Dataset) -> Difference:
    """What was added, gone and changed from the old dataset to the new one."""
    facts = _rows_difference(old.facts, new.facts, _FACTS)
    questions = _rows_difference(old.questions, new.questions, _QUESTIONS)
    return Difference(old, new, *facts, *questions)


def _rows_difference(
    old: Sequence[Any], new: Sequence[Any], kind: _Kind
) -> tuple[tuple[RelationDifference, ...], tuple[str, ...]]:
    """What changed from the old rows to the new ones, by relation; and the fields that only one of the two knows."""
    not_compared = tuple(name for name in kind.fields if old and new and _knows(old, name) != _knows(new, name))
    fields = [name for name in kind.fields if name not in not_compared]
    by_relation: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for place, rows in enumerate((old, new)):
        for row in rows:
            by_relation[row.relation][place].append(row)
    return tuple(_relation(name, *by_relation[name], kind, fields) for name in sorted(by_relation)), not_compared


def _knows(rows: Iterable[Any], field: str) -> bool:
    return any(getattr(row, field) is not None for row in rows)


def _changes(old: Any, new: Any, fields: Iterable[str]) -> tuple[Change, ...]:
    """The fields in which two rows differ; lists that differ only in their order are equal."""
    both = ((field, _value(old, field), _value(new, field)) for field in fields)
    return tuple(Change(field, before, after) for field, before, after in both if before != after)


def _relation(
    name: str, old: Sequence[Any], new: Sequence[Any], kind: _Kind, fields: Sequence[str]
) -> RelationDifference:
    identity = kind.identity(old, new)
    gone, added = defaultdict[Hashable, list[Any]](list), defaultdict[Hashable, list[Any]](list)
    for rows, by_subject in ((old, gone), (new, added)):
        for row in sorted(rows, key=kind.order):
            by_subject[identity(row)].append(row)
    both = []
    for subject, before in gone.items():
        after = added[subject]
        for alike in kind.alike:
            for row in list(before):
                if (match := next((other for other in after if alike(row, other)), None)) is not None:
                    before.remove(row)
                    after.remove(match)
                    both.append(Changed(row, match, _changes(row, match, fields)))
    changed = sorted((row for row in both if row.changes), key=lambda row: kind.order(row.new))
    left, come = (tuple(sorted(chain(*rows.values()), key=kind.order)) for rows in (gone, added))
    return RelationDifference(name, come, left, tuple(changed), len(both) - len(changed))


def _value(row: Fact | Question, field: str) -> Value:
    if field == "contexts":  # DynamicQA's two are compared by their texts
        own = row.contexts if isinstance(row, Question) and row.is_own else ()
        return tuple(f"{of.context_id}, {of.condition}, {'; '.join(of.answers)}: {of.text}" for of in own)
    value: Value = getattr(row, field)
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def _fact_identity(old: Sequence[Fact], new: Sequence[Fact]) -> Callable[[Fact], Hashable]:
    with_iris = _knows(old, "subject_uri") and _knows(new, "subject_uri")
    return lambda fact: ("IRI", fact.subject_uri) if with_iris and fact.subject_uri else ("name", fact.subject)


def _same_object(old: Any, new: Any, identifier: str = "object_uri") -> bool:
    one, other = getattr(old, identifier), getattr(new, identifier)
    return bool(one == other) if one and other else bool(old.object == new.object)


_FACTS = _Kind(
    fields=FIELDS,
    order=lambda fact: (fact.subject, fact.subject_uri or "", fact.object),
    identity=_fact_identity,
    alike=(lambda old, new: not _changes(old, new, FIELDS), _same_object, lambda old, new: True),
)


def _question_identity(old: Sequence[Question], new: Sequence[Question]) -> Callable[[Question], Hashable]:
    with_ids = _knows(old, "subject_id") and _knows(new, "subject_id")
    with_properties = _knows(old, "property_id") and _knows(new, "property_id")

    def identity(question: Question) -> Hashable:
        if question.partition == "disputable":
            return "page", question.page or question.subject
        of = question.property_id if with_properties else None
        return ("id", question.subject_id, of) if with_ids and question.subject_id else ("name", question.subject, of)

    return identity


def _same_answers(old: Question, new: Question) -> bool:
    """Of a dispute both answers: which of them was put back last may have turned since."""
    if old.partition == "disputable":
        before, after = ({one.object.casefold(), one.replacement.casefold()} for one in (old, new))
        return before == after
    return _same_object(old, new, "object_id")


_QUESTIONS = _Kind(
    fields=QUESTION_FIELDS,
    order=lambda one: (one.subject, one.subject_id or "", one.object, one.replacement, one.question),
    identity=_question_identity,
    alike=(
        lambda old, new: not _changes(old, new, QUESTION_FIELDS),
        lambda old, new: old.original_context == new.original_context and _same_answers(old, new),
        _same_answers,
        lambda old, new: old.partition != "disputable",
    ),
)
