"""A made-up model server, in which every letter is a token. Its faults have been reported of real servers.

with letter_server("ignores seed", dialect="vllm") as server:
    server.address, server.received
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving

VOCABULARY = 128
_END = 0
_OWNERS = {"vllm": "vllm", "openai": "someone", "llama.cpp": "llamacpp"}
_DISTORTIONS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "log-probabilities of 0": np.zeros_like,
    "log-probabilities of -9999": lambda values: np.full_like(values, -9999.0),
    "probabilities above 1": lambda values: np.minimum(values + 1.5, 0.0),
}
Body = Mapping[str, Any]
"""The body of a request."""


class Step(NamedTuple):
    """A token of a reply.

    Attributes:
        token: The id of the token.
        log_prob: The reported log-probability of the token, in nats.
        top: The ids of the reported likeliest tokens, with their log-probabilities in nats.
    """

    token: int
    log_prob: float
    top: list[tuple[int, float]]


def _letter_tokenizer() -> PreTrainedTokenizerFast:
    letters = Tokenizer(models.BPE(vocab={chr(code): code for code in range(VOCABULARY)}, merges=[]))
    letters.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=letters, eos_token=chr(_END))


TOKENIZER = _letter_tokenizer()
"""The tokenizer of the made-up model, which drops letters outside ASCII."""


def tokens_of(text: str) -> tuple[int, ...]:
    return tuple(TOKENIZER(text)["input_ids"])


def log_probs_after(prompt: str) -> NDArray[np.float64]:
    """Return the log-distribution of the next token after a text, (V,), in nats."""
    logits = np.random.default_rng(np.frombuffer(prompt.encode("utf-32-le"), np.uint32)).normal(0.0, 2.0, VOCABULARY)
    logits[:32] = -6.0  # no control characters
    logits[_END] = -3.0
    return np.asarray(log_softmax(logits))


def completion(body: Body, choices: list[dict[str, Any]], prompt_tokens: int, completion_tokens: int) -> ServedResponse:
    """Return a response of OpenAI's API, in which the choices are numbered."""
    numbered = [{**choice, "index": number} for number, choice in enumerate(choices)]
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return json_response({"model": body["model"], "choices": numbered, "usage": usage})


class LetterServer:
    """A server with faults; `letter_server` explains the arguments."""

    def __init__(self, faults: frozenset[str], dialect: str) -> None:
        self._faults, self._dialect = faults, dialect
        self._count = itertools.count()

    def answer(self, request: ServedRequest) -> ServedResponse:
        """Return the response to a request."""
        if request.method == "GET":
            return self._server_description(request.path)
        faults = self._faults
        body = json.loads(request.body)
        if "another model" in faults:
            return json_response({"error": {"message": f"model {body['model']} not found"}}, status=404)
        if request.path.endswith("/tokenize"):
            text = body.get("prompt", body.get("content"))
            return json_response({"tokens": tokens_of(text[::-1] if "another tokenizer" in faults else text)})
        if "refuses log-probabilities" in faults and body.get("logprobs"):
            return json_response({"error": {"message": "logprobs are not supported"}}, status=400)
        if "refuses whole distributions" in faults and body.get("logprobs") == -1:
            return json_response({"error": {"message": "logprobs -1 is greater than max allowed: 20"}}, status=400)
        if request.path.endswith("/completion"):
            return self._llama_completion(body)
        is_chat = request.path.endswith("/chat/completions")
        prompt = body["messages"][-1]["content"] if is_chat else body["prompt"]
        text = prompt if isinstance(prompt, str) else "".join(map(chr, prompt))
        count = 1 if "one answer per request" in faults else body.get("n", 1)
        top = body.get("top_logprobs" if is_chat else "logprobs") or 0
        replies = [self._steps(text, body, number, body["max_tokens"], top) for number in range(count)]
        choices = [self._choice(steps, body, is_chat) for steps in replies]
        prompt_tokens = len(text) + ("adds a start token" in faults)
        return completion(body, choices, prompt_tokens, completion_tokens=sum(map(len, replies)))

    def _server_description(self, path: str) -> ServedResponse:
        if path.endswith("/models"):
            name = "another" if "another model" in self._faults else "made-up"
            return json_response({"data": [{"id": name, "owned_by": _OWNERS[self._dialect], "max_model_len": 512}]})
        version = "0.0.2" if "another version" in self._faults else "0.0.1"
        return json_response({"version": version}) if path.endswith("/version") else ServedResponse(status=404)

    def _llama_completion(self, body: Body) -> ServedResponse:
        text = "".join(map(chr, body["prompt"]))
        steps = self._steps(text, body, 0, body["n_predict"], body["n_probs"])
        reply = [step.token for step in steps if step.token != _END]
        return json_response(
            {
                "tokens": reply,
                "content": "".join(map(chr, reply)),
                "stop_type": "eos" if len(reply) < len(steps) else "limit",
                "completion_probabilities": _log_probs(steps, "id", int),
                "tokens_evaluated": len(text),
                "tokens_predicted": len(steps),
            }
        )

    def _choice(self, steps: list[Step], body: Body, is_chat: bool) -> dict[str, Any]:
        def name(token: int) -> str:
            has_ids = body.get("return_tokens_as_token_ids", self._dialect != "openai")
            return f"token_id:{token}" if has_ids else chr(token)

        text = "".join(chr(step.token) for step in steps if step.token != _END)
        has_log_probs = body.get("logprobs") and "no log-probabilities" not in self._faults
        choice: dict[str, Any] = {"finish_reason": "stop" if steps[-1].token == _END else "length", "logprobs": None}
        if is_chat:
            choice["message"] = {"role": "assistant", "content": text}
            enable_thinking = body.get("chat_template_kwargs", {}).get("enable_thinking")
            if "thinks" in self._faults or ("thinks by default" in self._faults and enable_thinking is not False):
                choice["message"]["reasoning_content"] = "Let me see."
            if has_log_probs:
                choice["logprobs"] = {"content": _log_probs(steps, "token", name)}
            return choice
        if has_log_probs:
            choice["logprobs"] = {
                "tokens": [name(step.token) for step in steps],
                "token_logprobs": [step.log_prob for step in steps],
                "top_logprobs": [{name(token): log_prob for token, log_prob in step.top} for step in steps],
            }
        return {**choice, "text": text, "token_ids": [step.token for step in steps]}

    def _steps(self, text: str, body: Body, number: int, limit: int, top: int) -> list[Step]:
        """Decode a reply.

        Args:
            text: The prompt.
            body: The request.
            number: The number of the reply in its request.
            limit: Limit of the tokens of the reply.
            top: Number of reported likeliest tokens; -1 for all.
        """
        faults, steps = self._faults, list[Step]()
        seed = next(self._count) if {"ignores seed", "changing greedy answer"} & faults else body["seed"]
        draws = np.random.default_rng([seed, 0 if "identical answers" in faults else number])
        temperature = 0.0 if "ignores sampling" in faults else body["temperature"]
        while len(steps) < (3 if "cuts answers" in faults else limit) and (not steps or steps[-1].token != _END):
            log_probs = log_probs_after(text)
            scaled = log_softmax(log_probs / (temperature or 1.0))
            if temperature or (steps and "changing greedy answer" in faults):
                token = int(draws.choice(VOCABULARY, p=np.exp(scaled)))
            else:
                token = int(log_probs.argmax())
            reported = scaled if "log-probabilities after temperature" in faults else log_probs
            likeliest = np.argsort(-reported)[: VOCABULARY if top == -1 else top]
            if "merges tokens" in faults:
                likeliest = likeliest[:1]
            for fault in _DISTORTIONS.keys() & faults:
                reported = _DISTORTIONS[fault](reported)
            tokens = (likeliest + 1) % VOCABULARY if "names wrong tokens" in faults else likeliest
            reported_top = list(zip(tokens.tolist(), reported[likeliest].tolist(), strict=True))
            steps.append(Step(token, float(reported[token]), reported_top))
            text += chr(token)
        return steps


def _log_probs(steps: list[Step], key: str, name: Callable[[int], int | str]) -> list[dict[str, Any]]:
    return [
        {
            key: name(step.token),
            "logprob": step.log_prob,
            "top_logprobs": [{key: name(token), "logprob": log_prob} for token, log_prob in step.top],
        }
        for step in steps
    ]


@contextmanager
def letter_server(
    *faults: str, dialect: str = "vllm", override: Callable[[ServedRequest], ServedResponse | None] | None = None
) -> Iterator[Any]:
    """Start the server.

    Args:
        faults: Names of the faults.
        dialect: The API of the server: vllm, openai or llama.cpp.
        override: Returns the response to a request, or None for the server's own response.
    """
    responses = LetterServer(frozenset(faults), dialect)
    with serving(play=lambda request: (override and override(request)) or responses.answer(request)) as server:
        yield server
