"""The study of a publication, beside its database: file, models, licences, commands that repeat it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swaymeter.data.records.findings import StudyCard
from swaymeter.data.records.table import Table


@dataclass(frozen=True)
class ModelEntry:
    """A model in the catalog."""

    hub: str
    """Its id on the hub."""
    licence: str


@dataclass(frozen=True)
class Publication:
    """A study that is published."""

    card: StudyCard
    study_file: str
    """Text of the study file."""
    key: str
    """Key of the database."""
    database: Path
    """File of the database."""
    tables: Sequence[Table]
    """Tables that the database may have."""
    models: Mapping[str, ModelEntry]
    """Catalog entries by the name of the model."""
    commands: tuple[str, ...]
    """Commands that repeat the study."""
    further: Sequence[Mapping[str, object]] = ()
    """Scores of further seeds, which the database lacks: seed, relation, model, dtype, measure, key."""
    published_on: Mapping[str, object] = field(default_factory=dict)
    """Hardware of the machine that publishes."""


@dataclass(frozen=True)
class Exported:
    """A Parquet file with a table of the database."""

    table: Table
    path: str
    """Path within the publication."""
    rows: int


_NAMES = ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
_ANY = "|".join(name.lower().replace(".", "[.]").replace("-", "[ -]") for name in _NAMES)
_NAMED = re.compile(rf"(?<![a-z0-9])({_ANY})(?![a-z0-9])")


def hub(terms: Iterable[str]) -> str:
    """Return the hub's name for the terms of a data set: the licence that all parts share, or `other`."""
    named = {tuple(sorted(_names(term))) for term in terms}
    (only,) = named if len(named) == 1 else ((),)
    return only[0] if len(only) == 1 else "other"


def _names(terms: str) -> set[str]:
    return {name.replace(" ", "-") for name in _NAMED.findall(terms.lower())}
