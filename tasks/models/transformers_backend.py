"""The backend that runs models with transformers on this machine. Importing this imports no torch.

It has all capabilities in every dtype. Quantised weights (8bit, 4bit) take nothing away: gradients go to the input
embeddings, which are not quantised, and bitsandbytes passes them through its layers.
"""

from pathlib import Path
from typing import Any, get_args

from swaymeter.data.errors import ModelError
from swaymeter.tasks.models import loading
from swaymeter.tasks.models.backend import Backend, Capability
from swaymeter.tasks.models.files.architecture import not_left_to_right
from swaymeter.tasks.models.files.conversion import converted_folder
from swaymeter.tasks.models.files.identity import ModelIdentity, identify_model, is_model_name
from swaymeter.tasks.models.language_model import LanguageModel


def load(identity: ModelIdentity, dtype: str, device: str) -> LanguageModel:
    """The model in that dtype on that device, loaded once a process; raises as load_language_model does."""
    device = loading.chosen_device(device, spread=True)
    return _loaded(identity, loading.chosen_dtype(dtype, device), device)


def _load(identity: ModelIdentity, dtype: str, device: str) -> LanguageModel:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = converted_folder(Path(identity.location), identity.revision) if identity.kind == "embedded" else None
    options = loading.weights_options(dtype, device)
    model = loading.pretrained(identity, AutoModelForCausalLM.from_pretrained, folder=folder, **options)
    tokenizer = loading.pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    if len(tokenizer) == 0:
        raise ModelError(f"model {identity.name!r}: its tokenizer is empty; does its folder have tokenizer files?")
    _check_vocabulary(identity, tokenizer, model.get_input_embeddings().weight.shape[0])
    _check_dtype(identity, model, dtype)
    inputs = str(model.get_input_embeddings().weight.device)
    loaded = LanguageModel(model, tokenizer, identity.name, identity.revision, dtype, inputs)
    if device == loading.BALANCED and not all(place.startswith("cuda") for place in loaded.placement.split("+")):
        raise ModelError(
            f"model {identity.name!r} in {dtype} does not fit the GPUs of this machine: it would lie on "
            f"{loaded.placement}; use 8bit, 4bit or more GPUs"
        )
    _check_left_to_right(identity, model)
    return loaded


_loaded = loading.loaded_once(_load)


def _check_vocabulary(identity: ModelIdentity, tokenizer: Any, size: int) -> None:
    """ModelError for a tokenizer of another model; tokens that were added to it need not be known to this one."""
    added = tokenizer.get_added_vocab()
    own = ((place, token) for token, place in tokenizer.get_vocab().items() if token not in added)
    place, token = max(own, default=(0, ""))
    if place >= size:
        raise ModelError(
            f"model {identity.name!r}: its tokenizer has token {place}, {token!r}, and the model only {size:,} tokens; "
            "get the folder again, with the tokenizer of this model"
        )


def _check_left_to_right(identity: ModelIdentity, model: Any) -> None:
    """ModelError where what follows a token changes what the model says after it."""
    import torch

    ids = torch.tensor([[5, 6, 7, 8], [5, 6, 9, 10]], device=model.get_input_embeddings().weight.device)
    with torch.inference_mode():
        first, second = model(input_ids=ids, use_cache=False).logits[:, 1].float()
    if float((first - second).abs().max()) > 0.1 * float(first.std()):  # both are the same but for rounding
        raise not_left_to_right(identity.name, type(model).__name__)


def _check_dtype(identity: ModelIdentity, model: Any, dtype: str) -> None:
    layers = {type(module).__name__ for module in model.modules()}
    stored_dtype = next((name for name, layer in loading.QUANTISED.items() if layer in layers), None)
    if stored_dtype == (dtype if dtype in loading.QUANTISED else None):
        return
    if stored_dtype is None:
        raise ModelError(f"model {identity.name!r} has no linear layer that could be in {dtype}; use bfloat16")
    raise ModelError(
        f"model {identity.name!r}: its files hold {stored_dtype} weights, so {dtype} is not what they are in; "
        f"ask for dtype {stored_dtype}, or for the model that it was made from"
    )


TRANSFORMERS = Backend(
    accepts=is_model_name,
    capabilities=frozenset(get_args(Capability)),
    identify=lambda name: identify_model(name, "language_model"),
    load=load,
)
