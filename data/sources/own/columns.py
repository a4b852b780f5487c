"""The columns of users' questions, their names in other tools, and errors for missing columns."""

import difflib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from swaymeter.data.errors import InputError, printable
from swaymeter.data.sources.layouts.documents import as_passage
from swaymeter.data.sources.layouts.paths import exists_at, items_of, parts_of_path
from swaymeter.data.sources.own.files import FileRow, FileRows, names_for_message
from swaymeter.data.sources.own.lists import list_in

CONTEXT_COLUMNS: Mapping[str, str] = {
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
"""Columns of a row with one context, each with its short name; objects in a list of contexts may use either name."""
OPTIONAL_OF_PASSAGES = ("kind", "context_answer")
"""Optional columns that tell supporting from conflicting passages."""
COLUMNS = ("id", "group", "question", "answer", "aliases", "contexts", *CONTEXT_COLUMNS)
"""Swaymeter's names of all columns that it reads."""
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
REPLY_COLUMNS = (
    "response",
    "reply",
    "output",
    "completion",
    "prediction",
    "generation",
    "model_answer",
    "model_output",
    "generated_answer",
    "result",
)
"""Usual names of a column of recorded replies, the surest first."""
TRUTHS = frozenset(SYNONYMS["answer"][: SYNONYMS["answer"].index("expected_output")])
"""The surest names of a column of right answers. In a file with such a column, `answer` often has a model's replies."""
SIMILARITY = 0.75
"""Least similarity (0 to 1) of the name of a column that is suggested for a missing column."""
MAX_EXAMINED_ROWS = 100
"""Limit of the rows that are searched for lists and objects."""
QUESTIONS = frozenset({"question", *SYNONYMS["question"]})
"""Names of a column of questions, by which a header is recognised."""


def plain(name: str) -> str:
    """Return the name of a column in lower case, with _ for spaces and hyphens, for comparisons."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def checked_map(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the names of the file's columns by Swaymeter's names; ValueError for a repeated or an unknown name."""
    columns: dict[str, str] = {}
    for name, column in pairs:
        if name not in COLUMNS:
            raise ValueError(f"{name} is not one of the columns that can be mapped: {', '.join(COLUMNS)}")
        if name in columns:
            raise ValueError(f"{name} is mapped to {columns[name]} and to {column}; keep one mapping")
        if other := next((earlier for earlier, mapped in columns.items() if mapped == column), ""):
            raise ValueError(f"{other} and {name} are both mapped to {column}; keep one mapping")
        columns[name] = column
    return columns


def check_columns(file: Path, content: FileRows, columns: Mapping[str, str], replies: Sequence[str] = ()) -> None:
    """Refuse a file that lacks columns; the message has all missing columns, and the options that map columns.

    Args:
        file: The file, for errors.
        content: The columns and rows of the file.
        columns: Names of the file's columns, or paths into them, by Swaymeter's names.
        replies: Columns of recorded replies.

    Raises:
        InputError: A column is missing or has objects in place of texts, or two columns may have the right answers.
    """
    if len(content.columns) < 2:
        raise InputError(
            f"{file} has only one column, {names_for_message(content.columns)}; write the names of all columns into "
            "the first line, such as question,answer,context, with a comma, semicolon, tab or | between them"
        )
    list_columns = _list_columns(content.rows)
    unmatched = [  # mapped columns that the file lacks
        f"{column} for {name}" for name, column in columns.items() if not _exists(column, content, list_columns)
    ]
    unmapped = [name for name in content.columns if name not in columns.values()]  # columns without a mapping
    present = {*columns, *(name.strip().lower() for name in unmapped)}
    missing = [name for name in SYNONYMS if name not in present and not (name == "context" and "contexts" in present)]
    not_replies = [name for name in unmapped if name not in replies]
    # {"answer": "gold"}: the file's column gold may have the answers; "" without a suggestion
    suggestions = {name: _synonym(name, unmapped) or _similar(name, not_replies) for name in missing}
    if suggestions.get("context") in list_columns:
        suggestions["contexts"] = suggestions.pop("context")
    # In a list of contexts, each object needs a text under a known key.
    contexts_column = columns.get("contexts") or suggestions.get("contexts") or "contexts"
    context_keys = [*list_columns.get(contexts_column, {})]
    if context_keys and not {"text", "context"} & {*map(str.lower, context_keys), *columns}:
        suggestions["context"] = _synonym("context", context_keys)
        missing = missing or [f"text of contexts, whose keys are {names_for_message(context_keys)}"]
    # The paths of texts in columns that have objects, such as {"answer": "gold.text"}.
    paths = {name: path for name in SYNONYMS if (path := _text_path(name, suggestions.get(name, name), content.rows))}
    problems, advice = [], []
    if suggestions:
        *others, last = missing
        missing_columns = f"columns {', '.join(others)} and {last}" if others else f"column {last}"
        problems.append(f"lacks the {missing_columns}")
        optional = [name for name in OPTIONAL_OF_PASSAGES if name not in present]
        optional_advice = f", and likewise {' and '.join(optional)} if the file has these columns" if optional else ""
        advice.append(_map_advice({**suggestions, **paths}) + optional_advice)
    if unmatched:
        problems.append(f"has no column {' and no column '.join(unmatched)}")
        advice.append("name one of these columns")
    if unmatched_replies := [column for column in replies if not _exists(column, content, list_columns)]:
        problems.append(f"has no column {' and no column '.join(unmatched_replies)} of replies")
        unused = [name for name in unmapped if name not in suggestions.values()]
        advice.append(_reply_advice(unmatched_replies[0], unused))
    if problems:
        raise InputError(
            f"{file} {', and '.join(problems)}; the file has {names_for_message(content.columns)}; {'; '.join(advice)}"
        )
    if unmapped_paths := {name: path for name, path in paths.items() if name not in columns}:
        names = " and in ".join(unmapped_paths)
        raise InputError(f"{file} has JSON objects in the column {names}; {_map_advice(unmapped_paths)}")
    truths = [name for name in unmapped if plain(name) in TRUTHS]
    if truths and "answer" not in columns:
        raise InputError(
            f"{file} has the columns answer and {truths[0]}; if {truths[0]} has the right answers, "
            f"{_map_advice({'answer': truths[0]})}; if answer has the right answers, add --map answer=answer"
        )


def check_replies(file: Path, content: FileRows, replies: Sequence[str]) -> None:
    """Raise InputError if a file lacks a column of replies; a column may be a path, or a key of objects in lists."""
    list_columns = _list_columns(content.rows)
    if missing := [column for column in replies if not _exists(column, content, list_columns)]:
        problem = f"has no column {' and no column '.join(missing)} of replies"
        advice = _reply_advice(missing[0], content.columns)
        raise InputError(f"{file} {problem}; the file has {names_for_message(content.columns)}; {advice}")


def _list_columns(rows: Iterable[FileRow]) -> dict[str, dict[str, Any]]:
    """Return the columns with lists. The objects in a column's lists are merged to one object with all their keys."""
    merged_objects: dict[str, dict[str, Any]] = {}
    for row in islice(rows, MAX_EXAMINED_ROWS):
        for name, cell in row.cells.items():
            items = list_in(cell) if isinstance(cell, str) else cell
            if isinstance(items, list):
                merged_object = merged_objects.setdefault(name, {})
                for item in items:
                    merged_object |= as_passage(item) if isinstance(item, dict) else {}
    return merged_objects


def _exists(column: str, content: FileRows, list_columns: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return True if a file has a column of this name or path, or the objects in its lists have this key or path."""
    if column in content.columns:
        return True
    try:
        parts_of_path(column)
    except ValueError:
        return False
    rows = (row.cells for row in islice(content.rows, MAX_EXAMINED_ROWS))
    return any(exists_at(cells, column) for cells in (*rows, *list_columns.values()))


def _text_path(name: str, column: str, rows: Iterable[FileRow]) -> str:
    """Return the path of the texts in a column that has objects; empty for a column of texts or lists of contexts."""
    cells = (row.cells.get(column) for row in islice(rows, MAX_EXAMINED_ROWS))
    value = next((cell for cell in cells if cell), None)
    if isinstance(value, dict) and isinstance(value.get("text"), list) and name == "answer":
        return ""  # answers in SQuAD's layout are read without a path
    path, item = column, value
    if items := items_of(value):
        path, item = f"{column}[*]", items[0]
    if not isinstance(item, dict) or (name == "context" and isinstance(value, list)):
        return ""
    text_keys = [key for key, text in item.items() if isinstance(text, str)] or [*item]
    return printable(f"{path}.{_synonym(name, text_keys) or _synonym('context', text_keys) or text_keys[0]}")


def _synonym(name: str, columns: Iterable[str]) -> str:
    by_plain_name = {plain(column): column for column in columns}
    return next((by_plain_name[synonym] for synonym in SYNONYMS[name] if synonym in by_plain_name), "")


def _similar(name: str, columns: Iterable[str]) -> str:
    others = [column for column in columns if plain(column) not in COLUMNS]
    return next(iter(difflib.get_close_matches(name, others, n=1, cutoff=SIMILARITY)), "")


def _reply_advice(missing: str, candidates: Sequence[str]) -> str:
    by_plain_name = {plain(name): name for name in candidates}
    usual = next((by_plain_name[name] for name in REPLY_COLUMNS if name in by_plain_name), "")
    name = _similar(missing, candidates) or usual or "NAME"
    return f"name the replies: --replies {shlex.quote(name)} (in a study file, replies: {name})"


def _map_advice(suggestions: Mapping[str, str]) -> str:
    pairs = {name: column or "NAME" for name, column in suggestions.items()}
    options = " ".join(f"--map {shlex.quote(f'{name}={column}')}" for name, column in pairs.items())
    keys = ", ".join(f"{name}: {column}" for name, column in pairs.items())
    return f"map columns: {options} (in a study file, columns: {{{keys}}})"
