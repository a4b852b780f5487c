"""Throughput at a model server: the client of this project against a plain one; and what a study adds to it.

The server is llama.cpp's with the embedded model, in a process of its own, with four slots. Both sides ask for the
greedy answers, of so many tokens, to prompts that no side has sent before. Ours probes how much the server bears, keeps
every answer and reads it; the plain one sends the same requests from 16 threads and throws the answers away.

The orchestration is the share of the stage `score` of a study in which no request is in flight: what the steps begin,
read, judge, store and report. The study samples answers to the bundled questions and judges them by their words.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import requests
import yaml
from numpy.typing import NDArray

from benchmarks.cluster import Timed
from benchmarks.machine import this_machine
from benchmarks.measuring import Side, Table, arguments, interleaved, publish, times
from swaymeter.data.sources.http import session
from swaymeter.flows.execution.flow import study as flow
from swaymeter.flows.execution.progress import report_to
from swaymeter.flows.server.api import prefect_api
from swaymeter.flows.study.places import STUDIES
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
        with prefect_api():
            stage, busy = _of_study(address, Path(folder), asked.questions)
    machine = this_machine("cpu")
    ratio = times(plain, ours)
    rows = [
        ("swaymeter", f"{1 / ours.median:.1f}", f"{ratio:.2f}"),
        ("plain, 16 threads", f"{1 / plain.median:.1f}", "1"),
    ]
    share = 1 - busy / stage.seconds
    of_study = Table(
        f"A study of {asked.questions} questions at llama.cpp's server, {machine.name}",
        ("seconds of the stage score", "with a request in flight", "orchestration"),
        [(f"{stage.seconds:.1f}", f"{busy:.1f}", f"{share:.1%}")],
    )
    measured = {
        "plain_s": plain.seconds, "swaymeter_s": ours.seconds, "throughput_ratio": ratio, "stage_s": stage.seconds,
        "in_flight_s": busy, "orchestration": share,
    }  # fmt: skip
    title = f"Greedy answers of {TOKENS} tokens from llama.cpp's server, {machine.name}"
    publish("endpoints", machine, [Table(title, COLUMNS, rows), of_study], measured, asked)


def _of_study(address: str, folder: Path, questions: int) -> tuple[Timed, float]:
    """The stage `score` of a study, and the seconds of it in which a request was in flight."""
    study = folder / "study.yaml"
    content = {
        "name": "at-a-server", "asks": "What does a study add to its requests?", "workspace": str(folder / "workspace"),
        "questions": {
            "source": "file", "file": str(STUDIES / "own-questions.jsonl"), "per_partition": questions, "title": "Own",
            "licence": "Apache-2.0",
        },
        "models": [{"name": "smol", "endpoint": address, "tokenizer": "smollm2-135m-instruct"}],
        "measures": {"answers": {"samples": 3, "max_new_tokens": TOKENS}, "whose_answer": {}},
    }  # fmt: skip
    study.write_text(yaml.safe_dump(content), encoding="utf-8")
    timed = Timed()
    for stages in (["fetch", "build"], ["score"]):
        report_to(timed if stages == ["score"] else Timed())
        with _in_flight() as spans:
            state = flow(str(study), stages=stages, return_state=True)
        if not state.is_completed():
            raise SystemExit(f"{state.message} {timed.failures[:3]}")
    busy, end = 0.0, timed.began
    for first, last in sorted(spans):
        busy += max(0.0, min(last, timed.ended) - max(first, end))
        end = max(end, last)
    return timed, busy


@contextmanager
def _in_flight() -> Iterator[list[tuple[float, float]]]:
    """When each request began and ended."""
    real, spans = session.exchange, list[tuple[float, float]]()

    def exchange(*arguments: object, **options: object) -> object:
        began = time.perf_counter()
        try:
            return real(*arguments, **options)  # type: ignore[arg-type]
        finally:
            spans.append((began, time.perf_counter()))

    session.exchange = exchange  # type: ignore[assignment]
    try:
        yield spans
    finally:
        session.exchange = real


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
    parser.add_argument("--questions", type=int, default=40, help="of the study; by default 40")
    asked = parser.parse_args()
    if asked.quick:
        asked.prompts, asked.rounds, asked.questions = 6, 1, 2
    return asked


if __name__ == "__main__":
    main()
