"""Capabilities of models. A measure names a capability, and receives a model with the methods of its protocol.

These are the protocols, what their methods return, and measures that use them:

    NextTokenLogits   full-vocabulary distributions of the next token      persuasion, susceptibility
    Samples           sampled and greedy replies with log-probabilities    semantic entropy, accuracy
    AnswerScores      log-probabilities of given answers                   answer sets
    Differentiable    gradients with respect to input embeddings           Fisher susceptibility
    LikeliestTokens   the likeliest next tokens, as chat APIs give them    lower bounds of persuasion

`LanguageModel`, a network on this machine, has all protocols. The functions behind its methods document the arguments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.network import ModelTraits

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.generation.decoding import Decoding
    from swaymeter.tasks.models.next_token.distributions import Distributions

Capability = Literal[
    "next_token_logits",
    "samples",
    "answer_scores",
    "gradients",
    "token_log_probs",
    "likeliest_tokens",
    "distributions",
    "sampling",
]
"""The first four names stand for the first four protocols above, and likeliest_tokens stands for LikeliestTokens. The
other names are abilities of Samples that a server may lack: log-probabilities of sampled replies, distributions along
sampled replies, and samples that differ."""
ReplyState = Literal[
    "complete",  # the reply ends by itself, with a text
    "truncated",  # it ends at the limit of tokens
    "empty",  # it ends by itself, without a text
    "tool_call",  # it calls a tool, without a text
    "withheld",  # a server's content filter stops it
    "unfinished_thoughts",  # it ends within the thoughts
    "failed",  # an application raises an error, or returns no text
    "unrecorded",  # the row of recorded replies has no reply
    "not_asked",  # the recorded replies have no row for the question and context
]
"""The way in which a reply ends, or the reason why the reply is missing."""
Tokens = Sequence[int]
"""Token ids."""
Prompts = Sequence[Sequence[Tokens]]
"""The tokens of prompts, by context and then by query: prompts[context][query]."""


MISSING_STATES: tuple[ReplyState, ...] = ("withheld", "unfinished_thoughts", "failed", "unrecorded", "not_asked")
"""States of replies without an answer; no score counts such a reply."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A reply of a model, split into thoughts and answer.

    Attributes:
        text: the text after the thoughts, without special tokens, stripped; may be empty.
        token_ids: the tokens of `text`, the end token included.
        token_log_probs: the log-probability of each of `token_ids`, nats.
        mean_distribution: (V,), the mean next-token distribution over `token_ids`; (0,) if it is unknown.
        state: the way in which the reply ends; a reply that ends within its thoughts has no text, tokens or
            distribution.
        thoughts: the text of the thoughts; "" without thoughts.
        thought_ids: the tokens of the thoughts, marks included.
        error: the reason why an application gave no reply; None for every other reply.
    """

    text: str
    token_ids: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    mean_distribution: NDArray[np.float32]
    state: ReplyState
    thoughts: str = ""
    thought_ids: tuple[int, ...] = ()
    error: str | None = None

    @property
    def is_missing(self) -> bool:
        """True if no score counts the reply, because it has no answer."""
        return self.state in MISSING_STATES


@dataclass(frozen=True, eq=False)
class SampledAnswers:
    """The sampled replies and the greedy reply to a prompt; replies with the same tokens may be the same object."""

    samples: tuple[Answer, ...]
    greedy: Answer


class SampleOptions(TypedDict, total=False):
    """Options of sampled replies; DEFAULT_OPTIONS has the defaults.

    Attributes:
        samples: number of sampled replies beside the greedy reply.
        max_new_tokens: limit of the tokens of a reply, the end token included.
        max_thoughts: limit of the tokens of thoughts; None for models that do not think.
        temperature: temperature of the draws, positive.
        top_p: share of the probability mass that is drawn from; 1 for all tokens.
        top_k: number of most probable tokens that are drawn from; 0 for all tokens.
        seed: seed of the draws.
        batch_size: prompts in one batch; None for the default of the device.
        form: the form of the prompts, `chat` or `plain`; None for the model's form. A reply to a `plain` prompt
            ends with its first line.
        header: the header of the assistant's turn if the model writes it, such as "assistant"; it is removed from the
            beginning of a reply. "" for none.
        decoding: a contrastive decoding; None for the model's own distribution.
        contextless: for each prompt the same prompt without its context, which a contrastive decoding needs. An entry
            is None for a prompt that has no context.
    """

    samples: int
    max_new_tokens: int
    max_thoughts: int | None
    temperature: float
    top_p: float
    top_k: int
    seed: int
    batch_size: int | None
    form: Literal["chat", "plain"] | None
    header: str
    decoding: "Decoding | None"
    contextless: Sequence[Tokens | None] | None


DEFAULT_OPTIONS: SampleOptions = {
    "samples": 10,
    "max_new_tokens": 20,
    "max_thoughts": None,
    "temperature": 0.5,
    "top_p": 1.0,
    "top_k": 0,
    "seed": 0,
    "batch_size": None,
    "form": None,
    "header": "",
    "decoding": None,
    "contextless": None,
}


class Speaker(Protocol):
    """A model whose chat template can be read."""

    @property
    def name(self) -> str:
        """The name of the model in messages."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers."""

    @property
    def has_chat_template(self) -> bool:
        """True if the tokenizer has a chat template."""


class Model(Speaker, Protocol):
    """A language model, with the properties that are stored beside its scores.

    Attributes:
        revision: the revision of the weights.
        dtype: the dtype of the computation.
        device: the device of the inputs.
        traits: traits of the model that are learnt in use, such as its start tokens.
    """

    revision: str
    dtype: str
    device: str
    traits: ModelTraits

    @property
    def forward_passes(self) -> int:
        """Number of forward passes, or of requests to the server, so far."""

    @property
    def context_window(self) -> int | None:
        """Largest number of tokens that the model reads; None if unknown."""

    @property
    def vocabulary_size(self) -> int:
        """V, the number of entries of a next-token distribution."""


class DiagnosableModel(Model, Protocol):
    """A model that can locate the prompt behind an invalid score."""

    def is_broken(self, prompt: Tokens) -> bool:
        """Return True if the model gives no finite distribution when it reads only this prompt."""

    def in_reach(self, prompts: Sequence[Tokens]) -> bool:
        """Return True if the last tokens of the prompts can attend to a difference between the prompts.

        If a sliding window is too short for this, for example, equal distributions after all prompts are no error.
        """


class NextTokenLogits(DiagnosableModel, Protocol):
    """Distributions of the next token."""

    def next_token_by_query(
        self, prompts: Prompts, *, memory: int | None = None
    ) -> "Iterator[tuple[int, Distributions]]":
        """Yield the index of a query and its distributions after every context, (n_contexts, V)."""

    def engine_of_next_token(self, prompts: Prompts) -> str:
        """Return the name of the engine that reads these prompts."""

    def next_token_logits(self, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> "torch.Tensor":
        """Return the logits after the prompts, (n, V)."""

    def greedy_lines(
        self, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, max_tokens: int
    ) -> tuple[list[list[str]], str]:
        """Return the greedy replies of one line, [query][context], and the name of the engine."""


class LikeliestTokens(Model, Protocol):
    """The likeliest next tokens: the part of a distribution that chat APIs return."""

    def likeliest(self, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
        """Return for each prompt the log-probabilities (nats) of the likeliest tokens, by text or `token_id:N`."""


class Samples(Model, Protocol):
    """Sampled and greedy replies."""

    def sample_answers(
        self, prompts: Sequence[Tokens], identities: Sequence[tuple[str, ...]], **options: Unpack[SampleOptions]
    ) -> list[SampledAnswers]:
        """Return the replies to every prompt, in the order of the prompts."""

    def engine_of_answers(self, prompts: Sequence[Tokens], *, new_tokens: int) -> str:
        """Return the engine that decodes at most `new_tokens` tokens after these prompts."""

    def mean_distribution(self, prompt: Tokens, answer: Tokens) -> NDArray[np.float32]:
        """Return the mean next-token distribution over the steps of a known answer, (V,)."""


class AnswerScores(DiagnosableModel, Protocol):
    """Log-probabilities of complete answers."""

    def complete_answers(
        self,
        contexts: Sequence[str],
        queries: Sequence[str],
        answers: Sequence[str],
        *,
        terminators: Sequence[str],
        prompts: Prompts,
        start_token: bool = True,
    ) -> "tuple[torch.Tensor, torch.Tensor, str]":
        """Return log-probabilities in nats, (n_queries, n_contexts, n_answers), a mask, and the engine's name.

        The mask, (n_queries, n_contexts), is True if all distributions behind the log-probabilities are finite.
        """


class Differentiable(Model, Protocol):
    """Gradients with respect to a query's input embeddings."""

    def squared_gradients(
        self, queries: list[str], *, n_top: int, draws: int, seed: int, start_token: bool
    ) -> NDArray[np.float64]:
        """Return ||d/dtheta sum_a z_a log p(a|q)||^2 for every query q and direction z: (n_queries, n_top + draws).

        theta are the query's input embeddings, and z_a is the weight of the token a of the vocabulary. `n_top`
        directions weigh one likely token each. `draws` directions weigh all other tokens, with random signs.
        """
