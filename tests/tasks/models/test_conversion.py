from pathlib import Path

import pytest

from data.errors import ModelError
from tasks.models import conversion
from tasks.models.conversion import cache_folder, converted_folder

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


def test_second_load_does_not_convert_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_convert", _writes)
    folder = converted_folder(Path("Some.gguf"), DIGEST)
    monkeypatch.setattr(conversion, "_convert", _fails)
    assert converted_folder(Path("Some.gguf"), DIGEST) == folder
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors"]


def test_interrupted_conversion_leaves_nothing_that_is_used(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(conversion, "_convert", _fails)
    with pytest.raises(ModelError, match="no space left"):
        converted_folder(Path("Some.gguf"), DIGEST)
    assert list((cache / "models").iterdir()) == []


def test_other_process_that_was_first_wins(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    def overtaken(gguf: Path, folder: Path) -> None:
        _writes(gguf, folder)
        first = cache / "models" / f"some-{DIGEST[:16]}-1"
        first.mkdir()
        _writes(gguf, first)
        (first / "first").touch()

    monkeypatch.setattr(conversion, "_convert", overtaken)
    folder = converted_folder(Path("Some.gguf"), DIGEST)
    assert (folder / "first").exists()
    assert [file.name for file in (cache / "models").iterdir()] == [folder.name]


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
