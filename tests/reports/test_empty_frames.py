"""Reports without the frames of queries that have no rows."""

from pathlib import Path

import pandas as pd
import pytest

import swaymeter.reports.report as reporting
from swaymeter.reports.figures.rendering import Pictures
from tests.reports.study import CARD, frames, tables

STUDIES = {
    "facts": {"relations": ["capital"], "entities": 2, "questions": 0},
    "questions": {"relations": [], "questions": 6},
    "own questions": {"relations": [], "questions": 6, "own": True},
}


def report_of(folder: Path, report_frames: dict[str, pd.DataFrame]) -> dict[str, bytes]:
    """Write a report, and return its files by name, without the manifest."""
    reporting.write_report(report_frames, folder, CARD, "key")
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in files.items() if name != reporting.MANIFEST}


@pytest.mark.parametrize("study", STUDIES)
def test_frames_without_rows_can_be_missing(tmp_path: Path, study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "rendered", lambda drawn, limits: Pictures("<svg/>", b"<svg/>", drawn.name.encode()))
    monkeypatch.setattr(reporting, "with_limits", lambda drawn: [(figure, []) for figure in drawn])
    all_frames = frames(tables(**STUDIES[study]))  # type: ignore[arg-type]
    filled_frames = {name: frame for name, frame in all_frames.items() if len(frame)}
    assert len(filled_frames) < len(all_frames)
    assert report_of(tmp_path / "filled", filled_frames) == report_of(tmp_path / "all", all_frames)
