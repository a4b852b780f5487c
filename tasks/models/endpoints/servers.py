"""Requests for replies and distributions to each kind of server.

openai      /v1/chat/completions with turns, /v1/completions with a text; sends texts, and at most 20 likeliest tokens
vllm        /v1/completions with token ids; sends whole distributions with `logprobs: -1`
llama.cpp   /completion with token ids; sends whole distributions with `n_probs`
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from swaymeter.data.errors import ModelError, ServiceError, shown
from swaymeter.data.sources.http.response import MISREAD, TransientError, reading_check, reading_problem
from swaymeter.tasks.models.endpoints import responses
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, LogProbs, Prompt, Reply

Content = TypeVar("Content")

FEW = 5
"""Number of likeliest tokens that every server can send if it sends any."""
OTHER_NAMES = {"max_tokens": "max_completion_tokens", "seed": "random_seed"}
"""Other names of parameters, for servers that refuse the usual name."""
_REFUSALS = (400, 422)  # HTTP statuses of a refused request
_DEFAULTS: Mapping[str, tuple[Any, ...]] = {"temperature": (0.0, 1.0), "top_p": (1.0,), "top_k": (0, -1), "n": (1,)}
"""Values that servers use by default; a refused parameter that would have one of these values is left out."""
# Values that turn further parameters off.
_NEUTRAL = {"min_p": 0.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
_SAMPLERS = ("top_k", "top_p", "temperature")
"""The samplers of llama.cpp in the order of their use: truncation, then temperature."""


class RefusedParameter(ServiceError):
    """A server refuses a request because of one of its parameters."""

    name = ""
    """The name of the parameter."""


@dataclass
class RequestSettings:
    """The form of requests that a server accepts, as its probe found out.

    Attributes:
        several: True if one request gives several replies.
        log_probs: True to request log-probabilities of the reply's tokens.
        template_options: True if the server passes keywords on to its chat template.
        request_options: Names of the prompt's options that are keys of the request; the chat template gets all others.
        refused: Parameters that are left out, or sent by another name.
    """

    several: bool = True
    log_probs: bool = True
    template_options: bool = False
    request_options: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Server:
    """A server with OpenAI's API, and the base class of the other kinds."""

    name: ClassVar[Api] = "openai"
    has_distributions: ClassVar[bool] = False
    """True if the server sends whole distributions."""
    takes_tokens: ClassVar[bool] = False
    """True if a prompt can be sent as token ids."""
    takes_template_options: ClassVar[bool] = False
    """True if the server passes keywords on to its chat template."""
    is_sequential: ClassVar[bool] = False
    """True if replies to one prompt are requested in sequence, because parallel requests would prefill it again."""

    def __init__(self, client: Client, settings: RequestSettings | None = None) -> None:
        self.client, self.endpoint = client, client.endpoint
        self.settings = settings or RequestSettings(template_options=self.takes_template_options)

    def replies(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, fresh: bool = False) -> list[Reply]:
        """Return `count` replies to a prompt; `fresh` sends the request even if its response is cached."""
        if prompt.tokens and not self.takes_tokens:
            raise ModelError(f"model {self.endpoint.name}: its server takes no tokens; leave `tokenizer` out")
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "n": count,
            "seed": decoding.seed,
            **self._sampling(decoding),
        }
        if prompt.turns:
            body |= self._messages(prompt)
            if self.settings.log_probs:
                body["logprobs"] = True
            if decoding.choices:
                body["response_format"] = _verdict_format(decoding.choices)
            path, read = "chat/completions", responses.chat_reply
        else:
            body["prompt"] = list(prompt.tokens) or prompt.text
            if self.settings.log_probs:
                body["logprobs"] = 1
            path, read = "completions", responses.text_reply

        def read_all(content: Any) -> list[Reply]:
            if responses.is_filtered(content):
                return [Reply("", "content_filter")] * count
            choices = content["choices"]
            if len(choices) != count:
                raise ValueError(f"the number of replies is {len(choices)} instead of {count}")
            return [read(choice, content, decoding.max_tokens) for choice in choices]

        try:
            return self._post(self.client.prefix + path, body, read_all, fresh=fresh, may_filter=True)
        except RefusedParameter as error:
            if error.name != "response_format":
                raise
        self.settings.refused.append("response_format")
        return self._post(self.client.prefix + path, body, read_all, fresh=fresh, may_filter=True)

    def next_token(self, prompt: Prompt) -> LogProbs:
        """Return the log-probabilities of all next tokens, (V,) nats, before temperature; ModelError if unsupported."""
        raise ModelError(
            f"model {self.endpoint.name}: its server sends no whole distributions; leave out measures that need them"
        )

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """Return the log-probabilities of the likeliest next tokens by their texts, or by `token_id:N`."""
        body = {
            "model": self.endpoint.model,
            "max_tokens": 1,
            "temperature": temperature,
            "seed": 0,
            **self._sampling(Decoding(1)),
        }
        if prompt.turns:
            body |= self._messages(prompt) | {"logprobs": True, "top_logprobs": count}

            def read_chat(content: Any) -> Mapping[str, float]:
                top = content["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
                return responses.distinct_tokens([(token["token"], token["logprob"]) for token in top])

            return self._post(self.client.prefix + "chat/completions", body, read_chat)
        body |= {"prompt": list(prompt.tokens) or prompt.text, "logprobs": count}

        def read_completion(content: Any) -> Mapping[str, float]:
            top = content["choices"][0]["logprobs"]["top_logprobs"][0]
            # A server may send fewer tokens than `count`, but fewer than FEW only if it merges tokens with equal texts.
            if len(top) < min(count, FEW):
                raise ValueError(
                    f"the number of likeliest tokens is {len(top)} instead of {count}: some have the same text"
                )
            return responses.distinct_tokens([*top.items()])

        return self._post(self.client.prefix + "completions", body, read_completion)

    def tokenize(self, text: str) -> tuple[int, ...] | None:
        """Return the server's own tokens of a text; None if the server has no route for tokens."""
        return None

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        """Return the sampling parameters that differ between servers; ModelError for a parameter that the API lacks."""
        if decoding.top_k:
            raise ModelError(f"model {self.endpoint.name}: its API ({self.name}) has no top_k; leave `top_k` at 0")
        return {"presence_penalty": 0.0, "frequency_penalty": 0.0}

    def _post(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[Any], Content],
        *,
        fresh: bool = False,
        store: bool = True,
        may_filter: bool = False,
    ) -> Content:
        """Send a request and return the content that `read` extracts; an unreadable response is never cached.

        With `may_filter`, `read` also gets the error of a content filter.

        Raises:
            RefusedParameter: The server names a parameter that it refuses.
            ServiceError: The server reports another error, or its response cannot be read.
        """
        # `post` calls `problem` for each response. The last response gives the result or the refused parameter.
        sent, results, refused = self._accepted(body), list[Content](), list[str]()

        def problem(content: Any) -> ServiceError | TransientError | None:
            error = None if may_filter and responses.is_filtered(content) else responses.find_error(content)
            refused[:] = [responses.refused_parameter(content, sent)] if error else []
            if error:
                return error
            try:
                results.append(read(content))
            except (*MISREAD, OverflowError) as misreading:
                return ServiceError(
                    f"the response does not have the form of {self.name} ({reading_problem(misreading)}): "
                    f"{shown(content, 100)}; set `api` to the kind of the server"
                )
            return None

        try:
            self.client.post(path, sent, store=store, fresh=fresh, allow=(200, *_REFUSALS), error_of=problem)
        except ServiceError as error:
            if not any(refused) or type(error) is not ServiceError:
                raise
            refusal = RefusedParameter(str(error))
            refusal.name = refused[0]
            raise refusal from None
        return results[-1]

    def _messages(self, prompt: Prompt) -> dict[str, Any]:
        request_options = {
            name: value for name, value in prompt.options.items() if name in self.settings.request_options
        }
        template_options = {name: value for name, value in prompt.options.items() if name not in request_options}
        if template_options and not self.settings.template_options:
            raise ModelError(
                f"model {self.endpoint.name}: its API ({self.name}) takes no keywords of chat templates; leave "
                f"{', '.join(template_options)} out of `template_options`"
            )
        body = {"messages": list(prompt.turns), **request_options}
        return body | {"chat_template_kwargs": template_options} if template_options else body

    def check(self, decoding: Decoding) -> None:
        """Raise ModelError if a refused parameter is needed for this decoding."""
        self._accepted({"temperature": decoding.temperature, "top_p": decoding.top_p, "top_k": decoding.top_k})

    def _accepted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body without refused parameters; ModelError if a refused parameter would change replies."""
        sent = {}
        for usual, value in body.items():
            name = OTHER_NAMES.get(usual, usual) if usual in self.settings.refused else usual
            if name not in self.settings.refused:
                sent[name] = value
            elif value not in _DEFAULTS.get(usual, (value,)):
                values = " or ".join(f"{default:g}" for default in _DEFAULTS[usual])
                raise ModelError(
                    f"model {self.endpoint.name}: its server refuses the parameter `{usual}`, so the value {value:g} "
                    f"cannot be sent; set `{usual}` to {values}, for which Swaymeter leaves the parameter out"
                )
        return sent


class Vllm(Server):
    """vLLM: OpenAI's API with further keys."""

    name, has_distributions, takes_tokens, takes_template_options = "vllm", True, True, True

    def _messages(self, prompt: Prompt) -> dict[str, Any]:
        # The tokens of a chat reply are requested as texts, because they are matched with the text of the reply.
        return {**super()._messages(prompt), "return_tokens_as_token_ids": False}

    def next_token(self, prompt: Prompt) -> LogProbs:
        """Return the log-probabilities of all next tokens."""
        body = {
            "model": self.endpoint.model,
            "prompt": list(prompt.tokens),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": -1,
            **self._sampling(Decoding(1)),
        }

        def read(content: Any) -> LogProbs:
            top = content["choices"][0]["logprobs"]["top_logprobs"][0]
            ids = [int(token.removeprefix("token_id:")) for token in top]
            return responses.whole_distribution(ids, list(top.values()))

        return self._post(self.client.prefix + "completions", body, read, store=False)

    def tokenize(self, text: str) -> tuple[int, ...] | None:
        """Return the server's own tokens of a text."""
        body = {"model": self.endpoint.model, "prompt": text, "add_special_tokens": False}
        response = self.client.post("tokenize", body, store=False, allow=(200, 404))
        if response.status != 200:
            return None
        if error := reading_check(_token_ids)(response.content):
            raise ServiceError(f"model {self.endpoint.name} ({self.client.root}) answered with {error}")
        return _token_ids(response.content)

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        token_ids = {"return_token_ids": True, "return_tokens_as_token_ids": True}
        return {**_NEUTRAL, "top_k": decoding.top_k, "repetition_penalty": 1.0, "seed": decoding.seed, **token_ids}


class LlamaCpp(Server):
    """llama.cpp by its own route /completion, because its OpenAI route sends no token ids."""

    name, has_distributions, takes_tokens, takes_template_options = "llama.cpp", True, True, True
    is_sequential = True  # parallel requests use separate slots, which share no KV cache
    _letter: int | None = None  # the token of a letter

    def replies(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, fresh: bool = False) -> list[Reply]:
        """Return `count` replies to a prompt; if the prompt has token ids, each reply has a request of its own."""
        if not prompt.tokens:
            return super().replies(prompt, decoding, count, fresh=fresh)
        return [
            self._post(
                "completion", self._body(prompt, decoding, index) | {"n_probs": 1}, responses.llama_reply, fresh=fresh
            )
            for index in range(count)
        ]

    def next_token(self, prompt: Prompt) -> LogProbs:
        """Return the log-probabilities of all next tokens."""
        body = self._body(prompt, Decoding(1)) | {"n_probs": responses.LARGEST_VOCABULARY, **self._letter_bias()}

        def read(content: Any) -> LogProbs:
            top = content["completion_probabilities"][0]["top_logprobs"]
            return responses.whole_distribution([token["id"] for token in top], [token["logprob"] for token in top])

        return self._post("completion", body, read, store=False)

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """Return the log-probabilities of the likeliest next tokens by `token_id:N`."""
        if not prompt.tokens:
            return super().likeliest(prompt, count, temperature=temperature)
        body = self._body(prompt, Decoding(1, temperature)) | {"n_probs": count, **self._letter_bias()}

        def read(content: Any) -> Mapping[str, float]:
            top = content["completion_probabilities"][0]["top_logprobs"]
            return {f"token_id:{token['id']}": responses.log_prob(token["logprob"]) for token in top}

        return self._post("completion", body, read)

    def _letter_bias(self) -> Mapping[str, Any]:
        """Return a bias that makes llama.cpp draw a letter; the distribution in the response does not include the bias.

        Without the bias, llama.cpp may draw a part of a UTF-8 character, and then sends no distribution.
        """
        if self._letter is None:
            (self._letter, *_) = self.tokenize("a") or (0,)
        return {"logit_bias": [[self._letter, 1e6]]}

    def tokenize(self, text: str) -> tuple[int, ...] | None:
        """Return the server's own tokens of a text."""
        body = {"content": text, "add_special": False, "parse_special": False}
        return self._post("tokenize", body, _token_ids, store=False)

    def _body(self, prompt: Prompt, decoding: Decoding, index: int = 0) -> dict[str, Any]:
        return {
            "prompt": list(prompt.tokens),
            "n_predict": decoding.max_tokens,
            "return_tokens": True,
            "cache_prompt": True,
            **self._sampling(decoding),
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": (decoding.seed + index) % 2**31,
        }

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        return {**_NEUTRAL, "top_k": decoding.top_k, "repeat_penalty": 1.0, "samplers": _SAMPLERS}


def _verdict_format(choices: Sequence[str]) -> Mapping[str, Any]:
    properties = {"verdict": {"type": "string", "enum": list(choices)}}
    schema = {"type": "object", "properties": properties, "required": ["verdict"], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


SERVERS: Mapping[Api, type[Server]] = {server.name: server for server in (Server, Vllm, LlamaCpp)}


def _token_ids(content: Any) -> tuple[int, ...]:
    return tuple(map(int, content["tokens"]))
