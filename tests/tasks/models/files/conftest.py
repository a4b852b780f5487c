from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of converted models, for each test."""
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
