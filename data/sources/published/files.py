"""The files of a published data set, read as rows of own questions."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.sources.own.files import FileRow, FileRows, named, read_rows
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form

log = logging.getLogger(__name__)

ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".pqt", ".tsv")
"""The endings of files of data in a folder; of a file that is named, its content decides."""
_QUESTIONS = ("question", "query", "claim", "template")
"""Columns of which a rejected row shows the first that it has."""


def files_of(data_set: DataSet, path: Path) -> list[Path]:
    """The data set's file, or the files of data in the folder and below it, sorted; InputError where it has none."""
    if not path.is_dir():
        return [path]
    below = (file for file in sorted(path.rglob("*")) if file.suffix.lower() in ENDINGS and file.is_file())
    if not (files := [file for file in below if all(part[0] != "." for part in file.relative_to(path).parts)]):
        raise InputError(f"{path} has no file that ends in {', '.join(ENDINGS)}; {_remedy(data_set)}")
    return files


def own_rows(data_set: DataSet, path: Path) -> list[FileRow]:
    """The rows of a data set's file, or of all its files in a folder, as rows of own questions.

    Files of a folder that are of another form are left out, with a warning. InputError where no file has rows of the
    data set: it names what is missing, and what the file has.
    """
    files, rows, others = files_of(data_set, path), list[FileRow](), list[str]()
    for file in files:
        try:
            found = _of_file(data_set, file)
        except InputError as error:
            others.append(str(error))
        else:
            where = f"{file.relative_to(path)}, " if len(files) > 1 else ""
            rows += (row._replace(place=f"{where}{row.place}") for row in found)
    if not rows:
        more = f"; and {len(others) - 1} other files" if len(others) > 1 else ""
        raise InputError(f"{others[0]}{more}")
    for message in others:
        log.warning("%s; it is left out", message)
    return rows


def _of_file(data_set: DataSet, file: Path) -> list[FileRow]:
    known = {column.lower() for form in data_set.forms for column in form.columns}
    content = read_rows(file, known)
    if not content.rows:
        raise InputError(f"{file} has no rows; {_remedy(data_set)}")
    form = _form(data_set, file, content)
    published = {column.lower(): column for column in form.columns}
    rows = [
        row._replace(cells={published.get(name.lower(), name): cell for name, cell in _stripped(row.cells).items()})
        for row in content.rows
    ]
    row_of = form.rows([row.cells for row in rows if not row.problem])

    def own(row: FileRow) -> FileRow:
        problem = row.problem
        if not problem:
            try:
                return row._replace(cells=row_of(row.cells))
            except InputError as error:
                problem = str(error)
        asked = next((row.cells[name] for name in _QUESTIONS if row.cells.get(name)), "")
        return row._replace(cells={"question": asked}, problem=problem)

    return [*map(own, rows)]


def _stripped(cells: Cells) -> Cells:
    return {name.strip(): cell for name, cell in cells.items()}


def _form(data_set: DataSet, file: Path, content: FileRows) -> Form:
    """The form of a file; InputError names the columns that it lacks of the form that is nearest."""
    there = {name.strip().lower() for name in content.columns}
    lacking = {form.part: [name for name in form.columns if name.lower() not in there] for form in data_set.forms}
    if found := next((form for form in data_set.forms if not lacking[form.part]), None):
        return found
    part, missing = min(lacking.items(), key=lambda item: len(item[1]))
    of_part = f", {part}" if len(data_set.forms) > 1 else ""
    raise InputError(
        f"{file} has not the form of {data_set.title}{of_part}, which has the column{'s' * (len(missing) > 1)} "
        f"{', '.join(missing)}; it has {named(content.columns) or 'none'}; {_remedy(data_set)}"
    )


def _remedy(data_set: DataSet) -> str:
    return f"name {data_set.file} of {data_set.address}"


def once(rows: Iterable[FileRow]) -> Iterator[FileRow]:
    """The rows without contexts that stand there already with their question, as data sets repeat them.

    A context's id that its question has already gets a number.
    """
    texts: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    ids: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        if row.problem or not row.cells.get("contexts"):
            yield row
            continue
        cells = row.cells
        key = (str(cells["id"]),) if cells.get("id") else (str(cells["question"]), str(cells["answer"]))
        kept = _new(cells["contexts"], texts.setdefault(key, set()), ids.setdefault(key, set()))
        if kept:
            yield row._replace(cells={**cells, "contexts": kept})


def _new(contexts: Sequence[Mapping[str, Any]], texts: set[tuple[str, str]], ids: set[str]) -> list[Mapping[str, Any]]:
    kept = []
    for one in contexts:
        if (stands := (one["kind"], one["text"])) in texts:
            continue
        texts.add(stands)
        name, number = one.get("id"), 1
        while name in ids:
            number += 1
            name = f"{one['id']} {number}"
        if name is not None:
            ids.add(name)
            one = {**one, "id": name}
        kept.append(one)
    return kept
