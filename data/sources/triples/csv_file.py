"""Facts of Wikidata from a CSV file: three ids a row, and further columns of the list."""

from pathlib import Path

from data.errors import InputError
from data.records import Triple, WikidataId
from data.sources.property_names import relations_of
from data.sources.triples.csv_rows import ListedRow, rows

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
    listed = list(rows(path, {**COLUMNS, _POPQA: (_POPQA,)}, REQUIRED))
    if _POPQA in listed[0].columns:
        raise InputError(
            f"{path} is PopQA's list, which has the ids of Wikidata in other columns; name `source: popqa` with it"
        )
    ids = [_ids(row) for row in listed]
    lines: dict[tuple[WikidataId, ...], int] = {}
    for row, triple in zip(listed, ids, strict=True):
        if triple in lines:
            raise InputError(
                f"{row.where}: {', '.join(row.columns[field] for field in REQUIRED)} are the same as in line "
                f"{lines[triple]}; leave one out"
            )
        lines[triple] = row.line
    relations = relations_of((triple[1], row.text("property")) for row, triple in zip(listed, ids, strict=True))
    source = f"a list of Wikidata facts ({path.name})"
    return [
        row.triple(triple, relations[triple[1]], source=source, licence=LICENCE, property=row.text("property"))
        for row, triple in zip(listed, ids, strict=True)
    ]


def _ids(row: ListedRow) -> tuple[WikidataId, WikidataId, WikidataId]:
    return row.item("subject_id"), row.property("property_id"), row.item("object_id")
