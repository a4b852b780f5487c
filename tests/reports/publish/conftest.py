"""A small study and its publication, shared by all tests that do not change them."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

import swaymeter.reports.publish as publishing
from swaymeter.data.records.table import Table
from swaymeter.data.warehouse.warehouse import Warehouse
from swaymeter.reports.publish import ModelEntry, Publication, publish
from tests.data.warehouse.small_study import TABLES, small_study, warehouse_of
from tests.registries import only
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL

STUDY = Publication(
    card=CARD,
    study_file="name: quickstart\n",
    key="0123456789abcdef",
    database=Path("study.duckdb"),
    tables=TABLES,
    models={MODEL: ModelEntry("someone/SmolLM2-135M-Instruct", "Apache-2.0")},
    commands=("swaymeter run study.yaml",),
)
DRAWN = ("susceptibility-by-relation", "entropy-with-against-persuasion")


@dataclass(frozen=True)
class StudyDatabase:
    """A database with other frames in place of some named queries."""

    warehouse: Warehouse
    database: Path
    frames: dict[str, pd.DataFrame]

    def frame(self, name: str) -> pd.DataFrame:
        return self.frames[name] if name in self.frames else self.warehouse.frame(name)

    def export(self, table: Table, path: Path) -> int:
        return self.warehouse.export(table, path)


@pytest.fixture(scope="session")
def study_database(
    tmp_path_factory: pytest.TempPathFactory, study_frames: dict[str, pd.DataFrame]
) -> Iterator[StudyDatabase]:
    """The database of a small study."""
    folder = tmp_path_factory.mktemp("database")
    with warehouse_of(folder, small_study(), tmp_path_factory.getbasetemp()) as warehouse:
        yield StudyDatabase(warehouse, folder / "study.duckdb", study_frames)


def publish_study(study_database: StudyDatabase, folder: Path, **changes: object) -> None:
    """Publish the small study."""
    publish(dataclasses.replace(STUDY, database=study_database.database, **changes), study_database, folder)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def publication(tmp_path_factory: pytest.TempPathFactory, study_database: StudyDatabase) -> Path:
    """The folder of the publication of the small study, with two figures."""
    folder = tmp_path_factory.mktemp("published") / "paper"
    with only(publishing.FIGURES, DRAWN), without_pixels():
        publish_study(study_database, folder)
    return folder
