"""Rows of a file in a described layout, read as rows of a user's questions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from swaymeter.data.errors import InputError
from swaymeter.data.records import OWN_KINDS
from swaymeter.data.sources.layouts.description import ContextRule, Form, Layout, nested_layouts
from swaymeter.data.sources.layouts.paths import Cells, column_of, exists_at, text, texts, unnested, value_at
from swaymeter.data.sources.layouts.steps import STEPS
from swaymeter.data.sources.own.files import FileRow, FileRows
from swaymeter.data.sources.own.lists import none_where_empty

ROWS_BY_WHICH_RECOGNISED = 100
_SHOWN = ("question", "query", "claim", "template")
"""Columns that a rejected row shows: the first that exists."""
_ABOUT = ("title", "source", "date", "score")
ROWS_OF_LAYOUTS = frozenset(
    column_of(form.rows).lower() for layout in nested_layouts() for form in layout.forms if form.rows
)
"""Columns with the rows of a nested layout, in lower case."""


class Recognised(NamedTuple):
    """The layout of a file, and the form of its rows."""

    layout: Layout
    form: Form


def missing_of(form: Form, content: FileRows) -> list[str]:
    """Return the paths that a form needs and a file lacks."""
    columns = {name.strip().lower() for name in content.columns}
    missing = [path for path in form.needs if column_of(path).lower() not in columns]
    nested = [path for path in form.needs if path not in missing and path != column_of(path)]
    if nested:
        rows = [_renamed(row.cells, form) for row in islice(content.rows, ROWS_BY_WHICH_RECOGNISED)]
        missing += [path for path in nested if not any(exists_at(cells, path) for cells in rows)]
    return missing


def recognised(content: FileRows) -> Recognised | None:
    """Return the nested layout of a file; None without a description."""
    forms = (Recognised(layout, form) for layout in nested_layouts() for form in layout.forms)
    return next((candidate for candidate in forms if not missing_of(candidate.form, content)), None)


def own_rows(form: Form, rows: Sequence[FileRow]) -> list[FileRow]:
    """Return the rows of a file in a form as rows of a user's questions, each with its location or its problem."""
    renamed = [row._replace(cells=_renamed(row.cells, form)) for row in rows]
    step = STEPS[form.step]([row.cells for row in renamed if not row.problem]) if form.step else None
    return [own for row in renamed for own in _own_rows(row, form, step)]


def _own_rows(row: FileRow, form: Form, step: Callable[[Cells], Cells] | None) -> Iterator[FileRow]:
    location, cells, problem = row
    if not problem:
        try:
            for inner, inner_cells in unnested(cells, form.rows) if form.rows else [("", cells)]:
                location, cells = f"{row.location}, {inner}" if inner else row.location, inner_cells
                try:
                    yield FileRow(location, _own_row(step(cells) if step else cells, form))
                except InputError as error:
                    yield _rejected(location, cells, str(error))
            return
        except InputError as error:
            problem = str(error)
    yield _rejected(location, cells, problem)


def _rejected(location: str, cells: Cells, problem: str) -> FileRow:
    return FileRow(location, {"question": next((cells[name] for name in _SHOWN if cells.get(name)), "")}, problem)


def _renamed(cells: Cells, form: Form) -> Cells:
    """Return the cells with the columns of a form under the form's own names, whatever their case."""
    names = {column_of(path).lower(): column_of(path) for path in form.needs}
    return {names.get(name.strip().lower(), name.strip()): cell for name, cell in cells.items()}


def _own_row(cells: Cells, form: Form) -> dict[str, Any]:
    answers = texts(cells, form.answers)
    if form.aliases and none_where_empty(value_at(cells, form.aliases)) is not None:
        answers = list(dict.fromkeys((*answers, *texts(cells, form.aliases, needed=False))))
    if isinstance(form.contexts, str):
        contexts: Any = value_at(cells, form.contexts)
    else:
        contexts = [context for rule in form.contexts for context in _contexts(cells, rule)]
    row = {"question": text(cells, form.question), "answer": answers[0], "aliases": answers[1:], "contexts": contexts}
    if form.id:
        row["id"] = text(cells, form.id)
    if form.group:
        row["group"] = text(cells, form.group) if form.group.startswith("=") else value_at(cells, form.group)
    return {**_further(cells, form), **row}


def _further(cells: Cells, form: Form) -> dict[str, Any]:
    """Return the further columns of a row that a form keeps."""
    names: Iterable[str] = form.keep
    if form.keep == "all":
        used = {column_of(path) for path in (form.question, form.answers, form.id, form.aliases, *form.needs) if path}
        names = [name for name, cell in cells.items() if name not in used and not isinstance(cell, dict | list)]
    return {name: cells[name] for name in names if none_where_empty(cells.get(name)) is not None}


def _contexts(cells: Cells, rule: ContextRule) -> Iterator[dict[str, Any]]:
    for paths, equal in ((rule.if_equal, True), (rule.unless_equal, False)):
        if paths and (text(cells, paths[0]) == text(cells, paths[1])) is not equal:
            return
    if rule.each is None:
        yield _context(cells, rule)
        return
    for location, item in unnested(cells, rule.each):
        try:
            yield _context(item, rule)
        except InputError as error:
            raise InputError(f"{location}, {error}") from None


def _context(cells: Cells, rule: ContextRule) -> dict[str, Any]:
    kind = _kind(cells, rule)
    context = {"text": text(cells, rule.text), "kind": kind}
    stated = rule.answers.get(kind) if isinstance(rule.answers, dict) else rule.answers
    if stated and (answers := texts(cells, stated, needed=kind == "conflicting")):
        context |= {"answer": answers[0], "aliases": answers[1:]}
    if rule.id:
        context["id"] = _optional(cells, rule.id)
    context |= {name: value_at(cells, path) for name in _ABOUT if (path := getattr(rule, name))}
    return {name: value for name, value in context.items() if none_where_empty(value) is not None}


def _kind(cells: Cells, rule: ContextRule) -> Any:
    if rule.kind is None or isinstance(rule.kind, str):
        return rule.kind if rule.kind is None or rule.kind in OWN_KINDS else value_at(cells, rule.kind)
    ((column, kinds),) = rule.kind.items()
    if (value := text(cells, column)) not in kinds:
        raise InputError(f"{column}: {value!r} is none of {', '.join(kinds)}")
    return kinds[value]


def _optional(cells: Cells, value: str) -> str | None:
    try:
        return text(cells, value)
    except InputError:
        return None
