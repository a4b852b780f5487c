"""What changed between two datasets: facts added, gone, and those that say something else of the same subject.

A subject is known again by its IRI; where one of the two datasets has no IRIs of a relation's subjects, by its name.
What only one of the two says of any fact, such as the degrees that a sample has not, is not compared: it is no change
in the world. Nor is where a fact comes from. Both count in the versions, which can so differ where no fact does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from data.dataset import Dataset
from data.records import Fact
from data.tables import FACTS

Value = str | int | tuple[str, ...] | None

_NOT_SAID_OF_THE_WORLD = ("relation", "id_source", "source", "licence")
FIELDS = tuple(c.name for c in FACTS.columns if c.counts and c.name not in _NOT_SAID_OF_THE_WORLD)
"""The fields of a fact that are compared."""


@dataclass(frozen=True)
class Change:
    """A field of a fact that says something else: what it said, and what it says now."""

    field: str
    old: Value
    new: Value


@dataclass(frozen=True)
class ChangedFact:
    """A fact that was in both, and everything that it says otherwise."""

    old: Fact
    new: Fact
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class RelationDifference:
    """What changed in a relation, each in the order of the subjects' names; same: how many facts did not."""

    relation: str
    added: tuple[Fact, ...]
    gone: tuple[Fact, ...]
    changed: tuple[ChangedFact, ...]
    same: int

    @property
    def differs(self) -> bool:
        """Whether any fact does."""
        return bool(self.added or self.gone or self.changed)


@dataclass(frozen=True)
class Difference:
    """What changed from one dataset to another, by relation; not_compared: fields that only one of the two knows."""

    old: Dataset
    new: Dataset
    relations: tuple[RelationDifference, ...]
    not_compared: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether any fact does."""
        return any(relation.differs for relation in self.relations)


def difference(old: Dataset, new: Dataset) -> Difference:
    """What was added, gone and changed from the old dataset to the new one."""
    not_compared = tuple(field for field in FIELDS if _knows(old.facts, field) != _knows(new.facts, field))
    fields = [field for field in FIELDS if field not in not_compared]
    before, after = _by_relation(old), _by_relation(new)
    relations = tuple(
        _relation(name, before.get(name, []), after.get(name, []), fields) for name in sorted({*before, *after})
    )
    return Difference(old, new, relations, not_compared)


def _knows(facts: Iterable[Fact], field: str) -> bool:
    return any(getattr(fact, field) is not None for fact in facts)


def _by_relation(dataset: Dataset) -> Mapping[str, Sequence[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in sorted(dataset.facts, key=_order):
        found.setdefault(fact.relation, []).append(fact)
    return found


def _relation(name: str, old: Sequence[Fact], new: Sequence[Fact], fields: Sequence[str]) -> RelationDifference:
    identity = _by_iri if _knows(old, "subject_uri") and _knows(new, "subject_uri") else _by_name
    groups: dict[tuple[str, str], tuple[list[Fact], list[Fact]]] = {}
    for place, facts in enumerate((old, new)):
        for fact in facts:
            groups.setdefault(identity(fact), ([], []))[place].append(fact)
    pairs: list[tuple[Fact, Fact]] = []
    gone: list[Fact] = []
    added: list[Fact] = []
    for of_old, of_new in groups.values():
        known_again, left, come = _known_again(of_old, of_new)
        pairs += known_again
        gone += left
        added += come
    compared = [ChangedFact(before, after, _changes(before, after, fields)) for before, after in pairs]
    changed = sorted((fact for fact in compared if fact.changes), key=lambda fact: _order(fact.new))
    return RelationDifference(
        name,
        tuple(sorted(added, key=_order)),
        tuple(sorted(gone, key=_order)),
        tuple(changed),
        len(compared) - len(changed),
    )


def _by_iri(fact: Fact) -> tuple[str, str]:
    return ("IRI", fact.subject_uri) if fact.subject_uri else _by_name(fact)


def _by_name(fact: Fact) -> tuple[str, str]:
    return "name", fact.subject


def _known_again(
    old: Sequence[Fact], new: Sequence[Fact]
) -> tuple[list[tuple[Fact, Fact]], Sequence[Fact], Sequence[Fact]]:
    """Facts of one subject, mostly one on either side: those that are alike together, then those of one object."""
    pairs: list[tuple[Fact, Fact]] = []
    for alike in (_same, _same_object, _any):
        left, come = [], list(new)
        for fact in old:
            found = next((other for other in come if alike(fact, other)), None)
            if found is None:
                left.append(fact)
            else:
                come.remove(found)
                pairs.append((fact, found))
        old, new = left, come
    return pairs, old, new


def _same(old: Fact, new: Fact) -> bool:
    return not _changes(old, new, FIELDS)


def _same_object(old: Fact, new: Fact) -> bool:
    if old.object_uri and new.object_uri:
        return old.object_uri == new.object_uri
    return old.object == new.object


def _any(old: Fact, new: Fact) -> bool:
    return True


def _changes(old: Fact, new: Fact, fields: Sequence[str]) -> tuple[Change, ...]:
    both = ((field, _value(old, field), _value(new, field)) for field in fields)
    return tuple(Change(field, before, after) for field, before, after in both if before != after)


def _value(fact: Fact, field: str) -> Value:
    value = getattr(fact, field)
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def _order(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.subject_uri or "", fact.object
