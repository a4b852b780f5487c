"""A made-up model server: a letter is a token, and it can mislead.

    with made_up("ignores seed", dialect="vllm") as server:
        server.address, server.received

dialect: whose keys it takes and gives. Each way in which it misleads has been reported of a real server.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.data.sources.servers.faults import Say, ServedRequest, says, serving

V = 128
_END = 0
_OWNERS = {"vllm": "vllm", "openai": "someone", "llama.cpp": "llamacpp"}


def tokens_of(text: str) -> tuple[int, ...]:
    return tuple(ord(letter) % V for letter in text)


def log_probs_after(prompt: str) -> NDArray[np.float64]:
    """The distribution after a text, (V,) nats."""
    seed = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8], "big")
    logits = np.random.default_rng(seed).normal(0.0, 2.0, V)
    logits[:32] = -6.0  # no control characters
    logits[_END] = -3.0
    return np.asarray(logits - np.log(np.exp(logits).sum()))


class MadeUp:
    """What the server answers; misleads: in which ways."""

    def __init__(self, misleads: frozenset[str], dialect: str) -> None:
        self._misleads, self._dialect = misleads, dialect
        self._count = itertools.count()

    def answer(self, asked: ServedRequest) -> Say:
        if asked.method == "GET":
            return self._about(asked.path)
        body = json.loads(asked.body)
        if "another model" in self._misleads:
            return says({"error": {"message": f"model {body['model']} not found"}}, status=404)
        if asked.path.endswith("/tokenize"):
            text = body.get("prompt", body.get("content"))
            return says({"tokens": list(tokens_of(text[::-1] if "other tokenizer" in self._misleads else text))})
        if "refuses log-probabilities" in self._misleads and body.get("logprobs"):
            return says({"error": {"message": "logprobs are not supported"}}, status=400)
        if asked.path.endswith("/completion"):
            return self._of_llama(body)
        is_chat = asked.path.endswith("/chat/completions")
        prompt = (
            body["messages"][-1]["content"]
            if is_chat
            else body["prompt"]
            if isinstance(body["prompt"], str)
            else "".join(map(chr, body["prompt"]))
        )
        if body.get("logprobs") == -1 and "refuses whole distributions" in self._misleads:
            return says({"error": {"message": "logprobs -1 is greater than max allowed: 20"}}, status=400)
        count = 1 if "one answer a request" in self._misleads else body.get("n", 1)
        choices = [self._choice(prompt, body, number, is_chat) for number in range(count)]
        added = "adds a start token" in self._misleads
        usage = {"prompt_tokens": len(prompt) + added, "completion_tokens": sum(map(_written, choices))}
        return says({"model": body["model"], "choices": choices, "usage": usage})

    def _of_llama(self, body: Mapping[str, Any]) -> Say:
        prompt = "".join(map(chr, body["prompt"]))
        common = {"max_tokens": body["n_predict"], "logprobs": body["n_probs"]}
        choice = self._choice(prompt, {**common, "seed": body["seed"], "temperature": body["temperature"]}, 0, False)
        values, tops = choice["logprobs"]["token_logprobs"], choice["logprobs"]["top_logprobs"]
        tokens = [
            {"id": of, "logprob": v, "top_logprobs": [{"id": _id(name), "logprob": w} for name, w in top.items()]}
            for of, v, top in zip(choice["token_ids"], values, tops, strict=True)
        ]
        ended = choice["finish_reason"] == "stop"
        return says(
            {
                "tokens": choice["token_ids"][: len(tokens) - ended],
                "content": choice["text"],
                "stop_type": "eos" if ended else "limit",
                "completion_probabilities": tokens,
                "tokens_evaluated": len(prompt),
                "tokens_predicted": len(values),
            }
        )

    def _about(self, path: str) -> Say:
        if path.endswith("/models"):
            name = "another" if "another model" in self._misleads else "made-up"
            return says({"data": [{"id": name, "owned_by": _OWNERS[self._dialect], "max_model_len": 512}]})
        version = "0.0.2" if "another version" in self._misleads else "0.0.1"
        return says({"version": version}) if path.endswith("/version") else Say(status=404)

    def _choice(self, prompt: str, body: Mapping[str, Any], number: int, is_chat: bool) -> dict[str, Any]:
        is_same = "one answer a request, again and again" in self._misleads
        said = next(self._count) if {"ignores seed", "another greedy answer"} & self._misleads else body["seed"]
        seed = f"{said} {0 if is_same else number}"
        temperature = 0.0 if "ignores sampling" in self._misleads else body["temperature"]
        most = 3 if "cuts answers" in self._misleads else body["max_tokens"]
        ids, values, tops = self._decoded(prompt, seed, temperature, most, body)
        finished = ids[-1] == _END
        text = "".join(map(chr, ids[: len(ids) - finished]))
        common = {"finish_reason": "stop" if finished else "length", "index": number}
        if not body.get("logprobs") or "no log-probabilities" in self._misleads:
            logprobs: Any = None
        elif is_chat:
            entries, as_ids = zip(ids, values, tops, strict=True), self._as_ids(body)
            logprobs = {
                "content": [
                    {
                        "token": f"token_id:{token}" if as_ids else chr(token),
                        "logprob": value,
                        "top_logprobs": [{"token": name, "logprob": of} for name, of in top.items()],
                    }
                    for token, value, top in entries
                ]
            }
        else:
            names = [f"token_id:{of}" if self._as_ids(body) else chr(of) for of in ids]
            logprobs = {"tokens": names, "token_logprobs": values, "top_logprobs": tops}
        if is_chat:
            message = {"role": "assistant", "content": text}
            told = body.get("chat_template_kwargs", {}).get("enable_thinking")
            if "thinks" in self._misleads or ("thinks unless told" in self._misleads and told is not False):
                message["reasoning_content"] = "Let me see."
            return {**common, "message": message, "logprobs": logprobs}
        return {**common, "text": text, "logprobs": logprobs, "token_ids": ids}

    def _as_ids(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("return_tokens_as_token_ids", self._dialect != "openai"))

    def _decoded(
        self, prompt: str, seed: str, temperature: float, most: int, body: Mapping[str, Any]
    ) -> tuple[list[int], list[float], list[dict[str, float]]]:
        draws = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
        ids, values, tops, text = list[int](), list[float](), list[dict[str, float]](), prompt
        wanted = body.get("top_logprobs", body.get("logprobs") if body.get("logprobs") is not True else 0) or 0
        while len(ids) < most and (not ids or ids[-1] != _END):
            whole = log_probs_after(text)
            scaled = whole / (temperature or 1.0)
            scaled = scaled - scaled.max()
            scaled -= np.log(np.exp(scaled).sum())
            drifts = "another greedy answer" in self._misleads and ids
            token = int(draws.choice(V, p=np.exp(scaled))) if temperature or drifts else int(whole.argmax())
            said = scaled if "after temperature" in self._misleads else whole
            order = np.argsort(-said)[: V if wanted == -1 else wanted]
            named = (order + 1) % V if "another token than it says" in self._misleads else order
            names = (f"token_id:{of}" if self._as_ids(body) else chr(of) for of in named)
            top = dict(zip(names, self._as_sent([said[of] for of in order]), strict=True))
            if "tokens fall together" in self._misleads:
                top = dict(list(top.items())[:1])
            ids.append(token)
            values += self._as_sent([said[token]])
            tops.append(top)
            text += chr(token)
        return ids, values, tops

    def _as_sent(self, values: list[Any]) -> list[float]:
        if "zeros" in self._misleads:
            return [0.0 for _ in values]
        if "-9999" in self._misleads:
            return [-9999.0 for _ in values]
        if "more than 1" in self._misleads:
            return [min(float(value) + 1.5, 0.0) for value in values]
        return [float(value) for value in values]


def _id(name: str) -> int:
    return int(name.removeprefix("token_id:"))


def _written(choice: Mapping[str, Any]) -> int:
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    return len(text) + (choice["finish_reason"] == "stop")


@contextmanager
def made_up(
    *misleads: str, dialect: str = "vllm", before: Callable[[ServedRequest], Say | None] | None = None, port: int = 0
) -> Iterator[Any]:
    """The server; before: what it says in place of an answer, None for the answer; port: 0 for any."""
    answers = MadeUp(frozenset(misleads), dialect)

    def play(asked: ServedRequest) -> Say:
        instead = before(asked) if before else None
        return instead if instead is not None else answers.answer(asked)

    with serving(play=play, port=port) as server:
        yield server


class Ascii:
    """The tokenizer of the made-up model, with what is asked of one of transformers."""

    chat_template = None
    added_tokens_encoder: Mapping[str, int] = {}
    added_tokens_decoder: Mapping[int, str] = {}
    eos_token_id = _END
    is_fast = False

    def __call__(self, text: Any, **options: Any) -> dict[str, Any]:
        return {"input_ids": list(tokens_of(text)) if isinstance(text, str) else [list(tokens_of(one)) for one in text]}

    def __len__(self) -> int:
        return V

    def decode(self, ids: Any, **options: Any) -> str:
        return "".join(chr(token) for token in ids if token != _END)

    def batch_decode(self, lists: Any, **options: Any) -> list[str]:
        return [self.decode(ids) for ids in lists]
