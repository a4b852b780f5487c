"""A small study and its publication, shared by all tests that do not change them."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest

import swaymeter.reports.publish as publishing
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.reports.publish import ModelEntry, Publication, publish
from tests.data.warehouse.small_study import TABLES, build_study, small_study
from tests.registries import only
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL

PUBLICATION = Publication(
    card=CARD,
    study_file="name: quickstart\n",
    key="0123456789abcdef",
    database=Path("study.duckdb"),
    tables=TABLES,
    models={MODEL: ModelEntry("someone/SmolLM2-135M-Instruct", "Apache-2.0")},
    commands=("swaymeter run study.yaml",),
)
TWO_FIGURES = ("susceptibility-by-relation", "entropy-with-against-persuasion")
Publish = Callable[..., None]


@pytest.fixture(scope="session")
def publish_study(tmp_path_factory: pytest.TempPathFactory, study_frames: dict[str, pd.DataFrame]) -> Iterator[Publish]:
    """Yield a function that publishes the small study, with other frames in place of some named queries."""
    database = build_study(tmp_path_factory.mktemp("database") / "study.duckdb", small_study())
    with_database = dataclasses.replace(PUBLICATION, database=database)
    with opened(database, TABLES, exports=tmp_path_factory.getbasetemp()) as warehouse:
        stored = warehouse.frame

        def publish_to(folder: Path, frames: Mapping[str, pd.DataFrame] | None = None, **changes: Any) -> None:
            replaced_frames = {**study_frames, **(frames or {})}
            with patch.object(
                warehouse, "frame", lambda name: replaced_frames[name] if name in replaced_frames else stored(name)
            ):
                publish(dataclasses.replace(with_database, **changes), warehouse, folder)

        yield publish_to


@pytest.fixture(scope="session")
def publication(tmp_path_factory: pytest.TempPathFactory, publish_study: Publish) -> Path:
    """The folder of the publication of the small study, with two figures."""
    folder = tmp_path_factory.mktemp("published") / "paper"
    with only(publishing.FIGURES, TWO_FIGURES), without_pixels():
        publish_study(folder)
    return folder
