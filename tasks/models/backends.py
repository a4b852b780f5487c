"""Language models by name: what they can give, which model a name stands for, and how it is loaded, by transformers.

    next_token_logits   full-vocabulary distributions of the next token    persuasion, susceptibility
    samples             sampled and greedy answers with log-probabilities  semantic entropy, accuracy
    answer_scores       log-probabilities of given answers                 answer sets
    gradients           with respect to input embeddings                   Fisher susceptibility

Every model has all of them in every dtype. Quantised weights (8bit, 4bit) take nothing away: gradients go to the input
embeddings, which are not quantised, and bitsandbytes passes them through its layers. Importing this imports no torch.
"""

from pathlib import Path
from typing import Any, Literal, get_args

from data.errors import ModelError, UnknownName
from tasks.models import loading
from tasks.models.files.conversion import converted_folder
from tasks.models.files.identity import ModelIdentity, aliases, identify_model, is_model_name
from tasks.models.language_model import LanguageModel

Capability = Literal["next_token_logits", "samples", "answer_scores", "gradients"]


def capabilities(name: str) -> frozenset[Capability]:
    """What the language model of that name can give, known without its weights; UnknownName for an impossible name."""
    if not is_model_name(name):
        raise UnknownName("language model", name, aliases("language_model"))
    return frozenset(get_args(Capability))


def identify_language_model(name: str) -> ModelIdentity:
    """The identity of the language model of that name; raises as load_language_model does."""
    return identify_model(name, "language_model")


def load_language_model(name: str, *, dtype: str = "auto", device: str = "auto") -> LanguageModel:
    """The language model of that name, loaded once a process when it is first asked for.

    Args:
        name: an alias of the catalog ("smollm2-135m-instruct"), a folder, or a hub id.
        dtype: "float32"; "bfloat16", fast on GPUs and on CPUs with matrix units for it; "float16", slow on CPUs; "8bit"
            and "4bit", bitsandbytes on CUDA; or "auto": float32 on a CPU, bfloat16 on a GPU.
        device: "cpu", "cuda", "cuda:1", "balanced" for a model that is spread over all GPUs, or "auto": the first GPU,
            else the CPU.

    Raises:
        UsageError: a dtype or device that does not exist, or an alias of another kind of model.
        UnknownName: a name that cannot be an alias, a folder or a hub id.
        ModelError: what cannot be found or loaded, is damaged, has weights in another dtype, or does not fit the GPUs.
    """
    identity = identify_language_model(name)
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
    _check_dtype(identity, model, dtype)
    inputs = str(model.get_input_embeddings().weight.device)
    loaded = LanguageModel(model, tokenizer, identity.name, identity.revision, dtype, inputs)
    if device == loading.BALANCED and not all(place.startswith("cuda") for place in loaded.placement.split("+")):
        raise ModelError(
            f"model {identity.name!r} in {dtype} does not fit the GPUs of this machine: it would lie on "
            f"{loaded.placement}; use 8bit, 4bit or more GPUs"
        )
    return loaded


_loaded = loading.loaded_once(_load)


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
