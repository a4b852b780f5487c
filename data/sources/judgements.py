"""Files of judgements, as CSV or .xlsx: each row is one judgement of a person.

    question_id   id of the question, or the question itself
    context_id    id of the context; `none` for a closed-book reply; empty for a judgement about the question
    field         verdict, kind, choice, question, answer, replacement or text
    judged        text that was judged; the judgement holds only for this text
    value         the judgement; a row without a value is not judged yet
    annotator     name of the person
    note          reason; may be empty
    variant       model of the judged reply; empty for every model
    sample        number of the sampled reply, or greedy; empty for every reply

An invalid judgement is returned, too; its `problem` says why it does not count. People may differ on a verdict, a
kind, or the answer of a context: then the most frequent value counts, and in a tie no value counts. If people differ on
a question, tasks/contexts/judged_questions.py decides. Only judgements of the same variant and sample are compared. A
verdict on one variant or sample overrules a verdict on all variants or samples.

A person's verdict on a reply passes through these files:

    data/sources/judgements.py              reads the verdict from a file that a study or `audit --judgements` names
    tasks/measures/decided_answers.py       finds the replies with the judged words, for flows/stages/aggregate.py
    data/warehouse/sql/stated_answers.sql   replaces the verdict that the rule over words (tasks/scoring/wording) gave
    tasks/statistics/verdicts.py            counts the verdict in the shares, which the report draws

The answers page writes files of judgements (reports/answers/judgements.js). Statistics of citations use the
rule's verdicts only.

Judgements with a field other than `verdict` go to the stage `build` (tasks/contexts/judged_questions.py).
"""

import csv
import os
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, time
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import InputError, UsageError, WorkspaceError, first_line
from swaymeter.data.escaping import sheet_cell, sheet_text, visible
from swaymeter.data.records.judgements import FIELDS, Judgement, comparable_text
from swaymeter.data.storage.writing import move_to_target, temporary_file

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("question_id", "context_id", "field", "judged", "value", "annotator", "note", "variant", "sample")
NEEDED = ("question_id", "context_id", "field", "value", "annotator")
"""The columns that a file must have."""
FORMATS = (".csv", ".xlsx")
LARGEST_FILE = 64 * 2**20
"""Limit of the bytes of a .csv, or of an unpacked .xlsx, because a small zip file can unpack to many gigabytes."""
MAX_ROWS = 200_000
"""Limit of the rows of a file: for one .xlsx cell with a large row number, pandas adds all rows before the cell."""
LARGEST_CELL = 32_767
"""Limit of the characters of an .xlsx cell, in UTF-16; programs cut a longer text without a warning."""
MAJORITY_FIELDS = ("verdict", "kind", "answer")
"""Fields for which the most frequent value counts; `answer` only if it is about a context."""
QUESTION_FIELDS, CONTEXT_FIELDS = ("choice", "question", "replacement"), ("verdict", "kind", "text")
"""Fields about a question, and fields about a context; the field `answer` may be about either."""


def read_judgements(files: Iterable[Path]) -> tuple[Judgement, ...]:
    """Return the judgements of all files in their order; an invalid judgement has a `problem`.

    Raises:
        InputError: A file cannot be read or lacks a column; the message names the file and the column.
    """
    judgements, names, identities = list[Judgement](), dict[str, str](), set[tuple[str, ...]]()
    for file in files:
        for row, cells, is_date in _rows(file):
            annotator = _name(cells.pop("annotator"))
            annotator = names.setdefault(annotator.casefold(), annotator)  # Ada and ada are one person
            judgement = Judgement(len(judgements) + 1, file.name, row, annotator=annotator, **cells)  # type: ignore[arg-type]
            judgement = replace(judgement, problem=_DATE_PROBLEM if is_date else _problem(judgement))
            identity = (*_judged_item(judgement), comparable_text(judgement.value), annotator)
            if identity not in identities or judgement.problem:  # equal judgements of a person count once
                judgements.append(judgement)
            identities.add(identity)
    return tuple(_with_outvoted(_with_contradictions(judgements)))


def write_judgements(file: Path, rows: Iterable[Judgement | Mapping[str, str]], *, new: bool = True) -> None:
    """Write judgements, whole or not at all. Columns besides COLUMNS help the annotator, and are never read.

    Args:
        file: The .csv or .xlsx.
        rows: The judgements, or the cells by column.
        new: True to refuse an existing file; False to replace it.

    Raises:
        UsageError: The file exists or has another format.
        InputError: A text is too long for a cell of .xlsx.
        WorkspaceError: The file cannot be written.
    """
    import pandas as pd

    suffix = _suffix(file)
    cells = [asdict(row) if isinstance(row, Judgement) else row for row in rows]
    further_columns = list(dict.fromkeys(name for row in cells for name in row if name not in Judgement.__slots__))
    columns = [*COLUMNS, *further_columns]
    frame = pd.DataFrame([{name: sheet_cell(row.get(name, "")) for name in columns} for row in cells], columns=columns)
    exists_error = UsageError(f"{file} exists already and may hold somebody's work; name another file, or move it away")
    if suffix == ".xlsx" and (too_long := [row for row in cells if _is_too_long(row)]):
        question_id = too_long[0]["question_id"]
        raise InputError(f"{file}: a text of question {question_id} is too long for a cell of .xlsx; name a .csv file")
    if new and os.path.lexists(file):
        raise exists_error
    try:
        with temporary_file(file) as temporary:
            if suffix == ".csv":  # utf-8-sig: without a byte-order mark, Excel assumes another encoding
                frame.to_csv(temporary, index=False, encoding="utf-8-sig", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
            else:
                frame.to_excel(temporary, index=False, engine="openpyxl")
            try:
                move_to_target(temporary, file, new=new)
            except FileExistsError:  # another process was faster
                raise exists_error from None
    except WorkspaceError as error:
        reason = getattr(error.__cause__, "strerror", None) or first_line(error)
        raise WorkspaceError(f"{file} cannot be written: {reason}; name another file") from None


def annotator_name(name: str, judgements: Iterable[Judgement]) -> str:
    """Return the name of an annotator in the spelling of the judgements; UsageError for a blank name."""
    plain = _name(name)
    if not plain or not plain.isprintable():
        raise UsageError(f"{name!r} is not an annotator's name; give a name with letters, such as --annotator ada")
    return next((row.annotator for row in judgements if row.annotator.casefold() == plain.casefold()), plain)


_DATE_PROBLEM = "the value is a date; format the cell as text and type it again"


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str], bool]]:
    """Yield each row with a value: its number in spreadsheet programs, its cells, and True if its value is a date."""
    frame = _frame(file)
    header = [str(name).strip().casefold() for name in frame.iloc[0]] if len(frame) else []
    if repeated := [name for name in COLUMNS if header.count(name) > 1]:
        raise InputError(f"{file}, row 1: the column {repeated[0]} occurs twice; remove one of the two columns")
    if missing := [name for name in NEEDED if name not in header]:
        raise InputError(
            f"{file}, row 1: the column {missing[0]} is missing; the first row has to name {', '.join(NEEDED)}"
        )
    indices = {name: header.index(name) for name in COLUMNS if name in header}
    for number, values in enumerate(frame.iloc[1:].itertuples(index=False, name=None), start=2):
        cells = dict.fromkeys(COLUMNS, "") | {name: _text(values[index]) for name, index in indices.items()}
        cells = {name: text if name == "judged" else text.strip() for name, text in cells.items()}
        if cells["value"] and cells["field"] == "verdict" and "judged" not in header:
            raise InputError(
                f"{file}, row {number}: a verdict needs a column `judged` with the reply that the person judged; "
                "add this column"
            )
        if cells["value"]:
            yield number, cells, isinstance(values[indices["value"]], date | time)


def _frame(file: Path) -> "DataFrame":
    """Return the raw cells of a file; row 0 is the header."""
    import pandas as pd

    options: Any = {
        "header": None,
        "dtype": object,
        "keep_default_na": False,
        "na_filter": False,
        "nrows": MAX_ROWS + 1,
    }
    size_error = InputError(f"{file} is too large; save the sheet alone, without empty cells")
    try:
        if _suffix(file) == ".xlsx":
            with zipfile.ZipFile(file) as packed:
                if sum(part.file_size for part in packed.infolist()) > LARGEST_FILE:
                    raise size_error
            frame: DataFrame = pd.read_excel(file, engine="openpyxl", **options)
        else:
            if file.stat().st_size > LARGEST_FILE:
                raise size_error
            with file.open(encoding="utf-8-sig") as lines:
                header = lines.readline()
            separator = max(",;\t", key=header.count)  # in German, Excel writes semicolons
            frame = pd.read_csv(file, sep=separator, encoding="utf-8-sig", skip_blank_lines=False, **options)
        if len(frame) > MAX_ROWS:
            raise size_error
        return frame
    except InputError:
        raise
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except UnicodeDecodeError:
        raise InputError(f"{file} is not in UTF-8; save it as `CSV UTF-8`, or as .xlsx") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}; correct the path") from None
    except Exception as error:  # a damaged workbook makes openpyxl raise nearly anything
        problem = f"{type(error).__name__}: {first_line(error)}"
        raise InputError(f"{file} cannot be read ({problem}); save it again as `CSV UTF-8`, or as .xlsx") from None


def _name(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def _suffix(file: Path) -> str:
    if (suffix := file.suffix.lower()) not in FORMATS:
        raise UsageError(f"{file} is neither .csv nor .xlsx; save the judgements in one of these formats")
    return suffix


def _text(value: Any) -> str:
    """Return the text of a cell, which may have a number; a lone surrogate becomes a question mark."""
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = sheet_text(str(value)).replace("\r\n", "\n").replace("\r", "\n")
    return text.encode(errors="replace").decode()


def _is_too_long(row: Mapping[str, Any]) -> bool:
    return any(len(sheet_cell(str(text)).encode("utf-16-le")) > 2 * LARGEST_CELL for text in row.values())


def _problem(judgement: Judgement) -> str | None:
    field, values = judgement.field, FIELDS.get(judgement.field)
    if values is None:
        return f"{visible(field)!r} is not a field{_similar(field, FIELDS)}; write one of {', '.join(FIELDS)}"
    if not judgement.question_id:
        return "question_id is empty; write it, or delete the row"
    if not judgement.annotator or not judgement.annotator.isprintable():
        return "the annotator has no name; write it"
    if values and judgement.value not in values:
        value = judgement.value
        return f"{visible(value)!r} is not a {field}{_similar(value, values)}; write one of {', '.join(values)}"
    if field in CONTEXT_FIELDS and not judgement.context_id:
        return f"context_id is empty; a {field} needs the id of its context"
    if field in QUESTION_FIELDS and judgement.context_id:
        return f"context_id is filled in; a {field} is about the question, so leave it empty"
    if field == "verdict" and not judgement.judged.strip():
        return "judged is empty; write the reply that was judged"
    if judgement.sample not in ("", "greedy") and not judgement.sample.isdecimal():
        return f"{visible(judgement.sample)!r} is not a sample; write its number from 0, or greedy, or leave it empty"
    return None


def _similar(text: str, names: Iterable[str]) -> str:
    matches = get_close_matches(text.casefold(), names, n=1, cutoff=0.5)
    return f" (did you mean {matches[0]}?)" if matches else ""


def _judged_item(judgement: Judgement) -> tuple[str, ...]:
    about = (judgement.question_id, judgement.context_id, judgement.field, judgement.variant, judgement.sample)
    return (*about, comparable_text(judgement.judged))


def _with_contradictions(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements; contradictory judgements of one person get a problem."""
    by_item: dict[tuple[str, ...], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if judgement.problem is None:
            by_item[(*_judged_item(judgement), judgement.annotator)].append(judgement)
    problems: dict[int, str] = {}
    for contradictory in by_item.values():
        if len(contradictory) < 2:
            continue
        first, second = contradictory[:2]
        for judgement in contradictory:  # the first judgement's problem names the second; other problems name the first
            other = second if judgement is first else first
            problems[judgement.number] = (
                f"{judgement.annotator} says {visible(judgement.value)!r} here and {visible(other.value)!r} in "
                f"{other.location}; neither counts, so delete one of the two"
            )
    return [replace(row, problem=problems.get(row.number, row.problem)) for row in judgements]


def _with_outvoted(judgements: Sequence[Judgement]) -> Iterator[Judgement]:
    """Yield the judgements; a value that fewer people give is outvoted. In a tie, every value is outvoted."""
    votes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        if judgement.problem is None and judgement.field in MAJORITY_FIELDS and judgement.context_id:
            votes[_judged_item(judgement)][comparable_text(judgement.value)] += 1
    for judgement in judgements:
        counts = votes.get(_judged_item(judgement), Counter[str]())
        if judgement.problem is not None or len(counts) < 2:
            yield judgement
            continue
        (winner, first_votes), (_, second_votes) = counts.most_common(2)
        is_tie = first_votes == second_votes
        if not is_tie and comparable_text(judgement.value) == winner:
            yield judgement
        else:
            problem = "people differ; another person has to decide" if is_tie else "most people say something else"
            yield replace(judgement, problem=problem, is_outvoted=True)
