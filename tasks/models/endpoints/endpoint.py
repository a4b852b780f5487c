"""An endpoint, its prompts, its decoding parameters and its replies: the same for every kind of server."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

SERVED = "served"
"""Dtype and placement of a model whose server decides both."""
REPEATED_PROMPTS = 20
"""Upper bound on prompts whose greedy reply is requested twice, to check that it is reproducible."""
KEY_FROM = r"^((([A-Za-z0-9-]+):\s*)?[A-Za-z_][A-Za-z0-9_]*)?$"
"""The pattern of `key_from`: the environment variable of a key, or HEADER: VARIABLE for another header than
Authorization."""
Api = Literal["openai", "vllm", "llama.cpp"]
Finish = Literal["stop", "length", "content_filter", "tool_call"]
"""The reason why a reply ends, in the same words for every kind of server."""
Turns = Sequence[Mapping[str, str]]
"""The turns of a conversation, each with a `role` and a `content`."""
LogProbs = NDArray[np.float32]
"""The log-probabilities of all tokens by their ids, (V,)."""
_LOCALHOST = re.compile(r"localhost|::1|127(\.\d+){3}")


@dataclass(frozen=True)
class Endpoint:
    """A model at a server, as a study file names it.

    Attributes:
        name: The model's name in scores.
        address: The server's URL; a query string such as ?api-version=1 is sent with every request.
        api: The kind of server; auto: the kind that the server states.
        served_as: The server's name of the model; empty: `name`.
        key_from: The environment variable of the key, or HEADER: VARIABLE; empty: no key is sent.
        tokenizer: The model whose tokenizer and chat template write the prompts; empty: the server writes the prompts.
        in_flight: Upper bound on concurrent requests.
        requests_per_minute: Rate limit; None: no limit.
        timeout_s: Seconds that the server may be silent.
        max_requests: Upper bound on the requests of a run; None: no limit.
        revision: The study's name of the server's weights; stored replies of another revision are not used.
        max_age_hours: The age up to which a stored reply is used; None: any age.
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
        """The server's name of the model."""
        return self.served_as or self.name

    @property
    def key_header(self) -> str:
        """The header that carries the key; empty: Authorization."""
        return self.key_from.rpartition(":")[0].strip()

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key; empty: no key is sent."""
        return self.key_from.rpartition(":")[2].strip()

    @property
    def is_unencrypted(self) -> bool:
        """True if requests go to another machine without encryption."""
        parts = urlsplit(self.address)
        return parts.scheme == "http" and not _LOCALHOST.fullmatch(parts.hostname or "")


class Prompt(NamedTuple):
    """A prompt: either token ids, or a text, or the turns of a conversation.

    Attributes:
        tokens: Token ids.
        text: A text that the model continues.
        turns: Messages, to which the server applies its chat template.
        options: Keywords of the server's chat template, or of the request.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    turns: Turns = ()
    options: Mapping[str, Any] = {}


class Decoding(NamedTuple):
    """Decoding parameters; all of them are sent, because a server has defaults of its own.

    Attributes:
        max_tokens: Upper bound on the tokens of a reply.
        temperature: 0 for the greedy reply.
        top_p: Share of the probability mass that is sampled from; 1 for all tokens.
        top_k: Number of likeliest tokens that are sampled from; 0 for all tokens.
        seed: The seed of the draws; some servers ignore it.
        choices: The allowed replies, for servers that constrain replies; empty for any reply.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """A raw reply of a server.

    Attributes:
        text: The content, without thoughts that the server separates.
        finish: The reason why the reply ends.
        token_ids: The tokens, the end token included; empty if the server does not send them.
        token_log_probs: Log-probabilities of the tokens before temperature, nats; empty if some are missing.
        token_texts: Texts of the tokens; empty if the server sends `token_ids`, or no texts.
        thoughts: Thoughts that the server separates from the text.
        prompt_tokens: The server's count of the prompt's tokens; 0 if unknown.
        completion_tokens: The server's count of the tokens of thoughts and reply; None if unknown.
        model_and_configuration: The server's names of the model and of its configuration (system_fingerprint); empty if
            unknown.
    """

    text: str
    finish: Finish = "stop"
    token_ids: tuple[int, ...] = ()
    token_log_probs: tuple[float, ...] = ()
    token_texts: tuple[str, ...] = ()
    thoughts: str = ""
    prompt_tokens: int = 0
    completion_tokens: int | None = None
    model_and_configuration: tuple[str, str] = ("", "")

    @property
    def ends_within_thoughts(self) -> bool:
        """True if the reply reached the limit of tokens without text, because all tokens were thoughts."""
        # A server may hide thoughts. So an empty text is enough, unless the server counts no tokens.
        return (
            self.finish == "length"
            and not self.text.strip()
            and (bool(self.thoughts) or (not self.text and self.completion_tokens != 0))
        )
