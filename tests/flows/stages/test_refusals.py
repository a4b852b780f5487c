import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from swaymeter.flows.stages.refusals import refusals
from swaymeter.tasks.models import size
from tests.flows.small_study import selected

PARAMETERS = 200


@pytest.mark.parametrize(
    ("device", "dtype", "memory", "refusal"),
    [
        ("cuda:1", "bfloat16", 2 * PARAMETERS - 1, "in bfloat16 has 0 GB of weights, and cuda:1 has 0 GB; use device "),
        ("cuda", "bfloat16", 2 * PARAMETERS, ""),
        ("auto", "bfloat16", 2 * PARAMETERS - 1, "and cuda:0 has"),
        ("balanced", "float32", 2 * PARAMETERS - 1, "and the GPUs of this machine have"),
        ("balanced", "float32", 2 * PARAMETERS, ""),
        ("cpu", "float32", 1, ""),
    ],
)
def test_models_larger_than_their_gpus_are_refused(
    device: str, dtype: str, memory: int, refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=memory))
    monkeypatch.setattr(size, "SMALL", 0)
    model = tmp_path / "large"
    model.mkdir()
    (model / "config.json").write_text("{}")
    for number, shape in enumerate([(10, 10), (100,)]):
        save_file({"weights": np.zeros(shape, dtype=np.float32)}, model / f"{number}.safetensors")
    shards = {"weight_map": {"one": "0.safetensors", "other": "1.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(shards))
    study = selected(
        tmp_path, questions=None, measures={"persuasion": {}},
        models=[{"name": str(model), "dtype": dtype, "device": device}],
    )  # fmt: skip
    (found,) = [*refusals(study.graph, study.study, study.graph.nodes)] or [""]
    assert refusal in found
    assert found.startswith(f"models.0: model '{model}' " if refusal else "")
    assert bool(found) == bool(refusal)
