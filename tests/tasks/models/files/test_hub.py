"""A converted copy, and one flipped bit in a file that was published with a digest."""

import base64
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data.catalog import CatalogModel
from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_embedder, pretrained
from swaymeter.tasks.models.files import hub, identity
from swaymeter.tasks.models.files.hub import cache_folder, convert_once, verify_snapshot
from tests.tasks.models.tiny import save_embedder

DIGEST = "0123456789abcdef" * 4
GGUF = Path("Some.gguf")


def flip_bit(file: Path) -> None:
    """Damages a file by one bit."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _writes(gguf: Path, folder: Path) -> None:
    (folder / "model.safetensors").write_text("weights")
    (folder / "config.json").write_text("{}")


def _fails(gguf: Path, folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    raise OSError("no space left")


def _converted(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A converted folder; another conversion would fail."""
    monkeypatch.setattr(hub, "_convert", _writes)
    folder = convert_once(GGUF, DIGEST)
    monkeypatch.setattr(hub, "_convert", _fails)
    return folder


def _content(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def test_a_second_load_does_not_convert_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _converted(monkeypatch)
    assert convert_once(GGUF, DIGEST) == folder
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "manifest.json", "model.safetensors"]
    with pytest.raises(ModelError):  # another file is another folder
        convert_once(GGUF, DIGEST[::-1])


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
def test_damaged_folder_is_converted_again_with_warning(
    damage: Callable[[Path], None], cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _converted(monkeypatch)
    damage(folder)
    monkeypatch.setattr(hub, "_convert", _writes)
    assert convert_once(GGUF, DIGEST) == folder
    assert (folder / "model.safetensors").read_text() == "weights"
    assert "is damaged" in caplog.text
    assert _content(cache) == [folder.name]


def test_a_failed_conversion_leaves_nothing(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", _fails)
    with pytest.raises(ModelError, match="no space left"):
        convert_once(GGUF, DIGEST)
    assert _content(cache) == []


def test_leftovers_of_a_killed_conversion_are_removed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", lambda gguf, folder: os._exit(9))
    if (child := os.fork()) == 0:
        convert_once(GGUF, DIGEST)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert _content(cache)
    folder = _converted(monkeypatch)
    assert _content(cache) == [folder.name]


def test_unwritable_cache_names_variable_that_moves_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="SWAYMETER_CACHE"):
        convert_once(GGUF, DIGEST)
    monkeypatch.delenv("SWAYMETER_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "swaymeter"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"])
def test_flipped_bit_in_installed_package_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_embedder(tmp_path / "tiny_embedder" / "model")
    records = []
    for file in sorted(folder.iterdir()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")
        records.append(f"tiny_embedder/model/{file.name},sha256={digest},{file.stat().st_size}")
    described = tmp_path / "tiny_embedder-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-embedder\nVersion: 1\n")
    (described / "RECORD").write_text("\n".join(records))
    monkeypatch.syspath_prepend(tmp_path)
    entry = CatalogModel(
        alias="tiny",
        kind="embedder",
        licence="MIT",
        package="tiny-embedder",
        module="tiny_embedder",
        version="1",
        file="model/model.safetensors",
    )
    monkeypatch.setattr(identity, "models", lambda: {"tiny": entry})
    load_embedder("tiny", device="cpu")
    flip_bit(folder / name)
    with pytest.raises(ModelError, match=f"{name} has changed since it was installed; install it with: pip install"):
        load_embedder("tiny", device="cpu")


def _large(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _small(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_index_from_hub_that_points_elsewhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "snapshot_folder", lambda hub_id, commit: tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "pytorch_model.bin"}}')
    model = identity.ModelIdentity("somebody/some-model", "0123", "hub", "somebody/some-model")
    with pytest.raises(ModelError, match=r"index\.json names 'pytorch_model\.bin', which is not a safetensors file"):
        pretrained.load_pretrained(model, lambda *_, **__: None)


@pytest.mark.parametrize("digest", [_large, _small])
def test_flipped_bit_in_hub_cache_is_refused(
    digest: Callable[[bytes], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot, blobs = tmp_path / "snapshots" / "0123", tmp_path / "blobs"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    blob = blobs / digest(b"content of a file")
    blob.write_bytes(b"content of a file")
    (snapshot / "model.safetensors").symlink_to(blob)
    verify_snapshot("somebody/some-model", snapshot)
    with monkeypatch.context() as patched:  # what was verified is not read again
        patched.setattr("swaymeter.tasks.models.files.hub.digest_once", None)
        verify_snapshot("somebody/some-model", snapshot)
    flip_bit(blob)
    with pytest.raises(ModelError, match=rf"somebody/some-model.*model\.safetensors.*delete {blob}"):
        verify_snapshot("somebody/some-model", snapshot)
