"""One small report, and one browser, for every test that only looks at it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.reports.report import write_report
from tests.reports.browser import Browser, started
from tests.reports.hostile import hostile_frames
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL, frames, tables


@pytest.fixture(scope="session")
def known() -> dict[str, pd.DataFrame]:
    """Every frame of a small study; not to be changed in place."""
    return frames()


@pytest.fixture(scope="session")
def own() -> dict[str, pd.DataFrame]:
    """Every frame of a small study of a user's own questions; not to be changed in place."""
    rows = tables([(MODEL, "float32"), ("other", "float32")], relations=[], questions=12, own=True)
    return frames({name: some for name, some in rows.items() if some})


@pytest.fixture(scope="session")
def two() -> dict[str, pd.DataFrame]:
    """Every frame of a small study of a model in two dtypes; not to be changed in place."""
    models = [(MODEL, "bfloat16"), (MODEL, "float32")]
    return frames(tables(models, relations=["capital"], entities=4, questions=12))


@pytest.fixture(scope="session")
def hostile() -> dict[str, pd.DataFrame]:
    """Every frame of a study whose models, relations and contexts are called so; not to be changed in place."""
    return hostile_frames()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, known: dict[str, pd.DataFrame]) -> Path:
    """The folder of a report over every frame."""
    folder = tmp_path_factory.mktemp("study") / "report"
    with without_pixels():
        write_report(known, folder, CARD, "key")
    return folder


@pytest.fixture(scope="session")
def html(report: Path) -> str:
    """That report's page."""
    return (report / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that is there already."""
    with started(tmp_path_factory.mktemp("browser")) as found:
        yield found
