import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoModelForCausalLM

from data.errors import ModelError, UnknownName, UsageError
from tasks.models import load_language_model, transformers_backend
from tasks.models.backends import capabilities
from tasks.models.loading import chosen_device, loaded_once, resolve_dtype, weights_options
from tests.tasks.models.tiny import (
    CHAT,
    byte_pair_tokenizer,
    byte_tokenizer,
    save_language_model,
    tiny_language_model,
    tiny_network,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("models") / "tiny")


def test_folder_is_loaded_once(folder: Path) -> None:
    first = load_language_model(str(folder), device="cpu")
    assert load_language_model(str(folder), device="cpu") is first
    assert (first.name, first.dtype, first.device) == (str(folder), "float32", "cpu")
    assert not first.model.training


def test_two_dtypes_are_two_models(folder: Path) -> None:
    half = load_language_model(str(folder), dtype="bfloat16", device="cpu")
    assert half is not load_language_model(str(folder), device="cpu")
    assert {weights.dtype for weights in half.model.parameters()} == {torch.bfloat16}


def test_unknown_dtype_and_device_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="float8"):
        load_language_model(str(folder), dtype="float8", device="cpu")
    with pytest.raises(UsageError, match="toaster"):
        load_language_model(str(folder), device="toaster")


def test_auto_dtype_follows_the_device() -> None:
    assert resolve_dtype("auto", "cpu") == "float32"
    assert resolve_dtype("float16", "cuda") == "float16"
    assert resolve_dtype("4bit", "cuda") == "4bit"
    with pytest.raises(UsageError, match="int4"):
        resolve_dtype("int4", "cpu")


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("two_gpus")
def test_devices_are_told_by_their_number() -> None:
    assert [chosen_device(device, spread=True) for device in ("auto", "cuda", "cuda:1", "cpu", "balanced")] == [
        "cuda:0", "cuda:0", "cuda:1", "cpu", "balanced"
    ]  # fmt: skip
    assert resolve_dtype("auto", "balanced") == "bfloat16"
    with pytest.raises(ModelError, match="the last CUDA device of this machine is cuda:1"):
        chosen_device("cuda:2", spread=True)
    with pytest.raises(UsageError, match="balanced"):
        chosen_device("balanced")


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "balanced"])
def test_a_gpu_that_is_not_there_is_said(device: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match=f"device '{device}': this machine has no CUDA device"):
        load_language_model(str(folder), device=device)


@pytest.mark.parametrize("dtype", ["8bit", "4bit"])
def test_quantised_formats_are_refused_on_a_cpu(dtype: str, folder: Path) -> None:
    with pytest.raises(ModelError, match=f"dtype '{dtype}' needs a CUDA device.*use bfloat16"):
        load_language_model(str(folder), dtype=dtype, device="cpu")


@pytest.mark.usefixtures("two_gpus")
def test_missing_bitsandbytes_says_how_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r'pip install "swaymeter\[quantised\]", or use bfloat16'):
        load_language_model(str(folder), dtype="4bit", device="cuda")


def test_options_name_format_and_place() -> None:
    assert weights_options("float32", "cpu") == {"dtype": torch.float32}
    assert weights_options("bfloat16", "cuda:1") == {"dtype": torch.bfloat16, "device_map": {"": "cuda:1"}}
    eight, four = weights_options("8bit", "cuda:0"), weights_options("4bit", "balanced")
    assert eight["quantization_config"].quantization_method() == "llm_int8"
    assert four["quantization_config"].quantization_method() == "nf4"
    assert four["quantization_config"].bnb_4bit_compute_dtype == eight["dtype"] == torch.bfloat16
    assert four["device_map"] == "balanced"


class Linear4bit(torch.nn.Linear):
    """Named as the layer of bitsandbytes."""


def _gives(monkeypatch: pytest.MonkeyPatch, network: torch.nn.Module) -> None:
    """Whatever is asked for, transformers gives this network."""
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *_, **__: network)
    monkeypatch.setattr(transformers_backend, "_loaded", loaded_once(transformers_backend._load))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)


@pytest.mark.usefixtures("two_gpus")
def test_a_format_is_never_another_than_the_one_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _gives(monkeypatch, tiny_network())
    with pytest.raises(ModelError, match="no linear layer that could be in 8bit"):
        load_language_model(str(folder), dtype="8bit", device="cuda")
    quantised = tiny_network()
    quantised.add_module("layer", Linear4bit(2, 2))
    _gives(monkeypatch, quantised)
    assert load_language_model(str(folder), dtype="4bit", device="cuda").dtype == "4bit"
    for dtype in ("8bit", "bfloat16"):
        with pytest.raises(ModelError, match=f"holds? 4bit weights, so {dtype} .* ask for dtype 4bit"):
            load_language_model(str(folder), dtype=dtype, device="cuda")


@pytest.mark.usefixtures("two_gpus")
def test_a_spread_model_that_gpus_cannot_hold_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled = tiny_network()
    spilled.lm_head.to("meta")
    _gives(monkeypatch, spilled)
    with pytest.raises(ModelError, match=r"does not fit the GPUs of this machine: it would lie on cpu\+meta"):
        load_language_model(str(folder), dtype="bfloat16", device="balanced")


def test_placement_names_every_device_in_order() -> None:
    model = tiny_language_model()
    assert model.placement == "cpu"
    devices = [torch.device("cuda", number) for number in (10, 2, 2)]
    model.model.parameters = lambda: [SimpleNamespace(device=device) for device in devices]
    assert model.placement == "cuda:2+cuda:10"


def test_window_comes_from_the_configuration_not_the_tokenizer() -> None:
    model = tiny_language_model(window=77)
    assert model.context_window == 77
    assert model.tokenizer.model_max_length > 1e9


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "llama3", "mistral", "qwen2"])
def test_window_is_known_for_every_family(family: str) -> None:
    assert tiny_language_model(family, window=99).context_window == 99


def test_forward_passes_are_counted() -> None:
    model = tiny_language_model()
    for _ in range(3):
        model.model(torch.tensor([[5, 6]]))
    assert model.forward_passes == 3


def test_chat_template_is_noticed() -> None:
    assert tiny_language_model(chat_template=CHAT).has_chat_template
    assert not tiny_language_model().has_chat_template


def test_weight_that_is_not_finite_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tiny_network()
    with torch.no_grad():
        broken.lm_head.weight[3, 2] = torch.inf
    _gives(monkeypatch, broken)
    with pytest.raises(ModelError, match=r"its weight lm_head\.weight is not finite"):
        load_language_model(str(folder), device="cpu")


def test_capabilities_need_neither_weights_nor_torch() -> None:
    code = (
        "import sys; from tasks.models.backends import capabilities; "
        "print(*sorted(capabilities('gpt2'))); assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["answer_scores", "gradients", "next_token_logits", "samples"]
    with pytest.raises(UnknownName, match="smollm2-135m-instruct"):
        capabilities("smollm2-135-instruct")


def test_tokens_of_the_test_tokenizer_span_the_seam_and_lose_nothing() -> None:
    tokenizer = byte_pair_tokenizer()
    assert tokenizer.tokenize("Rome.\n") == ["R", "o", "m", "e", ".Ċ"]
    assert tokenizer.tokenize("Rome.\nQ: x") == ["R", "o", "m", "e", ".", "ĊQ:", "Ġ", "x"]
    for text in ("Rome.\nThe cité ", "one two"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
    assert tokenizer("Rome")["input_ids"] == byte_tokenizer()("Rome")["input_ids"]
    assert tiny_language_model(tokenizer=tokenizer).model.config.vocab_size == len(tokenizer)


def test_scaled_positions_of_the_tiny_model_act_within_its_window() -> None:
    prompt = torch.tensor([list(range(5, 205))])
    scaled, plain = tiny_network("llama3"), tiny_network("llama3")
    plain.model.rotary_emb.inv_freq = 500_000.0 ** -(torch.arange(0, 8, 2) / 8)
    with torch.inference_mode():
        assert (scaled.eval()(prompt).logits - plain.eval()(prompt).logits).abs().max() > 0.1
