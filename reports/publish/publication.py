"""What a publication needs of its study beside the database: its file, its models, and how to repeat it."""

from collections.abc import Mapping, Sequence
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
