"""Where a model is served, what it is asked, and what comes back: the same for every kind of server."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

SERVED = "served"
"""The dtype, and the place, of a model whose server decides both."""
ASKED_TWICE = 20
"""Prompts whose greedy answer is asked for twice, at most, to see whether it is the same."""
Api = Literal["openai", "vllm", "llama.cpp"]
Turns = Sequence[Mapping[str, str]]
_THIS_MACHINE = re.compile(r"localhost|::1|127(\.\d+){3}")


@dataclass(frozen=True)
class Endpoint:
    """A model at a server, as a study file names it.

    served_as: what the server calls the model; "": the name. key_from: the environment variable that holds the key.
    tokenizer: the model whose tokenizer and chat template write the prompts, "" where the server's do. in_flight: most
    requests at the same time. max_requests: of one run, None for any number. revision: which weights the server has,
    in the words of the study; answers of another one are not used. max_age_hours: up to which a stored answer is used;
    None for any age.
    """

    name: str
    address: str
    api: Api | Literal["auto"] = "auto"
    served_as: str = ""
    key_from: str = ""
    tokenizer: str = ""
    in_flight: int = 32
    requests_per_minute: float | None = None
    timeout_s: float = 600.0
    max_requests: int | None = None
    revision: str = ""
    max_age_hours: float | None = None

    @property
    def model(self) -> str:
        """What the server calls the model."""
        return self.served_as or self.name

    @property
    def is_readable_on_its_way(self) -> bool:
        """Whether what is sent goes to another machine, and is not encrypted."""
        parts = urlsplit(self.address)
        return parts.scheme == "http" and not _THIS_MACHINE.fullmatch(parts.hostname or "")


class Prompt(NamedTuple):
    """What is sent: the tokens of a text, a text, or the turns of a conversation; one of the three.

    options: keywords of the server's chat template.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    turns: Turns = ()
    options: Mapping[str, Any] = {}


class Decoding(NamedTuple):
    """How answers are decoded; every parameter is sent, since what a request leaves out is the server's own.

    temperature: 0 for the greedy answer. top_k: 0 for all tokens. seed: the same one gives the same answer, where the
    server honours it.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    choices: tuple[str, ...] = ()
    """The only replies that are allowed, as far as the server constrains replies; empty for any reply."""


@dataclass(frozen=True)
class Reply:
    """One answer of a server: its text, as it came; finish: why it ended.

    token_ids and token_log_probs: of each token, the end token included, in nats before temperature; empty where the
    server does not say. token_texts: their texts, of chats alone. thoughts: what the server itself took out of the
    text. prompt_tokens: how many it read, 0 where it does not say. model: what it says that
    answered, and in which configuration.
    """

    text: str
    finish: Literal["stop", "length", "content_filter"] = "stop"
    token_ids: tuple[int, ...] = ()
    token_log_probs: tuple[float, ...] = ()
    token_texts: tuple[str, ...] = ()
    thoughts: str = ""
    prompt_tokens: int = 0
    model: tuple[str, str] = ("", "")


Log = NDArray[np.float32]
"""The log-probabilities of all tokens by their ids, (V,)."""
