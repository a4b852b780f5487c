"""One small publication for every test that only looks at it."""

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
from tests.registered import only
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
class Made:
    """A database whose named queries give the frames of a made-up study, where it has them."""

    warehouse: Warehouse
    database: Path
    frames: dict[str, pd.DataFrame]

    def frame(self, name: str) -> pd.DataFrame:
        return self.frames[name] if name in self.frames else self.warehouse.frame(name)

    def export(self, table: Table, path: Path) -> int:
        return self.warehouse.export(table, path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, known: dict[str, pd.DataFrame]) -> Iterator[Made]:
    """The database of a small study."""
    folder = tmp_path_factory.mktemp("database")
    with warehouse_of(folder, small_study(), tmp_path_factory.getbasetemp()) as warehouse:
        yield Made(warehouse, folder / "study.duckdb", known)


def published(made: Made, folder: Path, **changes: object) -> None:
    """Publish the small study."""
    publish(dataclasses.replace(STUDY, database=made.database, **changes), made, folder)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def publication(tmp_path_factory: pytest.TempPathFactory, made: Made) -> Path:
    """The folder of its publication, with two of its figures."""
    folder = tmp_path_factory.mktemp("published") / "paper"
    with only(publishing.FIGURES, DRAWN), without_pixels():
        published(made, folder)
    return folder
