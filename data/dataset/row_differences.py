"""What changed between two lists of rows of a kind, such as facts: which are known again, and what they say otherwise.

Rows are known again within their relation: those of one subject are laid beside each other, first the ones that are
alike in every way, then those alike in fewer.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from data.records import Fact, Question

Value = str | int | float | tuple[str, ...] | None
Row = TypeVar("Row", Fact, Question)


@dataclass(frozen=True)
class Change:
    """A field of a row that says something else: what it said, and what it says now."""

    field: str
    old: Value
    new: Value


@dataclass(frozen=True)
class Changed(Generic[Row]):
    """A row that was in both, and everything that it says otherwise."""

    old: Row
    new: Row
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class RelationDifference(Generic[Row]):
    """What changed in a relation, each in the order of the subjects' names; same: how many rows did not."""

    relation: str
    added: tuple[Row, ...]
    gone: tuple[Row, ...]
    changed: tuple[Changed[Row], ...]
    same: int

    @property
    def differs(self) -> bool:
        """Whether any row does."""
        return bool(self.added or self.gone or self.changed)


@dataclass(frozen=True)
class Kind(Generic[Row]):
    """How rows are compared and known again.

    fields: what is compared. order: what rows are sorted by. identity: given the old and the new rows of a relation,
    what tells a subject from others. alike: ways in which two rows of a subject are the same one, the surest first.
    """

    fields: tuple[str, ...]
    order: Callable[[Row], tuple[str, ...]]
    identity: Callable[[Sequence[Row], Sequence[Row]], Callable[[Row], Hashable]]
    alike: tuple[Callable[[Row, Row], bool], ...]


@dataclass(frozen=True)
class RowsDifference(Generic[Row]):
    """What changed, by relation; not_compared: fields that only one of the two knows."""

    relations: tuple[RelationDifference[Row], ...]
    not_compared: tuple[str, ...]


def rows_difference(old: Sequence[Row], new: Sequence[Row], kind: Kind[Row]) -> RowsDifference[Row]:
    """What was added, gone and changed from the old rows to the new ones."""
    not_compared = (
        tuple(field for field in kind.fields if knows(old, field) != knows(new, field)) if old and new else ()
    )
    fields = [field for field in kind.fields if field not in not_compared]
    before: Mapping[str, Sequence[Row]] = _by_relation(old, kind)
    after: Mapping[str, Sequence[Row]] = _by_relation(new, kind)
    relations = tuple(
        _relation(name, before.get(name, []), after.get(name, []), kind, fields) for name in sorted({*before, *after})
    )
    return RowsDifference(relations, not_compared)


def knows(rows: Iterable[Row], field: str) -> bool:
    """Whether any of the rows says something of the field."""
    return any(getattr(row, field) is not None for row in rows)


def same_values(fields: Sequence[str]) -> Callable[[Row, Row], bool]:
    """Whether two rows differ in none of the fields."""
    return lambda old, new: not _changes(old, new, fields)


def _by_relation(rows: Sequence[Row], kind: Kind[Row]) -> Mapping[str, Sequence[Row]]:
    by_relation: dict[str, list[Row]] = {}
    for row in sorted(rows, key=kind.order):
        by_relation.setdefault(row.relation, []).append(row)
    return by_relation


def _relation(
    name: str, old: Sequence[Row], new: Sequence[Row], kind: Kind[Row], fields: Sequence[str]
) -> RelationDifference[Row]:
    identity = kind.identity(old, new)
    groups: dict[Hashable, tuple[list[Row], list[Row]]] = {}
    for place, rows in enumerate((old, new)):
        for row in rows:
            groups.setdefault(identity(row), ([], []))[place].append(row)
    pairs: list[tuple[Row, Row]] = []
    gone: list[Row] = []
    added: list[Row] = []
    for of_old, of_new in groups.values():
        known_again, left, come = _known_again(of_old, of_new, kind)
        pairs += known_again
        gone += left
        added += come
    compared = [Changed(before, after, _changes(before, after, fields)) for before, after in pairs]
    changed = sorted((row for row in compared if row.changes), key=lambda row: kind.order(row.new))
    return RelationDifference(
        name,
        tuple(sorted(added, key=kind.order)),
        tuple(sorted(gone, key=kind.order)),
        tuple(changed),
        len(compared) - len(changed),
    )


def _known_again(
    old: Sequence[Row], new: Sequence[Row], kind: Kind[Row]
) -> tuple[list[tuple[Row, Row]], Sequence[Row], Sequence[Row]]:
    pairs: list[tuple[Row, Row]] = []
    for alike in kind.alike:
        left, come = [], list(new)
        for row in old:
            match = next((other for other in come if alike(row, other)), None)
            if match is None:
                left.append(row)
            else:
                come.remove(match)
                pairs.append((row, match))
        old, new = left, come
    return pairs, old, new


def _changes(old: Row, new: Row, fields: Sequence[str]) -> tuple[Change, ...]:
    both = ((field, _value(old, field), _value(new, field)) for field in fields)
    return tuple(Change(field, before, after) for field, before, after in both if before != after)


def _value(row: Fact | Question, field: str) -> Value:
    value: Value = getattr(row, field)
    return tuple(sorted(value)) if isinstance(value, tuple) else value
