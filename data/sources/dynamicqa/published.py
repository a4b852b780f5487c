"""The published DynamicQA questions: three CSV files in a folder, or downloaded files.

The column `context` of a static or temporal question has a snippet with the slot [ENTITY] for the answer. For a
disputable question, the column has a sentence with the original answer; the counter-memory context is this sentence
with the replacement answer. Rows that break a rule are flagged; unreadable rows are refused.

Source: github.com/copenlu/dynamicqa, folder Data.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from swaymeter.data import catalog
from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError, MissingFile, ServiceBudget, ServiceError, printable
from swaymeter.data.options import NamedPath
from swaymeter.data.records import Partition, Question, WikidataId, both_contexts, identity
from swaymeter.data.sources import slots
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.dynamicqa.layout import FILES, REMEDY, CsvFile, Row, read_rows, rows_of
from swaymeter.data.sources.http.response import TEXT
from swaymeter.data.sources.property_names import DISPUTABLE, relation_of
from swaymeter.data.sources.source import FetchedQuestions, QuestionsOptions, QuestionSource

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

VERSION = 5
SOURCE = "DynamicQA (copenlu/dynamicqa)"
LICENCE = "as published with DynamicQA; facts: Wikidata CC0 1.0, texts: Wikipedia CC BY-SA 4.0"
DOWNLOAD_REMEDY = "name a `folder` with DynamicQA's CSV files under `questions`, or use `source: sample`"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_DISPUTE_PATH = re.compile(r"\./result/(.+)-\d+/(\d{1,18})", re.DOTALL | re.ASCII)
"""The path of a disputed sentence, such as ./result/Berlin-12/345: page Berlin, an unused number, revision 345."""
_LARGEST_COUNT = 2**53
"""Limit of counts, because larger whole numbers are not exact as floats."""


def questions(folder: Path, partition: Partition) -> list[Question]:
    """Return the questions of a partition, one for each row; InputError names the line and the column."""
    file = folder / FILES[partition]
    return questions_of(read_rows(file, partition), partition, str(file))


def questions_of(file: CsvFile, partition: Partition, file_name: str) -> list[Question]:
    """Return the questions of a file, with flags of broken rules; InputError names `file_name`."""
    counts: Counter[tuple[str, str]] = Counter()
    file_questions = []
    for row in file.rows:
        question = _question(_Cells(row, file_name), partition)
        index_and_id = row.cells.get("", ""), row.cells["id"]
        if count := counts[index_and_id]:
            unique_id = identity(SOURCE, partition, *index_and_id, count)
            question = replace(question, question_id=unique_id, flags=(*question.flags, slots.DUPLICATE_ID))
        counts[index_and_id] += 1
        published_row = json.dumps([row.line, file.line_end, row.cells], ensure_ascii=False)
        file_questions.append(replace(question, published_row=published_row))
    return slots.with_flags_of_duplicates(file_questions)


def published_row_of(question: Question, partition: Partition) -> tuple[CsvFile, Question] | None:
    """Return a CSV file with only a question's published row, and the question read from it; None without a row."""
    if question.published_row is None:
        return None
    line, line_end, cells = json.loads(question.published_row)
    row = Row(line, cells)
    return CsvFile(tuple(cells), (row,), line_end), _question(_Cells(row, FILES[partition]), partition)


def downloaded(partition: Partition, session: "Session") -> list[Question]:
    """Return the questions of a partition's published file; ServiceError if it is not cached, and a download fails."""
    name = FILES[partition]

    def problem(text: str) -> ServiceError | None:
        try:
            rows_of(text.encode(), partition, name)
        except InputError as error:
            return ServiceError(f"this is not the published CSV: {str(error).removesuffix(f'; {REMEDY}')}")
        return None

    try:
        response = session.ask({}, path=name, accept=TEXT, error_of=problem, immutable=True)
    except ServiceBudget:
        raise
    except ServiceError as error:
        message = f"{name} of the published DynamicQA could not be fetched: {error}"
        raise ServiceError(f"{message}; {DOWNLOAD_REMEDY}") from error
    return questions_of(rows_of(response.content.encode(), partition, name), partition, name)


@dataclass
class _Cells:
    """The stripped cells of a row; reading a cell adds the flags of rules that it breaks."""

    row: Row
    file_name: str
    flags: list[str] = field(default_factory=list)

    def text(self, column: str) -> str:
        return self.row.cells.get(column, "").strip()

    def error(self, column: str, problem: str) -> InputError:
        cell = printable(self.text(column), 60)
        return InputError(f"{self.file_name}, line {self.row.line}, column {column}: {problem}: {cell!r}; {REMEDY}")

    def number(self, column: str, *, is_count: bool = True) -> float | None:
        cell = self.text(column)
        if cell.lower() == "nan":
            self.flags.append(slots.NUMBER_UNKNOWN)
        if cell.lower() in ("", "nan"):
            return None
        number = float(cell) if _NUMBER.fullmatch(cell) else float("inf")  # so that the next line refuses the cell
        if abs(number) == float("inf"):
            raise self.error(column, "is not a number")
        if is_count and not 0 <= number <= _LARGEST_COUNT:
            raise self.error(column, "is negative or too large")
        return number

    def edits(self) -> int | None:
        number = self.number("num_edits")
        if number is None:
            self.flags.append(slots.NUMBER_UNKNOWN)
            return None
        if number != int(number):
            raise self.error("num_edits", "is not a whole number")
        return int(number)

    def wikidata_id(self, column: str, letter: str) -> WikidataId | None:
        cell = self.text(column)
        if re.fullmatch(rf"{letter}[1-9][0-9]{{0,17}}", cell):
            return WikidataId(cell)
        if cell:
            self.flags.append(slots.MALFORMED_ID)
        return None

    def answers(self) -> tuple[str, ...]:
        json_list, answer = self.text("possible_answers"), self.text("obj")
        if not json_list:
            return (answer,)
        try:
            forms = json.loads(json_list)
        except (ValueError, RecursionError):
            forms = None
        if not isinstance(forms, list):
            raise self.error("possible_answers", "is not a JSON list")
        for form in forms:
            if not isinstance(form, str) or not form.strip() or re.search(r"[\ud800-\udfff]", form):
                problem = f"has an entry that is empty or not text, {printable(repr(form), 60)}"
                raise self.error("possible_answers", problem)
        if answer and answer not in forms:
            self.flags.append(slots.OBJECT_NOT_AMONG_ANSWERS)
        return tuple(dict.fromkeys((answer, *forms)))


def _question(cells: _Cells, partition: Partition) -> Question:
    subject, question, answer = cells.text("subj"), cells.text("question"), cells.text("obj")
    replacement, answers = cells.text("replace_name"), cells.answers()
    edits = cells.edits()
    context = cells.text("context")
    if partition == "disputable":
        relation = DISPUTABLE
        changed = slots.replace_object(context, answer, replacement)
        context_flags: tuple[str, ...] = () if changed is not None else (slots.OBJECT_NOT_IN_CONTEXT,)
        original, counter_memory = context, changed or ""
    else:
        original, counter_memory = slots.fill_slot(context, answer), slots.fill_slot(context, replacement)
        context_flags = slots.flags_of_snippet(context, answers)
    subject_id, property_id = cells.wikidata_id("subj_id", "Q"), cells.wikidata_id("prop_id", "P")
    object_id = cells.wikidata_id("obj_id", "Q")
    if partition != "disputable":
        try:
            relation = relation_of(property_id, cells.text("prop"))
        except InputError:
            raise cells.error("prop", "is not a valid relation name") from None
    dispute_path = _DISPUTE_PATH.fullmatch(cells.text("dir_info"))
    page = dispute_path[1] if dispute_path else None
    page_revision = int(dispute_path[2]) or None if dispute_path else None
    # s_pop_new and o_pop_new are checked, and not stored.
    numbers = {name: cells.number(name) for name in ("s_pop", "o_pop", "s_pop_new", "o_pop_new")}
    quality = cells.number("replace_quality", is_count=False)
    names_subject = partition == "disputable" or not question or subject.casefold() in question.casefold()
    broken = {
        slots.EMPTY_SUBJECT: not subject,
        slots.SUBJECT_NOT_IN_QUESTION: not names_subject,
        slots.SUBJECT_IS_NOT_PAGE: page is not None and page != subject,
    }
    flags = (
        *slots.flags_of(question, answers, answer, replacement),
        *context_flags,
        *cells.flags,
        *slots.flags_of_edits(partition, edits),
        *(flag for flag, is_broken in broken.items() if is_broken),
    )
    return Question(
        question_id=identity(SOURCE, partition, cells.text(""), cells.text("id")),
        relation=relation,
        partition=partition,
        subject=subject,
        subject_id=subject_id,
        property_id=property_id,
        object=answer,
        object_id=object_id,
        answers=answers,
        replacement=replacement,
        question=question,
        edits=edits,
        contexts=both_contexts(original, counter_memory, (answer, *answers), replacement),
        subject_popularity=numbers["s_pop"],
        object_popularity=numbers["o_pop"],
        id_source="dynamicqa" if subject_id else None,
        source=SOURCE,
        licence=LICENCE,
        flags=tuple(dict.fromkeys(flags)),
        property=cells.text("prop") or None,
        replacement_quality=quality,
        page=page,
        page_revision=page_revision,
        list_id=cells.text("id") or None,
    )


class PublishedQuestions(QuestionsOptions):
    """The published questions of DynamicQA."""

    published: ClassVar[Mapping[str, int]] = {"static": 2500, "temporal": 2495, "disputable": 694}

    source: Literal["dynamicqa"] = "dynamicqa"
    """The published DynamicQA."""
    folder: NamedPath | None = None
    """The folder of DynamicQA's three CSV files; null: the files are downloaded."""


def _key(options: PublishedQuestions, partition: Partition, access: Access) -> dict[str, Any]:
    if options.folder and not Path(options.folder).is_dir():
        raise MissingFile(
            f"questions.folder: there is no folder {options.folder}; correct the path, or leave `folder` out to "
            "download the files"
        )
    if options.folder:
        file = digest_of_named_file(Path(options.folder) / FILES[partition], "questions.folder")
    else:
        file = access.address("dynamicqa")
    return {
        "source": "dynamicqa",
        "version": VERSION,
        "partition": partition,
        "relations": catalog.property_names_digest(),
        "file": file,
    }


def _fetch(options: PublishedQuestions, partition: Partition, access: Access) -> FetchedQuestions:
    if options.folder:
        return FetchedQuestions(questions(Path(options.folder), partition))
    return FetchedQuestions(downloaded(partition, access.session("dynamicqa")))


PUBLISHED = QuestionSource("dynamicqa", PublishedQuestions, _key, _fetch)
