"""One flipped bit in a file that was published with a digest is noticed."""

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data.catalog import CatalogModel
from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import load_embedder, loading
from swaymeter.tasks.models.files import identity
from swaymeter.tasks.models.files.hub import verify_snapshot
from tests.tasks.models.files.conftest import flip_bit
from tests.tasks.models.tiny import save_embedder


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_flipped_bit_in_an_installed_package_is_refused(
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
    flip_bit(folder / name)
    with pytest.raises(ModelError, match=f"{name} is not as it was installed; install it with: pip install"):
        load_embedder("tiny", device="cpu")


def _large(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _small(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_an_index_from_the_hub_that_points_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "snapshot_folder", lambda hub_id, commit: tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "pytorch_model.bin"}}')
    model = identity.ModelIdentity("somebody/some-model", "0123", "hub", "somebody/some-model")
    with pytest.raises(ModelError, match=r"index\.json names 'pytorch_model\.bin', which is not a safetensors file"):
        loading.pretrained(model, lambda *_, **__: None)


@pytest.mark.parametrize("digest", [_large, _small])
def test_a_flipped_bit_in_the_hub_cache_is_refused(
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
        patched.setattr("swaymeter.tasks.models.files.hub._digest", None)
        verify_snapshot("somebody/some-model", snapshot)
    flip_bit(blob)
    with pytest.raises(ModelError, match=rf"somebody/some-model.*model\.safetensors.*delete {blob}"):
        verify_snapshot("somebody/some-model", snapshot)
