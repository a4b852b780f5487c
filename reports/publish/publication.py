"""What a publication needs of its study beside the database: its file, its models, its licences, how to repeat it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from swaymeter.data.records.table import Table
from swaymeter.reports.card import StudyCard


@dataclass(frozen=True)
class Known:
    """What the catalog knows of a model: its id on the hub and its licence."""

    hub: str
    licence: str


@dataclass(frozen=True)
class Publication:
    """A study as it is passed on.

    study_file: its text. key: of the database. tables: every one that the database may have. models: what is known of
    a model, by its name. commands: those that repeat it. url: where the data will lie; empty where nobody said. by: who
    publishes it. further: the files of scores of further seeds, which the database has not: seed, relation, model,
    dtype, measure, key. published_on: the hardware of the machine that publishes.
    """

    card: StudyCard
    study_file: str
    key: str
    tables: Sequence[Table]
    models: Mapping[str, Known]
    commands: tuple[str, ...]
    url: str = ""
    by: str = "not stated"
    further: Sequence[Mapping[str, object]] = ()
    published_on: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Exported:
    """A table's Parquet file: its path in the publication, its rows, bytes and SHA-256."""

    table: Table
    path: str
    rows: int
    size: int
    sha256: str


_NAMES = ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "Apache-2.0")
_SPDX = {name.lower(): name for name in _NAMES}
_ANY = "|".join(one.replace(".", "[.]").replace("-", "[ -]") for one in _SPDX)
_NAMED = re.compile(rf"(?<![a-z0-9])({_ANY})(?![a-z0-9])")


def addresses(terms: Iterable[str]) -> list[str]:
    """The SPDX addresses of all licences that are named; terms that name none are given as they are."""
    return sorted({address for one in terms for address in map(_address, _names(one) or {one})})


def hub(terms: Iterable[str]) -> str:
    """What the hub calls the terms of a dataset: the one licence that all of it has, or other."""
    named = {tuple(sorted(_names(one))) for one in terms}
    (only,) = named if len(named) == 1 else ((),)
    return only[0] if len(only) == 1 else "other"


def _address(name: str) -> str:
    return f"https://spdx.org/licenses/{_SPDX[name]}" if name in _SPDX else name


def _names(terms: str) -> set[str]:
    return {name.replace(" ", "-") for name in _NAMED.findall(terms.lower())}
