"""Inputs of a publication beside the database: study file, models, licences and commands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swaymeter.data.records.findings import StudyCard
from swaymeter.data.records.table import Table


@dataclass(frozen=True)
class ModelEntry:
    """The name and the licence of a model."""

    hub: str
    """Id on the hub; for a model in a folder, the name of the folder."""
    licence: str


@dataclass(frozen=True)
class Publication:
    """A study to publish."""

    card: StudyCard
    study_file: str
    """Text of the study file."""
    key: str
    """Key of the database."""
    database: Path
    tables: Sequence[Table]
    """Tables that the database may have."""
    models: Mapping[str, ModelEntry]
    """Entries by the name of the model in the study."""
    commands: tuple[str, ...]
    """Commands that repeat the study."""
    further: Sequence[Mapping[str, object]] = ()
    """Scores of further seeds, which the database lacks: seed, relation, model, dtype, measure and key."""
    publishing_machine: Mapping[str, object] = field(default_factory=dict)
    """Hardware of the machine that publishes."""


@dataclass(frozen=True)
class ExportedTable:
    """A Parquet file with a table of the database."""

    table: Table
    path: str
    """Path within the publication."""
    rows: int


_LICENCES = ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
_ANY_LICENCE = "|".join(name.lower().replace(".", "[.]").replace("-", "[ -]") for name in _LICENCES)
_LICENCE = re.compile(rf"(?<![a-z0-9])({_ANY_LICENCE})(?![a-z0-9])")  # such as "cc by-sa 4.0" in lower case


def hub_licence(terms: Iterable[str]) -> str:
    """Return the hub's identifier of the single licence that all terms name, such as "mit".

    Return "other" if there is no such licence, or if one of the terms names a second licence.
    """
    licences = {frozenset(_licences(text)) for text in terms}
    shared = next(iter(licences)) if len(licences) == 1 else frozenset[str]()
    return next(iter(shared)) if len(shared) == 1 else "other"


def _licences(text: str) -> set[str]:
    return {name.replace(" ", "-") for name in _LICENCE.findall(text.lower())}
