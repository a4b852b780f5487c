"""Throughput at a model server: the client of this project against a plain one that keeps the server busy.

The server is llama.cpp's with the embedded model, in a process of its own, with four slots. Both sides ask for the
greedy answers, of so many tokens, to prompts that no side has sent before. Ours probes how much the server bears, keeps
every answer and reads it; the plain one sends the same requests from 16 threads and throws the answers away.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import requests
from numpy.typing import NDArray

from benchmarks.machine import this_machine
from benchmarks.measuring import Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models.endpoints.endpoint import Decoding, Endpoint, Prompt
from swaymeter.tasks.models.endpoints.model import ServedModel, load_served
from tests.tasks.models.endpoints.llama_server import llama_server

TOKENS = 16
SLOTS = 4
THREADS = 16
COLUMNS = ("client", "requests a second", "of the plain one's")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    with llama_server(slots=SLOTS) as address, TemporaryDirectory() as folder:
        endpoint = Endpoint("smol", address, tokenizer="smollm2-135m-instruct")
        model = load_served(endpoint, Path(folder))
        with requests.Session() as http, ThreadPoolExecutor(THREADS) as pool:
            http.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=THREADS))
            places = _places(asked.prompts)
            ours = Side("swaymeter", lambda of: _ours(model, of), places)
            plain = Side("plain", lambda of: _plain(model, http, pool, of), places)
            interleaved([plain, ours], asked.rounds)
    machine = this_machine("cpu")
    ratio = times(plain, ours)
    rows = [
        ("swaymeter", f"{1 / ours.median:.1f}", f"{ratio:.2f}"),
        ("plain, 16 threads", f"{1 / plain.median:.1f}", "1"),
    ]
    measured = {"plain_s": plain.seconds, "swaymeter_s": ours.seconds, "throughput_ratio": ratio}
    title = f"Greedy answers of {TOKENS} tokens from llama.cpp's server, {machine.name}"
    publish("endpoints", machine, [Table(title, COLUMNS, rows)], measured, asked)


def _places(count: int) -> Callable[[int], list[int]]:
    return lambda number: [*range(number * count, (number + 1) * count)]


def _prompt(model: ServedModel, side: str, place: int) -> Prompt:
    text = f"{side} {place}. The list of towns, rivers and mountains of region {place * 7919 % 1000} begins with"
    return Prompt(tokens=tuple(model.tokenizer(text)["input_ids"]))


def _ours(model: ServedModel, places: list[int]) -> NDArray[np.float64]:
    asked = [_prompt(model, "One", place) for place in places]
    replies = model.served.client.each(lambda prompt: model.served.answers(prompt, Decoding(TOKENS))[0], asked)
    return np.array([[len(reply.token_ids)] for reply in replies], np.float64)


def _plain(
    model: ServedModel, http: requests.Session, pool: ThreadPoolExecutor, places: list[int]
) -> NDArray[np.float64]:
    def ask(place: int) -> float:
        body = {
            "prompt": list(_prompt(model, "Two", place).tokens), "n_predict": TOKENS, "temperature": 0.0, "n_probs": 1,
            "return_tokens": True, "samplers": ["top_k", "top_p", "temperature"],
        }  # fmt: skip
        answer = http.post(f"{model.served.client.root}/completion", json=body, timeout=600)
        answer.raise_for_status()
        return float(len(answer.content) > 0)

    return np.array([[one] for one in pool.map(ask, places)])


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--prompts", type=int, default=160, help="of each side in a round; by default 160")
    parser.add_argument("--rounds", type=int, default=5, help="by default 5")
    asked = parser.parse_args()
    if asked.quick:
        asked.prompts, asked.rounds = 6, 1
    return asked


if __name__ == "__main__":
    main()
