"""The published DynamicQA questions: three CSV files in a folder, or downloaded into one.

Two shapes: static and temporal snippets have the slot [ENTITY]; disputable ones have none, and the object's text is
replaced. Rows that break a rule are read and flagged. Source: github.com/copenlu/dynamicqa, folder Data.
"""

import csv
import json
import math
import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from data import catalog
from data.errors import InputError
from data.records import SLOT, Partition, Question, RelationName, WikidataId, identity
from data.sources.slots import NO_SLOT, OBJECT_NOT_IN_CONTEXT, fill_slot, flags_of, replace_object
from data.workspace import written_whole

FILES: Mapping[Partition, str] = {
    "static": "Static_final.csv",
    "temporal": "Temporal_final.csv",
    "disputable": "Disputable_final.csv",
}
ADDRESS = "https://raw.githubusercontent.com/copenlu/dynamicqa/main/Data"
SOURCE = "DynamicQA (copenlu/dynamicqa)"
LICENCE = "as published with DynamicQA; facts: Wikidata CC0 1.0, texts: Wikipedia CC BY-SA 4.0"
_SHARED = ("id", "subj", "question", "context", "obj", "replace_name", "num_edits", "s_pop")
_WIKIDATA = (*_SHARED, "prop", "subj_id", "prop_id", "obj_id", "o_pop", "possible_answers")


def questions(folder: Path, partition: Partition) -> list[Question]:
    """The questions of a partition, every row of its file; InputError names the file, the line and the column."""
    file = folder / FILES[partition]
    wanted = _SHARED if partition == "disputable" else _WIKIDATA
    try:
        with file.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle)
            missing = [column for column in wanted if column not in (reader.fieldnames or ())]
            if missing:
                raise InputError(f"{file} has no column {', '.join(missing)}; expected {', '.join(wanted)}")
            return [_question(row, partition, f"{file}, line {reader.line_num}") for row in reader]
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}; expected the folder of {', '.join(FILES.values())}"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} is no CSV in UTF-8: {error}") from None


def download(folder: Path, partition: Partition, *, address: str | None = None) -> None:
    """Brings a partition's file into the folder unless it is there; InputError says what to do without a network."""
    base = address or os.environ.get("SWAYMETER_DYNAMICQA_URL", ADDRESS)
    file = folder / FILES[partition]
    if file.exists():
        return
    retries = Retry(total=2, backoff_factor=0.5, status_forcelist=(429, 502, 503))
    with requests.Session() as session:
        session.headers["User-Agent"] = f"swaymeter/{version('swaymeter')} python-requests/{requests.__version__}"
        session.mount("https://", HTTPAdapter(max_retries=retries))
        session.mount("http://", HTTPAdapter(max_retries=retries))
        try:
            answer = session.get(f"{base}/{file.name}", timeout=20)
            answer.raise_for_status()
        except requests.RequestException as error:
            raise InputError(
                f"{file.name} of the published DynamicQA could not be fetched from {base} ({type(error).__name__}); "
                "name a `folder` with its CSV files under `questions`, or use source: sample"
            ) from None
    header = next(csv.reader(answer.content.decode(errors="replace").splitlines()), [])
    if not set(_SHARED) <= set(header):
        raise InputError(f"{base}/{file.name} answered with something that is not the published CSV; try again later")
    with written_whole(file) as temporary:
        temporary.write_bytes(answer.content)


def _question(row: Mapping[str, str | None], partition: Partition, where: str) -> Question:
    text = {column: (value or "").strip() for column, value in row.items() if column is not None}
    answer, replacement = text["obj"], text["replace_name"]
    answers = _answers(text.get("possible_answers", ""), answer, where)
    flags = flags_of(text["question"], answers, answer, replacement)
    if partition == "disputable":
        original = text["context"]
        changed = replace_object(original, answer, replacement)
        flags += () if changed is not None else (OBJECT_NOT_IN_CONTEXT,)
        counter_memory = changed or ""
    else:
        original, counter_memory = fill_slot(text["context"], answer), fill_slot(text["context"], replacement)
        flags += () if SLOT in text["context"] else (NO_SLOT,)
    edits = _number(text["num_edits"], where, "num_edits")
    return Question(
        question_id=identity(SOURCE, partition, text.get("", ""), text["id"]),
        relation=_relation(text, partition, where),
        partition=partition,
        subject=text["subj"],
        subject_id=_id(text.get("subj_id")),
        property_id=_id(text.get("prop_id")),
        object=answer,
        object_id=_id(text.get("obj_id")),
        answers=answers,
        replacement=replacement,
        question=text["question"],
        original_context=original,
        counter_memory_context=counter_memory,
        edits=None if edits is None else int(edits),
        subject_popularity=_number(text["s_pop"], where, "s_pop"),
        object_popularity=_number(text.get("o_pop", ""), where, "o_pop"),
        id_source="dynamicqa" if _id(text.get("subj_id")) else None,
        source=SOURCE,
        licence=LICENCE,
        flags=flags,
    )


def _answers(listed: str, answer: str, where: str) -> tuple[str, ...]:
    if not listed:
        return (answer,)
    try:
        forms = json.loads(listed)
    except ValueError:
        raise InputError(f"{where}: possible_answers is no JSON list: {listed[:60]!r}") from None
    if not isinstance(forms, list):
        raise InputError(f"{where}: possible_answers is no JSON list: {listed[:60]!r}")
    return tuple(dict.fromkeys((answer, *map(str, forms))))


def _relation(text: Mapping[str, str], partition: Partition, where: str) -> RelationName:
    if partition == "disputable":
        return RelationName("disputable")
    for known in catalog.relations().values():
        if not known.reverse and known.wikidata == text["prop_id"]:
            return RelationName(known.name)
    words = re.findall(r"[A-Za-z0-9]+", text["prop"])
    name = "".join(word.lower() if first == 0 else word.capitalize() for first, word in enumerate(words))
    try:
        return RelationName(name)
    except InputError:
        raise InputError(f"{where}: prop makes no relation name: {text['prop'][:60]!r}") from None


def _id(value: str | None) -> WikidataId | None:
    return WikidataId(value) if value and re.fullmatch(r"[QP][1-9][0-9]*", value) else None


def _number(value: str, where: str, column: str) -> float | None:
    if value.lower() in ("", "nan"):
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{where}: {column} is no number: {value!r}")
    return number
