"""Converted models, and flipped bits in files that are published with a digest."""

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
from tests.tasks.models.tiny import save_entailment_model

DIGEST = "0123456789abcdef" * 4
GGUF = Path("Some.gguf")


def flip_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _convert(gguf: Path, folder: Path) -> None:
    (folder / "model.safetensors").write_text("weights")
    (folder / "config.json").write_text("{}")


def _fail(gguf: Path, folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    raise OSError("no space left")


def _converted_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Convert a file, and let further conversions fail."""
    monkeypatch.setattr(hub, "_convert", _convert)
    folder = convert_once(GGUF, DIGEST)
    monkeypatch.setattr(hub, "_convert", _fail)
    return folder


def _entries(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def test_a_second_load_does_not_convert_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _converted_folder(monkeypatch)
    assert convert_once(GGUF, DIGEST) == folder
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "manifest.json", "model.safetensors"]
    with pytest.raises(ModelError):  # another digest needs another conversion
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
    folder = _converted_folder(monkeypatch)
    damage(folder)
    monkeypatch.setattr(hub, "_convert", _convert)
    assert convert_once(GGUF, DIGEST) == folder
    assert (folder / "model.safetensors").read_text() == "weights"
    assert "is damaged" in caplog.text
    assert _entries(cache) == [folder.name]


def test_a_failed_conversion_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", _fail)
    with pytest.raises(ModelError, match="no space left"):
        convert_once(GGUF, DIGEST)
    assert _entries(cache) == []


def test_leftovers_of_a_killed_conversion_are_removed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(hub, "_convert", lambda gguf, folder: os._exit(9))
    if (child := os.fork()) == 0:
        convert_once(GGUF, DIGEST)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert _entries(cache)
    folder = _converted_folder(monkeypatch)
    assert _entries(cache) == [folder.name]


def test_error_of_unwritable_cache_names_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
    folder = save_entailment_model(tmp_path / "tiny_embedder" / "model")
    records = []
    for file in sorted(folder.iterdir()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")
        records.append(f"tiny_embedder/model/{file.name},sha256={digest},{file.stat().st_size}")
    metadata = tmp_path / "tiny_embedder-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-embedder\nVersion: 1\n")
    (metadata / "RECORD").write_text("\n".join(records))
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
    with pytest.raises(
        ModelError, match=f"{name} has changed since it was installed; install the package with: pip install"
    ):
        load_embedder("tiny", device="cpu")


def _lfs_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git_digest(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_hub_index_of_pickled_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "snapshot_folder", lambda hub_id, commit: tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "pytorch_model.bin"}}')
    model = identity.ModelIdentity("somebody/some-model", "0123", "hub", "somebody/some-model")
    with pytest.raises(ModelError, match=r"index\.json names 'pytorch_model\.bin', which is not a safetensors file"):
        pretrained.load_pretrained(model, lambda *_, **__: None)


@pytest.mark.parametrize("digest", [_lfs_digest, _git_digest])
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
    with monkeypatch.context() as patched:  # verified files are not read again
        patched.setattr("swaymeter.tasks.models.files.hub.digest_once", None)
        verify_snapshot("somebody/some-model", snapshot)
    flip_bit(blob)
    with pytest.raises(ModelError, match=rf"somebody/some-model.*model\.safetensors.*delete {blob}"):
        verify_snapshot("somebody/some-model", snapshot)
