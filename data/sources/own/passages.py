"""Contexts of several passages, which are chosen by their kinds and put in several orders.

In a file, each context of a question is a passage with a kind. The key `passages` of a study combines these passages
into a context for each set and order. The set `supporting+conflicting` in the order `right_first` gives a context of a
supporting passage and, after it, a conflicting passage.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, field_validator

from swaymeter.data.options import Options
from swaymeter.data.records import OWN_KINDS, Condition, OwnKind, Passage, Question, QuestionContext
from swaymeter.data.records.passages import PLAIN, SEPARATOR, SLOTS

Order = Literal["given", "right_first", "right_last", "wrong_first", "wrong_last", "rotations", "reversed", "random"]
Form = Literal["plain", "numbered", "titled", "cited"]
EVERY = "all"
"""The name of the set of all passages of a question, and the number in "all conflicting"."""

FIRST_OR_LAST: Mapping[Order, tuple[OwnKind, bool]] = {
    "right_first": ("supporting", True),
    "right_last": ("supporting", False),
    "wrong_first": ("conflicting", True),
    "wrong_last": ("conflicting", False),
}
"""Orders that put passages of a kind first (True) or last (False); the other passages keep their order."""

FORMS: Mapping[Form, str] = {
    "plain": PLAIN,
    "numbered": "[{number}] {text}",
    "titled": "{title}\n{text}",
    "cited": "[{number}] {title} ({source}, {date})\n{text}",
}
"""The template of each form of a passage."""

_PART = re.compile(rf"(?:(\d+|{EVERY})\s+)?({'|'.join(OWN_KINDS)})")


class SetPart(NamedTuple):
    """A kind of passages in a set, and their number; None for all passages of the kind, at least one."""

    kind: OwnKind
    number: int | None


def parts_of(name: str) -> tuple[SetPart, ...]:
    """Return the parts of a set such as "supporting+3 irrelevant"; empty for "all"; ValueError for any other text."""
    if name.strip() == EVERY:
        return ()
    parts = []
    for text in name.split("+"):
        match = _PART.fullmatch(text.strip())
        if match is None or match[1] == "0":
            raise ValueError(
                f"{name!r} is not a set of passages; write kinds ({', '.join(OWN_KINDS)}) with + between "
                f"them, such as supporting+conflicting or supporting+3 irrelevant, or write {EVERY}"
            )
        parts.append(SetPart(match[2], None if match[1] == EVERY else int(match[1] or 1)))  # type: ignore[arg-type]
    if twice := [kind for kind, count in Counter(part.kind for part in parts).items() if count > 1]:
        raise ValueError(
            f"{name!r} names the kind {twice[0]} twice; name the kind once, with a number, such as 2 {twice[0]}"
        )
    return tuple(parts)


def _check_template(template: str) -> str:
    if template.count("{text}") != 1:
        raise ValueError(f"{template!r} must have the slot {{text}} exactly once; an example is [{{number}}] {{text}}")
    if unknown := [name for name in re.findall(r"\{([\w -]+)\}", template) if name not in SLOTS]:
        slots = ", ".join(f"{{{name}}}" for name in SLOTS)
        raise ValueError(f"{template!r} has the unknown slot {{{unknown[0]}}}; use only the slots {slots}")
    return template


class PassagesPart(Options):
    """Contexts of several passages each, made from the contexts of the file."""

    sets: tuple[str, ...] = (EVERY,)
    """The sets. A set names kinds with + between them, each with a number (1 by default) or `all`: `supporting`,
    `supporting+conflicting`, `supporting+3 irrelevant`, `all conflicting`. The set `all` has all passages.
    Passages of a kind are taken in the file's order. A question with too few passages has no context for the set."""
    orders: tuple[Order, ...] = ("given",)
    """The orders of each set. given: the order of the file. reversed: the reverse. right_first, right_last, wrong_first
    and wrong_last: the supporting or the conflicting passages first or last. rotations: all rotations of the given
    order. random: an order drawn by `seed`. Equal orders count once. right_* and wrong_* need passages of their kind
    and of another kind. A set for which none of the orders is possible has the given order."""
    form: Form = "plain"
    """Form of a passage. plain: its text. numbered: the text after [1]. titled: the text below the title. cited: the
    text below number, title, source and date. Missing parts are left out."""
    template: Annotated[str | None, AfterValidator(lambda text: text and _check_template(text))] = None
    """A form of your own, with the slots {number}, {text}, {title}, {source}, {date} and {score}."""
    separator: str = SEPARATOR
    """The text between two passages."""
    most: int = Field(default=50, ge=1, le=1000)
    """Upper bound on the passages of a set; further passages in the file's order are left out."""
    seed: int = 1
    """The seed of the order `random`."""

    @field_validator("sets")
    @classmethod
    def _check_sets(cls, sets: tuple[str, ...]) -> tuple[str, ...]:
        """Return each set once, in its first spelling: "a+b" and "b + a" are the same set."""
        if not sets:
            raise ValueError(
                f"no set is named; name a set, or leave `sets` out for the set `{EVERY}`, which has all passages"
            )
        by_parts = {frozenset(parts_of(name)): " ".join(name.split()) for name in reversed(sets)}
        return tuple(reversed(by_parts.values()))

    @field_validator("orders")
    @classmethod
    def _check_orders(cls, orders: tuple[Order, ...]) -> tuple[Order, ...]:
        if not orders:
            raise ValueError("no order is named; name an order, or leave `orders` out for the order of the file")
        return tuple(dict.fromkeys(orders))


class QuestionsInSets(NamedTuple):
    """Questions with and without a set that they can fill.

    Attributes:
        questions: The questions with enough passages for at least one set.
        lacking: The number of questions with too few passages for a set, by set.
        without_set: The questions that can fill no set.
    """

    questions: list[Question]
    lacking: Mapping[str, int]
    without_set: list[Question]


def with_set_contexts(questions: Iterable[Question], options: PassagesPart) -> list[Question]:
    """Replace the passages of each question by a context for each set and order."""
    new_questions = list[Question]()
    for question in questions:
        passages = [passage for context in question.contexts for passage in context.passages]
        contexts: dict[tuple[str, tuple[int, ...]], QuestionContext] = {}
        for name in options.sets:
            chosen = _indices_of_set(passages, parts_of(name))[: options.most]
            for order, indices in _orders(passages, chosen, options, question.question_id):
                if (name, indices) not in contexts:  # equal orders count once
                    context_id = name if len(chosen) == 1 else f"{name}, {order.replace('_', ' ')}"
                    set_passages = [passages[index] for index in indices]
                    contexts[name, indices] = _context(context_id, set_passages, name, order, options)
        new_questions.append(replace(question, contexts=tuple(contexts.values())))
    return new_questions


def split_by_sets(questions: Iterable[Question], options: PassagesPart) -> QuestionsInSets:
    """Separate the questions with enough passages for a set, and drop contexts that no set uses."""
    usable, without_set, lacking = list[Question](), list[Question](), Counter[str]()
    for question in questions:
        passages = [passage for context in question.contexts for passage in context.passages]
        context_of_passage = [context for context in question.contexts for _ in context.passages]
        used = set[int]()
        for name in options.sets:
            chosen = _indices_of_set(passages, parts_of(name))
            lacking[name] += not chosen
            used.update(chosen[: options.most])
        if used:
            contexts = dict.fromkeys(context_of_passage[index] for index in sorted(used))
            usable.append(replace(question, contexts=tuple(contexts)))
        else:
            without_set.append(question)
    return QuestionsInSets(usable, {name: count for name, count in lacking.items() if count}, without_set)


def conditions_in(questions: Iterable[Question], options: PassagesPart) -> set[Condition]:
    """Return the conditions, such as "mixed", of the contexts that `with_set_contexts` would make."""
    conditions = set[Condition]()
    for question in questions:
        passages = [passage for context in question.contexts for passage in context.passages]
        for name in options.sets:
            chosen = _indices_of_set(passages, parts_of(name))
            if chosen := chosen[: options.most]:
                conditions.add(_condition({passages[index].kind for index in chosen}))
    return conditions


def _indices_of_set(passages: Sequence[Passage], parts: Sequence[SetPart]) -> list[int]:
    """Return the indices of a set's passages in the file's order; empty if a kind has too few passages."""
    if not parts:
        return [*range(len(passages))]
    chosen: list[int] = []
    for kind, count in parts:
        indices = [index for index, passage in enumerate(passages) if passage.kind == kind]
        if len(indices) < (count or 1):
            return []
        chosen += indices[:count]
    return sorted(chosen)


def _orders(
    passages: Sequence[Passage], chosen: Sequence[int], options: PassagesPart, question_id: str
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name of each possible order with the ordered indices; `given` if no order is possible.

    An order of FIRST_OR_LAST needs passages of its kind and of another kind.
    """
    if not chosen:
        return
    kinds = {passages[index].kind for index in chosen}
    orders: list[Order] = ["given"]
    if len(chosen) > 1:
        possible = [
            order for order in options.orders if order not in FIRST_OR_LAST or {FIRST_OR_LAST[order][0]} < kinds
        ]
        orders = possible or orders
    for order in orders:
        if order in FIRST_OR_LAST:
            kind, is_first = FIRST_OR_LAST[order]
            same_kind = [index for index in chosen if passages[index].kind == kind]
            others = [index for index in chosen if passages[index].kind != kind]
            yield order, tuple(same_kind + others if is_first else others + same_kind)
        elif order == "rotations":
            for start in range(len(chosen)):
                yield f"rotation {start + 1}", (*chosen[start:], *chosen[:start])
        else:
            indices = [*chosen]
            if order == "reversed":
                indices.reverse()
            elif order == "random":
                random.Random(f"{options.seed} {question_id}").shuffle(indices)
            yield order, tuple(indices)


def _context(
    context_id: str, passages: Sequence[Passage], set_name: str, order: str, options: PassagesPart
) -> QuestionContext:
    """Return a context with the answers of its conflicting passages.

    Without conflicting passages, its answers are the answers of the supporting passages; without both, of all passages.
    """
    condition = _condition({passage.kind for passage in passages})
    stating = passages
    if condition in ("supporting", "conflicting", "mixed"):
        stating_kind = "supporting" if condition == "supporting" else "conflicting"
        stating = [passage for passage in passages if passage.kind == stating_kind]
    stated = [answer for passage in stating for answer in passage.answers]
    return QuestionContext(
        context_id,
        condition,
        tuple(passages),
        tuple(dict.fromkeys(stated)),
        set_name,
        order,
        options.template or FORMS[options.form],
        options.separator,
    )


def _condition(kinds: set[OwnKind | None]) -> Condition:
    if {"supporting", "conflicting"} <= kinds:
        return "mixed"
    by_priority: tuple[OwnKind, ...] = ("supporting", "conflicting", "unknown", "irrelevant", "neutral")
    return next((kind for kind in by_priority if kind in kinds), "unknown")
