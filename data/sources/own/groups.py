"""The source `groups`: entities with labels, such as names by gender or pairs of friends, and texts about them.

Such entities have no facts that a model could know. Each set of contexts is a relation of the study, and all relations
have the same entities and queries. The bundled files are in data/catalog/groups.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from swaymeter.data import catalog
from swaymeter.data.catalog import GroupTexts
from swaymeter.data.catalog.group_texts import PAIR, bundled_names, own_or_bundled_file
from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError, MissingFile, UnknownName
from swaymeter.data.options import Problem, beside_the_study, validation_error
from swaymeter.data.randomness import drawn_first
from swaymeter.data.records import Fact, RelationName
from swaymeter.data.sources.own.facts import Name, OptionalName
from swaymeter.data.sources.own.named_file import OwnFile, own_yaml, usable_rows
from swaymeter.data.sources.own.one_row import row_of
from swaymeter.data.sources.source import FactsOptions, FactSource, Group, LabelledEntity, refuse_repeated

log = logging.getLogger(__name__)

VERSION = 1


class EntityRow(BaseModel):
    """A row of an entity; columns with other names are ignored."""

    entity: Name
    label: Name
    type: OptionalName = None


class PairRow(BaseModel):
    """A row of a pair of entities; columns with other names are ignored."""

    entity1: Name
    entity2: Name
    label: Name
    type: OptionalName = None


def _path_or_name(path: str, info: ValidationInfo) -> str:
    """Return the path of the user's file; without this file, `path` unchanged, which may name a bundled file."""
    file = beside_the_study(path, info, is_present=Path.is_file)
    return file if Path(file).is_file() else path


def _texts(path: Any, info: ValidationInfo) -> Any:
    def read() -> GroupTexts:
        return catalog.group_texts(own_or_bundled_file(_path_or_name(path, info), ".yaml"))

    advice = f"docs/own-data.md shows the form; bundled texts: {bundled_names('.yaml')}"
    return path if isinstance(path, GroupTexts) else own_yaml(path, read, "contexts", advice)


Texts = Annotated[
    GroupTexts,
    BeforeValidator(_texts),
    PlainSerializer(lambda texts: texts.model_dump(mode="json")),
    WithJsonSchema({"type": "string"}),
]
"""The path of a file of texts, or the name of bundled texts; after validation, the texts."""


class _Files(OwnFile):
    """The keys of files. Pydantic validates keys of a base class before `relations`, which names sets of `texts`."""

    file: Annotated[str, AfterValidator(_path_or_name)]
    """The file of entities: CSV, JSON or Parquet; or the name of a bundled file (docs/own-data.md)."""
    texts: Texts
    """The YAML file of queries and sets of contexts, or the name of bundled texts (docs/own-data.md)."""

    @property
    def path(self) -> Path:
        """Path of the file of entities."""
        return own_or_bundled_file(self.file, ".csv")


class Groups(FactsOptions, _Files):
    """Entities with labels in a file, such as names by gender or pairs of friends and enemies, and texts about them."""

    display_name: ClassVar[str] = "the file of texts"
    refuses: ClassVar[Mapping[str, str]] = {
        "contexts": "source groups has contexts of its own, under `facts.texts`; leave this key out",
        "frequency": "counts entities near their answers, and source groups has only labels; leave `frequency` out",
        "answers": "needs what is true of an entity, and source groups has only labels; leave it out",
        "seeds": "all seeds would have the same queries and contexts; set `contexts.per_query`, which draws contexts, "
        "or use `seed` instead of `seeds`",
        "export": "asks about groups, which are not facts to be exported",
    }
    names_own_relations: ClassVar[bool] = True

    source: Literal["groups"] = "groups"
    """Entities with labels in a file, and texts about them."""
    per_label: int | None = Field(default=None, ge=1, le=100_000)
    """Limit of the entities of each label, drawn by the study's seed; null: all entities of the file."""
    invented_entities: Literal[0] = 0
    """All entities come from the file; leave this key out."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return no relation: the relations are the sets of contexts in the study's file of texts."""
        return ()

    @field_validator("relations", mode="before")
    @classmethod
    def _check_relations(cls, names: Any, info: ValidationInfo) -> Any:
        texts = info.data.get("texts")
        if texts is None:
            return ()  # another error names the problem
        if names == "all":
            return tuple(texts.contexts)
        if not isinstance(names, list | tuple):
            raise ValueError("expected a list with names of sets of contexts, or `all`")
        if unknown := [str(name) for name in names if name not in texts.contexts]:
            raise ValueError(str(UnknownName("set of contexts", unknown[0], texts.contexts)))
        return refuse_repeated(tuple(names), "set")

    @model_validator(mode="after")
    def _refuse_redundant_keys(self) -> "Groups":
        choice_keys = ("real_entities", "choice", "invented", "invented_model", "absent_from")
        if redundant := [name for name in choice_keys if name in self.model_fields_set]:
            message = "the file names the entities; leave this key out, or limit the entities by `per_label`"
            raise validation_error([Problem((name,), message) for name in redundant])
        return self

    def group(self, relation: str, seed: int) -> Group:
        """Return the entities, queries and sentences of a set of contexts; InputError if the file cannot be used."""
        entities = self.entities
        if self.per_label is not None:
            sample = set[str]()
            for label in dict.fromkeys(entity.label for entity in entities):
                names = [entity.name for entity in entities if entity.label == label]
                sample |= {*drawn_first(names, min(self.per_label, len(names)), seed, "label", label)}
            entities = tuple(entity for entity in entities if entity.name in sample)
        return Group(entities, self.texts.open, self.texts.closed, self.texts.sets[relation])

    @property
    def entities(self) -> tuple[LabelledEntity, ...]:
        """Every entity of the file; InputError if the file cannot be used."""
        try:
            digest = digest_of_named_file(self.path, "facts.file")
        except MissingFile as error:
            raise MissingFile(f"{error}; bundled files: {bundled_names('.csv')}") from None
        return _read(self.path, digest, self.texts.slots == PAIR)


@lru_cache(maxsize=8)
def _read(file: Path, digest: str, has_pairs: bool) -> tuple[LabelledEntity, ...]:
    """Return the entities of a file, cached by its digest; InputError for fewer than two labels."""
    # Each row has two keys: the entity's full name, and the set of a pair's names, which may be in either order.
    locations: dict[frozenset[str] | str, str] = {}

    def check(location: str, cells: Mapping[str, Any]) -> LabelledEntity:
        row = row_of(PairRow, cells) if has_pairs else row_of(EntityRow, cells)
        names: tuple[str, ...] = (row.entity,) if isinstance(row, EntityRow) else (row.entity1, row.entity2)
        entity = LabelledEntity(names, row.label, row.type)
        if "all" in (row.label.casefold(), (row.type or "").casefold()):
            raise InputError("label, type: 'all' already means every label and every type; write another word")
        if has_pairs and len({name.casefold() for name in names}) < 2:
            raise InputError(f"entity1, entity2: are both {names[1]}; name two different entities")
        if other := locations.get(frozenset(names)) or locations.get(entity.name):
            raise InputError(f"has {entity.name}, and so has {other}; delete one of the two rows")
        locations[frozenset(names)] = locations[entity.name] = location
        return entity

    entities = usable_rows(file, "entity1" if has_pairs else "entity", check)
    for column, names in (
        ("label", [entity.label for entity in entities]),
        ("entity", [entity.name for entity in entities]),
    ):
        if alike := _alike(names):
            log.warning(
                "%s: %s %s differ only in capitals and count as different; write them alike", file, column, alike
            )
    counts = Counter(entity.label for entity in entities)
    if len(counts) < 2:
        raise InputError(
            f"{file}: has {'no row' if not counts else f'only the label {next(iter(counts))}'}; the entities need "
            "at least two different labels, which the study compares"
        )
    if single := [label for label, count in counts.items() if count < 2]:
        log.warning("%s: label %s has one entity, which no test can compare; write at least two", file, single[0])
    return tuple(entities)


def _alike(names: Iterable[str]) -> str:
    """Return the first names that differ only in capitals, separated by commas; empty without such names."""
    spellings: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        spellings.setdefault(name.casefold(), []).append(name)
    return next((", ".join(alike) for alike in spellings.values() if len(alike) > 1), "")


def _facts(options: Groups, relation: str, seed: int) -> list[Fact]:
    entities = options.group(relation, seed).entities
    name, (source, licence) = RelationName(relation), options.origin
    return [
        Fact(
            name,
            entity.name,
            entity.label,
            subject_id=None,
            object_id=None,
            id_source=None,
            source=source,
            licence=licence,
        )
        for entity in entities
    ]


GROUPS = FactSource.from_file("groups", Groups, VERSION, _facts)
