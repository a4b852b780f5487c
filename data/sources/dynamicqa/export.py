"""Questions of any source, written as the three CSV files in which DynamicQA is published.

A cell that was read from such a file is written unchanged, unless its content was changed; rows keep their order.
Questions from other sources lose the values for which the layout has no column: addresses and times, revisions of items
and edits, and the origin of a replacement. In their rows, s_pop_new repeats s_pop, and o_pop_new repeats o_pop.
The path in their column dir_info, `./result/{page}-{number}/{revision}`, has the number 0.
"""

import json
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from swaymeter.data.records import PARTITIONS, Partition, Question
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES, CsvFile, Row, can_be_cell, content_of
from swaymeter.data.sources.dynamicqa.published import published_row_of
from swaymeter.data.sources.slots import replace_object, snippet_of
from swaymeter.data.storage.writing import replacing_file

OmittedQuestion = tuple[Question, str]
"""A question that the layout cannot represent, and the reason."""


def from_questions(questions: Sequence[Question], partition: Partition) -> tuple[CsvFile, list[OmittedQuestion]]:
    """Return a partition's CSV file, and the omitted questions; reading the file gives all other questions again."""
    rows: list[Row] = []
    omitted: list[OmittedQuestion] = []
    originals: list[CsvFile | None] = []
    for question in questions:
        if question.partition != partition:
            continue
        context = _context(question)
        cells = _cells(question, partition, context or "", len(rows))
        original, unchanged_cells = _original_file(question, partition, cells, len(rows))
        cells |= unchanged_cells
        unsupported = [repr(column) for column, cell in cells.items() if not can_be_cell(cell)]
        if context is None and "context" not in unchanged_cells:
            omitted.append((question, "its two contexts do not come from one snippet"))
        elif unsupported:
            omitted.append((question, f"a CSV cell cannot hold its value for {', '.join(unsupported)}"))
        else:
            # In a new file, the header is line 1.
            rows.append(Row(original.rows[0].line if original else len(rows) + 2, cells))
            originals.append(original)
    rows.sort(key=lambda row: row.line)
    # If all rows were read from files with the same columns, the new file has these columns and the same line end.
    first = originals[0] if originals else None
    if first is None or any(original is None or original.columns != first.columns for original in originals):
        return CsvFile(COLUMNS[partition], tuple(rows)), omitted
    return CsvFile(first.columns, tuple(rows), first.line_end), omitted


def _original_file(
    question: Question, partition: Partition, cells: dict[str, str], index: int
) -> tuple[CsvFile | None, dict[str, str]]:
    """Return a file with only the row that a question was read from, and the cells of this row that are unchanged."""
    published_row = published_row_of(question, partition)
    if published_row is None:
        return None, {}
    file, original_question = published_row
    original_cells = _cells(original_question, partition, _context(original_question) or "", index)
    spellings = file.rows[0].cells
    unchanged = (column for column in cells if column in spellings and cells[column] == original_cells[column])
    return file, {column: spellings[column] for column in unchanged}


def write_questions(folder: Path, questions: Sequence[Question]) -> list[OmittedQuestion]:
    """Write the three files, all or none, and return the questions that no file can represent, with reasons."""
    files = {partition: from_questions(questions, partition) for partition in PARTITIONS}
    with ExitStack() as stack:
        for partition, (file, _) in files.items():
            stack.enter_context(replacing_file(folder / FILES[partition])).write_bytes(content_of(file))
    return [omitted_question for _, omitted in files.values() for omitted_question in omitted]


def _cells(question: Question, partition: Partition, context: str, index: int) -> dict[str, str]:
    answers = dict.fromkeys((question.object, *question.answers))
    values = {
        "": str(index),
        "id": question.list_id or str(index),
        "subj": question.subject,
        "prop": question.property or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", question.relation).lower(),
        "obj": question.object,
        "subj_id": question.subject_id or "",
        "prop_id": question.property_id or "",
        "obj_id": question.object_id or "",
        "s_pop": _whole(question.subject_popularity),
        "o_pop": _whole(question.object_popularity),
        "question": question.question,
        "possible_answers": json.dumps(list(answers), ensure_ascii=False),
        "num_edits": _whole(question.edits),
        "context": context,
        "replace_name": question.replacement,
        "replace_quality": _number(question.replacement_quality),
        "s_pop_new": _number(question.subject_popularity),
        "o_pop_new": _number(question.object_popularity),
        "dir_info": f"./result/{question.page}-0/{question.page_revision or 0}" if question.page else "",
    }
    # The published file of disputable questions writes two edits as 2; the two other files write 2.0.
    if partition != "disputable":
        values["num_edits"] = _number(question.edits)
    return {column: values[column] for column in COLUMNS[partition]}


def _context(question: Question) -> str | None:
    """Return the text of the column `context`, from which both contexts are read; None if no text gives both."""
    if question.partition != "disputable":
        return snippet_of(
            question.original_context, question.counter_memory_context, question.object, question.replacement
        )
    changed = replace_object(question.original_context, question.object, question.replacement)
    return question.original_context if (changed or "") == question.counter_memory_context else None


def _whole(number: float | None) -> str:
    return str(int(number)) if number is not None and number == int(number) else _number(number)


def _number(number: float | None) -> str:
    return "" if number is None else repr(float(number))
