"""Language models: a name becomes weights and a tokenizer, once per process."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import ModelError
from tasks.models.conversion import converted_folder
from tasks.models.identity import ModelIdentity, identify_language_model
from tasks.models.loading import (
    DTYPES,
    chosen_device,
    chosen_dtype,
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

    name: as it was asked for; revision: of the weights; dtype, device: where and how it computes; context_window: the
    tokens it can read, None where its configuration does not say; forward_passes: calls of the model so far, each of
    them one batch.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    dtype: str
    device: str
    forward_passes: int = field(default=0, init=False)

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

    def _count(self, module: Any, inputs: Any) -> None:
        self.forward_passes += 1


def load_language_model(name: str, *, dtype: str = "auto", device: str = "auto") -> LanguageModel:
    """The language model of that name, loaded when it is first asked for.

    name: an alias of the catalog ("smollm2-135m-instruct"), a folder, or a hub id. dtype: "float32", "bfloat16",
    "float16", or "auto": float32 on a CPU, bfloat16 on a GPU. device: "cpu", "cuda", "cuda:1", or "auto".
    Raises UsageError and UnknownName for what cannot be asked, ModelError for what cannot be found or loaded.
    """
    device = chosen_device(device)
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
    return dtype if dtype in DTYPES else chosen_dtype(dtype, chosen_device(device))


def _load(identity: ModelIdentity, dtype: str, device: str) -> LanguageModel:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    quieten()
    folder = converted_folder(Path(identity.location), identity.revision) if identity.kind == "embedded" else None
    options = weights_options(dtype, device)
    model = pretrained(identity, AutoModelForCausalLM.from_pretrained, folder=folder, **options)
    tokenizer = pretrained(identity, AutoTokenizer.from_pretrained, folder=folder)
    if len(tokenizer) == 0:
        raise ModelError(f"model {identity.name!r}: its tokenizer is empty; does its folder have tokenizer files?")
    return LanguageModel(model, tokenizer, identity.name, identity.revision, dtype, device)
