"""Bundled reference data and the loader that reads it; no other code lives here.

Imports only the standard library, PyYAML and data.errors. Every file names its source and licence; a file that
breaks its own form is refused with its name and the key or line at fault.
"""

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from data.errors import InputError, UnknownName

CONTEXT_KINDS = ("base", "assertive", "negation")
PARTITIONS = ("static", "temporal", "disputable")
MODEL_KINDS = ("language_model", "embedder", "entailment")
OBJECT_SLOT = "[ENTITY]"

FACT_COLUMNS = ("relation", "subject", "subject_id", "object", "object_id", "id_source", "source")
QUESTION_COLUMNS = (
    "partition", "relation", "subject", "subject_id", "property_id", "object", "object_id", "answers", "question",
    "snippet", "replacement", "replacement_source", "edits", "subject_popularity", "object_popularity", "id_source",
    "source",
)  # fmt: skip

_SLOT = re.compile(r"\{(entity|answer)\}")
_RELATION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_ENTITY_ID = re.compile(r"Q[1-9][0-9]*")
_PROPERTY_ID = re.compile(r"P[1-9][0-9]*")


@dataclass(frozen=True)
class Relation:
    """A relation with its identifiers, the classes it joins and the texts it is asked and asserted with.

    open, closed: two query forms each; contexts: kind -> sentence templates that end with a newline.
    """

    name: str
    wikidata: str | None
    yago: str | None
    subject_class: str
    object_class: str
    open: tuple[str, str]
    closed: tuple[str, str]
    contexts: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class CatalogFact:
    """A true (subject, relation, object); an id is None where no source at hand gave one."""

    relation: str
    subject: str
    subject_id: str | None
    object: str
    object_id: str | None
    id_source: str | None
    source: str


@dataclass(frozen=True)
class CatalogQuestion:
    """A question with a snippet whose object is the slot [ENTITY]; edits counts value changes, or reversions."""

    partition: str
    relation: str
    subject: str
    subject_id: str | None
    property_id: str | None
    object: str
    object_id: str | None
    answers: tuple[str, ...]
    question: str
    snippet: str
    replacement: str
    replacement_source: str
    edits: int
    subject_popularity: float | None
    object_popularity: float | None
    id_source: str | None
    source: str


@dataclass(frozen=True)
class CatalogModel:
    """What an alias stands for: a hub id, or a file (or folder) inside an installed package."""

    alias: str
    kind: str
    licence: str
    hub: str | None = None
    package: str | None = None
    module: str | None = None
    version: str | None = None
    file: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class CatalogPrompts:
    """Short-answer instructions with slots {question} and {context}; plain_*: for models without a chat form."""

    system: str
    with_context: str
    without_context: str
    plain_with_context: str
    plain_without_context: str


@lru_cache(maxsize=1)
def relations() -> Mapping[str, Relation]:
    """Every relation of the catalog by name, in the file's order."""
    entries = _mapping("relations.yaml", "relations")
    return MappingProxyType({name: _relation(name, entry) for name, entry in entries.items()})


def relation(name: str) -> Relation:
    """The relation of that name; raises UnknownName with the nearest one."""
    known = relations()
    if name not in known:
        raise UnknownName("relation", name, known)
    return known[name]


@cache
def facts(relation: str | None = None) -> tuple[CatalogFact, ...]:
    """The bundled real facts, all or of one relation; raises UnknownName for a relation the catalog lacks."""
    if relation is not None:
        if relation not in relations():
            raise UnknownName("relation", relation, relations())
        return tuple(fact for fact in facts() if fact.relation == relation)
    return tuple(_fact(line, row) for line, row in _rows("facts.csv", FACT_COLUMNS))


@cache
def invented_entities(entity_class: str) -> tuple[str, ...]:
    """Names of that class which exist nowhere; raises UnknownName for a class the catalog lacks."""
    classes = _mapping("invented.yaml", "classes")
    if entity_class not in classes:
        raise UnknownName("entity class", entity_class, classes)
    return _texts("invented.yaml", f"classes.{entity_class}", classes[entity_class])


@cache
def questions(partition: str | None = None) -> tuple[CatalogQuestion, ...]:
    """The bundled questions, all or of one partition; raises UnknownName for another partition."""
    if partition is not None:
        if partition not in PARTITIONS:
            raise UnknownName("partition", partition, PARTITIONS)
        return tuple(question for question in questions() if question.partition == partition)
    return tuple(_question(line, row) for line, row in _rows("questions.csv", QUESTION_COLUMNS))


@lru_cache(maxsize=1)
def prompts() -> CatalogPrompts:
    """The instructions for short answers, with and without a context."""
    answers = _mapping("prompts.yaml", "answers")
    texts = {
        key: _text("prompts.yaml", f"answers.{key}", answers.get(key)) for key in CatalogPrompts.__dataclass_fields__
    }
    for key, template in texts.items():
        wanted = set() if key == "system" else {"question"} if "without" in key else {"question", "context"}
        if set(re.findall(r"\{(\w*)\}", template)) != wanted:
            raise InputError(f"prompts.yaml: answers.{key} must have the slots {sorted(wanted)} and no other")
    return CatalogPrompts(**texts)


@lru_cache(maxsize=1)
def models() -> Mapping[str, CatalogModel]:
    """What each model alias stands for."""
    entries = _mapping("models.yaml", "aliases")
    return MappingProxyType({alias: _model(alias, entry) for alias, entry in entries.items()})


def fill(template: str, *, entity: str, answer: str | None = None) -> str:
    """The template with {entity} and {answer} replaced in one pass, so that a name may itself contain braces.

    Raises InputError when the template asks for an answer and none is given.
    """
    names = {"entity": entity, "answer": answer}

    def name(slot: re.Match[str]) -> str:
        value = names[slot[1]]
        if value is None:
            raise InputError(f"no answer is given for the template {template!r}")
        return value

    return _SLOT.sub(name, template)


def digest(filename: str) -> str:
    """The SHA-256 of a catalog file, in hex; raises InputError when there is no such file."""
    return hashlib.sha256(_content(filename)).hexdigest()


def _content(filename: str) -> bytes:
    file = resources.files(__name__) / filename
    if not file.is_file():
        raise InputError(f"the catalog has no file {filename!r}")
    return file.read_bytes()


def _decoded(filename: str) -> str:
    try:
        return _content(filename).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{filename}: not UTF-8 ({error})") from error


@cache
def _document(filename: str) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(_decoded(filename))
    except yaml.YAMLError as error:
        raise InputError(f"{filename}: not YAML ({error})") from error
    if not isinstance(document, dict):
        raise InputError(f"{filename}: the top must be a mapping")
    for key in ("source", "licence"):
        _text(filename, key, document.get(key))
    return document


def _mapping(filename: str, key: str) -> Mapping[str, Any]:
    entries = _document(filename).get(key)
    if not isinstance(entries, dict) or not entries:
        raise InputError(f"{filename}: {key} must be a mapping that is not empty")
    return entries


def _text(filename: str, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{filename}: {key} must be a text that is not empty, not {value!r}")
    return value


def _texts(filename: str, key: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not values:
        raise InputError(f"{filename}: {key} must be a list that is not empty")
    return tuple(_text(filename, f"{key}[{place}]", value) for place, value in enumerate(values))


def _fields(filename: str, key: str, entry: object, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise InputError(f"{filename}: {key} must be a mapping")
    for field in entry:
        if field not in known:
            raise InputError(f"{filename}: {key}.{field} is not a known key; known: {', '.join(known)}")
    return entry


def _pair(key: str, values: object) -> tuple[str, str]:
    texts = _texts("relations.yaml", key, values)
    if len(texts) != 2:
        raise InputError(f"relations.yaml: {key} must have two forms, not {len(texts)}")
    return texts[0], texts[1]


def _relation(name: str, entry: object) -> Relation:
    where = f"relations.{name}"
    if not _RELATION_NAME.fullmatch(str(name)):
        raise InputError(f"relations.yaml: {where} is not a slug of letters and digits")
    known = [field for field in Relation.__dataclass_fields__ if field != "name"]
    fields = _fields("relations.yaml", where, entry, known)
    kinds = _fields("relations.yaml", f"{where}.contexts", fields.get("contexts"), CONTEXT_KINDS)
    identifiers = {
        key: None if fields.get(key) is None else _text("relations.yaml", f"{where}.{key}", fields[key])
        for key in ("wikidata", "yago")
    }
    if identifiers["wikidata"] is not None and not _PROPERTY_ID.fullmatch(identifiers["wikidata"]):
        raise InputError(f"relations.yaml: {where}.wikidata must look like P36, not {identifiers['wikidata']!r}")
    return Relation(
        name=name,
        wikidata=identifiers["wikidata"],
        yago=identifiers["yago"],
        subject_class=_text("relations.yaml", f"{where}.subject_class", fields.get("subject_class")),
        object_class=_text("relations.yaml", f"{where}.object_class", fields.get("object_class")),
        open=_pair(f"{where}.open", fields.get("open")),
        closed=_pair(f"{where}.closed", fields.get("closed")),
        contexts=MappingProxyType(
            {kind: _texts("relations.yaml", f"{where}.contexts.{kind}", kinds.get(kind)) for kind in CONTEXT_KINDS}
        ),
    )


def _model(alias: str, entry: object) -> CatalogModel:
    known = [field for field in CatalogModel.__dataclass_fields__ if field != "alias"]
    fields = _fields("models.yaml", f"aliases.{alias}", entry, known)
    texts = {field: _text("models.yaml", f"aliases.{alias}.{field}", value) for field, value in fields.items()}
    for field in ("kind", "licence"):
        _text("models.yaml", f"aliases.{alias}.{field}", texts.get(field))
    if texts["kind"] not in MODEL_KINDS:
        raise InputError(f"models.yaml: aliases.{alias}.kind must be one of {', '.join(MODEL_KINDS)}")
    if ("hub" in texts) == ("package" in texts):
        raise InputError(f"models.yaml: aliases.{alias} must name a hub id or a package, one of the two")
    return CatalogModel(alias=alias, **texts)


def _rows(filename: str, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    lines = _decoded(filename).splitlines()
    opening = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.reader(lines[opening:], strict=True)
    try:
        records = [(opening + reader.line_num, record) for record in reader]
    except csv.Error as error:
        raise InputError(f"{filename}: line {opening + reader.line_num}: {error}") from error
    if not records or records[0][1] != list(columns):
        raise InputError(f"{filename}: line {opening + 1}: the columns must be {','.join(columns)}")
    for line, record in records[1:]:
        if len(record) != len(columns):
            raise InputError(f"{filename}: line {line}: {len(record)} fields, not {len(columns)}")
    return [(line, dict(zip(columns, record, strict=True))) for line, record in records[1:]]


def _cell(where: str, row: Mapping[str, str], column: str) -> str:
    if not row[column].strip():
        raise InputError(f"{where}: {column} is empty")
    return row[column]


def _identifier(where: str, row: Mapping[str, str], column: str, form: re.Pattern[str]) -> str | None:
    if not row[column]:
        return None
    if not form.fullmatch(row[column]):
        raise InputError(f"{where}: {column} is {row[column]!r}, which is no Wikidata id")
    return row[column]


def _number(where: str, row: Mapping[str, str], column: str) -> float | None:
    if not row[column]:
        return None
    try:
        return float(row[column])
    except ValueError as error:
        raise InputError(f"{where}: {column} is {row[column]!r}, which is no number") from error


def _known_relation(where: str, name: str) -> str:
    if name not in relations():
        raise InputError(f"{where}: relation {name!r} is not in relations.yaml")
    return name


def _fact(line: int, row: Mapping[str, str]) -> CatalogFact:
    where = f"facts.csv: line {line}"
    return CatalogFact(
        relation=_known_relation(where, row["relation"]),
        subject=_cell(where, row, "subject"),
        subject_id=_identifier(where, row, "subject_id", _ENTITY_ID),
        object=_cell(where, row, "object"),
        object_id=_identifier(where, row, "object_id", _ENTITY_ID),
        id_source=row["id_source"] or None,
        source=_cell(where, row, "source"),
    )


def _answers(where: str, row: Mapping[str, str]) -> tuple[str, ...]:
    try:
        answers = json.loads(row["answers"])
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: answers is no JSON ({error})") from error
    if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
        raise InputError(f"{where}: answers must be a list of texts that is not empty")
    return tuple(answers)


def _edits(where: str, row: Mapping[str, str]) -> int:
    if not row["edits"].isdecimal():
        raise InputError(f"{where}: edits is {row['edits']!r}, which is no count")
    return int(row["edits"])


def _question(line: int, row: Mapping[str, str]) -> CatalogQuestion:
    where = f"questions.csv: line {line}"
    if row["partition"] not in PARTITIONS:
        raise InputError(f"{where}: partition must be one of {', '.join(PARTITIONS)}")
    disputable = row["partition"] == "disputable"
    if disputable != (row["relation"] == "disputable"):
        raise InputError(f"{where}: the relation 'disputable' belongs to the partition disputable, and only there")
    return CatalogQuestion(
        partition=row["partition"],
        relation=row["relation"] if disputable else _known_relation(where, row["relation"]),
        subject=_cell(where, row, "subject"),
        subject_id=_identifier(where, row, "subject_id", _ENTITY_ID),
        property_id=_identifier(where, row, "property_id", _PROPERTY_ID),
        object=_cell(where, row, "object"),
        object_id=_identifier(where, row, "object_id", _ENTITY_ID),
        answers=_answers(where, row),
        question=_cell(where, row, "question"),
        snippet=_cell(where, row, "snippet"),
        replacement=_cell(where, row, "replacement"),
        replacement_source=_cell(where, row, "replacement_source"),
        edits=_edits(where, row),
        subject_popularity=_number(where, row, "subject_popularity"),
        object_popularity=_number(where, row, "object_popularity"),
        id_source=row["id_source"] or None,
        source=_cell(where, row, "source"),
    )
