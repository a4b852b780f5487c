"""Facts of Wikidata from a user's list: CSV with commas, semicolons or tabs, and alternative names of columns."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unicodedata import category

from swaymeter.data.errors import InputError
from swaymeter.data.records import RelationName, Triple, WikidataId
from swaymeter.data.sources.http.printable import is_text, printable
from swaymeter.data.sources.property_names import relations_of

LICENCE = "facts: Wikidata CC0 1.0"
COLUMNS = {
    "subject_id": ("subject_id", "subj_id"), "property_id": ("property_id", "prop_id"),
    "object_id": ("object_id", "obj_id"), "subject": ("subject", "subj"), "property": ("property", "prop"),
    "object": ("object", "obj"), "question": ("question",), "answers": ("answers", "possible_answers"),
    "list_id": ("list_id", "id"),
}  # fmt: skip
"""The fields of a list, and the names of their columns; DynamicQA's names are the second ones."""
REQUIRED = ("subject_id", "property_id", "object_id")
_POPQA = "s_uri"
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_ITEM = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/)?(Q[1-9][0-9]{0,15})")
_PROPERTY = re.compile(
    r"(?:https?://(?:www\.)?wikidata\.org/(?:entity/|prop/(?:direct/|statement/)?|wiki/Property:))?(P[1-9][0-9]{0,15})"
)
Ids = tuple[WikidataId, WikidataId, WikidataId]
"""Of subject, property and object."""


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row: its stripped cells by field, the names of its columns in the file, and its line."""

    file: str
    line: int
    cells: Mapping[str, str]
    columns: Mapping[str, str]

    @property
    def where(self) -> str:
        """File and line, as errors name them."""
        return f"{self.file}, line {self.line}"

    def text(self, field: str) -> str | None:
        """The cell's text on one line; None where it is empty or the column does not exist."""
        return one_line(self.cells.get(field, "")) or None

    def item(self, field: str) -> WikidataId:
        """The cell's item: an id, or an address of Wikidata that ends with an id; InputError where it is not valid."""
        return self._id(field, _ITEM, "item of Wikidata", "Q42")

    def property(self, field: str) -> WikidataId:
        """The cell's property: an id, or an address of Wikidata that ends with an id; InputError if it is not valid."""
        return self._id(field, _PROPERTY, "property of Wikidata", "P106")

    def triple(
        self, ids: Ids, relation: RelationName, source: str, licence: str, name: str | None, retrieved_at: str | None
    ) -> Triple:
        """The row as a triple of these ids, with its own texts; name: the property's."""
        subject_id, property_id, object_id = ids
        return Triple(
            relation, subject_id, property_id, object_id, source, licence, self.text("subject"), name,
            self.text("object"), self.text("question"), self.answers("answers"), self.text("list_id"), retrieved_at,
        )  # fmt: skip

    def answers(self, field: str) -> tuple[str, ...]:
        """The cell's texts, each once: a JSON list, or separated by |; () where it is empty."""
        cell = self.cells.get(field, "")
        try:
            texts = json.loads(cell) if cell.startswith("[") else cell.split("|")
        except (ValueError, RecursionError):
            texts = [None]
        if not all(isinstance(text, str) and is_text(text) for text in texts):
            raise self.wrong(field, 'which is not a list of texts, such as ["actor", "actress"] or actor|actress')
        return tuple(dict.fromkeys(text for text in map(one_line, texts) if text))

    def wrong(self, field: str, what: str) -> InputError:
        """The error of an invalid cell."""
        cell = printable(self.cells.get(field, ""), 60)
        return InputError(f"{self.where}: {self.columns.get(field, field)} is {cell!r}, {what}")

    def _id(self, field: str, form: re.Pattern[str], what: str, such_as: str) -> WikidataId:
        match = form.fullmatch(self.cells[field])
        if not match:
            raise self.wrong(field, f"which is not a valid {what}: expected an id such as {such_as}")
        return WikidataId(match[1])


def rows(file: Path, names: Mapping[str, Sequence[str]], required: Sequence[str]) -> Iterator[ListedRow]:
    """The rows of a list; InputError where it is not a valid list. Other columns and empty lines are ignored.

    names: field -> possible names of its column, of which the header has one; required: fields that every list has.
    """
    text = _text(file)
    delimiter, header = _header(file, text, names)
    columns = _columns(file, header, delimiter, names, required)
    places = {field: header.index(column) for field, column in columns.items()}
    count = 0
    for line, record in _records(file, text, delimiter):
        if line == 1 or not any(cell.strip() for cell in record):
            continue
        if len(record) != len(header):
            raise InputError(
                f"{file}, line {line}: {len(record)} cells, and the header has {len(header)}, separated by "
                f"{_DELIMITERS[delimiter]}; quote cells that contain this character"
            )
        count += 1
        yield ListedRow(str(file), line, {field: record[place].strip() for field, place in places.items()}, columns)
    if not count:
        raise InputError(f"{file} has a header and no rows")


def from_csv(path: Path) -> list[Triple]:
    """The facts of a list, in its order. InputError, with file, line and column, where it is not a valid list.

    Columns: subject_id, property_id, object_id (ids, or addresses that end with an id); and, as far as known, subject,
    property, object, question, answers (a JSON list, or separated by |), list_id. Commas, semicolons or tabs.
    """
    listed: dict[Ids, ListedRow] = {}
    for row in rows(path, {**COLUMNS, _POPQA: (_POPQA,)}, REQUIRED):
        if _POPQA in row.columns:
            raise InputError(
                f"{path} is PopQA's list, which has the ids of Wikidata in other columns; name `source: popqa` with it"
            )
        ids = row.item("subject_id"), row.property("property_id"), row.item("object_id")
        if ids in listed:
            raise InputError(
                f"{row.where}: {', '.join(row.columns[field] for field in REQUIRED)} are the same as in line "
                f"{listed[ids].line}; leave one out"
            )
        listed[ids] = row
    relations = relations_of((ids[1], row.text("property")) for ids, row in listed.items())
    source = f"a list of Wikidata facts ({path.name})"
    return [
        row.triple(ids, relations[ids[1]], source, LICENCE, row.text("property"), None) for ids, row in listed.items()
    ]


def one_line(text: str) -> str:
    """The text with single spaces where it has white space or control characters."""
    return " ".join("".join(" " if category(sign) == "Cc" else sign for sign in text).split())


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; expected a list of facts as CSV") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not text in UTF-8 (byte {error.start}); save it as CSV in UTF-8") from None


def _records(file: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record, with the number of the line that it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{file}, line {line}: is not a valid row of CSV ({error})") from None


def _header(file: Path, text: str, names: Mapping[str, Sequence[str]]) -> tuple[str, list[str]]:
    """The delimiter under which the header has most of the columns, and the header read so."""
    known = {name for several in names.values() for name in several}
    first = next(iter(text[: csv.field_size_limit()].splitlines()), "")
    headers = {
        delimiter: [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
        for delimiter in _DELIMITERS
    }
    delimiter, header = max(headers.items(), key=lambda item: len(known & set(item[1])))
    if not any(header):
        raise InputError(f"{file} has no header: expected the columns' names in its first line")
    return delimiter, header


def _columns(
    file: Path, header: list[str], delimiter: str, names: Mapping[str, Sequence[str]], required: Sequence[str]
) -> dict[str, str]:
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice:
        raise InputError(f"{file}, line 1: the column {printable(twice[0])!r} occurs twice; rename one")
    columns: dict[str, str] = {}
    for field, several in names.items():
        there = [name for name in several if name in header]
        for first, second in pairwise(there):
            raise InputError(f"{file}, line 1: the columns {first} and {second} both hold the {several[0]}; rename one")
        if there:
            columns[field] = there[0]
    for field in required:
        if field not in columns:
            raise InputError(
                f"{file}, line 1: no column {' or '.join(names[field])}; it has "
                f"{printable(', '.join(header), 200)}, separated by {_DELIMITERS[delimiter]}"
            )
    return columns
