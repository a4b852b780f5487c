"""A made-up model server, in which every letter is a token. Its faults have been reported of real servers.

with letter_server("ignores seed", dialect="vllm") as server:
    server.address, server.received
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving

VOCABULARY = 128
_END = 0
_OWNERS = {"vllm": "vllm", "openai": "someone", "llama.cpp": "llamacpp"}


def tokens_of(text: str) -> tuple[int, ...]:
    return tuple(ord(letter) % VOCABULARY for letter in text)


def log_probs_after(prompt: str) -> NDArray[np.float64]:
    """Return the log-distribution of the next token after a text, (V,), in nats."""
    seed = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8], "big")
    logits = np.random.default_rng(seed).normal(0.0, 2.0, VOCABULARY)
    logits[:32] = -6.0  # no control characters
    logits[_END] = -3.0
    return np.asarray(logits - np.log(np.exp(logits).sum()))


class LetterServer:
    """The responses of a server with faults; `letter_server` explains the arguments."""

    def __init__(self, faults: frozenset[str], dialect: str) -> None:
        self._faults, self._dialect = faults, dialect
        self._count = itertools.count()

    def answer(self, request: ServedRequest) -> ServedResponse:
        if request.method == "GET":
            return self._server_description(request.path)
        body = json.loads(request.body)
        if "another model" in self._faults:
            return json_response({"error": {"message": f"model {body['model']} not found"}}, status=404)
        if request.path.endswith("/tokenize"):
            text = body.get("prompt", body.get("content"))
            return json_response(
                {"tokens": list(tokens_of(text[::-1] if "another tokenizer" in self._faults else text))}
            )
        if "refuses log-probabilities" in self._faults and body.get("logprobs"):
            return json_response({"error": {"message": "logprobs are not supported"}}, status=400)
        if request.path.endswith("/completion"):
            return self._llama_completion(body)
        is_chat = request.path.endswith("/chat/completions")
        prompt = (
            body["messages"][-1]["content"]
            if is_chat
            else body["prompt"]
            if isinstance(body["prompt"], str)
            else "".join(map(chr, body["prompt"]))
        )
        if body.get("logprobs") == -1 and "refuses whole distributions" in self._faults:
            return json_response({"error": {"message": "logprobs -1 is greater than max allowed: 20"}}, status=400)
        count = 1 if "one answer per request" in self._faults else body.get("n", 1)
        choices = [self._choice(prompt, body, number, is_chat) for number in range(count)]
        added = "adds a start token" in self._faults
        usage = {"prompt_tokens": len(prompt) + added, "completion_tokens": sum(map(_completion_tokens, choices))}
        return json_response({"model": body["model"], "choices": choices, "usage": usage})

    def _llama_completion(self, body: Mapping[str, Any]) -> ServedResponse:
        prompt = "".join(map(chr, body["prompt"]))
        common = {"max_tokens": body["n_predict"], "logprobs": body["n_probs"]}
        choice = self._choice(prompt, {**common, "seed": body["seed"], "temperature": body["temperature"]}, 0, False)
        values, tops = choice["logprobs"]["token_logprobs"], choice["logprobs"]["top_logprobs"]
        tokens = [
            {
                "id": token,
                "logprob": value,
                "top_logprobs": [{"id": _token_id(name), "logprob": log_prob} for name, log_prob in top.items()],
            }
            for token, value, top in zip(choice["token_ids"], values, tops, strict=True)
        ]
        is_complete = choice["finish_reason"] == "stop"
        return json_response(
            {
                "tokens": choice["token_ids"][: len(tokens) - is_complete],
                "content": choice["text"],
                "stop_type": "eos" if is_complete else "limit",
                "completion_probabilities": tokens,
                "tokens_evaluated": len(prompt),
                "tokens_predicted": len(values),
            }
        )

    def _server_description(self, path: str) -> ServedResponse:
        if path.endswith("/models"):
            name = "another" if "another model" in self._faults else "made-up"
            return json_response({"data": [{"id": name, "owned_by": _OWNERS[self._dialect], "max_model_len": 512}]})
        version = "0.0.2" if "another version" in self._faults else "0.0.1"
        return json_response({"version": version}) if path.endswith("/version") else ServedResponse(status=404)

    def _choice(self, prompt: str, body: Mapping[str, Any], number: int, is_chat: bool) -> dict[str, Any]:
        is_same = "identical answers" in self._faults
        base_seed = next(self._count) if {"ignores seed", "changing greedy answer"} & self._faults else body["seed"]
        seed = f"{base_seed} {0 if is_same else number}"
        temperature = 0.0 if "ignores sampling" in self._faults else body["temperature"]
        limit = 3 if "cuts answers" in self._faults else body["max_tokens"]
        ids, values, tops = self._decode(prompt, seed, temperature, limit, body)
        is_complete = ids[-1] == _END
        text = "".join(map(chr, ids[: len(ids) - is_complete]))
        common = {"finish_reason": "stop" if is_complete else "length", "index": number}
        if not body.get("logprobs") or "no log-probabilities" in self._faults:
            logprobs: Any = None
        elif is_chat:
            entries, has_ids = zip(ids, values, tops, strict=True), self._has_token_ids(body)
            logprobs = {
                "content": [
                    {
                        "token": f"token_id:{token}" if has_ids else chr(token),
                        "logprob": value,
                        "top_logprobs": [{"token": name, "logprob": log_prob} for name, log_prob in top.items()],
                    }
                    for token, value, top in entries
                ]
            }
        else:
            names = [f"token_id:{token}" if self._has_token_ids(body) else chr(token) for token in ids]
            logprobs = {"tokens": names, "token_logprobs": values, "top_logprobs": tops}
        if is_chat:
            message = {"role": "assistant", "content": text}
            enable_thinking = body.get("chat_template_kwargs", {}).get("enable_thinking")
            if "thinks" in self._faults or ("thinks by default" in self._faults and enable_thinking is not False):
                message["reasoning_content"] = "Let me see."
            return {**common, "message": message, "logprobs": logprobs}
        return {**common, "text": text, "logprobs": logprobs, "token_ids": ids}

    def _has_token_ids(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("return_tokens_as_token_ids", self._dialect != "openai"))

    def _decode(
        self, prompt: str, seed: str, temperature: float, limit: int, body: Mapping[str, Any]
    ) -> tuple[list[int], list[float], list[dict[str, float]]]:
        draws = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
        ids, values, tops, text = list[int](), list[float](), list[dict[str, float]](), prompt
        count = body.get("top_logprobs", body.get("logprobs") if body.get("logprobs") is not True else 0) or 0
        while len(ids) < limit and (not ids or ids[-1] != _END):
            log_probs = log_probs_after(text)
            scaled = log_probs / (temperature or 1.0)
            scaled = scaled - scaled.max()
            scaled -= np.log(np.exp(scaled).sum())
            drifts = "changing greedy answer" in self._faults and ids
            token = (
                int(draws.choice(VOCABULARY, p=np.exp(scaled))) if temperature or drifts else int(log_probs.argmax())
            )
            reported = scaled if "log-probabilities after temperature" in self._faults else log_probs
            order = np.argsort(-reported)[: VOCABULARY if count == -1 else count]
            reported_tokens = (order + 1) % VOCABULARY if "names wrong tokens" in self._faults else order
            names = (f"token_id:{token}" if self._has_token_ids(body) else chr(token) for token in reported_tokens)
            top = dict(zip(names, self._distorted([reported[likely] for likely in order]), strict=True))
            if "merges tokens" in self._faults:
                top = dict(list(top.items())[:1])
            ids.append(token)
            values += self._distorted([reported[token]])
            tops.append(top)
            text += chr(token)
        return ids, values, tops

    def _distorted(self, values: list[Any]) -> list[float]:
        if "log-probabilities of 0" in self._faults:
            return [0.0 for _ in values]
        if "log-probabilities of -9999" in self._faults:
            return [-9999.0 for _ in values]
        if "probabilities above 1" in self._faults:
            return [min(float(value) + 1.5, 0.0) for value in values]
        return [float(value) for value in values]


def _token_id(name: str) -> int:
    return int(name.removeprefix("token_id:"))


def _completion_tokens(choice: Mapping[str, Any]) -> int:
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    return len(text) + (choice["finish_reason"] == "stop")


@contextmanager
def letter_server(
    *faults: str,
    dialect: str = "vllm",
    override: Callable[[ServedRequest], ServedResponse | None] | None = None,
    port: int = 0,
) -> Iterator[Any]:
    """Start the server.

    Args:
        faults: Names of the faults.
        dialect: The API of the server: vllm, openai or llama.cpp.
        override: Returns the response to a request, or None for the server's own response.
        port: The port; 0 for any free port.
    """
    responses = LetterServer(frozenset(faults), dialect)

    def play(request: ServedRequest) -> ServedResponse:
        response = override(request) if override else None
        return response if response is not None else responses.answer(request)

    with serving(play=play, port=port) as server:
        yield server


class AsciiTokenizer:
    """The tokenizer of the made-up model, with the interface of transformers."""

    chat_template = None
    added_tokens_encoder: Mapping[str, int] = {}
    added_tokens_decoder: Mapping[int, str] = {}
    eos_token_id = _END
    is_fast = False

    def __call__(self, text: Any, **options: Any) -> dict[str, Any]:
        return {
            "input_ids": list(tokens_of(text)) if isinstance(text, str) else [list(tokens_of(part)) for part in text]
        }

    def __len__(self) -> int:
        return VOCABULARY

    def decode(self, ids: Any, **options: Any) -> str:
        return "".join(chr(token) for token in ids if token != _END)

    def batch_decode(self, lists: Any, **options: Any) -> list[str]:
        return [self.decode(ids) for ids in lists]
