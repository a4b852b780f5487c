"""One flipped bit in any file that a model is loaded from is noticed."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from data.catalog import CatalogModel
from data.errors import ModelError
from tasks.models import load_embedder, load_language_model, transformers_backend
from tasks.models.backends import identify_language_model
from tasks.models.files import conversion, identity
from tasks.models.files.hub import verify_snapshot
from tasks.models.loading import loaded_once
from tests.tasks.models.tiny import save_embedder, save_language_model

FILES = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"]


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(transformers_backend, "_loaded", loaded_once(transformers_backend._load))
    return tmp_path / "cache"


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_flipped_bit_in_the_converted_model_converts_again(
    name: str, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(conversion, "_convert", lambda gguf, folder: made.append(save_language_model(folder)))
    load_language_model("smollm2-135m-instruct", device="cpu")
    (file,) = cache.glob(f"models/*/{name}")
    before = file.read_bytes()
    _flip(file)
    monkeypatch.setattr(transformers_backend, "_loaded", loaded_once(transformers_backend._load))
    load_language_model("smollm2-135m-instruct", device="cpu")
    assert file.read_bytes() == before
    assert f"{name} changed on the disk" in caplog.text
    assert len(made) == 2


@pytest.mark.parametrize("name", FILES)
def test_flipped_bit_in_an_installed_embedder_is_refused(
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
        alias="tiny", kind="embedder", licence="MIT", package="tiny-embedder", module="tiny_embedder", version="1",
        file="model/model.safetensors",
    )  # fmt: skip
    monkeypatch.setattr(identity, "models", lambda: {"tiny": entry})
    load_embedder("tiny", device="cpu")
    _flip(folder / name)
    with pytest.raises(ModelError, match=f"{name} is not as it was installed; install it with: pip install"):
        load_embedder("tiny", device="cpu")


def _large(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _small(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@pytest.mark.parametrize("digest", [_large, _small])
def test_flipped_bit_in_the_cache_of_the_hub_is_refused(digest: Callable[[bytes], str], tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "snapshots" / "0123", tmp_path / "blobs"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    blob = blobs / digest(b"content of a file")
    blob.write_bytes(b"content of a file")
    (snapshot / "model.safetensors").symlink_to(blob)
    verify_snapshot("somebody/some-model", snapshot)
    _flip(blob)
    with pytest.raises(ModelError, match=rf"somebody/some-model.*model\.safetensors.*delete {blob}"):
        verify_snapshot("somebody/some-model", snapshot)


def test_verified_blob_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = tmp_path / _large(b"content")
    blob.write_bytes(b"content")
    verify_snapshot("somebody/some-model", tmp_path)
    monkeypatch.setattr("tasks.models.files.hub._HASHES", {})
    verify_snapshot("somebody/some-model", tmp_path)


@pytest.mark.parametrize("file", ["../model.safetensors", "/model.safetensors", "model.bin", "lost.safetensors"])
def test_index_that_points_elsewhere_is_refused(file: str, tmp_path: Path) -> None:
    folder = save_language_model(tmp_path / "tiny")
    (tmp_path / "model.safetensors").touch()
    (folder / "model.bin").touch()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": file}}))
    with pytest.raises(ModelError, match=f"index.json names '{file}', which is not a safetensors file in the folder"):
        identify_language_model(str(folder))
