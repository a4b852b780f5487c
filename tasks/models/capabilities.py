"""What a measure asks of a model: it names a capability, and receives an object with the methods of its protocol.

    NextTokenLogits   full-vocabulary distributions of the next token      persuasion, susceptibility
    Samples           sampled and greedy answers with log-probabilities    semantic entropy, accuracy
    AnswerScores      log-probabilities of given answers                   answer sets
    Differentiable    gradients with respect to input embeddings           Fisher susceptibility

`LanguageModel`, a network on this machine, has all of them. The functions that the methods call document them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.network import Engine

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.generation.decoding import Decoding
    from swaymeter.tasks.models.next_token.distributions import Distributions

Capability = Literal[
    "next_token_logits", "samples", "answer_scores", "gradients", "token_log_probs", "likeliest_tokens",
    "distributions", "sampling",
]  # fmt: skip
"""The protocols below; for samples also log-probabilities, distributions along them, and samples that differ."""
ReplyState = Literal[
    "complete", "truncated", "empty", "tool_call", "withheld", "unfinished_thoughts", "failed", "unrecorded",
    "not_asked",
]  # fmt: skip
"""How a reply ended: by itself with a text, at the limit of tokens, by itself without a text, with a call of a tool in
place of a text, by a server's content filter, within its thoughts, with an error of an application; a row of
recorded replies lacks it; or recorded replies have no such row."""
Tokens = Sequence[int]
Prompts = Sequence[Sequence[Tokens]]
"""[context][query] tokens."""


MISSING_STATES: tuple[ReplyState, ...] = ("withheld", "unfinished_thoughts", "failed", "unrecorded", "not_asked")
"""States without an answer of the model: no score counts them."""


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer: its text, without special tokens and stripped, so it may be empty; its tokens, end step included.

    token_log_probs: one per token, nats; mean_distribution: (V,), the mean over its steps. All of these are of the
    answer behind its thoughts. state: how it ended; within its thoughts it has no text, no tokens and no distribution.
    thoughts: their text, "" where there are none; thought_ids: their tokens, marks included. error: why an application
    gave none.
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
        """True if there is no answer of the model to judge."""
        return self.state in MISSING_STATES


@dataclass(frozen=True, eq=False)
class SampledAnswers:
    """The answers to one prompt; those with the same tokens are one object, so that its distribution is kept once."""

    samples: tuple[Answer, ...]
    greedy: Answer


class SampleOptions(TypedDict, total=False):
    """How answers are sampled; what is left out is as `DEFAULT_OPTIONS` says.

    samples: beside a greedy answer; max_new_tokens: of an answer, its end step included; max_thoughts: tokens of the
    thoughts before it, None where models are not let think; temperature, top_p, top_k: see generation/sampling.py;
    batch_size: prompts that are answered at once, None for the device's default; form: of the prompts, which decides
    whether an answer ends with its line, None for the model's own; header: what the text of an answer is without.
    decoding: what each step's distribution is combined to, None for the model's own; without: what a decoding contrasts
    with, for each prompt the same without its context, None for one that has no context, which is answered as usual.
    Where there is no decoding, it is not read.
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
    without: Sequence[Tokens | None] | None


DEFAULT_OPTIONS: SampleOptions = {
    "samples": 10, "max_new_tokens": 20, "max_thoughts": None, "temperature": 0.5, "top_p": 1.0, "top_k": 0, "seed": 0,
    "batch_size": None, "form": None, "header": "", "decoding": None, "without": None,
}  # fmt: skip


class Speaker(Protocol):
    """A model whose chat template can be read."""

    @property
    def name(self) -> str:
        """As people know it."""

    @property
    def tokenizer(self) -> Any:
        """Of transformers."""

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation with this model is written."""


class Model(Speaker, Protocol):
    """What every language model says of itself, as scores store it; engine: what was learnt about it while in use."""

    revision: str
    dtype: str
    device: str
    engine: Engine

    @property
    def forward_passes(self) -> int:
        """Calls of the network, or requests to its server, so far."""

    @property
    def context_window(self) -> int | None:
        """How many tokens the model can read; None where nothing says so."""

    @property
    def vocabulary_size(self) -> int:
        """V: the entries of a next-token distribution."""


class Diagnosable(Model, Protocol):
    """What finds the prompt behind a score that is not valid."""

    def is_broken(self, prompt: Tokens) -> bool:
        """Whether the model gives no distribution after this prompt read alone."""

    def in_reach(self, prompts: Sequence[Tokens]) -> bool:
        """Whether the last tokens of prompts can attend to a difference of the prompts."""


class NextTokenLogits(Diagnosable, Protocol):
    """Distributions of the next token."""

    def next_token_by_query(
        self, prompts: Prompts, *, memory: int | None = None
    ) -> "Iterator[tuple[int, Distributions]]":
        """For each query its place and the distributions after every context, (n_contexts, V)."""

    def engine_of_next_token(self, prompts: Prompts) -> str:
        """What reads these prompts, for the rows of scores."""

    def next_token_logits(self, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> "torch.Tensor":
        """The logits after prompts, (n, V)."""

    def greedy_lines(
        self, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, most: int
    ) -> tuple[list[list[str]], str]:
        """The greedy answers of one line, [query][context], of at most so many tokens; and what read them."""


class LikeliestTokens(Model, Protocol):
    """The likeliest tokens of a distribution, which is what chat APIs give of it."""

    def likeliest(self, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
        """After each prompt, the log-probabilities (nats) of the likeliest tokens by what tells these apart."""


class Samples(Model, Protocol):
    """Sampled and greedy answers."""

    def sample_answers(
        self, prompts: Sequence[Tokens], identities: Sequence[tuple[str, ...]], **options: Unpack[SampleOptions]
    ) -> list[SampledAnswers]:
        """The answers to every prompt, in the order of the prompts."""

    def engine_of_answers(self, prompts: Sequence[Tokens], *, to_come: int) -> str:
        """What reads the answers to these prompts, of so many tokens, for the rows of scores."""

    def mean_distribution(self, prompt: Tokens, answer: Tokens) -> NDArray[np.float32]:
        """The mean of the unscaled softmax over a known answer's steps: (V,)."""


class AnswerScores(Diagnosable, Protocol):
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
        """(n_queries, n_contexts, n_answers) nats; (n_queries, n_contexts) whether they are finite; what read them."""


class Differentiable(Model, Protocol):
    """Gradients with respect to a query's input embeddings."""

    def squared_gradients(
        self, queries: list[str], *, n_top: int, draws: int, seed: int, start_token: bool
    ) -> NDArray[np.float64]:
        """||d/dtheta sum_a z_a log p(a|q)||^2 for every query and direction z: (n_queries, n_top + draws)."""
