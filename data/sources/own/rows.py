"""Questions of rows: one row a question with all its contexts, or one row a context, those of a question together."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from data import reasons
from data.errors import InputError
from data.options import Problem, problems, refused
from data.records import ALONE, NO_RELATIONS, OwnKind, Question, Rejected, RelationName, identity
from data.records.statistics import ALL
from data.sources.own.files import FileRow, each_key_once

LONGEST = 1_000_000
SHOWN = 20
FORM = re.compile(r"[^\t\n\r -\x7e\x85\xa0-\ud7ff\ue000-\U0010ffff]")
RESERVED = NO_RELATIONS | {ALL, "disputable"}
"""Names that mean something else where a relation is named."""


def _checked(text: str) -> str:
    if control := FORM.search(text):
        raise ValueError(f"holds the control character U+{ord(control[0]):04X}; remove it")
    return text


def _listed(value: Any) -> Any:
    """A list as a cell has it: JSON, or texts with | between them."""
    if value is None:
        return ()
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError('is not a list; write texts with | between them, or a JSON list: ["a", "b"]') from None
    return [part.strip() for part in value.split("|") if part.strip()]


def _as_text(value: Any) -> Any:
    """Numbers and truth values as they are read aloud; other values as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isinf(value):
        raise ValueError("is infinite; write a number, or a text")
    return str(value) if isinstance(value, int | float) else value


def none_where_empty(value: Any) -> Any:
    """None in place of a text that is empty or blank, and of NaN; other values as they are."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if is_nan or (isinstance(value, str) and not value.strip()) else value


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST, strip_whitespace=True),
    BeforeValidator(lambda value: _checked(value) if isinstance(value, str) else value), BeforeValidator(_as_text),
]  # fmt: skip
Name = Annotated[Text, StringConstraints(max_length=200)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


Row = TypeVar("Row", bound=BaseModel)


class OwnContext(BaseModel):
    """A context as a row has it."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    kind: Annotated[OwnKind, BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)]
    answer: Annotated[Text | None, BeforeValidator(none_where_empty)] = None
    aliases: Texts = ()
    id: Annotated[Name | None, BeforeValidator(none_where_empty)] = None

    @model_validator(mode="before")
    @classmethod
    def _with_kind(cls, content: Any) -> Any:
        if isinstance(content, dict):
            cells = {"kind": "unknown", **content}
            return {name: value for name, value in cells.items() if none_where_empty(value) is not None}
        return content

    @model_validator(mode="after")
    def _states(self) -> "OwnContext":
        if self.kind == "conflicting" and self.answer is None:
            raise refused([Problem(("answer",), "is missing; a conflicting context has to name the answer it states")])
        if self.id == ALONE.context_id:
            raise refused([Problem(("id",), "none is what a question without a context is called; choose another")])
        if self.kind == "irrelevant" and self.answer is not None:
            raise refused([Problem(("answer",), "an irrelevant context states none; leave it out, or use unknown")])
        return self


def _contexts(value: Any) -> Any:
    try:
        listed = json.loads(value, object_pairs_hook=each_key_once) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError('is not a list of contexts, such as [{"kind": "supporting", "text": "..."}]')
    return listed


def _single(group: str) -> str:
    if group.casefold() == ALL:
        raise ValueError(f"{ALL} is what all groups together are called; choose another name")
    return group


class OwnRow(BaseModel):
    """A row: a question with its contexts in `contexts`, or with one of them in `context`, `kind` and the like."""

    model_config = ConfigDict(extra="allow")

    question: Text
    answer: Text
    aliases: Texts = ()
    id: Annotated[Name | None, BeforeValidator(none_where_empty)] = None
    group: Annotated[
        Name, AfterValidator(_single), BeforeValidator(lambda value: none_where_empty(value) or "questions")
    ] = "questions"
    contexts: Annotated[tuple[OwnContext, ...], BeforeValidator(_contexts), Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _one_context(cls, content: Any) -> Any:
        """The row with `contexts`, where it has its one context in columns of their own."""
        if not isinstance(content, dict):
            return content
        rest = {name: value for name, value in content.items() if name not in FLAT}
        if none_where_empty(rest.get("contexts")) is not None:
            return rest
        rest.pop("contexts", None)
        flat = {key: content[name] for name, key in FLAT.items() if none_where_empty(content.get(name)) is not None}
        if "text" not in flat:
            raise refused([Problem(("context",), "is missing; a question needs a context at least")])
        return {**rest, "contexts": [flat]}

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> "OwnRow":
        """Refuses what no rule can decide: an answer without letters, and a conflicting one that is the right one.

        An alias without letters is only not looked for.
        """
        for answer in (self.answer, *(one.answer for one in self.contexts if one.answer)):
            if not any(map(str.isalnum, answer)):
                raise refused([Problem(("answer",), f"{answer!r} has no letter and no digit to look for")])
        right = {form.casefold() for form in (self.answer, *self.aliases)}
        for one in self.contexts:
            if one.kind == "conflicting" and right & {form.casefold() for form in (one.answer or "", *one.aliases)}:
                raise refused([Problem(("kind",), "conflicting, but the context states the right answer; correct one")])
        return self


FLAT: Mapping[str, str] = {
    "context": "text", "kind": "kind", "context_answer": "answer", "context_aliases": "aliases", "context_id": "id",
}  # fmt: skip
"""The columns of a row's one context, and their keys in a list of contexts."""
COLUMNS = ("id", "group", "question", "answer", "aliases", "contexts", *FLAT)


class Origin(NamedTuple):
    """Where questions come from, as they say themselves."""

    source: str
    licence: str


@dataclass
class _Asked:
    """A question while its rows are read, and where the first of them stands."""

    place: str
    row: OwnRow
    contexts: list[OwnContext] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)


class ReadQuestions(NamedTuple):
    """The questions of a file in its order, and the rows that cannot be used."""

    questions: list[Question]
    rejected: list[Rejected]


def questions_of(rows: Iterable[FileRow], origin: Origin, columns: Mapping[str, str]) -> ReadQuestions:
    """The questions of a file's rows; columns: the file's own names of columns, by ours."""
    asked: dict[tuple[str, ...], _Asked] = {}
    rejected: list[Rejected] = []
    theirs = {own: name for name, own in columns.items()}
    for place, cells, problem in rows:
        named = {_ours(str(name), theirs): value for name, value in cells.items()}
        try:
            if problem:
                raise InputError(problem)
            if len(named) < len(cells):
                ours = Counter(_ours(str(name), theirs) for name in cells)
                raise InputError(f"{ours.most_common(1)[0][0]}: stands there twice, in other letters; rename one")
            row = row_of(OwnRow, named)
            _join(asked, place, row)
        except InputError as error:
            rejected.append(_rejected(place, named, error, origin))
    groups = _names(one.row.group for one in asked.values())
    return ReadQuestions([_question(one, groups, origin) for one in asked.values()], rejected)


def _ours(name: str, theirs: Mapping[str, str]) -> str:
    """Our name of a column. One of the file's that is called as ours, though another takes its place, is kept."""
    if name in theirs:
        return theirs[name]
    ours = name.strip().lower()
    if ours not in COLUMNS:
        return name
    return f"{name} of the file" if ours in theirs.values() else ours


def row_of(model: type[Row], named: Mapping[str, Any]) -> Row:
    """The cells of a row as its model; InputError names every column that is wrong."""
    present = {name: value for name, value in named.items() if none_where_empty(value) is not None}
    try:
        return model.model_validate(present)
    except ValidationError as error:
        found = problems(error, model.model_fields)
        raise InputError("; ".join(f"{_place(one.place)}{one.message}" for one in found)) from None


def _place(place: Sequence[int | str]) -> str:
    """The column that a problem is in; of a list, which of its items."""
    words: list[str] = []
    for part in place:
        if isinstance(part, int) and words:
            words[-1] = f"{words[-1].removesuffix('s')} {part + 1}"
        else:
            words.append(str(part))
    return f"{', '.join(words)}: " if words else ""


def _join(asked: dict[tuple[str, ...], _Asked], place: str, row: OwnRow) -> None:
    """Adds a row to the questions: a new one, or a further context of one that is there."""
    key = (row.id,) if row.id else (row.question, row.answer)
    known = asked.get(key) or _Asked(place, row)
    if (known.row.question, known.row.answer) != (row.question, row.answer):
        raise InputError(f"id: {row.id} is the question of {known.place}; give each question its own id")
    if known.row.group != row.group:
        raise InputError(f"group: {row.group!r}, and {known.row.group!r} in {known.place}; a question has one group")
    there = {(one.kind, one.text) for one in known.contexts}
    ids = {one.id for one in known.contexts if one.id}
    for context in row.contexts:
        if (context.kind, context.text) in there:
            raise InputError(f"context: stands there already with this question, in {known.place}; leave one out")
        if context.id in ids:
            raise InputError(f"context_id: {context.id} is there already with this question; give each its own")
        there.add((context.kind, context.text))
        ids.add(context.id or "")
    others = _others(row)
    known.contexts += row.contexts
    known.aliases += row.aliases
    for name, value in others.items():
        before = known.others.setdefault(name, value)
        if value not in str(before).split(" | ") and value != before:
            known.others[name] = f"{before} | {value}"
    asked[key] = known


def _question(asked: _Asked, groups: Mapping[str, RelationName], origin: Origin) -> Question:
    row, contexts = asked.row, asked.contexts
    supported = [form for one in contexts if one.kind == "supporting" for form in (one.answer, *one.aliases) if form]
    forms = tuple(dict.fromkeys((row.answer, *asked.aliases, *supported)))
    stated = [_stated(context, forms) for context in contexts]
    return Question(
        question_id=row.id or identity("own", row.question, row.answer), relation=groups[row.group],
        partition=row.group, subject="", subject_id=None, property_id=None, object=row.answer, object_id=None,
        answers=forms, replacement="", question=row.question, original_context="", counter_memory_context="",
        edits=None, subject_popularity=None, object_popularity=None, id_source=None, source=origin.source,
        licence=origin.licence, flags=(), list_id=row.id,
        context_ids=_ids(contexts), context_kinds=tuple(context.kind for context in contexts),
        context_texts=tuple(context.text for context in contexts), context_answers=tuple(stated),
        other_columns=json.dumps(asked.others, ensure_ascii=False, sort_keys=True) if asked.others else None,
    )  # fmt: skip


def _stated(context: OwnContext, forms: tuple[str, ...]) -> tuple[str, ...]:
    """The answers that a context states, in all their forms."""
    own = () if context.answer is None else (context.answer, *context.aliases)
    return tuple(dict.fromkeys((*own, *forms))) if context.kind == "supporting" else own


def _ids(contexts: Sequence[OwnContext]) -> tuple[str, ...]:
    """The id of each context: its own, or its kind, with a number from the second of the kind on."""
    taken = {context.id for context in contexts if context.id} | {ALONE.context_id}
    counts: Counter[str] = Counter()
    ids = []
    for context in contexts:
        name = context.id
        while name is None or (not context.id and name in taken):
            counts[context.kind] += 1
            number = counts[context.kind]
            name = context.kind if number == 1 else f"{context.kind} {number}"
        taken.add(name)
        ids.append(name)
    return tuple(ids)


def _others(row: OwnRow) -> dict[str, Any]:
    """The further columns of a row; InputError where one holds a control character."""
    others = {name: _plain(value) for name, value in (row.model_extra or {}).items()}
    try:
        _checked(json.dumps(others, ensure_ascii=False))
    except ValueError as error:
        raise InputError(f"another column {error}") from None
    return {name: value for name, value in others.items() if none_where_empty(value) is not None}


def _plain(value: Any) -> Any:
    """The value as JSON has it; as a text where it has no such value."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return value


def _names(groups: Iterable[str]) -> dict[str, RelationName]:
    """A relation for each group: its words together, with a digest where these are not a name, or are taken."""
    names: dict[str, RelationName] = {}
    for group in dict.fromkeys(groups):
        words = re.findall(r"[A-Za-z0-9]+", group)
        joined = "".join([*words[:1], *(word[:1].upper() + word[1:] for word in words[1:])])
        is_whole = joined[:1].isalpha() and len(joined) <= 48 and " ".join(words) == group
        if not is_whole or joined in names.values() or joined.lower() in RESERVED:
            kept = re.sub(r"^[0-9]+", "", joined)[:40]
            joined = f"{kept or 'group'}{identity('group', group)[:6]}"
        names[group] = RelationName(joined)
    return names


def _rejected(place: str, cells: Mapping[str, Any], error: InputError, origin: Origin) -> Rejected:
    question = cells.get("question")
    return Rejected(
        partition="own", relation=RelationName("own"), part=place,
        subject=_writable(str(question)[:200]) if isinstance(question, str | int | float) else "",
        reason=reasons.ROW_NOT_USABLE, source=origin.source, licence=origin.licence,
        detail=_writable(f"{place}: {error}"),
    )  # fmt: skip


def _writable(text: str) -> str:
    """The text with lone surrogates, which no file holds, as codes."""
    return text.encode(errors="backslashreplace").decode()


def lines(rejected: Iterable[Rejected]) -> Iterator[str]:
    """What is wrong with each rejected row, with its place."""
    return (row.detail or row.part for row in rejected)


def rows_not_usable(file: Path, wrong: Sequence[str], total: int) -> str:
    """The message of what is wrong with rows of a file; of many, the first ones."""
    more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return f"{file}: {len(wrong)} of {total} rows cannot be used: {'; '.join(wrong[:SHOWN])}{more}"
