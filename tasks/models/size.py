"""Size of a language model, and a check that GPUs can hold its weights, without loading them."""

import json
from math import prod
from pathlib import Path

from swaymeter.data import catalog
from swaymeter.data.errors import ModelError, UsageError
from swaymeter.tasks.models.pretrained import BALANCED, QUANTISED, choose_device, choose_dtype

SMALL = 2 << 30
"""Bytes of weights that fit every GPU."""
GB = 1e9


def parameters_of(name: str) -> int | None:
    """Return the number of a model's parameters, from the catalog or a folder's weights; None if unknown."""
    entries = catalog.models()
    if entry := entries.get(name) or next((entry for entry in entries.values() if entry.hub == name), None):
        return entry.parameters
    try:
        return sum(map(_parameters_in, _weight_files(Path(name).expanduser()))) or None
    except Exception:  # damaged or not a model: loading reports it
        return None


def misfit_reason(name: str, dtype: str, device: str) -> str | None:
    """Return the reason why this machine cannot hold a model; None without a known reason."""
    parameters = 0 if device == "cpu" else parameters_of(name) or 0
    if device == "cpu" or (
        device == "auto" and dtype not in QUANTISED and parameters * _bytes_per_parameter(dtype) <= SMALL
    ):
        return None  # without an import of torch, which takes seconds
    try:
        device = choose_device(device, spread=True)
        dtype = choose_dtype(dtype, device)
    except (ModelError, UsageError) as error:
        return str(error)
    if device == "cpu":
        return None
    import torch

    gpu_numbers = range(torch.cuda.device_count()) if device == BALANCED else [int(device.partition(":")[2])]
    memory = sum(torch.cuda.get_device_properties(number).total_memory for number in gpu_numbers)
    weights = parameters * _bytes_per_parameter(dtype)
    if weights <= memory:
        return None
    owner = "the GPUs of this machine have" if device == BALANCED else f"{device} has"
    return (
        f"model {name!r} in {dtype} has {weights / GB:.0f} GB of weights, and {owner} {memory / GB:.0f} GB; use "
        f"{'' if device == BALANCED else 'device balanced, '}dtype 8bit or 4bit, or more GPUs"
    )


def _bytes_per_parameter(dtype: str) -> float:
    """Return the bytes of a parameter; "auto" is bfloat16 on a GPU."""
    return {"float32": 4.0, "8bit": 1.0, "4bit": 0.5}.get(dtype, 2.0)


def _weight_files(folder: Path) -> list[Path]:
    """Return the files of weights that transformers loads, without copies and adapters in the same folder."""
    index = folder / "model.safetensors.index.json"
    if index.exists():
        return [folder / Path(name).name for name in {*json.loads(index.read_bytes())["weight_map"].values()}]
    return [*folder.glob("model.safetensors")]


def _parameters_in(file: Path) -> int:
    from safetensors import safe_open

    with safe_open(file, framework="np") as weights:
        return sum(prod(weights.get_slice(name).get_shape()) for name in weights.keys())  # noqa: SIM118
