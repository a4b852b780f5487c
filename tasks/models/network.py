"""The network and the tokenizer of a language model, and traits of both that are learnt in use."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.tasks.models.machine import hardware_of
from swaymeter.tasks.models.pretrained import context_window

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class ReadingMethod(NamedTuple):
    """A reading method, for short or for long prompts.

    Attributes:
        name: the name of the method, such as "padded batches".
        is_long: True for prompts so long that LongRoPE changes their positions.
    """

    name: str
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class MethodDecision:
    """The decision whether a model may use a reading method, after a comparison with prompts read alone.

    Attributes:
        reason: the reason against the method; None if it gives the same distributions.
        rounding: the largest difference that the method makes to a log-probability, nats.
        compared: the tokens of the shortest and of the longest prompt that were compared; empty before a comparison.
    """

    reason: str | None = None
    rounding: float = 0.0
    compared: tuple[tuple[int, ...], ...] = ()

    def covers(self, shortest: int, longest: int) -> bool:
        """Return True if the decision holds for prompts of `shortest` to `longest` tokens; a rejection always holds."""
        lengths = [len(prompt) for prompt in self.compared]
        return self.reason is not None or (bool(lengths) and lengths[0] <= shortest and longest <= lengths[1])


@dataclass(frozen=True, slots=True)
class Conversation:
    """The format of prompts for a model.

    Attributes:
        template: the chat template.
        system_turn: True if the template writes a system turn.
        control: the texts of control tokens, such as "<|im_end|>"; in a question, such a text is ordinary text.
        options: keywords of the template with their values, such as enable_thinking=False.
        start: the tokens before the text of the template; empty if the template writes them itself.
    """

    template: str
    system_turn: bool
    control: tuple[str, ...]
    options: Mapping[str, Any]
    start: tuple[int, ...]


@dataclass(eq=False)
class ModelTraits:
    """Traits of one loaded model that are learnt in use; None for a trait that was not needed yet.

    Attributes:
        method_decisions: the decision on each compared reading method.
        prompts_at_once: limit of the prompts whose replies are decoded together, set after memory ran out.
        start_tokens: the tokens that the tokenizer puts before a text.
        vocabulary: the text that each token adds to a text, by token id.
        conversations: for each `prompt` of the study, the format of prompts.
        longest_turns: for each `prompt` of the study, characters of the longest turn that the template did not cut.
    """

    method_decisions: dict[ReadingMethod, MethodDecision] = field(default_factory=dict)
    prompts_at_once: int | None = None
    start_tokens: tuple[int, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    conversations: dict[AnswerPrompts, Conversation] = field(default_factory=dict)
    longest_turns: dict[AnswerPrompts, int] = field(default_factory=dict)


@dataclass(eq=False)
class Network:
    """A network and its tokenizer.

    Attributes:
        model: the network of transformers.
        tokenizer: the tokenizer of transformers.
        name: the name of the model.
        revision: the revision of the weights.
        dtype: the dtype of the computation, such as "float32" or "4bit".
        device: the device of the inputs, "cpu" or "cuda:0".
        forward_passes: number of forward passes so far.
        traits: traits of the model that are learnt in use.
    """

    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    name: str
    revision: str
    dtype: str
    device: str
    forward_passes: int = field(default=0, init=False)
    traits: ModelTraits = field(default_factory=ModelTraits, init=False, repr=False)

    def __post_init__(self) -> None:
        self.model.train(False)
        self.model.register_forward_pre_hook(self._count)

    @property
    def forward_parameters(self) -> Mapping[str, Any]:
        """Parameters of the network's forward pass, by name."""
        return inspect.signature(self.model.forward).parameters

    def last_logits(self, count: int) -> dict[str, int]:
        """Return the option for only the last `count` logits; empty if the forward pass does not have the option."""
        return {"logits_to_keep": count} if "logits_to_keep" in self.forward_parameters else {}

    @property
    def has_chat_template(self) -> bool:
        """True if the tokenizer has a chat template."""
        return bool(self.tokenizer.chat_template)

    @property
    def context_window(self) -> int | None:
        """Largest number of tokens that the model reads, by its configuration; None if unknown."""
        return context_window(self.model.config)

    @property
    def vocabulary_size(self) -> int:
        """V, the number of entries of a next-token distribution."""
        return int(self.model.config.get_text_config().vocab_size)

    @property
    def parameters(self) -> int:
        """Number of parameters; two parameters of 4 bits in one byte count as two."""
        return int(self.model.num_parameters())

    @property
    def placement(self) -> str:
        """Devices of the weights: "cpu", "cuda:0", or "cuda:0+cuda:1" for a model on two GPUs."""
        devices = {weights.device for weights in self.model.parameters()}
        return "+".join(str(device) for device in sorted(devices, key=lambda device: (device.type, device.index or 0)))

    @property
    def hardware(self) -> str:
        """Names of the processor or the GPUs that hold the weights."""
        return hardware_of(self.placement)

    @property
    def reading(self) -> str | None:
        """The column `reading` of the database: rejected reading methods with reasons; None without a rejection."""
        decisions = list(self.traits.method_decisions.items())  # a copy, because another thread may add decisions
        reasons = [f"not by {method}: {decision.reason}" for (method, _), decision in decisions if decision.reason]
        return "; ".join(dict.fromkeys(reasons)) or None

    def _count(self, module: Any, inputs: Any) -> None:
        self.forward_passes += 1
