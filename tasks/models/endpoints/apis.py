"""How each kind of server is asked for answers and distributions, and where these stand in what it sends.

    openai      /v1/chat/completions with turns, /v1/completions with a text; texts, and the likeliest 20 tokens at most
    vllm        /v1/completions with token ids; whole distributions with `logprobs: -1`
    sglang      /generate with token ids; whole distributions with `top_logprobs_num`
    llama.cpp   /completion with token ids; whole distributions with `n_probs`

What a server sends is not trusted: a field that is missing or of another type is a ServiceError that names it,
and the answer is not kept.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from swaymeter.data.errors import ModelError, ServiceError, printable
from swaymeter.data.sources.http.answer import MISREAD, misread
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, Log, Prompt, Reply

Found = TypeVar("Found")

LARGEST_VOCABULARY = 1_000_000
_FINISH = {"stop": "stop", "eos": "stop", "eos_token": "stop", "word": "stop", "content_filter": "content_filter"}
_NEUTRAL = {"min_p": 0.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
_SAMPLERS = ("top_k", "top_p", "temperature")


class Served:
    """A server that speaks OpenAI's API and nothing else; the others add to it."""

    name: ClassVar[Api] = "openai"
    whole: ClassVar[bool] = False
    """Whether it can give whole distributions."""
    takes_tokens: ClassVar[bool] = False

    def __init__(self, client: Client) -> None:
        self.client, self.endpoint = client, client.endpoint
        self.several, self.log_probs, self.seeds = True, True, True
        """Whether it gives several answers to a request, log-probabilities, the same for the same seed: see probe."""

    def answers(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, anew: bool = False) -> list[Reply]:
        """So many answers to a prompt; anew: whether the server is asked although it has answered this before."""
        if prompt.tokens and not self.takes_tokens:
            raise ModelError(f"model {self.endpoint.name}: its server takes no tokens; leave out its tokenizer")
        body: dict[str, Any] = {
            "model": self.endpoint.model, "max_tokens": decoding.max_tokens, "temperature": decoding.temperature,
            "top_p": decoding.top_p, "n": count, "seed": decoding.seed, **self._sampling(decoding),
        }  # fmt: skip
        if prompt.turns:
            body |= {"messages": list(prompt.turns)} | ({"logprobs": True} if self.log_probs else {})
            path, read = "chat/completions", _of_chat
        else:
            body |= {"prompt": list(prompt.tokens) or prompt.text} | ({"logprobs": 1} if self.log_probs else {})
            path, read = "completions", _of_completion
        return self._asked(
            self.client.openai + path, body, anew=anew,
            read=lambda content: _counted([read(choice, content) for choice in content["choices"]], count),
        )  # fmt: skip

    def next_token(self, prompt: Prompt) -> Log:
        """The log-probabilities of all next tokens, (V,) nats, before temperature."""
        raise ModelError(f"model {self.endpoint.name}: its server gives no whole distributions")

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """The log-probabilities of the likeliest next tokens by their texts, or by `token_id:N`."""
        body = {
            "model": self.endpoint.model, "max_tokens": 1, "temperature": temperature, "seed": 0,
            **self._sampling(Decoding(1)),
        }  # fmt: skip
        if prompt.turns:
            body |= {"messages": list(prompt.turns), "logprobs": True, "top_logprobs": count}
            return self._asked(self.client.openai + "chat/completions", body, lambda content: {
                _text(token["token"]): _log(token["logprob"])
                for token in content["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            })  # fmt: skip
        body |= {"prompt": list(prompt.tokens) or prompt.text, "logprobs": count}
        return self._asked(self.client.openai + "completions", body, lambda content: {
            token: _log(value) for token, value in content["choices"][0]["logprobs"]["top_logprobs"][0].items()
        })  # fmt: skip

    def tokenized(self, text: str) -> tuple[int, ...] | None:
        """The server's own tokens of a text; None where it does not say."""
        return None

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        """What else is sent, so that nothing is the server's default; ModelError for what its API does not have."""
        if decoding.top_k:
            raise ModelError(
                f"model {self.endpoint.name}: its API ({self.name}) has no top_k and ignores it; leave `top_k` at 0"
            )
        return {"presence_penalty": 0.0, "frequency_penalty": 0.0}

    def _asked(
        self, path: str, body: Mapping[str, Any], read: Callable[[Any], Found], *, anew: bool = False, keep: bool = True
    ) -> Found:
        """What is read from an answer, before it is kept; ServiceError where it has another form."""
        found = list[Found]()

        def problem(content: Any) -> ServiceError | None:
            said = content.get("error") if isinstance(content, dict) else None
            if said:  # although the status is that of a success
                return ServiceError(str(said.get("message", said) if isinstance(said, dict) else said))
            try:
                found.append(read(content))
            except (*MISREAD, OverflowError) as error:
                reason = printable(f"{type(error).__name__}: {error}", 160)
                return ServiceError(f"another form than that of {self.name} ({reason}); does `api` say what it is?")
            return None

        self.client.post(path, body, keep=keep, anew=anew, error_of=problem)
        return found[-1]


class Vllm(Served):
    """vLLM: its own keys beside OpenAI's."""

    name, whole, takes_tokens = "vllm", True, True

    def next_token(self, prompt: Prompt) -> Log:
        """As `Served.next_token`."""
        body = {
            "model": self.endpoint.model, "prompt": list(prompt.tokens), "max_tokens": 1, "temperature": 0.0,
            "logprobs": -1, **self._sampling(Decoding(1)),
        }  # fmt: skip

        def read(content: Any) -> Log:
            top = content["choices"][0]["logprobs"]["top_logprobs"][0]
            return _whole([int(token.removeprefix("token_id:")) for token in top], list(top.values()))

        return self._asked(self.client.openai + "completions", body, read, keep=False)

    def tokenized(self, text: str) -> tuple[int, ...] | None:
        """As `Served.tokenized`."""
        body = {"model": self.endpoint.model, "prompt": text, "add_special_tokens": False}
        answer = self.client.post("tokenize", body, keep=False, allow=(200, 404))
        if answer.status != 200:
            return None
        if error := misread(_tokens)(answer.content):
            raise ServiceError(f"model {self.endpoint.name} ({self.client.root}) answered with {error}")
        return _tokens(answer.content)

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        own = {"return_token_ids": True, "return_tokens_as_token_ids": True}
        return {**_NEUTRAL, "top_k": decoding.top_k, "repetition_penalty": 1.0, "seed": decoding.seed, **own}


class LlamaCpp(Served):
    """llama.cpp's server, by its own route: OpenAI's ignores `echo`, and gives no token ids."""

    name, whole, takes_tokens = "llama.cpp", True, True

    def answers(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, anew: bool = False) -> list[Reply]:
        """As `Served.answers`."""
        if not prompt.tokens:
            return super().answers(prompt, decoding, count, anew=anew)
        replies = []
        for place in range(count):
            body = self._body(prompt, decoding._replace(seed=(decoding.seed + place) % 2**31)) | {"n_probs": 1}
            replies.append(self._asked("completion", body, _of_llama, anew=anew))
        return replies

    def next_token(self, prompt: Prompt) -> Log:
        """As `Served.next_token`."""
        body = self._body(prompt, Decoding(1)) | {"n_probs": LARGEST_VOCABULARY}

        def read(content: Any) -> Log:
            top = content["completion_probabilities"][0]["top_logprobs"]
            return _whole([token["id"] for token in top], [token["logprob"] for token in top])

        return self._asked("completion", body, read, keep=False)

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """As `Served.likeliest`."""
        if not prompt.tokens:
            return super().likeliest(prompt, count, temperature=temperature)
        body = self._body(prompt, Decoding(1, temperature)) | {"n_probs": count}
        return self._asked("completion", body, lambda content: {
            f"token_id:{token['id']}": _log(token["logprob"])
            for token in content["completion_probabilities"][0]["top_logprobs"]
        })  # fmt: skip

    def tokenized(self, text: str) -> tuple[int, ...] | None:
        """As `Served.tokenized`."""
        body = {"content": text, "add_special": False, "parse_special": False}
        return self._asked("tokenize", body, _tokens, keep=False)

    def _body(self, prompt: Prompt, decoding: Decoding) -> dict[str, Any]:
        return {
            "prompt": list(prompt.tokens), "n_predict": decoding.max_tokens, "return_tokens": True,
            "cache_prompt": True, **self._sampling(decoding), "temperature": decoding.temperature,
            "top_p": decoding.top_p, "seed": decoding.seed,
        }  # fmt: skip

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        return {**_NEUTRAL, "top_k": decoding.top_k, "repeat_penalty": 1.0, "samplers": _SAMPLERS}


class Sglang(Served):
    """SGLang, by its own route: on OpenAI's, `seed` does nothing and tokens fall together by their texts."""

    name, whole, takes_tokens = "sglang", True, True

    def answers(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, anew: bool = False) -> list[Reply]:
        """As `Served.answers`."""
        if not prompt.tokens:
            return super().answers(prompt, decoding, count, anew=anew)
        replies = []
        for place in range(count):
            sampling = self._native(decoding._replace(seed=(decoding.seed + place) % 2**31))
            body = {"input_ids": list(prompt.tokens), "sampling_params": sampling, "return_logprob": True}
            replies.append(self._asked("generate", body, _of_sglang, anew=anew))
        return replies

    def next_token(self, prompt: Prompt) -> Log:
        """As `Served.next_token`."""
        body = {
            "input_ids": list(prompt.tokens), "sampling_params": self._native(Decoding(1)), "return_logprob": True,
            "logprob_start_len": -1, "top_logprobs_num": LARGEST_VOCABULARY,
        }  # fmt: skip

        def read(content: Any) -> Log:
            top = content["meta_info"]["output_top_logprobs"][0]
            return _whole([entry[1] for entry in top], [entry[0] for entry in top])

        return self._asked("generate", body, read, keep=False)

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """As `Served.likeliest`."""
        if not prompt.tokens:
            return super().likeliest(prompt, count, temperature=temperature)
        body = {
            "input_ids": list(prompt.tokens), "sampling_params": self._native(Decoding(1, temperature)),
            "return_logprob": True, "logprob_start_len": -1, "top_logprobs_num": count,
        }  # fmt: skip
        return self._asked("generate", body, lambda content: {
            f"token_id:{entry[1]}": _log(entry[0]) for entry in content["meta_info"]["output_top_logprobs"][0]
        })  # fmt: skip

    def _native(self, decoding: Decoding) -> Mapping[str, Any]:
        return {
            **_NEUTRAL, "max_new_tokens": decoding.max_tokens, "temperature": decoding.temperature,
            "top_p": decoding.top_p, "top_k": decoding.top_k or -1, "repetition_penalty": 1.0,
            "sampling_seed": decoding.seed,
        }  # fmt: skip


APIS: Mapping[Api, type[Served]] = {api.name: api for api in (Served, Vllm, Sglang, LlamaCpp)}


def _tokens(content: Any) -> tuple[int, ...]:
    return tuple(map(int, content["tokens"]))


def _of_chat(choice: Mapping[str, Any], content: Mapping[str, Any]) -> Reply:
    message = choice["message"]
    tokens = (choice.get("logprobs") or {}).get("content") or ()
    thoughts = message.get("reasoning_content") or message.get("reasoning") or ""
    refusal = message.get("refusal") or ""
    return Reply(
        text=_text(message.get("content") or refusal),
        finish=_finish(choice.get("finish_reason")),
        token_log_probs=tuple(_log(token["logprob"]) for token in tokens),
        thoughts=_text(thoughts),
        prompt_tokens=_read_tokens(content),
    )


def _of_completion(choice: Mapping[str, Any], content: Mapping[str, Any]) -> Reply:
    log_probs = (choice.get("logprobs") or {}).get("token_logprobs") or ()
    return Reply(
        text=_text(choice["text"]),
        finish=_finish(choice.get("finish_reason")),
        token_ids=tuple(map(_id, choice.get("token_ids") or ())),
        token_log_probs=tuple(map(_log, log_probs)),
        prompt_tokens=_read_tokens(content),
    )


def _of_llama(content: Mapping[str, Any]) -> Reply:
    tokens = content["completion_probabilities"]
    return Reply(
        text=_text(content["content"]),
        finish=_finish("length" if content["stop_type"] == "limit" else content["stop_type"]),
        token_ids=tuple(_id(token["id"]) for token in tokens),
        token_log_probs=tuple(_log(token["logprob"]) for token in tokens),
        prompt_tokens=_id(content.get("tokens_evaluated") or 0),
    )


def _of_sglang(content: Mapping[str, Any]) -> Reply:
    about = content["meta_info"]
    tokens = about["output_token_logprobs"]
    return Reply(
        text=_text(content["text"]),
        finish=_finish((about.get("finish_reason") or {}).get("type")),
        token_ids=tuple(_id(entry[1]) for entry in tokens),
        token_log_probs=tuple(_log(entry[0]) for entry in tokens),
        prompt_tokens=_id(about.get("prompt_tokens") or 0),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _finish(reason: Any) -> Any:
    return _FINISH.get(str(reason), "length")


def _read_tokens(content: Mapping[str, Any]) -> int:
    return _id((content.get("usage") or {}).get("prompt_tokens") or 0)


def _counted(replies: list[Reply], count: int) -> list[Reply]:
    if len(replies) != count:
        raise ValueError(f"{len(replies)} answers for {count} that were asked for")
    return replies


def _id(value: Any) -> int:
    """A token's id, or a count of tokens, as a server writes it; ValueError where it is none."""
    number = int(value)
    if not 0 <= number < LARGEST_VOCABULARY:
        raise ValueError(f"{value!r} is no number of a token, and no count of tokens")
    return number


def _log(value: Any) -> float:
    """A log-probability as a server writes it; ValueError where it is none, as a probability is at most 1."""
    number = float(value)
    if not number <= 1e-3:
        raise ValueError(f"{value!r} is not a log-probability")
    return min(number, 0.0)


def _whole(ids: Sequence[int], log_probs: Sequence[float]) -> Log:
    """A distribution over all tokens, (V,); ValueError where it is not one."""
    places = np.asarray(ids, np.int64)
    values = np.asarray(log_probs, np.float64)
    if not len(places) or places.min() < 0 or places.max() >= LARGEST_VOCABULARY:
        raise ValueError("it names no tokens by their ids")
    whole = np.full(places.max() + 1, np.nan)
    whole[places] = values
    mass = float(np.exp(values).sum())
    if np.isnan(whole).any() or len(np.unique(places)) < len(places) or not abs(mass - 1.0) < 1e-2:
        raise ValueError(f"{len(places):,} tokens with a mass of {mass:.4f} are not the whole distribution")
    return cast("Log", whole.astype(np.float32))
