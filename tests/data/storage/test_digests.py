import os
from pathlib import Path

import pytest

from swaymeter.data.storage import digests
from swaymeter.data.storage.digests import content_digest, remembered_digests


@pytest.mark.parametrize("seconds", [0.0, digests.REMEMBER_SECONDS])
def test_an_interrupted_reading_keeps_what_was_read(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text(file.name)
    monkeypatch.setattr(digests, "REMEMBER_SECONDS", seconds)

    def read(file: Path, size: int, mtime_ns: int) -> str:
        if file.name == "b.txt":
            if not seconds:  # as a kill, which leaves no time to write
                os.rename(tmp_path / "remembered", tmp_path / "as it was")
                (tmp_path / "remembered").touch()
            raise KeyboardInterrupt
        return content_digest(file, size, mtime_ns)

    monkeypatch.setattr(digests, "content_digest", read)
    with pytest.raises(KeyboardInterrupt):
        remembered_digests(files, tmp_path / "remembered")
    folder = tmp_path / ("remembered" if seconds else "as it was")
    monkeypatch.setattr(digests, "content_digest", lambda file, *_: f"read again: {file.name}")
    first, second = remembered_digests(files, folder)
    assert not first.startswith("read again")
    assert second == "read again: b.txt"
