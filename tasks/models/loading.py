"""Language models by name: their capabilities, their identity, and their loading.

The models run in transformers on this machine; `endpoints` has the models behind servers. A model on this machine has
every capability in every dtype: bitsandbytes does not quantise the input embeddings, so gradients reach them. Importing
this module does not import torch.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from swaymeter.data.errors import ModelError, UnknownName
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.files.hub import convert_once
from swaymeter.tasks.models.files.identity import (
    ModelIdentity,
    aliases,
    identify_model,
    is_model_name,
    not_left_to_right,
)
from swaymeter.tasks.models.pretrained import (
    BALANCED,
    QUANTISED,
    choose_device,
    choose_dtype,
    load_once,
    load_pretrained,
    weights_options,
)

if TYPE_CHECKING:
    from swaymeter.tasks.models.language_model import LanguageModel


SERVER_CAPABILITIES: frozenset[Capability] = frozenset(get_args(Capability)) - {"gradients"}
"""Capabilities that a server can have; its probe confirms or removes each capability."""


def capabilities(name: str) -> frozenset[Capability]:
    """Return the capabilities of a language model without loading it.

    Raises:
        UnknownName: the name cannot be an alias, a folder or a hub id.
    """
    if not is_model_name(name):
        raise UnknownName("language model", name, aliases("language_model"))
    return frozenset(get_args(Capability))


def identify_language_model(name: str) -> ModelIdentity:
    """Return the identity of a language model; raises like `identify_model`."""
    return identify_model(name, "language_model")


def load_language_model(
    name: str, *, dtype: str = "auto", device: str = "auto", revision: str | None = None
) -> "LanguageModel":
    """Load a language model, only once in a process for the same arguments.

    Args:
        name: an alias of the catalog ("smollm2-135m-instruct"), a folder, or a hub id.
        dtype: "float32"; "bfloat16", fast on GPUs and on CPUs with matrix units for it; "float16", slow on CPUs; "8bit"
            and "4bit", bitsandbytes on CUDA; or "auto": float32 on a CPU, bfloat16 on a GPU.
        device: "cpu", "cuda", "cuda:1", "balanced" for all GPUs together, or "auto": the first GPU, else the CPU.
        revision: the revision to load, such as a commit of the hub; None for the revision that `identify_model` finds.

    Raises:
        UsageError: unknown dtype or device, or an alias of another kind of model.
        UnknownName: the name cannot be an alias, a folder or a hub id.
        ModelError: the model is missing, damaged, stored in another dtype, of another revision, or too large for the
            GPUs.
    """
    identity = identify_language_model(name)
    if revision not in (None, identity.revision):
        if identity.origin != "hub":  # only the hub has other revisions
            raise ModelError(
                f"model {name!r}: this machine has revision {identity.revision[:12]}, but the run needs "
                f"revision {revision[:12]}; copy the same model files to every machine of the run"
            )
        identity = replace(identity, revision=revision)
    device = choose_device(device, spread=True)
    return _load(identity, choose_dtype(dtype, device), device)


@load_once
def _load(identity: ModelIdentity, dtype: str, device: str) -> "LanguageModel":
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from swaymeter.tasks.models.language_model import LanguageModel

    # "embedded": a GGUF file in an installed package, converted once into a folder
    folder = convert_once(Path(identity.location), identity.revision) if identity.origin == "embedded" else None
    options = weights_options(dtype, device)
    model = load_pretrained(identity, AutoModelForCausalLM.from_pretrained, folder=folder, **options)
    tokenizer = load_pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    if len(tokenizer) == 0:
        raise ModelError(f"model {identity.name!r}: its tokenizer is empty; add the tokenizer files to its folder")
    _check_vocabulary(identity, tokenizer, model.get_input_embeddings().weight.shape[0])
    _check_dtype(identity, model, dtype)
    input_device = str(model.get_input_embeddings().weight.device)
    loaded = LanguageModel(model, tokenizer, identity.name, identity.revision, dtype, input_device)
    if device == BALANCED and not all(device_name.startswith("cuda") for device_name in loaded.placement.split("+")):
        raise ModelError(
            f"model {identity.name!r} in {dtype} does not fit the GPUs of this machine: its weights would be on "
            f"{loaded.placement}; use dtype 8bit or 4bit, or more GPUs"
        )
    _check_left_to_right(identity, model)
    return loaded


def _check_vocabulary(identity: ModelIdentity, tokenizer: Any, size: int) -> None:
    """Raise ModelError for another model's tokenizer: only added tokens may have ids beyond the model's vocabulary."""
    added = tokenizer.get_added_vocab()
    not_added = ((token_id, token) for token, token_id in tokenizer.get_vocab().items() if token not in added)
    token_id, token = max(not_added, default=(0, ""))
    if token_id >= size:
        raise ModelError(
            f"model {identity.name!r}: its tokenizer gives {token!r} the id {token_id}, but the model has only "
            f"{size:,} tokens; download the model again, with its own tokenizer"
        )


def _check_left_to_right(identity: ModelIdentity, model: Any) -> None:
    """Raise ModelError if the logits at a position depend on later tokens."""
    import torch

    # Two texts with the same first two tokens.
    ids = torch.tensor([[5, 6, 7, 8], [5, 6, 9, 10]], device=model.get_input_embeddings().weight.device)
    with torch.inference_mode():
        first, second = model(input_ids=ids, use_cache=False).logits[:, 1].float()
    if float((first - second).abs().max()) > 0.1 * float(first.std()):  # rounding gives far smaller differences
        raise not_left_to_right(identity.name, type(model).__name__)


def _check_dtype(identity: ModelIdentity, model: Any, dtype: str) -> None:
    """Raise ModelError if the quantisation of a model's layers is not that of the requested dtype."""
    layers = {type(module).__name__ for module in model.modules()}
    stored_dtype = next((name for name, layer in QUANTISED.items() if layer in layers), None)
    if stored_dtype == (dtype if dtype in QUANTISED else None):
        return
    if stored_dtype is None:
        raise ModelError(f"model {identity.name!r} has no linear layer that could be in {dtype}; use bfloat16")
    raise ModelError(
        f"model {identity.name!r}: its weights are stored as {stored_dtype}, not {dtype}; use dtype {stored_dtype}, "
        "or name the model that was not quantised"
    )
