"""A validated row of a user's file, such as a question with contexts; a cell has a text, list or object."""

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

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

from swaymeter.data.errors import InputError, printable
from swaymeter.data.options import Problem, problems, validation_error
from swaymeter.data.records import ALONE, OWN_KINDS, OwnKind
from swaymeter.data.records.statistics import ALL
from swaymeter.data.sources.layouts.documents import as_passage
from swaymeter.data.sources.own.columns import CONTEXT_COLUMNS
from swaymeter.data.sources.own.lists import contexts_in_cell, list_in, none_where_empty, texts_in_cell

MAX_CHARACTERS = 1_000_000
"""Limit of the characters of a text."""
CONTROL_CHARACTER = re.compile(r"[^\t\n\r -\x7e\x85\xa0-\ud7ff\ue000-\U0010ffff]")
"""A control character other than a tab or line break, or a lone surrogate."""
_KIND_ADVICE = 'write each passage with its own kind, in `contexts`: [{"kind": "supporting", "text": "..."}]'


def _as_text(value: Any) -> Any:
    """Return numbers, truth values and dates as texts in their usual form; a date at midnight loses its time."""
    if isinstance(value, str):
        if control := CONTROL_CHARACTER.search(value):
            raise ValueError(f"has the control character U+{ord(control[0]):04X}; remove it")
        return value
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isinf(value):
        raise ValueError("is infinite; write a finite number, or a text")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes whole numbers as floats in a column with missing values
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS, strip_whitespace=True), BeforeValidator(_as_text)
]
"""A text without outer white space; a number, truth value or date becomes a text."""
Name = Annotated[Text, StringConstraints(max_length=200)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(lambda value: () if value is None else texts_in_cell(value))]
"""The texts of a list in a cell."""
Row = TypeVar("Row", bound=BaseModel)


ABOUT_PASSAGES = ("title", "source", "date", "score")
"""Optional columns of a passage."""
_SHORT_NAMES = {**{short: short for short in CONTEXT_COLUMNS.values()}, **CONTEXT_COLUMNS}
"""The short name of each key of a context: of context_title and of title, it is title."""


def _check_kind(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    kind = value.strip().lower()
    if kind not in OWN_KINDS:
        raise ValueError(
            "expected supporting (for a passage with the right answer), conflicting (for a passage with a wrong "
            f"answer), irrelevant, neutral or unknown, not {printable(value, 60)!r}"
        )
    return kind


def _is_valid_value(name: str, value: Any) -> bool:
    if name != "score":
        return isinstance(value, str | int | float | datetime.date)
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


class OwnContext(BaseModel):
    """A context of a row; `kind` is None if the row has no kind. Unknown keys are further columns."""

    model_config = ConfigDict(extra="allow")

    text: Text
    kind: Annotated[OwnKind | None, BeforeValidator(_check_kind)] = None
    answer: Text | None = None
    aliases: Texts = ()
    id: Name | None = None
    title: Text | None = None
    source: Text | None = None
    date: Text | None = None
    score: Annotated[float | None, Field(allow_inf_nan=False)] = None

    @model_validator(mode="before")
    @classmethod
    def _use_short_names(cls, content: Any) -> Any:
        if isinstance(content, str):
            return {"text": content}
        if not isinstance(content, Mapping):
            raise ValueError('is neither a text nor an object such as {"kind": "supporting", "text": "..."}')
        cells: dict[str, Any] = {}
        for key, value in as_passage(content).items():
            name = _SHORT_NAMES.get(key.strip().lower(), key)
            if none_where_empty(value) is None:
                continue
            if name in cells and cells[name] != value:
                raise validation_error([Problem((name,), f"occurs twice, once as {key!r}; remove one")])
            cells[name] = value
        # An invalid value, such as a list under `title`, moves to the column `title of the context`.
        for name in ABOUT_PASSAGES:
            if name in cells and not _is_valid_value(name, cells[name]):
                cells[f"{name} of the context"] = cells.pop(name)
        return _split_answers(cells)

    @model_validator(mode="after")
    def _check_answer(self) -> "OwnContext":
        if self.kind == "conflicting" and self.answer is None:
            raise validation_error(
                [Problem(("answer",), "is missing; a conflicting context has to name the answer it states")]
            )
        if self.id == ALONE.context_id:
            raise validation_error(
                [Problem(("id",), "'none' is reserved for a question without a context; choose another id")]
            )
        if self.kind in ("irrelevant", "neutral") and self.answer is not None:
            problem = f"{self.kind} contexts state no answer; leave the answer out, or set the kind to unknown"
            raise validation_error([Problem(("answer",), problem)])
        return self


def _split_answers(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cells; the first text of `answer` stays the answer, the further texts of `answer` become aliases."""
    texts: dict[str, list[Any]] = {}
    for name in ("answer", "aliases"):
        try:
            texts[name] = texts_in_cell(content.get(name))
        except ValueError as error:
            raise validation_error([Problem((name,), str(error))]) from None
    cells = {name: value for name, value in content.items() if name not in texts}
    if texts["answer"]:
        cells["answer"] = texts["answer"][0]
    return {**cells, "aliases": [*texts["answer"][1:], *texts["aliases"]]}


def _check_group(group: str) -> str:
    if group.casefold() == ALL:
        raise ValueError(f"{ALL!r} is reserved for all groups together; choose another name")
    return group


class OwnRow(BaseModel):
    """A row: a question with its contexts in `contexts`, or in `context` with a common `kind`, `context_answer` etc."""

    model_config = ConfigDict(extra="allow")

    question: Text
    answer: Text
    aliases: Texts = ()
    id: Annotated[Name | None, BeforeValidator(none_where_empty)] = None
    group: Annotated[
        Name,
        AfterValidator(_check_group),
        BeforeValidator(lambda value: none_where_empty(value) or "questions"),
    ] = "questions"
    contexts: tuple[OwnContext, ...]

    @model_validator(mode="before")
    @classmethod
    def _set_contexts(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        cells = _split_answers({name: value for name, value in content.items() if name not in CONTEXT_COLUMNS})
        column = "context" if none_where_empty(cells.get("contexts")) is None else "contexts"
        try:
            contexts = contexts_in_cell(content.get(column))
        except ValueError as error:
            raise validation_error([Problem((column,), str(error))]) from None
        if not (contexts := [context for context in contexts if none_where_empty(context) is not None]):
            raise validation_error([Problem(("context",), "is missing; write one, or leave the row out")])
        if column == "context":
            common_cells = {key: content[key] for key in CONTEXT_COLUMNS if key in content and key != "context"}
            if isinstance(common_cells.get("kind"), list | tuple) or list_in(str(common_cells.get("kind", ""))):
                raise validation_error([Problem(("kind",), f"is a list; {_KIND_ADVICE}")])
            contexts = [
                {**common_cells, **context} if isinstance(context, Mapping) else {**common_cells, "text": context}
                for context in contexts
            ]
        return {**cells, "contexts": contexts}

    @model_validator(mode="after")
    def _check_answers(self) -> "OwnRow":
        for answer in (self.answer, *(context.answer for context in self.contexts if context.answer)):
            if not any(map(str.isalnum, answer)):
                raise validation_error([Problem(("answer",), f"{answer!r} has no letter and no digit to look for")])
        right_forms = {form.casefold() for form in (self.answer, *self.aliases)}
        for context in self.contexts:
            stated_forms = {form.casefold() for form in (context.answer or "", *context.aliases)}
            if context.kind == "conflicting" and right_forms & stated_forms:
                raise validation_error(
                    [
                        Problem(
                            ("kind",),
                            "conflicting, but the context states the right answer; correct the kind or the answer",
                        )
                    ]
                )
        return self


class ClosedBookRow(OwnRow):
    """A closed-book row: a question with a recorded reply and no context."""

    contexts: tuple[OwnContext, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _set_contexts(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        return _split_answers(
            {name: value for name, value in content.items() if name not in {*CONTEXT_COLUMNS, "contexts"}}
        )


def row_of(model: type[Row], cells: Mapping[str, Any]) -> Row:
    """Return the cells of a row, by column, as a validated `model`; InputError names every wrong column."""
    present = {name: value for name, value in cells.items() if none_where_empty(value) is not None}
    try:
        return model.model_validate(present)
    except ValidationError as error:
        wrong = problems(error, model)
        raise InputError("; ".join(f"{_position(problem.path_of_key)}{problem.message}" for problem in wrong)) from None


def _position(path_of_key: Sequence[int | str]) -> str:
    """Return the column of a problem, such as "context 2, kind: " for the second context's kind."""
    words: list[str] = []
    for part in path_of_key:
        if isinstance(part, int) and words:
            words[-1] = f"{words[-1].removesuffix('s')} {part + 1}"
        else:
            words.append(str(part))
    return f"{', '.join(words)}: " if words else ""
