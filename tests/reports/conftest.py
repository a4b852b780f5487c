"""One small report, and one browser, for every test that only looks at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.report import write_report
from tests.reports.browser import Browser, started
from tests.reports.frames import CARD, study


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report over every frame."""
    folder = tmp_path_factory.mktemp("study") / "report"
    write_report(study(entities=4, questions=30), folder, CARD)
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
