import os
from pathlib import Path
from typing import Any

import pytest

from data.errors import ModelError
from tasks.models.files import conversion
from tasks.models.files.conversion import converted_folder
from tasks.models.files.digests import cache_folder

DIGEST = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _writes(gguf: Path, folder: Path) -> None:
    (folder / "model.safetensors").write_text("weights")
    (folder / "config.json").write_text("{}")


def _fails(gguf: Path, folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    raise OSError("no space left")


def _converted(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(conversion, "_convert", _writes)
    folder = converted_folder(Path("Some.gguf"), DIGEST)
    monkeypatch.setattr(conversion, "_convert", _fails)
    return folder


def _content(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def test_second_load_does_not_convert_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _converted(monkeypatch)
    assert converted_folder(Path("Some.gguf"), DIGEST) == folder
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "manifest.json", "model.safetensors"]


def _flip(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: _flip(folder, "model.safetensors"),
        lambda folder: _flip(folder, "config.json"),
        lambda folder: _flip(folder, "manifest.json"),
        lambda folder: (folder / "model.safetensors").unlink(),
        lambda folder: (folder / "another.json").write_text("{}"),
        lambda folder: (folder / "manifest.json").unlink(),
    ],
    ids=["weights", "config", "manifest", "weights lost", "file added", "manifest lost"],
)
def test_damaged_folder_is_made_anew_with_a_warning(
    damage: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _converted(monkeypatch)
    damage(folder)
    monkeypatch.setattr(conversion, "_convert", _writes)
    assert converted_folder(Path("Some.gguf"), DIGEST) == folder
    assert (folder / "model.safetensors").read_text() == "weights"
    assert "is damaged" in caplog.text
    assert _content(cache) == [folder.name]


def test_failed_conversion_leaves_nothing(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(conversion, "_convert", _fails)
    with pytest.raises(ModelError, match="no space left"):
        converted_folder(Path("Some.gguf"), DIGEST)
    assert _content(cache) == []


def test_what_a_killed_conversion_left_is_removed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(conversion, "_convert", lambda gguf, folder: os._exit(9))
    if (child := os.fork()) == 0:
        converted_folder(Path("Some.gguf"), DIGEST)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert _content(cache)[0].startswith(".unfinished-")
    folder = _converted(monkeypatch)
    (cache / "models" / ".unfinished-of-another").mkdir()
    assert converted_folder(Path("Some.gguf"), DIGEST) == folder
    assert _content(cache) == [folder.name]


def test_another_digest_gives_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_convert", _writes)
    assert converted_folder(Path("Some.gguf"), DIGEST) != converted_folder(Path("Some.gguf"), DIGEST[::-1])


def test_cache_that_cannot_be_written_says_which_variable_moves_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="SWAYMETER_CACHE"):
        converted_folder(Path("Some.gguf"), DIGEST)


def test_cache_lies_in_the_home_unless_it_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWAYMETER_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "swaymeter"
