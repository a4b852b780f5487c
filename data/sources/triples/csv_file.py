"""Facts of Wikidata from a CSV file: three ids a row, and further columns of the list."""

from pathlib import Path

from data.errors import InputError
from data.records import Triple
from data.sources.property_names import relations_of
from data.sources.triples.csv_rows import Ids, ListedRow, rows

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
