"""The weights and the tokenizer of a language model, and what is learnt about both while they are used."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.tasks.models.loading import context_window
from swaymeter.tasks.models.machine import hardware_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a way of reading prompts gives what each gives when it is read alone; reason: why it does not.

    rounding: the largest difference of a log-probability, nats; compared: the shortest and the longest prompt.
    """

    reason: str | None = None
    rounding: float = 0.0
    compared: tuple[tuple[int, ...], ...] = ()

    def covers(self, shortest: int, longest: int) -> bool:
        """Whether it is the verdict for prompts of so many tokens, too."""
        known = [len(prompt) for prompt in self.compared]
        return self.reason is not None or (bool(known) and known[0] <= shortest and longest <= known[1])


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a model is asked; control: token texts that must stay text; options: keywords of the template.

    start: the tokens before what the template writes, which a chat template writes itself.
    """

    template: str
    system_turn: bool
    control: tuple[str, ...]
    options: Mapping[str, Any]
    start: tuple[int, ...]


@dataclass(eq=False)
class Engine:
    """What is known of one loaded model; None for what has not been needed yet.

    verdicts: on the ways of reading it, by their names and whether prompts are so long that positions are computed
    otherwise; prompts_at_once: set where memory ran out with more; start_tokens: what its tokenizer puts before a text;
    vocabulary: what each token adds to a text.
    """

    verdicts: dict[tuple[str, bool], Verdict] = field(default_factory=dict)
    prompts_at_once: int | None = None
    start_tokens: tuple[int, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    conversations: dict[AnswerPrompts, Conversation] = field(default_factory=dict)
    longest_turns: dict[AnswerPrompts, int] = field(default_factory=dict)
    """The characters of the longest turn that the chat template was seen to write whole."""


@dataclass(eq=False)
class Network:
    """A network and its tokenizer; device: where its inputs are put, "cpu" or "cuda:0"; revision: of the weights.

    dtype: what it computes in, such as "float32" or "4bit"; forward_passes: calls so far, each of them one batch.
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
    def takes(self) -> Mapping[str, Any]:
        """The parameters of the network's forward pass, by their names."""
        return inspect.signature(self.model.forward).parameters

    def keeping(self, count: int) -> dict[str, int]:
        """The option of a forward pass with which only the last `count` logits are computed, where it has one."""
        return {"logits_to_keep": count} if "logits_to_keep" in self.takes else {}

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation with this model is written."""
        return bool(self.tokenizer.chat_template)

    @property
    def context_window(self) -> int | None:
        """How many tokens the model can read; from its configuration, since a tokenizer may say 1e30."""
        return context_window(self.model.config)

    @property
    def vocabulary_size(self) -> int:
        """V: the entries of a next-token distribution."""
        return int(self.model.config.get_text_config().vocab_size)

    @property
    def parameters(self) -> int:
        """How many numbers the model has learnt; packed ones are counted one by one."""
        return int(self.model.num_parameters())

    @property
    def placement(self) -> str:
        """Where the model lies, as the database keeps it: "cpu", "cuda:0", or "cuda:0+cuda:1" when it is spread."""
        devices = {weights.device for weights in self.model.parameters()}
        return "+".join(str(device) for device in sorted(devices, key=lambda device: (device.type, device.index or 0)))

    @property
    def hardware(self) -> str:
        """The names of the processor or GPUs that it lies on."""
        return hardware_of(self.placement)

    @property
    def reading(self) -> str | None:
        """Which ways of reading are not used for this model, and why; None where all that were needed are."""
        verdicts = list(self.engine.verdicts.items())  # another thread may add to them
        reasons = [f"not by {way}: {verdict.reason}" for (way, _), verdict in verdicts if verdict.reason]
        return "; ".join(dict.fromkeys(reasons)) or None

    def _count(self, module: Any, inputs: Any) -> None:
        self.forward_passes += 1
