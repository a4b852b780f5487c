"""How each kind of server is asked for answers and distributions, and where these stand in what it sends.

    openai      /v1/chat/completions with turns, /v1/completions with a text; texts, and the likeliest 20 tokens at most
    vllm        /v1/completions with token ids; whole distributions with `logprobs: -1`
    llama.cpp   /completion with token ids; whole distributions with `n_probs`

What a server sends is not trusted: a field that is missing or of another type is a ServiceError that names it,
and the answer is not kept.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np

from swaymeter.data.errors import ModelError, ServiceError
from swaymeter.data.sources.http.answer import MISREAD, TransientError, misread, why
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, Log, Prompt, Reply

Found = TypeVar("Found")

LARGEST_VOCABULARY = 1_000_000
FEW = 5
"""Likeliest tokens that every server has, and gives where their texts do not fall together."""
_STOPS = ("stop", "eos", "eos_token", "stop_sequence", "word", "end_turn")
_FILTERS = ("content_filter", "safety", "refusal")
_BROKEN = ("error", "insufficient_system_resource")
"""Why an answer ended that the server did not finish: it is asked for again."""
_REFUSED, _PASSING = (400, 422), (408, 429, 500, 502, 503, 529)
_CONTENT = frozenset({"model", "messages", "prompt"})
"""What a request is about, so that no error leaves it out."""
OTHER_NAMES = {"max_tokens": "max_completion_tokens", "seed": "random_seed"}
"""What a parameter is called at servers that refuse its usual name."""
_NOT_MISSED: Mapping[str, tuple[Any, ...]] = {"temperature": (0.0, 1.0), "top_p": (1.0,), "top_k": (0, -1), "n": (1,)}
"""The values with which a refused parameter may be left out; other values change answers."""
_NEUTRAL = {"min_p": 0.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
_SAMPLERS = ("top_k", "top_p", "temperature")


class RefusedParameter(ServiceError):
    """A server refuses a request for one of its parameters; name: which."""

    name = ""


class Served:
    """A server that speaks OpenAI's API and nothing else; the others add to it."""

    name: ClassVar[Api] = "openai"
    whole: ClassVar[bool] = False
    """Whether it can give whole distributions."""
    takes_tokens: ClassVar[bool] = False
    takes_options: ClassVar[bool] = False
    """Whether it hands keywords on to its chat template."""
    in_turn: ClassVar[bool] = False
    """Whether answers to the same prompt are asked for one after the other, as at once each reads the prompt anew."""

    def __init__(self, client: Client) -> None:
        self.client, self.endpoint = client, client.endpoint
        self.several, self.log_probs, self.seeds = True, True, True
        """Whether it gives several answers to a request, log-probabilities, the same for the same seed: see probe."""
        self.listed_as = ""
        """What the server calls the model in its list."""
        self.refused = set[str]()
        """The parameters that it refuses, which are left out, or sent by another name."""

    def answers(self, prompt: Prompt, decoding: Decoding, count: int = 1, *, anew: bool = False) -> list[Reply]:
        """So many answers to a prompt; anew: whether the server is asked although it has answered this before."""
        if prompt.tokens and not self.takes_tokens:
            raise ModelError(f"model {self.endpoint.name}: its server takes no tokens; leave out its tokenizer")
        body: dict[str, Any] = {
            "model": self.endpoint.model, "max_tokens": decoding.max_tokens, "temperature": decoding.temperature,
            "top_p": decoding.top_p, "n": count, "seed": decoding.seed, **self._sampling(decoding),
        }  # fmt: skip
        if prompt.turns:
            body |= self._of_turns(prompt) | ({"logprobs": True} if self.log_probs else {})
            body |= {"response_format": _one_of(decoding.choices)} if decoding.choices else {}
            path, read = "chat/completions", _of_chat
        else:
            body |= {"prompt": list(prompt.tokens) or prompt.text} | ({"logprobs": 1} if self.log_probs else {})
            path, read = "completions", _of_completion

        def replies(content: Any) -> list[Reply]:
            if _is_filtered(content):
                return [Reply("", "content_filter")] * count
            return _counted([read(choice, content) for choice in content["choices"]], count)

        try:
            return self._asked(self.client.openai + path, body, replies, anew=anew, may_filter=True)
        except RefusedParameter as error:
            if error.name != "response_format":
                raise
        self.refused.add("response_format")
        return self._asked(self.client.openai + path, body, replies, anew=anew, may_filter=True)

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
            body |= self._of_turns(prompt) | {"logprobs": True, "top_logprobs": count}
            return self._asked(self.client.openai + "chat/completions", body, lambda content: _by_text([
                (_text(token["token"]), _log(token["logprob"]))
                for token in content["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            ]))  # fmt: skip
        body |= {"prompt": list(prompt.tokens) or prompt.text, "logprobs": count}

        def by_text(content: Any) -> Mapping[str, float]:
            top = content["choices"][0]["logprobs"]["top_logprobs"][0]
            found = _by_text([(token, _log(value)) for token, value in top.items()])
            if len(top) < min(count, FEW):
                raise ValueError(f"{len(top)} likeliest tokens where {count} were asked for: some fall together")
            return found

        return self._asked(self.client.openai + "completions", body, by_text)

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
        self, path: str, body: Mapping[str, Any], read: Callable[[Any], Found], *, anew: bool = False,
        keep: bool = True, may_filter: bool = False,
    ) -> Found:  # fmt: skip
        """What is read from an answer, before it is kept; ServiceError where it has another form.

        may_filter: whether the error of a content filter, which a prompt caused, is an answer. RefusedParameter where
        the server names a parameter that it does not take.
        """
        sent, found, named = self._accepted(body), list[Found](), list[str]()

        def problem(content: Any) -> ServiceError | TransientError | None:
            error = None if may_filter and _is_filtered(content) else _error(content)
            named[:] = [_named(content, sent)] if error else []
            if error:
                return error
            try:
                found.append(read(content))
            except (*MISREAD, OverflowError) as lacks:
                return ServiceError(f"another form than that of {self.name} ({why(lacks)}); does `api` say what it is?")
            return None

        try:
            self.client.post(path, sent, keep=keep, anew=anew, allow=(200, *_REFUSED), error_of=problem)
        except ServiceError as error:
            if not any(named) or type(error) is not ServiceError:
                raise
            refused = RefusedParameter(str(error))
            refused.name = named[0]
            raise refused from None
        return found[-1]

    def _of_turns(self, prompt: Prompt) -> dict[str, Any]:
        options = {"chat_template_kwargs": dict(prompt.options)} if prompt.options else {}
        if options and not self.takes_options:
            raise ModelError(
                f"model {self.endpoint.name}: its API ({self.name}) takes no keywords of chat templates; leave "
                f"{', '.join(prompt.options)} out"
            )
        return {"messages": list(prompt.turns), **options}

    def check(self, decoding: Decoding) -> None:
        """ModelError where answers cannot be decoded so, as the server refuses a parameter."""
        self._accepted({"temperature": decoding.temperature, "top_p": decoding.top_p, "top_k": decoding.top_k})

    def _accepted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A body without what the server refuses; ModelError where an answer would be another without it."""
        sent = {}
        for usual, value in body.items():
            name = OTHER_NAMES.get(usual, usual) if usual in self.refused else usual
            if name not in self.refused:
                sent[name] = value
            elif value not in _NOT_MISSED.get(usual, (value,)):
                values = " or ".join(f"{known:g}" for known in _NOT_MISSED[usual])
                raise ModelError(
                    f"model {self.endpoint.name}: its server refuses `{usual}`, so that it cannot be {value:g}; set it "
                    f"to {values}"
                )
        return sent


class Vllm(Served):
    """vLLM: its own keys beside OpenAI's."""

    name, whole, takes_tokens, takes_options = "vllm", True, True, True

    def _of_turns(self, prompt: Prompt) -> dict[str, Any]:
        return {**super()._of_turns(prompt), "return_tokens_as_token_ids": False}  # the answer is known by its texts

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

    name, whole, takes_tokens, takes_options = "llama.cpp", True, True, True
    in_turn = True  # what a slot has read, no other slot sees
    _letter: int | None = None

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
        body = self._body(prompt, Decoding(1)) | {"n_probs": LARGEST_VOCABULARY, **self._whole_letter()}

        def read(content: Any) -> Log:
            top = content["completion_probabilities"][0]["top_logprobs"]
            return _whole([token["id"] for token in top], [token["logprob"] for token in top])

        return self._asked("completion", body, read, keep=False)

    def likeliest(self, prompt: Prompt, count: int, *, temperature: float = 1.0) -> Mapping[str, float]:
        """As `Served.likeliest`."""
        if not prompt.tokens:
            return super().likeliest(prompt, count, temperature=temperature)
        body = self._body(prompt, Decoding(1, temperature)) | {"n_probs": count, **self._whole_letter()}
        return self._asked("completion", body, lambda content: {
            f"token_id:{token['id']}": _log(token["logprob"])
            for token in content["completion_probabilities"][0]["top_logprobs"]
        })  # fmt: skip

    def _whole_letter(self) -> Mapping[str, Any]:
        """Lets a letter be drawn: after a token that ends within a character, the server would send no distribution.

        What it sends of the distribution is from before this.
        """
        if self._letter is None:
            (self._letter, *_) = self.tokenized("a") or (0,)
        return {"logit_bias": [[self._letter, 1e6]]}

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


def _one_of(choices: Sequence[str]) -> Mapping[str, Any]:
    """The format of a reply that has one of these values as its `verdict`, in JSON."""
    properties = {"verdict": {"type": "string", "enum": list(choices)}}
    schema = {"type": "object", "properties": properties, "required": ["verdict"], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


APIS: Mapping[Api, type[Served]] = {api.name: api for api in (Served, Vllm, LlamaCpp)}


def _by_text(tokens: Sequence[tuple[str, float]]) -> Mapping[str, float]:
    """The log-probabilities of tokens by their texts, where these tell them apart: a part of a letter does not."""
    count = Counter(text for text, _ in tokens)
    return {text: value for text, value in tokens if count[text] == 1 and "\ufffd" not in text}


def _tokens(content: Any) -> tuple[int, ...]:
    return tuple(map(int, content["tokens"]))


def _error(content: Any) -> ServiceError | TransientError | None:
    """The error that a response holds, also where its status is that of a success, or an answer broke off."""
    if not isinstance(content, dict):
        return ServiceError("it refuses the request and does not say why") if content is None else None
    for part in (content, *(choice for choice in _list(content.get("choices")) if isinstance(choice, dict))):
        reason = part.get("finish_reason")
        error = part.get("error") or part.get("detail")
        if error or reason in _BROKEN:
            error = error or f"an answer broke off: {reason}"
            code = error.get("code") if isinstance(error, dict) else None
            text = str(error.get("message", error) if isinstance(error, dict) else error)
            is_passing = reason in _BROKEN or code in _PASSING
            return TransientError(text) if is_passing else ServiceError(text)
    is_answer = content.keys() & {"choices", "content", "tokens"}
    return ServiceError(str(content["message"])) if "message" in content and not is_answer else None


def _is_filtered(content: Any) -> bool:
    """Whether a response is the error of a content filter that a prompt caused."""
    error = content.get("error") if isinstance(content, dict) else None
    return isinstance(error, dict) and error.get("code") in ("content_filter", "content_policy_violation")


def _named(content: Any, sent: Mapping[str, Any]) -> str:
    """The parameter of a request that an error names; "" where it names none."""
    parameters = sent.keys() - _CONTENT
    error = content.get("error") if isinstance(content, dict) else None
    details = _list(content.get("detail")) if isinstance(content, dict) else []
    places = [place for part in details if isinstance(part, dict) for place in _list(part.get("loc"))]
    places += [of.get("param") for of in (error, content) if isinstance(of, dict)]
    if name := next((name for name in parameters if name in places), ""):
        return name
    words = [word for word in re.findall(r"\w+", str(error or content)) if word in parameters]
    return next((word for word in words if word != "temperature"), words[0] if words else "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_chat(choice: Mapping[str, Any], content: Mapping[str, Any]) -> Reply:
    message = choice["message"]
    entries = (choice.get("logprobs") or {}).get("content") or ()
    said, own = _parts(message.get("content"))
    hidden = ((content.get("usage") or {}).get("completion_tokens_details") or {}).get("reasoning_tokens")
    shown = message.get("reasoning_content") or message.get("reasoning") or own
    thoughts = _text(shown or (f"{_id(hidden)} tokens of thoughts that the server does not show" if hidden else ""))
    text = said or _text(message.get("refusal") or "")
    tokens, log_probs = (
        tuple(str(token["token"]) for token in entries), tuple(_log(token["logprob"]) for token in entries)
    )  # fmt: skip
    if thoughts and tokens:  # some servers give those of the thoughts, too
        begins = _begin(tokens, text)
        tokens, log_probs = (tokens[begins:], log_probs[begins:]) if begins is not None else ((), ())
    return Reply(
        text=text,
        finish=_finish(choice.get("finish_reason")),
        token_log_probs=log_probs,
        token_texts=tokens,
        thoughts=thoughts,
        prompt_tokens=_read_tokens(content),
        model=_model(content),
    )


def _parts(content: Any) -> tuple[str, str]:
    """The text and the thoughts of a message's content, which is a text or a list of parts."""
    if not isinstance(content, list):
        return _text(content or ""), ""
    texts = "".join(_text(part["text"]) for part in content if part.get("type") == "text")
    thoughts = (part.get("thinking") for part in content if part.get("type") == "thinking")
    return texts, "".join(thought if isinstance(thought, str) else _parts(thought)[0] for thought in thoughts)


def _begin(tokens: Sequence[str], text: str) -> int | None:
    """The place of the first token of a text behind others, perhaps before an end token; None where there is none."""
    for place in range(len(tokens)):
        if text.strip() in ("".join(tokens[place:]).strip(), "".join(tokens[place:-1]).strip()):
            return place
    return None


def _model(content: Mapping[str, Any]) -> tuple[str, str]:
    """What a response says that answered: the model behind an alias, and the server's configuration; "" for nothing."""
    return str(content.get("model") or ""), str(content.get("system_fingerprint") or "")


def _of_completion(choice: Mapping[str, Any], content: Mapping[str, Any]) -> Reply:
    logprobs = choice.get("logprobs") or {}
    ids, log_probs = tuple(map(_id, choice.get("token_ids") or ())), logprobs.get("token_logprobs") or ()
    return Reply(
        text=_text(choice["text"]),
        finish=_finish(choice.get("finish_reason")),
        token_ids=ids,
        token_log_probs=tuple(map(_log, log_probs)),
        token_texts=() if ids else tuple(map(str, logprobs.get("tokens") or ())),
        prompt_tokens=_read_tokens(content),
        model=_model(content),
    )


def _of_llama(content: Mapping[str, Any]) -> Reply:
    """Tokens that end within a character have no log-probability there: then none is known of the answer."""
    known = content.get("completion_probabilities") or ()
    ids, of_known = tuple(map(_id, content["tokens"])), tuple(_id(token["id"]) for token in known)
    is_whole = of_known in (ids, (*ids, *of_known[-1:]))  # the end token is in the second alone
    return Reply(
        text=_text(content["content"]),
        finish=_finish("length" if content["stop_type"] == "limit" else content["stop_type"]),
        token_ids=of_known if is_whole else ids,
        token_log_probs=tuple(_log(token["logprob"]) for token in known) if is_whole else (),
        prompt_tokens=_id(content.get("tokens_evaluated") or 0),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _finish(reason: Any) -> Literal["stop", "length", "content_filter"]:
    word = str(reason).lower()
    if any(word.startswith(name) for name in _FILTERS):
        return "content_filter"
    return "stop" if word in _STOPS else "length"


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
