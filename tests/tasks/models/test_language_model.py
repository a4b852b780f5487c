from pathlib import Path

import pytest
import torch

from data.errors import ModelError, UsageError
from tasks.models import conversion, language_model, load_language_model
from tasks.models.language_model import resolve_dtype
from tests.tasks.models.tiny import CHAT, save_language_model, tiny_language_model


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
    with pytest.raises(UsageError, match="int4"):
        resolve_dtype("int4", "cpu")


def test_window_comes_from_the_configuration_not_the_tokenizer() -> None:
    model = tiny_language_model(window=77)
    assert model.context_window == 77
    assert model.tokenizer.model_max_length > 1e9


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "mistral"])
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


def test_damaged_weights_are_a_model_error(folder: Path, tmp_path: Path) -> None:
    damaged = save_language_model(tmp_path / "damaged")
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_language_model(str(damaged), device="cpu")


def test_embedded_model_is_read_from_the_converted_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def converts(gguf: Path, unfinished: Path) -> None:
        save_language_model(unfinished)

    def fails(gguf: Path, unfinished: Path) -> None:
        raise AssertionError("converted a second time")

    monkeypatch.setenv("SWAYMETER_CACHE", str(tmp_path))
    for convert in (converts, fails):
        monkeypatch.setattr(language_model, "_loaded", {})
        monkeypatch.setattr(conversion, "_convert", convert)
        model = load_language_model("smollm2-135m-instruct", device="cpu")
        assert model.name == "smollm2-135m-instruct"
        assert model.model.config.hidden_size == 32
