"""Facts of Wikidata from a list: a user's file in CSV, JSON or Parquet, or the list of PopQA [Mallen et al. 2023].

PopQA's columns subj_id, prop_id and obj_id have no ids of Wikidata; s_uri and o_uri have the ids of subject and object.
PopQA has sixteen properties by name, such as "capital"; PROPERTIES has their ids.
"""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import category

from swaymeter.data.digests import git_sha1, sha256
from swaymeter.data.errors import InputError, ServiceError, is_text, nearest, printable
from swaymeter.data.records import RelationName, Triple, WikidataId
from swaymeter.data.sources.own.files import names_for_message, read_rows
from swaymeter.data.sources.own.lists import as_text
from swaymeter.data.sources.property_names import relations_of

log = logging.getLogger(__name__)

LICENCE = "facts: Wikidata CC0 1.0"
COLUMNS = {
    "subject_id": ("subject_id", "subj_id"),
    "property_id": ("property_id", "prop_id"),
    "object_id": ("object_id", "obj_id"),
    "subject": ("subject", "subj"),
    "property": ("property", "prop"),
    "object": ("object", "obj"),
    "question": ("question",),
    "answers": ("answers", "possible_answers"),
    "list_id": ("list_id", "id"),
}
"""The fields of a list, each with the possible names of its column; the second name is DynamicQA's."""
REQUIRED = ("subject_id", "property_id", "object_id")
_ONLY_IN_POPQA = "s_uri"
"""A column that only PopQA's list has. `from_file` refuses such a list, because its subj_id is no id of Wikidata."""
_ITEM = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/)?(Q[1-9][0-9]{0,15})")
_PROPERTY = re.compile(
    r"(?:https?://(?:www\.)?wikidata\.org/(?:entity/|prop/(?:direct/|statement/)?|wiki/Property:))?(P[1-9][0-9]{0,15})"
)
DATASET = "akariasai/PopQA"
FILE = "test.tsv"
POPQA_SOURCE = f"PopQA ({DATASET})"
POPQA_LICENCE = "as published with PopQA; facts: Wikidata CC0 1.0"
POPQA_COLUMNS = {
    "subject_id": ("s_uri",),
    "object_id": ("o_uri",),
    "property": ("prop",),
    "subject": ("subj",),
    "object": ("obj",),
    "question": ("question",),
    "answers": ("possible_answers",),
    "list_id": ("id",),
}
"""The fields of PopQA's list, each with the name of its column."""
_POPQA_PROPERTIES = {
    "author": "P50",
    "capital": "P36",
    "capital of": "P1376",
    "color": "P462",
    "composer": "P86",
    "country": "P17",
    "director": "P57",
    "father": "P22",
    "genre": "P136",
    "mother": "P25",
    "occupation": "P106",
    "place of birth": "P19",
    "producer": "P162",
    "religion": "P140",
    "screenwriter": "P58",
    "sport": "P641",
}
PROPERTIES: Mapping[str, WikidataId] = {name: WikidataId(number) for name, number in _POPQA_PROPERTIES.items()}
"""The ids of PopQA's properties, by name."""
Ids = tuple[WikidataId, WikidataId, WikidataId]
"""The ids of subject, property and object."""


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row of a list.

    Attributes:
        file: The file of the list.
        location: The position of the row in the file, such as "line 4".
        cells: The stripped cells, by field.
        columns: The name of the column of each field.
    """

    file: Path
    location: str
    cells: Mapping[str, str]
    columns: Mapping[str, str]

    def text(self, field: str) -> str | None:
        """Return the cell's text on one line; None for an empty cell or a missing column."""
        return single_line(self.cells.get(field, "")) or None

    def id(self, field: str) -> WikidataId:
        """Return the id in a cell, from an id or an address of Wikidata; InputError for any other text."""
        pattern, kind, example = (_PROPERTY, "property", "P106") if field == "property_id" else (_ITEM, "item", "Q42")
        if not (match := pattern.fullmatch(self.cells[field])):
            raise self.cell_error(field, f"which is not a valid {kind} of Wikidata: expected an id such as {example}")
        return WikidataId(match[1])

    def triple(
        self,
        ids: Ids,
        relations: Mapping[WikidataId, RelationName],
        source: str,
        licence: str,
        property_name: str | None,
        retrieved_at: str | None,
    ) -> Triple:
        """Return the row as a triple of these ids; `relations` has the relation of each property."""
        subject_id, property_id, object_id = ids
        return Triple(
            relations[property_id],
            subject_id,
            property_id,
            object_id,
            source,
            licence,
            self.text("subject"),
            property_name,
            self.text("object"),
            self.text("question"),
            self.answers("answers"),
            self.text("list_id"),
            retrieved_at,
        )

    def answers(self, field: str) -> tuple[str, ...]:
        """Return the different texts of a cell, from a JSON list or separated by |; () for an empty cell."""
        cell = self.cells.get(field, "")
        try:
            texts = json.loads(cell) if cell.startswith("[") else cell.split("|")
        except (ValueError, RecursionError):
            texts = [None]
        if not all(isinstance(text, str) and is_text(text) for text in texts):
            raise self.cell_error(field, 'which is not a list of texts, such as ["actor", "actress"] or actor|actress')
        return tuple(dict.fromkeys(text for text in map(single_line, texts) if text))

    def cell_error(self, field: str, problem: str) -> InputError:
        """Return the error "<column> is <cell>, <problem>" of an invalid cell."""
        cell = printable(self.cells.get(field, ""), 60)
        return InputError(f"{self.file}, {self.location}: {self.columns.get(field, field)} is {cell!r}, {problem}")


def rows(file: Path, names: Mapping[str, Sequence[str]], required: Sequence[str]) -> Iterator[ListedRow]:
    """Yield the rows of a list in CSV, JSON or Parquet; other columns and empty lines are ignored.

    Args:
        file: The file of the list.
        names: The possible names of each field's column.
        required: The required fields.

    Raises:
        InputError: A row cannot be used, or the file cannot be read; the message has file, line and column.
    """
    header, file_rows = read_rows(file, {name for possible in names.values() for name in possible})
    columns: dict[str, str] = {}
    for field, possible in names.items():
        present = [name for name in possible if name in header]
        if len(present) > 1:
            raise InputError(
                f"{file}: the columns {present[0]} and {present[1]} both hold the {possible[0]}; rename one "
                "of the two columns"
            )
        if present:
            columns[field] = present[0]
        elif field in required:
            raise InputError(f"{file} has no column {' or '.join(possible)}; the file has {names_for_message(header)}")
    if not file_rows:
        raise InputError(f"{file} has a header and no rows; write rows below the header")
    for location, cells, problem in file_rows:
        if problem:
            raise InputError(f"{file}, {location}: {problem}")
        texts: dict[str, str] = {}
        for field, column in columns.items():
            cell = cells.get(column)
            is_empty = cell is None or cell != cell  # NaN
            texts[field] = "" if is_empty else as_text(cell).strip()
        yield ListedRow(file, location, texts, columns)


def from_file(path: Path) -> list[Triple]:
    """Return the facts of a list, in their order.

    The columns are subject_id, property_id, object_id (ids, or addresses that end with an id). Optional columns are
    subject, property, object, question, answers (a JSON list, or separated by |) and list_id.

    Raises:
        InputError: The list is invalid; the message has file, line and column.
    """
    by_ids: dict[Ids, ListedRow] = {}
    for row in rows(path, {**COLUMNS, _ONLY_IN_POPQA: (_ONLY_IN_POPQA,)}, REQUIRED):
        if _ONLY_IN_POPQA in row.columns:
            raise InputError(
                f"{path} is PopQA's list, whose ids of Wikidata are in other columns; set `source: popqa` for this list"
            )
        ids = row.id("subject_id"), row.id("property_id"), row.id("object_id")
        if ids in by_ids:
            columns = ", ".join(row.columns[field] for field in REQUIRED)
            raise InputError(
                f"{path}, {row.location}: the row has the same {columns} as {by_ids[ids].location}; "
                "remove one of the rows"
            )
        by_ids[ids] = row
    relations = relations_of((ids[1], row.text("property")) for ids, row in by_ids.items())
    source = f"a list of Wikidata facts ({path.name})"
    return [row.triple(ids, relations, source, LICENCE, row.text("property"), None) for ids, row in by_ids.items()]


def popqa(path: Path | None, *, offline: bool = False) -> list[Triple]:
    """Return the facts of PopQA in their order, each once.

    Args:
        path: A copy of PopQA's file test.tsv, with tabs or as CSV; None for the file on the Hugging Face hub.
        offline: True to use only a copy in the hub's cache.

    Raises:
        InputError: The file is not PopQA's; the message has file, line and column.
        ServiceError: The file is neither on this machine nor on the hub.
    """
    retrieved_at = None
    if path is None:
        path, retrieved_at = _from_hub(offline)
    all_rows = list(rows(path, POPQA_COLUMNS, tuple(POPQA_COLUMNS)))
    by_ids: dict[Ids, ListedRow] = {}
    for row in all_rows:
        if (name := row.text("property") or "") not in PROPERTIES:
            raise row.cell_error("property", f"which is not a property of PopQA; {nearest(name, PROPERTIES)}")
        by_ids.setdefault((row.id("subject_id"), PROPERTIES[name], row.id("object_id")), row)
    if len(by_ids) < len(all_rows):
        log.info("%s: %d of %d rows are duplicates", path.name, len(all_rows) - len(by_ids), len(all_rows))
    names = {property_id: name for name, property_id in PROPERTIES.items()}
    relations = relations_of(names.items())
    return [
        row.triple(ids, relations, POPQA_SOURCE, POPQA_LICENCE, names[ids[1]], retrieved_at)
        for ids, row in by_ids.items()
    ]


def _from_hub(offline: bool) -> tuple[Path, str]:
    """Return PopQA's file from the Hugging Face hub, and the time of its download (UTC, ISO 8601)."""
    from huggingface_hub import hf_hub_download

    try:
        file = Path(hf_hub_download(DATASET, FILE, repo_type="dataset", local_files_only=offline))
    except Exception as error:  # the hub's library, its HTTP client and the file system have no common exception
        reason = printable(f"{type(error).__name__}: {error}", 160)
        raise ServiceError(
            f"PopQA's list, {FILE} of the hub's dataset {DATASET}, is not on this machine and could not be fetched "
            f"({reason}); name a copy of the list under `triples.file`, run again with a network, or use a list "
            "of your own"
        ) from None
    # A file of the hub's cache is named by the digest of its content.
    name, content = file.resolve().name, file.read_bytes()
    if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", name) and name not in (git_sha1(content), sha256(content)):
        raise ServiceError(
            f"PopQA's list in the hub's cache is damaged: {file} does not have the digest that the hub gave; delete "
            f"{file.resolve()} so that it is downloaded again"
        )
    return file, datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()


def single_line(text: str) -> str:
    """Return the text with single spaces in place of white space and control characters."""
    return " ".join("".join(" " if category(character) == "Cc" else character for character in text).split())
