"""Seconds and peak memory of long prompts: the engine against transformers' own pass over each, and its generate.

    plain pass           transformers' forward pass over a prompt, without a KV cache; logits after its last token alone
    engine, one          next-token distributions after a prompt, and after the same with another last token
    engine, four         those after four prompts with the same passages
    generate             transformers' greedy answer of at most 16 tokens to a prompt
    engine, one answer   a greedy and a sampled answer to a prompt, as the measure `answers` asks for them
    engine, answers      those to four prompts with the same passages

Prompts are those of benchmarks/passages.py: questions behind six passages about a company that nobody has founded. What
the comparison of ways of reading takes, once for a loaded model, is said below the table and is not in the seconds.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.machine import memory_in_use, this_machine
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from benchmarks.passages import FORMS, TOKENS, Found, Prompt, Setting, by_engine, by_generate, made, own_peak
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.memory import release_memory
from swaymeter.tasks.models.next_token.alone import read_equal
from swaymeter.tasks.models.next_token.by_query import engine, next_token_by_query

PROMPTS = 4
SIDES = {
    "plain pass": "plain pass", "engine, one": "plain pass", "engine, four": "plain pass",
    "generate": "generate", "engine, one answer": "generate", "engine, answers": "generate",
}  # fmt: skip
"""Each side, and the one that it is held against."""
Clock = Callable[[], float]
COLUMNS = ("tokens", "side", "seconds a prompt", "of the plain side's", "memory above the model's, MiB", "as plain")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    model = load_language_model(MODEL, dtype=asked.dtype, device=asked.device)
    settings: list[dict[str, Any]] = []
    for tokens in asked.tokens:
        settings.append(_measured(model, tokens, asked.rounds, asked.clock, first=not settings))
    machine = this_machine(model.device)
    rows = [row for setting in settings for row in _rows(setting)]
    notes = [
        "As plain: how far log-probabilities above -10 lie from the plain pass's, nats; the share of equal answers.",
        f"Memory of the model: {settings[0]['before_bytes'] / 2**20:.0f} MiB.",
        *(
            f"Comparisons before that at {one['tokens']} tokens: {one['comparisons_s'][0]:.1f} s for next tokens, "
            f"{one['comparisons_s'][1]:.1f} s for answers."
            for one in settings
        ),
    ]
    how = ", processor seconds of one thread" if asked.processor else ""
    table = Table(f"{MODEL} in {asked.dtype}{how}, {machine.name}", COLUMNS, rows, notes)
    publish("long_prompts", machine, [table], {"model": MODEL, "dtype": asked.dtype, "settings": settings}, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1000, 2000, 4000, 8000], help="of a prompt")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--processor",
        action="store_true",
        help="processor seconds of one thread, where the machine does something else",
    )
    asked = parser.parse_args()
    if asked.processor:
        torch.set_num_threads(1)
    asked.clock = time.process_time if asked.processor else time.perf_counter
    if asked.quick:
        asked.tokens, asked.rounds = [300], 1
    return asked


def _measured(model: LanguageModel, tokens: int, rounds: int, clock: Clock, *, first: bool) -> dict[str, Any]:
    prompts = made(model, Setting(tokens, PROMPTS, PROMPTS, 1, FORMS[:1], rounds, PROMPTS))
    model.engine.verdicts.clear()
    flat = [prompt.tokens for prompt in prompts]
    ways = (partial(engine, model, [flat]), partial(model.engine_of_answers, flat, to_come=TOKENS))
    comparisons = [_seconds(way, clock) for way in ways]
    release_memory(model.device)
    before, found = memory_in_use(model.device), {name: Found() for name in SIDES}
    computed: dict[str, Callable[[list[int]], NDArray[Any]]] = {
        "plain pass": lambda of: _plainly(model, prompts, of, found["plain pass"]),
        "engine, one": lambda of: _next_tokens(model, prompts, of, found["engine, one"]),
        "engine, four": lambda of: _next_tokens(model, prompts, of, found["engine, four"]),
        "generate": lambda of: by_generate(model, prompts, of, found["generate"], 1),
        "engine, one answer": lambda of: by_engine(model, prompts, of, found["engine, one answer"]),
        "engine, answers": lambda of: by_engine(model, prompts, of, found["engine, answers"]),
    }
    print(f"{tokens} tokens", flush=True)
    shared = ("engine, four", "engine, answers")
    sides = {
        name: Side(name, compute, _all if name in shared else _one, clock) for name, compute in computed.items()
    }  # fmt: skip
    interleaved(list(sides.values()), rounds, first=first)
    return {
        "tokens": round(float(np.mean([len(of_prompt) for of_prompt in flat]))),
        "engines": [engine(model, []), model.engine_of_answers([])],
        "comparisons_s": comparisons,
        "before_bytes": before,
        "sides": [
            {
                "side": name,
                "seconds_a_prompt": side.seconds,
                "over_plain": times(side, sides[SIDES[name]]),
                "peak_bytes": found[name].peak,
                "apart": _apart(side, sides["plain pass"]) if SIDES[name] == "plain pass" else None,
                "equal_answers": _equal(found[name], found["generate"]) if SIDES[name] == "generate" else None,
            }
            for name, side in sides.items()
        ],
    }


def _all(number: int) -> list[int]:
    return list(range(PROMPTS))


def _one(number: int) -> list[int]:
    return [number % PROMPTS]


def _seconds(work: Callable[[], object], clock: Clock) -> float:
    start = clock()
    work()
    return clock() - start


def _plainly(model: LanguageModel, prompts: Sequence[Prompt], places: Sequence[int], found: Found) -> NDArray[Any]:
    with own_peak(model, found):
        logits = torch.cat([read_equal(model, [prompts[place].tokens]) for place in places])
        return _on_host(torch.log_softmax(logits.float(), dim=1))


def _next_tokens(model: LanguageModel, prompts: Sequence[Prompt], places: Sequence[int], found: Found) -> NDArray[Any]:
    asked = [prompts[place].tokens for place in places]
    twin = (*asked[0][:-1], asked[0][-2])  # a single prompt would be read plainly
    with own_peak(model, found):
        rows = {
            place: _on_host(of_prompt.log_probs()[0])
            for place, of_prompt in next_token_by_query(model, [[*asked, twin]])
        }
    return np.array([rows[place] for place in range(len(asked))])


def _on_host(tensor: torch.Tensor) -> NDArray[Any]:
    host: NDArray[Any] = tensor.cpu().numpy()
    return host


def _apart(side: Side, plain: Side) -> float:
    places = sorted({*side.found} & {*plain.found})
    expected = plain.rows(places)
    return float(np.abs(side.rows(places) - expected).max(where=expected > -10, initial=0.0))


def _equal(side: Found, plain: Found) -> float:
    places = {*side.answers} & {*plain.answers}
    return float(np.mean([side.answers[place] == plain.answers[place] for place in places]))


def _rows(setting: dict[str, Any]) -> list[list[str]]:
    return [
        [
            str(setting["tokens"]), side["side"], f"{np.median(side['seconds_a_prompt']):.3g}",
            f"{side['over_plain']:.2f}", f"{(side['peak_bytes'] - setting['before_bytes']) / 2**20:.0f}",
            f"{side['apart']:.0e}" if side["apart"] is not None else f"{side['equal_answers']:.0%}",
        ]
        for side in setting["sides"]
    ]  # fmt: skip


if __name__ == "__main__":
    main()
