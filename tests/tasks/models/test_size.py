import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from swaymeter.tasks.models.size import parameters_of


def save(folder: Path, name: str, count: int) -> None:
    save_file({f"weight of {name}": np.zeros(count, np.float32)}, folder / name)


def test_only_the_files_that_are_loaded_count(tmp_path: Path) -> None:
    for name, count in {"consolidated.safetensors": 70, "adapter.safetensors": 9, "model.safetensors": 50}.items():
        save(tmp_path, name, count)
    assert parameters_of(str(tmp_path)) == 50
    shards = {"one": "model-1.safetensors", "other": "model-2.safetensors"}
    for name, count in zip(shards.values(), (30, 12), strict=True):
        save(tmp_path, name, count)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert parameters_of(str(tmp_path)) == 42


def test_a_folder_without_sound_weights_has_no_size(tmp_path: Path) -> None:
    assert parameters_of(str(tmp_path)) is None
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    assert parameters_of(str(tmp_path)) is None
