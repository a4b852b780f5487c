import os
from pathlib import Path

import pytest

from swaymeter.data.digests import digest_once
from swaymeter.data.storage import remembered
from swaymeter.data.storage.remembered import remembered_digests


@pytest.mark.parametrize("stored_after", ["each file", "the interruption"])
def test_interrupted_reading_keeps_finished_digests(
    stored_after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text(file.name)
    if stored_after == "each file":
        monkeypatch.setattr(remembered, "REMEMBER_SECONDS", 0.0)

    def read(file: Path, algorithm: str, state: tuple[int, ...]) -> str:
        if file.name == "b.txt":
            if stored_after == "each file":  # like a kill, this file prevents writing after the interruption
                os.rename(tmp_path / "remembered", tmp_path / "moved")
                (tmp_path / "remembered").touch()
            raise KeyboardInterrupt
        return digest_once(file, algorithm, state)

    monkeypatch.setattr(remembered, "digest_once", read)
    with pytest.raises(KeyboardInterrupt):
        remembered_digests(files, tmp_path / "remembered")
    folder = tmp_path / ("remembered" if stored_after == "the interruption" else "moved")
    monkeypatch.setattr(remembered, "digest_once", lambda file, *_: f"read again: {file.name}")
    first, second = remembered_digests(files, folder)
    assert not first.startswith("read again")
    assert second == "read again: b.txt"


def test_deleted_file_keeps_its_digest(tmp_path: Path) -> None:
    file, folder = tmp_path / "a.txt", tmp_path / "remembered"
    file.write_text("a")
    digests = remembered_digests([file], folder)
    file.unlink()
    assert remembered_digests([file], folder) == digests
    with pytest.raises(FileNotFoundError):
        remembered_digests([tmp_path / "never-read.txt"], folder)
