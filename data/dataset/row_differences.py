"""What changed between two lists of rows of a kind, such as facts: which are known again, and what they say otherwise.

Rows are known again within their relation: those of one subject are laid beside each other, first the ones that are
alike in every way, then those alike in fewer.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
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


def rows_difference(
    old: Sequence[Row], new: Sequence[Row], kind: Kind[Row]
) -> tuple[tuple[RelationDifference[Row], ...], tuple[str, ...]]:
    """What changed from the old rows to the new ones, by relation; and the fields that only one of the two knows."""
    not_compared = tuple(name for name in kind.fields if old and new and knows(old, name) != knows(new, name))
    fields = [name for name in kind.fields if name not in not_compared]
    by_relation: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for place, rows in enumerate((old, new)):
        for row in sorted(rows, key=kind.order):
            by_relation[row.relation][place].append(row)
    return tuple(_relation(name, *by_relation[name], kind, fields) for name in sorted(by_relation)), not_compared


def knows(rows: Iterable[Row], field: str) -> bool:
    """Whether any of the rows says something of the field."""
    return any(getattr(row, field) is not None for row in rows)


def changes(old: Row, new: Row, fields: Iterable[str]) -> tuple[Change, ...]:
    """The fields in which two rows differ; lists that differ only in their order are equal."""
    both = ((field, _value(old, field), _value(new, field)) for field in fields)
    return tuple(Change(field, before, after) for field, before, after in both if before != after)


def _relation(
    name: str, old: Sequence[Row], new: Sequence[Row], kind: Kind[Row], fields: Sequence[str]
) -> RelationDifference[Row]:
    identity = kind.identity(old, new)
    subjects: dict[Hashable, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for place, rows in enumerate((old, new)):
        for row in rows:
            subjects[identity(row)][place].append(row)
    compared, gone, added = list[Changed[Row]](), list[Row](), list[Row]()
    for before, after in subjects.values():
        compared += [Changed(*pair, changes(*pair, fields)) for pair in _taken_pairs(before, after, kind)]
        gone += before
        added += after
    changed = sorted((row for row in compared if row.changes), key=lambda row: kind.order(row.new))
    return RelationDifference(
        name,
        tuple(sorted(added, key=kind.order)),
        tuple(sorted(gone, key=kind.order)),
        tuple(changed),
        len(compared) - len(changed),
    )


def _taken_pairs(old: list[Row], new: list[Row], kind: Kind[Row]) -> Iterator[tuple[Row, Row]]:
    """Takes the rows that are known again out of both lists."""
    for alike in kind.alike:
        for row in list(old):
            match = next((other for other in new if alike(row, other)), None)
            if match is not None:
                old.remove(row)
                new.remove(match)
                yield row, match


def _value(row: Fact | Question, field: str) -> Value:
    value: Value = getattr(row, field)
    return tuple(sorted(value)) if isinstance(value, tuple) else value
