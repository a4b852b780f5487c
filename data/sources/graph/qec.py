"""The yago_qec.json of measureLM, the dataset of Du et al. (2024): read and written in its published layout.

The file is one object. Its keys are predicates of YAGO, with `reverse-` before a predicate if queries ask for the
subject. The value of a key has lists of the same length. A position in these lists is a true pair of entity and answer;
an entity with several answers has several positions:

    entities, answers                 English names; for a literal, its text
    entity_uris, answer_uris          the IRIs; for a literal, its text again
    entity_uri_to_degree              number of the graph's triples with the entity
    entity_uri_to_predicate_degree    number of the predicate's triples with the entity as the subject, or for
                                      `reverse-` as the object

Further keys are written and not read: gpt_fake_entities (invented names), query_forms {open, closed: [text]},
context_templates {kind: text}, entity_types and answer_types {class: share of the sampled entities}. The published file
also has degrees by name, and more kinds of contexts. Layout: kdu4108/measureLM, yago_generate_qec.ipynb.
"""

import json
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import LITERAL_CLASSES, Relation
from swaymeter.data.catalog.reading import validated
from swaymeter.data.errors import InputError, WorkspaceError
from swaymeter.data.records import Fact, RelationName
from swaymeter.data.sources.own.lists import each_key_once
from swaymeter.data.storage.writing import write_file

SOURCE = "yago_qec.json of measureLM"
LICENCE = "CC BY 4.0"

_IRI = re.compile(r"https?://[^\x00-\x20\x7f<>\"{}|^`\\]+")
_SCHEMA = "http://schema.org/"
_TOP_CLASSES = {
    "Person": ("person", "musician"),
    "FictionalEntity": ("fictionalCharacter",),
    "CreativeWork": ("film", "tvSeries", "book", "newspaper", "song", "production", "work"),
    "Organization": ("performingGroup", "company", "organization", "recordLabel", "university", "airline"),
    "Place": (
        "airport",
        "country",
        "region",
        "city",
        "place",
        "mountain",
        "waterBody",
        "road",
        "celestialBody",
    ),
    "Product": ("product", "material"),
    "Event": ("event",),
    "Taxon": ("taxon",),
    "Intangible": ("award", "degree", "language", "religion", "gender", "genre", "occupation"),
}
TOP_CLASS: Mapping[str, str] = {name: _SCHEMA + top for top, names in _TOP_CLASSES.items() for name in names}
"""Classes of the layout, which are the top classes of YAGO's taxonomy, by class of the catalog."""


@dataclass(frozen=True)
class QecDataset:
    """The facts of a file by relation, and a warning for each kind of content that was left out."""

    facts: Mapping[str, tuple[Fact, ...]]
    warnings: tuple[str, ...]


Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
Text = Annotated[str, AfterValidator(lambda text: text.encode().decode())]  # no lone surrogates


class _Entry(BaseModel):
    """The lists that are read from the value of a key; None for a missing list."""

    model_config = ConfigDict(strict=True)

    entities: list[Text]
    answers: list[Text]
    entity_uris: list[Text | None] | None = None
    answer_uris: list[Text | None] | None = None
    entity_uri_to_degree: list[Count | None] | None = None
    entity_uri_to_predicate_degree: list[Count | None] | None = None

    @model_validator(mode="after")
    def _equal_lengths(self) -> "_Entry":
        for key in _COLUMNS:
            column = getattr(self, key)
            if column is not None and len(column) != len(self.entities):
                counts = f"`{key}` has {len(column)} entries, but `entities` has {len(self.entities)}"
                raise ValueError(f"{counts}; give both keys the same number of entries")
        return self


class _Pair(NamedTuple):
    entity: str
    answer: str
    entity_uri: str | None
    answer_uri: str | None
    degree: int | None
    relation_degree: int | None


_COLUMNS = tuple(_Entry.model_fields)
"""The parallel lists, in the order of a pair's values."""


def read_qec(path: Path) -> QecDataset:
    """Return the facts of a file: an entity's first pair is its fact, and its further answers are the other_objects.

    Raises:
        InputError: A key breaks the layout, or the file has no relation of the catalog.
    """
    relations = {predicate: relation for relation in catalog.relations().values() for predicate in relation.predicates}
    pairs: dict[str, list[_Pair]] = {}
    skipped, nameless = [], 0
    for predicate, value in _read_object(path).items():
        if predicate not in relations:
            skipped.append(predicate)
            continue
        entry: _Entry = validated(f"{path}: {predicate}: ", _Entry, value)
        columns = [getattr(entry, key) or [None] * len(entry.entities) for key in _COLUMNS]
        all_pairs = [_Pair(*values) for values in zip(*columns, strict=True)]
        named_pairs = [pair for pair in all_pairs if pair.entity.strip() and pair.answer.strip()]
        nameless += len(all_pairs) - len(named_pairs)
        pairs.setdefault(relations[predicate].name, []).extend(named_pairs)
    if not pairs:
        raise InputError(
            f"{path} is not a yago_qec.json: none of its keys is a YAGO predicate of a relation in Swaymeter's "
            "catalog; name another file"
        )
    warnings = []
    if skipped:
        warnings.append(f"keys left out, because the catalog has no relation for them: {', '.join(map(repr, skipped))}")
    if nameless:
        warnings.append(f"pairs left out, because the entity or the answer has no name: {nameless}")
    facts = {name: tuple(_facts(catalog.relation(name), relation_pairs)) for name, relation_pairs in pairs.items()}
    return QecDataset(facts, tuple(warnings))


def write_qec(
    path: Path,
    facts: Mapping[str, Sequence[Fact]],
    names: Mapping[str, Sequence[str]],
    relations: Mapping[str, Relation],
) -> tuple[str, ...]:
    """Write the facts and invented names of relations in the published layout, whole or not at all.

    The layout has no Wikidata ids, degrees of objects, sources, addresses and times. Of each kind of contexts, only the
    first template is written.

    Returns:
        The names of relations without a predicate of YAGO, which are left out.

    Raises:
        InputError: No relation has a predicate of YAGO.
        WorkspaceError: The file cannot be written.
    """
    document = {
        relations[name].predicates[0]: _entry(relations[name], facts[name], names.get(name, ()))
        for name in facts
        if relations[name].yago
    }
    if not document:
        raise InputError(
            f"yago_qec.json names relations by predicates of YAGO, but none of the relations {', '.join(facts)} has a "
            "predicate of YAGO; add a relation with such a predicate to the study"
        )
    try:
        write_file(path, json.dumps(document, ensure_ascii=False, indent=4, sort_keys=True, allow_nan=False))
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.__cause__}; name another file") from None
    return tuple(name for name in facts if not relations[name].yago)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=each_key_once)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; correct the path") from None
    except RecursionError:
        raise InputError(f"{path} has JSON that is nested too deeply to be read; correct the file") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON in UTF-8: {error}; correct the file") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} must be a JSON object, not {reprlib.repr(content)}")
    return content


def _facts(relation: Relation, pairs: Sequence[_Pair]) -> list[Fact]:
    by_entity: dict[tuple[bool, str], list[_Pair]] = {}  # keys: (True, IRI), or (False, name) without an IRI
    for pair in pairs:
        uri = _iri(pair.entity_uri)
        by_entity.setdefault((uri is not None, uri or pair.entity), []).append(pair)
    return [
        Fact(
            RelationName(relation.name),
            first.entity,
            first.answer,
            subject_id=None,
            object_id=None,
            id_source=None,
            source=SOURCE,
            licence=LICENCE,
            subject_uri=_iri(first.entity_uri),
            object_uri=None if relation.object_class in LITERAL_CLASSES else _iri(first.answer_uri),
            other_objects=tuple(sorted({other.answer for other in others} - {first.answer})),
            subject_degree=first.degree,
            subject_relation_degree=first.relation_degree,
        )
        for first, *others in by_entity.values()
    ]


def _iri(value: str | None) -> str | None:
    """Return the IRI; None for the text of a literal, and for a blank node, whose name differs in every response."""
    return value if value is not None and _IRI.fullmatch(value) else None


def _entry(relation: Relation, facts: Sequence[Fact], names: Sequence[str]) -> dict[str, Any]:
    """Return the value of a relation's key: a pair for each object of each fact, in parallel lists."""
    is_literal = relation.object_class in LITERAL_CLASSES
    pairs = []
    for fact in facts:
        degrees = (fact.subject_degree, fact.subject_relation_degree)
        for index, answer in enumerate((fact.object, *fact.other_objects)):
            uri = fact.object_uri if index == 0 else None
            pairs.append(_Pair(fact.subject, answer, fact.subject_uri, answer if is_literal else uri, *degrees))
    columns = {key: [pair[index] for pair in pairs] for index, key in enumerate(_COLUMNS)}
    optional = _COLUMNS[2:]
    empty = {key for key in optional if all(value is None for value in columns[key])}
    return {
        **{key: column for key, column in columns.items() if key not in empty},
        "gpt_fake_entities": list(names),
        "query_forms": {"open": list(relation.open), "closed": list(relation.closed)},
        "context_templates": {kind: templates[0] for kind, templates in relation.contexts.items()},
        "entity_types": {TOP_CLASS[relation.subject_class]: 1.0},
        "answer_types": {} if is_literal else {TOP_CLASS[relation.object_class]: 1.0},
    }
