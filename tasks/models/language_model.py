"""A loaded language model and its tokenizer."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tasks.models.engine import Engine
from tasks.models.loading import context_window

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(eq=False)
class LanguageModel:
    """A language model and its tokenizer, ready to be asked.

    Attributes:
        name: as it was asked for.
        revision: of the weights.
        dtype: what it computes in, such as "float32" or "4bit".
        device: where its inputs are put, such as "cpu" or "cuda:0".
        forward_passes: calls of the network so far, each of them one batch.
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
