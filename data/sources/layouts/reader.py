"""Rows of a file in a described layout, changed to rows with Swaymeter's columns, such as question and answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from swaymeter.data.errors import InputError
from swaymeter.data.records import OWN_KINDS
from swaymeter.data.sources.layouts.description import ContextRule, Form, Layout, nested_layouts
from swaymeter.data.sources.layouts.paths import Cells, column_of, exists_at, text, texts, unnest, value_at
from swaymeter.data.sources.layouts.steps import STEPS
from swaymeter.data.sources.own.files import FileRow, FileRows
from swaymeter.data.sources.own.lists import none_where_empty

MAX_EXAMINED_ROWS = 100
"""Number of rows in which the paths of a layout's form are searched."""
_QUESTION_COLUMNS = ("question", "query", "claim", "template")
"""Columns by which people recognise a rejected row; the first column with a text is shown."""
_OPTIONAL_KEYS = ("title", "source", "date", "score")
"""Keys of a context that may be missing. `ContextRule` has a field of the same name: the path of the key's value."""
ROWS_OF_LAYOUTS = frozenset(
    column_of(form.rows).lower() for layout in nested_layouts() for form in layout.forms if form.rows
)
"""Columns in lower case that contain the rows of a nested layout, such as SQuAD's `paragraphs`."""


class FileLayout(NamedTuple):
    """The layout of a file, and the form of its rows."""

    layout: Layout
    form: Form


def missing_of(form: Form, content: FileRows) -> list[str]:
    """Return the paths that a form needs and a file lacks."""
    columns = {name.strip().lower() for name in content.columns}
    missing = [path for path in form.needs if column_of(path).lower() not in columns]
    nested = [path for path in form.needs if path not in missing and path != column_of(path)]  # such as answers[*].text
    if nested:
        rows = [_with_column_names(row.cells, form) for row in islice(content.rows, MAX_EXAMINED_ROWS)]
        missing += [path for path in nested if not any(exists_at(cells, path) for cells in rows)]
    return missing


def recognise_layout(content: FileRows) -> FileLayout | None:
    """Return the nested layout of a file, such as HotpotQA's; None if no description fits the file."""
    forms = (FileLayout(layout, form) for layout in nested_layouts() for form in layout.forms)
    return next((candidate for candidate in forms if not missing_of(candidate.form, content)), None)


def convert_rows(form: Form, rows: Sequence[FileRow]) -> list[FileRow]:
    """Return the rows of a file of this form with Swaymeter's columns; an unusable row has a problem."""
    renamed = [row._replace(cells=_with_column_names(row.cells, form)) for row in rows]
    # A step sees all rows first, and returns the function that adds columns to one row.
    add_columns = STEPS[form.step]([row.cells for row in renamed if not row.problem]) if form.step else None
    return [converted for row in renamed for converted in _convert_row(row, form, add_columns)]


def _convert_row(row: FileRow, form: Form, add_columns: Callable[[Cells], Cells] | None) -> Iterator[FileRow]:
    """Yield one row with Swaymeter's columns for a row of the file, or several rows if `form.rows` is set."""
    location, cells, problem = row
    if problem:
        yield _rejected(location, cells, problem)
        return
    try:
        for inner_location, inner_cells in unnest(cells, form.rows) if form.rows else [("", cells)]:
            location, cells = f"{row.location}, {inner_location}" if inner_location else row.location, inner_cells
            try:
                yield FileRow(location, _convert_cells(add_columns(cells) if add_columns else cells, form))
            except InputError as error:
                yield _rejected(location, cells, str(error))
    except InputError as error:
        yield _rejected(location, cells, str(error))


def _rejected(location: str, cells: Cells, problem: str) -> FileRow:
    question = next((cells[name] for name in _QUESTION_COLUMNS if cells.get(name)), "")
    return FileRow(location, {"question": question}, problem)


def _with_column_names(cells: Cells, form: Form) -> Cells:
    """Return the cells with the form's spelling of columns: Question becomes question."""
    names = {column_of(path).lower(): column_of(path) for path in form.needs}
    return {names.get(name.strip().lower(), name.strip()): cell for name, cell in cells.items()}


def _convert_cells(cells: Cells, form: Form) -> dict[str, Any]:
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
        # A template begins with "=", a path does not.
        row["group"] = text(cells, form.group) if form.group.startswith("=") else value_at(cells, form.group)
    return {**_further_columns(cells, form), **row}


def _further_columns(cells: Cells, form: Form) -> dict[str, Any]:
    names: Iterable[str] = form.keep
    if form.keep == "all":
        used = {column_of(path) for path in (form.question, form.answers, form.id, form.aliases, *form.needs) if path}
        names = [name for name, cell in cells.items() if name not in used and not isinstance(cell, dict | list)]
    return {name: cells[name] for name in names if none_where_empty(cells.get(name)) is not None}


def _contexts(cells: Cells, rule: ContextRule) -> Iterator[dict[str, Any]]:
    for paths, must_be_equal in ((rule.if_equal, True), (rule.unless_equal, False)):
        if paths:
            is_equal = text(cells, paths[0]) == text(cells, paths[1])
            if is_equal != must_be_equal:
                return
    if rule.each is None:
        yield _context(cells, rule)
        return
    for location, item in unnest(cells, rule.each):
        try:
            yield _context(item, rule)
        except InputError as error:
            raise InputError(f"{location}, {error}") from None


def _context(cells: Cells, rule: ContextRule) -> dict[str, Any]:
    kind = _kind(cells, rule)
    context = {"text": text(cells, rule.text), "kind": kind}
    path_of_answers = rule.answers.get(kind) if isinstance(rule.answers, dict) else rule.answers
    if path_of_answers and (answers := texts(cells, path_of_answers, needed=kind == "conflicting")):
        context |= {"answer": answers[0], "aliases": answers[1:]}
    if rule.id:
        context["id"] = _optional(cells, rule.id)
    context |= {name: value_at(cells, path) for name in _OPTIONAL_KEYS if (path := getattr(rule, name))}
    return {name: value for name, value in context.items() if none_where_empty(value) is not None}


def _kind(cells: Cells, rule: ContextRule) -> Any:
    if rule.kind is None or rule.kind in OWN_KINDS:
        return rule.kind
    if isinstance(rule.kind, str):
        return value_at(cells, rule.kind)
    ((column, kinds),) = rule.kind.items()
    if (value := text(cells, column)) not in kinds:
        raise InputError(f"{column}: {value!r} is none of {', '.join(kinds)}")
    return kinds[value]


def _optional(cells: Cells, path: str) -> str | None:
    try:
        return text(cells, path)
    except InputError:
        return None
