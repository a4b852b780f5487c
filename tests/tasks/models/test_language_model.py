import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from swaymeter.data.errors import ModelError, UnknownName, UsageError
from swaymeter.tasks.models import load_language_model, loading
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.files.hub import snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity
from swaymeter.tasks.models.loading import capabilities
from swaymeter.tasks.models.pretrained import choose_device, forget_models, resolve_dtype, weights_options
from swaymeter.tasks.models.size import parameters_of
from swaymeter.tasks.models.tokenizer import Tokenizer, unloaded_model
from tests.tasks.models.tiny import (
    CHAT,
    SEAMS,
    byte_tokenizer,
    save_language_model,
    tiny_language_model,
    tiny_network,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_a_model_is_loaded_once_in_each_dtype(folder: Path) -> None:
    first = load_language_model(str(folder), device="cpu")
    assert load_language_model(str(folder), device="cpu") is first
    assert (first.name, first.dtype, first.device) == (str(folder), "float32", "cpu")
    assert not first.model.training
    half = load_language_model(str(folder), dtype="bfloat16", device="cpu")
    assert {weights.dtype for weights in half.model.parameters()} == {torch.bfloat16}
    forget_models()
    assert load_language_model(str(folder), device="cpu") is not first


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dtype": "float8", "device": "cpu"}, UsageError, "float8"),
        ({"device": "toaster"}, UsageError, "toaster"),
        ({"device": "cuda"}, ModelError, "device 'cuda': this machine has no CUDA device"),
        ({"device": "cuda:1"}, ModelError, "device 'cuda:1': this machine has no CUDA device"),
        ({"device": "balanced"}, ModelError, "device 'balanced': this machine has no CUDA device"),
        ({"dtype": "8bit", "device": "cpu"}, ModelError, "dtype '8bit' needs a CUDA device.*use bfloat16"),
        ({"dtype": "4bit", "device": "cpu"}, ModelError, "dtype '4bit' needs a CUDA device.*use bfloat16"),
    ],
)
def test_impossible_dtypes_and_devices_are_refused(
    options: dict[str, str], error: type[Exception], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(error, match=message):
        load_language_model(str(folder), **options)


@pytest.mark.usefixtures("two_gpus")
def test_auto_chooses_device_and_dtype_by_machine() -> None:
    devices = {"auto": "cuda:0", "cuda": "cuda:0", "cuda:1": "cuda:1", "cpu": "cpu", "balanced": "balanced"}
    assert {device: choose_device(device, spread=True) for device in devices} == devices
    dtypes = [("auto", "cpu"), ("auto", "balanced"), ("float16", "cuda"), ("4bit", "cuda")]
    assert [resolve_dtype(*options) for options in dtypes] == ["float32", "bfloat16", "float16", "4bit"]
    with pytest.raises(UsageError, match="int4"):
        resolve_dtype("int4", "cpu")
    with pytest.raises(ModelError, match="the last CUDA device of this machine is cuda:1"):
        choose_device("cuda:2")
    with pytest.raises(UsageError, match="balanced"):
        choose_device("balanced")


@pytest.mark.usefixtures("two_gpus")
def test_error_without_bitsandbytes_names_the_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r'pip install "swaymeter\[quantised\]", or use bfloat16'):
        load_language_model(str(folder), dtype="4bit", device="cuda")


def test_loading_options_have_dtype_and_device() -> None:
    assert weights_options("float32", "cpu") == {"dtype": torch.float32}
    assert weights_options("bfloat16", "cuda:1") == {"dtype": torch.bfloat16, "device_map": {"": "cuda:1"}}
    eight, four = weights_options("8bit", "cuda:0"), weights_options("4bit", "balanced")
    assert eight["quantization_config"].quantization_method() == "llm_int8"
    assert four["quantization_config"].quantization_method() == "nf4"
    assert four["quantization_config"].bnb_4bit_compute_dtype == eight["dtype"] == torch.bfloat16
    assert four["device_map"] == "balanced"


class Linear4bit(torch.nn.Linear):
    """A layer with the name of bitsandbytes' 4-bit layer."""


def _load_as(monkeypatch: pytest.MonkeyPatch, network: torch.nn.Module) -> None:
    """Let transformers load this network in place of every model, as if bitsandbytes were installed."""
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *_, **__: (network, {"missing_keys": []}))
    forget_models()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)


@pytest.mark.usefixtures("two_gpus")
def test_weights_of_another_dtype_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _load_as(monkeypatch, tiny_network())
    with pytest.raises(ModelError, match="no linear layer that could be in 8bit"):
        load_language_model(str(folder), dtype="8bit", device="cuda")
    quantised = tiny_network()
    quantised.add_module("layer", Linear4bit(2, 2))
    _load_as(monkeypatch, quantised)
    assert load_language_model(str(folder), dtype="4bit", device="cuda").dtype == "4bit"
    for dtype in ("8bit", "bfloat16"):
        with pytest.raises(ModelError, match=f"stored as 4bit, not {dtype}; use dtype 4bit"):
            load_language_model(str(folder), dtype=dtype, device="cuda")


@pytest.mark.usefixtures("two_gpus")
def test_spread_model_too_large_for_gpus_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled = tiny_network()
    spilled.lm_head.to("meta")
    _load_as(monkeypatch, spilled)
    with pytest.raises(ModelError, match=r"does not fit the GPUs of this machine: its weights would be on cpu\+meta"):
        load_language_model(str(folder), dtype="bfloat16", device="balanced")


def test_a_weight_that_is_not_finite_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tiny_network()
    with torch.no_grad():
        broken.lm_head.weight[3, 2] = torch.inf
    _load_as(monkeypatch, broken)
    with pytest.raises(ModelError, match=r"its weight lm_head\.weight is not finite"):
        load_language_model(str(folder), device="cpu")


def _truncate(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def _remove_a_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def _add_layers(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 200_000}))


def _raise_a_token_id(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["L"] = 5_000
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_truncate, r"its weights are damaged: remove the folder .*/tiny and download the model"),
        (
            _remove_a_weight,
            r"its files lack the weight model\.layers\.1\.mlp\.up_proj\.weight, which its config\.json needs",
        ),
        (_add_layers, r"its config\.json sets 200,000 layers, but its files have only \d+ weight tensors"),
        (_raise_a_token_id, "its tokenizer gives 'L' the id 5000, but the model has only 261 tokens"),
    ],
)
def test_a_damaged_folder_is_refused(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    folder = save_language_model(tmp_path / "tiny")
    damage(folder)
    with pytest.raises(ModelError, match=message):
        load_language_model(str(folder), device="cpu")


def test_placement_names_every_device_in_order() -> None:
    model = tiny_language_model()
    assert model.placement == "cpu"
    devices = [torch.device("cuda", number) for number in (10, 2, 2)]
    model.model.parameters = lambda: [SimpleNamespace(device=device) for device in devices]
    assert model.placement == "cuda:2+cuda:10"


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "llama3", "mistral", "qwen2"])
def test_the_window_comes_from_the_configuration(family: str) -> None:
    model = tiny_language_model(family, window=99)
    assert model.context_window == 99
    assert model.tokenizer.model_max_length > 1e9


def test_model_counts_passes_and_knows_its_chat_template() -> None:
    model = tiny_language_model(chat_template=CHAT)
    for _ in range(3):
        model.model(torch.tensor([[5, 6]]))
    assert model.forward_passes == 3
    assert model.has_chat_template
    assert not tiny_language_model().has_chat_template


def test_capabilities_need_neither_weights_nor_torch() -> None:
    code = (
        "import sys; from swaymeter.tasks.models.loading import capabilities; "
        "print(*sorted(capabilities('gpt2'))); assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == sorted(get_args(Capability))
    with pytest.raises(UnknownName, match="smollm2-135m-instruct"):
        capabilities("smollm2-135-instruct")


def test_revision_of_run_is_loaded_or_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local, required = "a" * 40, "b" * 40
    with pytest.raises(ModelError, match=r"revision .*, but the run needs revision bbbbbbbbbbbb; copy the same model"):
        load_language_model(str(folder), device="cpu", revision=required)
    monkeypatch.setattr(loading, "identify_model", lambda name, purpose: ModelIdentity(name, local, "hub", name))
    monkeypatch.setattr(loading, "_load", lambda identity, dtype, device: identity)
    revisions = [
        load_language_model("made/up", device="cpu", revision=revision).revision for revision in (None, local, required)
    ]
    assert revisions == [local, local, required]


def save_weights(folder: Path, name: str, count: int) -> None:
    save_file({f"weight of {name}": torch.zeros(count)}, folder / name)


def test_size_counts_only_files_that_are_loaded(tmp_path: Path) -> None:
    for name, count in {"consolidated.safetensors": 70, "adapter.safetensors": 9, "model.safetensors": 50}.items():
        save_weights(tmp_path, name, count)
    assert parameters_of(str(tmp_path)) == 50
    shards = {"one": "model-1.safetensors", "other": "model-2.safetensors"}
    for name, count in zip(shards.values(), (30, 12), strict=True):
        save_weights(tmp_path, name, count)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert parameters_of(str(tmp_path)) == 42


def test_a_folder_without_sound_weights_has_no_size(tmp_path: Path) -> None:
    assert parameters_of(str(tmp_path)) is None
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    assert parameters_of(str(tmp_path)) is None


def test_name_has_tokens_after_space_and_newline() -> None:
    tokenizer = Tokenizer(byte_tokenizer([("Ġ", "N"), ("o", "r")]))
    after_space, after_newline = tokenizer.spellings("Norway")
    assert (len(after_space), len(after_newline)) == (len("Norway") - 1, len("Norway") - 1)
    assert (tokenizer.decode(after_space), tokenizer.decode(after_newline)) == (" Norway", "Norway")


def test_downloaded_tokenizer_is_read_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    local, missing = (ModelIdentity("org/model", commit * 20, "hub", "org/model") for commit in ("ab", "cd"))
    without_template = ModelIdentity("org/plain", "ab" * 20, "hub", "org/plain")
    for identity, template in ((local, "hello"), (without_template, None)):
        tokenizer = byte_tokenizer(SEAMS, chat_template=template)
        tokenizer.save_pretrained(snapshot_folder(identity.location, identity.revision))
    result = unloaded_model(local)
    assert result is not None
    assert result.has_chat_template
    assert unloaded_model(without_template) is None  # the hub may have a file with its chat template
    assert unloaded_model(missing) is None
