"""PopQA's list of facts [Mallen et al. 2023], from a file or the hub.

Its subj_id, prop_id and obj_id are numbers of its own: the ids of Wikidata are in s_uri and o_uri. Of its sixteen
properties it has only the names.
"""

import hashlib
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from swaymeter.data.errors import ServiceError, nearest
from swaymeter.data.records import Triple, WikidataId
from swaymeter.data.sources.http.printable import printable
from swaymeter.data.sources.property_names import relations_of
from swaymeter.data.sources.triples.csv_rows import Ids, ListedRow, rows

log = logging.getLogger(__name__)

DATASET = "akariasai/PopQA"
FILE = "test.tsv"
SOURCE = f"PopQA ({DATASET})"
LICENCE = "as published with PopQA; facts: Wikidata CC0 1.0"
COLUMNS = {
    "subject_id": ("s_uri",), "object_id": ("o_uri",), "property": ("prop",), "subject": ("subj",),
    "object": ("obj",), "question": ("question",), "answers": ("possible_answers",), "list_id": ("id",),
}  # fmt: skip
_NUMBERS = {
    "author": "P50", "capital": "P36", "capital of": "P1376", "color": "P462", "composer": "P86", "country": "P17",
    "director": "P57", "father": "P22", "genre": "P136", "mother": "P25", "occupation": "P106", "place of birth": "P19",
    "producer": "P162", "religion": "P140", "screenwriter": "P58", "sport": "P641",
}  # fmt: skip
PROPERTIES: Mapping[str, WikidataId] = {name: WikidataId(number) for name, number in _NUMBERS.items()}


def popqa(path: Path | None, *, offline: bool = False) -> list[Triple]:
    """The facts of PopQA in its order, each once.

    path: its file, test.tsv, with tabs or as CSV; None for that of the hub. InputError names file, line and column
    where the file is not PopQA's; ServiceError where it is neither on this machine nor on the hub.
    """
    retrieved_at = None
    if path is None:
        path, retrieved_at = _from_hub(offline)
    read = list(rows(path, COLUMNS, tuple(COLUMNS)))
    listed: dict[Ids, ListedRow] = {}
    for row in read:
        listed.setdefault((row.item("subject_id"), _property(row), row.item("object_id")), row)
    if len(listed) < len(read):
        log.info("%s: %d of %d rows are duplicates", path.name, len(read) - len(listed), len(read))
    names = {property_id: name for name, property_id in PROPERTIES.items()}
    relations = relations_of(names.items())
    return [
        row.triple(ids, relations[ids[1]], SOURCE, LICENCE, names[ids[1]], retrieved_at) for ids, row in listed.items()
    ]


def _property(row: ListedRow) -> WikidataId:
    name = row.text("property") or ""
    if name not in PROPERTIES:
        raise row.wrong("property", f"which is not a property of PopQA; {nearest(name, PROPERTIES)}")
    return PROPERTIES[name]


def _from_hub(offline: bool) -> tuple[Path, str]:
    """The file, and when it was fetched (UTC, ISO 8601)."""
    from huggingface_hub import hf_hub_download

    try:
        file = Path(hf_hub_download(DATASET, FILE, repo_type="dataset", local_files_only=offline))
    except Exception as error:  # the hub's library, its HTTP client and the file system have no tree in common
        why = printable(f"{type(error).__name__}: {error}", 160)
        raise ServiceError(
            f"PopQA's list, {FILE} of the hub's dataset {DATASET}, is not on this machine and could not be fetched "
            f"({why}); name its file, run again with a network, or use a list of your own"
        ) from None
    if not _is_as_published(file):
        raise ServiceError(
            f"PopQA's list in the hub's cache is damaged: {file} does not have the digest that the hub gave; delete "
            f"{file.resolve()} so that it is downloaded again"
        )
    return file, datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()


def _is_as_published(file: Path) -> bool:
    """Whether a file of the hub's cache has the digest that its content is named by, if it is named by one."""
    name, content = file.resolve().name, file.read_bytes()
    git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    of_content = {40: git, 64: hashlib.sha256(content)}
    return (
        not re.fullmatch("[0-9a-f]+", name) or len(name) not in of_content or name == of_content[len(name)].hexdigest()
    )
