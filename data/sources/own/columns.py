"""The columns of users' questions, their names in other tools, and errors for missing columns."""

import shlex
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from swaymeter.data.errors import InputError, printable
from swaymeter.data.sources.layouts.documents import as_passage
from swaymeter.data.sources.layouts.paths import exists_at, items_of, parts_of_path
from swaymeter.data.sources.own.files import FileRow, FileRows, named
from swaymeter.data.sources.own.lists import list_in

FLAT: Mapping[str, str] = {
    "context": "text",
    "kind": "kind",
    "context_answer": "answer",
    "context_aliases": "aliases",
    "context_id": "id",
    "context_title": "title",
    "context_source": "source",
    "context_date": "date",
    "context_score": "score",
}
"""Columns of the one context of a row, each with the short key that the objects of a list of contexts may use, too."""
COLUMNS = ("id", "group", "question", "answer", "aliases", "contexts", *FLAT)
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "question": (
        "query",
        "user_input",
        "prompt",
        "input",
        "instruction",
        "user_query",
        "question_text",
        "questions",
        "queries",
        "user_question",
        "q",
    ),
    "answer": (
        "ground_truth",
        "ground_truths",
        "gold_answer",
        "gold_answers",
        "gold",
        "golden_answer",
        "golden_answers",
        "reference_answer",
        "expected_answer",
        "correct_answer",
        "expected_output",
        "reference",
        "reference_output",
        "best_answer",
        "short_answer",
        "answers",
        "answer_text",
        "expected",
        "target",
        "ideal",
        "solution",
    ),
    "context": (
        "contexts",
        "passage",
        "passages",
        "chunk",
        "chunks",
        "retrieved_contexts",
        "reference_contexts",
        "retrieval_context",
        "retrieved_chunks",
        "retrieved_documents",
        "source_documents",
        "source_nodes",
        "document",
        "documents",
        "docs",
        "ctxs",
        "paragraph",
        "paragraphs",
        "page_content",
        "content",
        "text",
        "snippet",
        "evidence",
        "source_text",
    ),
}
"""Names of required columns in other tools and data sets, the surest first."""
TRUTHS = frozenset(SYNONYMS["answer"][: SYNONYMS["answer"].index("expected_output")])
"""Names of a column of right answers; in a file with such a column, `answer` often has a model's reply."""
MAX_EXAMINED_ROWS = 100
"""Number of rows by which columns of lists or objects are recognised."""
QUESTIONS = frozenset({"question", *SYNONYMS["question"]})


def plain(name: str) -> str:
    """Return the name of a column in a form for comparisons, without case, spaces and the like."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def checked_map(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the file's names of columns by Swaymeter's; ValueError for an unknown or repeated name of Swaymeter."""
    columns: dict[str, str] = {}
    for name, column in pairs:
        if name not in COLUMNS:
            raise ValueError(f"{name} is not one of the columns that can be mapped: {', '.join(COLUMNS)}")
        if name in columns:
            raise ValueError(f"{name} is mapped to {columns[name]} and to {column}; keep one")
        if other := next((earlier for earlier, mapped in columns.items() if mapped == column), ""):
            raise ValueError(f"{other} and {name} are both mapped to {column}; keep one")
        columns[name] = column
    return columns


def check_columns(file: Path, content: FileRows, columns: Mapping[str, str]) -> None:
    """Refuse a file that lacks a required or a mapped column; the message has the option that maps it.

    Args:
        file: The file, for errors.
        content: The columns and rows of the file.
        columns: The file's names of columns, or paths into them, by Swaymeter's names.

    Raises:
        InputError: A column is missing, or has objects in place of texts.
    """
    if len(content.columns) < 2:
        raise InputError(
            f"{file} has one column, {named(content.columns)}; its first line names the columns, such as "
            "question,answer,context, with a comma, semicolon, tab or | between them"
        )
    list_columns = _list_columns(content.rows)
    for name, column in columns.items():
        if not _exists(column, content, list_columns):
            raise InputError(
                f"{file} has no column {column} for {name}; it has {named(content.columns)}; name one of them"
            )
    unmapped = [name for name in content.columns if name not in columns.values()]
    present = {*columns, *(name.strip().lower() for name in unmapped)}
    missing = [name for name in SYNONYMS if name not in present and not (name == "context" and "contexts" in present)]
    suggestions = {name: _synonym(name, unmapped) for name in missing}  # such as answer: gold
    if suggestions.get("context") in list_columns:
        suggestions["contexts"] = suggestions.pop("context")
    contexts_column = columns.get("contexts") or suggestions.get("contexts") or "contexts"
    context_keys = [*list_columns.get(contexts_column, {})]
    if context_keys and not {"text", "context"} & {*map(str.lower, context_keys), *columns}:
        suggestions["context"] = _synonym("context", context_keys)
        missing = missing or [f"text of contexts, whose keys are {named(context_keys)}"]
    paths = {name: path for name in SYNONYMS if (path := _text_path(name, suggestions.get(name, name), content.rows))}
    if suggestions:
        *others, last = missing
        what = f"columns {', '.join(others)} and {last}" if others else f"column {last}"
        advice = _map_advice({**suggestions, **paths})
        raise InputError(f"{file} lacks the {what}; it has {named(content.columns)}; {advice}")
    if paths := {name: path for name, path in paths.items() if name not in columns}:
        raise InputError(f"{file} has objects in the column {' and in '.join(paths)}; {_map_advice(paths)}")
    truths = [name for name in unmapped if plain(name) in TRUTHS]
    if truths and "answer" not in columns:
        raise InputError(
            f"{file} has both answer and {truths[0]}; if {truths[0]} has the right answers, "
            f"{_map_advice({'answer': truths[0]})}; otherwise add --map answer=answer"
        )


def has_column(column: str, content: FileRows) -> bool:
    """Return True if a file has a column, a key in the objects of its lists, or a path of this name."""
    return column in content.columns or _exists(column, content, _list_columns(content.rows))


def _list_columns(rows: Iterable[FileRow]) -> dict[str, dict[str, Any]]:
    """Return the columns of lists in the first rows, each with the keys of its lists' objects and a value of each."""
    lists: dict[str, dict[str, Any]] = {}
    for row in islice(rows, MAX_EXAMINED_ROWS):
        for name, cell in row.cells.items():
            items = list_in(cell) if isinstance(cell, str) else cell
            if isinstance(items, list):
                keys = lists.setdefault(name, {})
                for item in items:
                    keys |= as_passage(item) if isinstance(item, dict) else {}
    return lists


def _exists(column: str, content: FileRows, list_columns: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return True if a file has a column of this name or path, or the objects in its lists have such a key."""
    if column in content.columns:
        return True
    try:
        parts_of_path(column)
    except ValueError:
        return False
    rows = (row.cells for row in islice(content.rows, MAX_EXAMINED_ROWS))
    return any(exists_at(cells, column) for cells in (*rows, *list_columns.values()))


def _text_path(name: str, column: str, rows: Iterable[FileRow]) -> str:
    """Return the path of the texts in a column that has objects; empty for a column of texts, or of contexts."""
    cells = (row.cells.get(column) for row in islice(rows, MAX_EXAMINED_ROWS))
    value = next((cell for cell in cells if cell), None)
    if isinstance(value, dict) and isinstance(value.get("text"), list) and name == "answer":
        return ""  # a column of answers in SQuAD's layout, which is read as texts
    path, item = column, value
    if items := items_of(value):
        path, item = f"{column}[*]", items[0]
    if not isinstance(item, dict) or (name == "context" and isinstance(value, list)):
        return ""
    text_keys = [key for key, text in item.items() if isinstance(text, str)] or [*item]
    return printable(f"{path}.{_synonym(name, text_keys) or _synonym('context', text_keys) or text_keys[0]}")


def _synonym(name: str, columns: Iterable[str]) -> str:
    """Return the column of the file whose name is a synonym; empty without such a column."""
    by_plain_name = {plain(column): column for column in columns}
    return next((by_plain_name[synonym] for synonym in SYNONYMS[name] if synonym in by_plain_name), "")


def _map_advice(suggestions: Mapping[str, str]) -> str:
    """Return the options that map columns, on the command line and in a study file; NAME for an unknown column."""
    pairs = {name: column or "NAME" for name, column in suggestions.items()}
    options = " ".join(f"--map {shlex.quote(f'{name}={column}')}" for name, column in pairs.items())
    keys = ", ".join(f"{name}: {column}" for name, column in pairs.items())
    return f"map columns: {options} (in a study file columns: {{{keys}}})"
