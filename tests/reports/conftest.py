"""Frames of small studies, a report and a browser, shared by all tests that change none of them."""

from pathlib import Path

import pandas as pd
import pytest

from swaymeter.reports.report import write_report
from tests.reports.browser import browser  # noqa: F401
from tests.reports.hostile import HOSTILE
from tests.reports.pixels import without_pixels
from tests.reports.study import CARD, MODEL, frames, tables


@pytest.fixture(scope="session")
def study_frames() -> dict[str, pd.DataFrame]:
    """Every frame of a small study; not to be changed in place."""
    return frames()


@pytest.fixture(scope="session")
def own_questions() -> dict[str, pd.DataFrame]:
    """Every frame of a small study of a user's own questions; not to be changed in place."""
    return frames(tables([(MODEL, "float32"), ("other", "float32")], relations=[], questions=12, own=True))


@pytest.fixture(scope="session")
def two_dtypes() -> dict[str, pd.DataFrame]:
    """Every frame of a small study of a model in two dtypes; not to be changed in place."""
    models = [(MODEL, "bfloat16"), (MODEL, "float32")]
    return frames(tables(models, relations=["capital"], entities=4, questions=12))


@pytest.fixture(scope="session")
def hostile() -> dict[str, pd.DataFrame]:
    """Every frame of a study with hostile names and contexts; not to be changed in place."""
    names = [name.replace("\x00", "") for name in HOSTILE]  # a database stores no null byte
    relations = ["".join(names[:5]), "".join(names[5:])]
    rows = tables([(names[0] + names[2] + names[-2], "float32")], relations=relations, entities=2, questions=6)
    for row in rows["contexts"]:
        row["text"] = "\n".join(names)
    return frames(rows)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, study_frames: dict[str, pd.DataFrame]) -> Path:
    """The folder of a report over every frame."""
    folder = tmp_path_factory.mktemp("study") / "report"
    with without_pixels():  # without PNG files
        write_report(study_frames, folder, CARD, "key")
    return folder


@pytest.fixture(scope="session")
def html(report: Path) -> str:
    """The page of the report."""
    return (report / "index.html").read_text(encoding="utf-8")
