import os
from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models.files import hub
from swaymeter.tasks.models.files.hub import cache_folder, converted_folder
from tests.tasks.models.files.conftest import flip_bit

DIGEST = "0123456789abcdef" * 4
GGUF = Path("Some.gguf")


def _writes(gguf: Path, folder: Path) -> None:
    (folder / "model.safetensors").write_text("weights")
    (folder / "config.json").write_text("{}")


def _fails(gguf: Path, folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    raise OSError("no space left")


def _converted(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A converted folder; another conversion would fail."""
    monkeypatch.setattr(hub, "_convert", _writes)
    folder = converted_folder(GGUF, DIGEST)
    monkeypatch.setattr(hub, "_convert", _fails)
    return folder


def _content(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def test_a_second_load_does_not_convert_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _converted(monkeypatch)
    assert converted_folder(GGUF, DIGEST) == folder
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "manifest.json", "model.safetensors"]
    with pytest.raises(ModelError):  # another file is another folder
        converted_folder(GGUF, DIGEST[::-1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: flip_bit(folder / "model.safetensors"),
        lambda folder: flip_bit(folder / "config.json"),
        lambda folder: flip_bit(folder / "manifest.json"),
        lambda folder: (folder / "model.safetensors").unlink(),
        lambda folder: (folder / "another.json").write_text("{}"),
        lambda folder: (folder / "manifest.json").unlink(),
    ],
    ids=["weights", "config", "manifest", "weights lost", "file added", "manifest lost"],
)
def test_a_damaged_folder_is_converted_again_with_a_warning(
    damage: Callable[[Path], None], cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _converted(monkeypatch)
    damage(folder)
    monkeypatch.setattr(hub, "_convert", _writes)
    assert converted_folder(GGUF, DIGEST) == folder
    assert (folder / "model.safetensors").read_text() == "weights"
    assert "is damaged" in caplog.text
    assert _content(cache) == [folder.name]


def test_a_failed_conversion_leaves_nothing(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", _fails)
    with pytest.raises(ModelError, match="no space left"):
        converted_folder(GGUF, DIGEST)
    assert _content(cache) == []


def test_leftovers_of_a_killed_conversion_are_removed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", lambda gguf, folder: os._exit(9))
    if (child := os.fork()) == 0:
        converted_folder(GGUF, DIGEST)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert _content(cache)
    folder = _converted(monkeypatch)
    assert _content(cache) == [folder.name]


def test_an_unwritable_cache_names_the_variable_that_moves_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="SWAYMETER_CACHE"):
        converted_folder(GGUF, DIGEST)
    monkeypatch.delenv("SWAYMETER_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "swaymeter"
