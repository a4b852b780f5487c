"""Every test has a cache folder of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder in which converted models are kept."""
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
