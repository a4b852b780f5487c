"""Language models: a name becomes weights and a tokenizer, once per process."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import ModelError
from tasks.models.conversion import converted_folder
from tasks.models.engine import Engine
from tasks.models.identity import ModelIdentity, identify_language_model
from tasks.models.loading import (
    BALANCED,
    DTYPES,
    QUANTISED,
    chosen_dtype,
    chosen_placement,
    context_window,
    pretrained,
    quieten,
    weights_options,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_loaded: dict[tuple[str, str, str, str], "LanguageModel"] = {}
_loading = threading.Lock()


@dataclass(eq=False)
class LanguageModel:
    """A language model and its tokenizer, ready to be asked.

    name: as it was asked for; revision: of the weights; dtype: the number format it computes in; device: where its
    inputs are put, such as "cpu" or "cuda:0"; placement: all the devices that hold it; context_window: the tokens it
    can read, None where its configuration does not say; forward_passes: calls of the model so far, each of them one
    batch.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    dtype: str
    device: str
    forward_passes: int = field(default=0, init=False)
    engine: Engine = field(default_factory=Engine, init=False, repr=False)

    def __post_init__(self) -> None:
        self.model.train(False)
        self.model.register_forward_pre_hook(self._count)

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation with this model is written."""
        return bool(self.tokenizer.chat_template)

    @property
    def context_window(self) -> int | None:
        """How many tokens the model can read; from its configuration, since a tokenizer may say 1e30."""
        return context_window(self.model.config)

    @property
    def placement(self) -> str:
        """Where the model lies, as the database keeps it: "cpu", "cuda:0", or "cuda:0+cuda:1" when it is spread."""
        devices = {weights.device for weights in self.model.parameters()}
        return "+".join(str(device) for device in sorted(devices, key=lambda device: (device.type, device.index or 0)))

    def _count(self, module: Any, inputs: Any) -> None:
        self.forward_passes += 1


def load_language_model(name: str, *, dtype: str = "auto", device: str = "auto") -> LanguageModel:
    """The language model of that name, loaded when it is first asked for.

    name: an alias of the catalog ("smollm2-135m-instruct"), a folder, or a hub id. dtype: "float32"; "bfloat16", fast
    on GPUs and on CPUs with matrix units for it; "float16", slow on CPUs; "8bit" and "4bit", bitsandbytes on CUDA; or
    "auto": float32 on a CPU, bfloat16 on a GPU. device: "cpu", "cuda", "cuda:1", "balanced" for a model that is spread
    over all GPUs, or "auto": the first GPU, else the CPU.
    Raises UsageError and UnknownName for what cannot be asked, ModelError for what cannot be found or loaded, for a
    model whose weights are in another format than dtype says, or for a spread one that the GPUs cannot hold.
    """
    device = chosen_placement(device)
    dtype = chosen_dtype(dtype, device)
    identity = identify_language_model(name)
    key = (identity.name, identity.revision, dtype, device)
    with _loading:
        if key not in _loaded:
            _loaded[key] = _load(identity, dtype, device)
        return _loaded[key]


def resolve_dtype(dtype: str, device: str) -> str:
    """The dtype's name that load_language_model would take: "auto" is float32 on a CPU and bfloat16 on a GPU.

    Raises UsageError for a dtype or device that is none, ModelError for a device that this machine lacks.
    """
    return dtype if dtype in DTYPES else chosen_dtype(dtype, chosen_placement(device))


def _load(identity: ModelIdentity, dtype: str, device: str) -> LanguageModel:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quieten()
    folder = converted_folder(Path(identity.location), identity.revision) if identity.kind == "embedded" else None
    options = weights_options(dtype, device)
    model = pretrained(identity, AutoModelForCausalLM.from_pretrained, folder=folder, **options)
    tokenizer = pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    if len(tokenizer) == 0:
        raise ModelError(f"model {identity.name!r}: its tokenizer is empty; does its folder have tokenizer files?")
    _check_format(identity, model, dtype)
    inputs = str(model.get_input_embeddings().weight.device)
    loaded = LanguageModel(model, tokenizer, identity.name, identity.revision, dtype, inputs)
    if device == BALANCED and not all(place.startswith("cuda") for place in loaded.placement.split("+")):
        raise ModelError(
            f"model {identity.name!r} in {dtype} does not fit the GPUs of this machine: it would lie on "
            f"{loaded.placement}; use 8bit, 4bit or more GPUs"
        )
    return loaded


def _check_format(identity: ModelIdentity, model: Any, dtype: str) -> None:
    layers = {type(module).__name__ for module in model.modules()}
    found = next((name for name, layer in QUANTISED.items() if layer in layers), None)
    if found == (dtype if dtype in QUANTISED else None):
        return
    if found is None:
        raise ModelError(f"model {identity.name!r} has no linear layer that could be in {dtype}; use bfloat16")
    raise ModelError(
        f"model {identity.name!r}: its files hold {found} weights, so {dtype} is not what they are in; "
        f"ask for dtype {found}, or for the model that it was made from"
    )
