"""Seconds a prompt, and peak memory, of short answers to long prompts: questions with six passages in several orders.

    engine            swaymeter.tasks.models.generation, as the measure `answers` asks it: a sampled answer beside each
                      greedy one
    one at a time     transformers' generate for each prompt by itself; the greedy answer alone
    in batches        generate with eight prompts at once, padded on the left; the greedy answer alone
    vLLM              with its prefix cache, all prompts in one request to a server on this machine, with --vllm alone

Passages are about companies that nobody has founded. Questions about the same company have the same passages, in orders
that are rotations of each other; each is asked in three of the catalog's forms, whose beginnings differ. Prompts are
answered company by company: the engine and vLLM answer all those of a round, generate a few of them, as it shares
nothing between prompts. The engine and vLLM, with its default settings, begin each round with empty caches of 2 GiB.
"""

import argparse
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import psutil
import requests
import torch
from numpy.typing import NDArray

from benchmarks.machine import forget_peak, peak_memory, this_machine
from benchmarks.made_up_companies import PASSAGES, company, rotated
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from swaymeter.data import catalog
from swaymeter.data.records.passages import text_of
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.memory import release_memory
from swaymeter.tasks.models.next_token.plain import left_padded
from swaymeter.tasks.models.prompts.answer_prompts import answer_header, answer_prompt
from swaymeter.tasks.models.prompts.template_options import end_tokens, prompt_form

TOKENS = 16
FORMS = ("default", "strict", "conflict_aware")
AROUND = 110  # tokens of a prompt around its passages
AT_ONCE = 8  # prompts of a padded batch
CACHE_GIB = 2  # of vLLM's keys and values, as many as the engine's budget
COLUMNS = ("side", "seconds a prompt", "of the engine's", "peak memory, GiB", "answers as the engine's")


class Setting(NamedTuple):
    """What is asked: so many questions, of which so many have the same passages, with prompts of so many tokens.

    rounds: each with some of the companies; sample: prompts that generate answers in a round.
    """

    tokens: int
    questions: int
    sharing: int
    orders: int
    forms: tuple[str, ...]
    rounds: int
    sample: int


class Prompt(NamedTuple):
    """A prompt, how it is put, and whose it is; company: its number."""

    tokens: tuple[int, ...]
    form: str
    identity: tuple[str, str]
    company: int


@dataclass
class Found:
    """What a side gave: its greedy answers by the places of prompts, and the most memory that it had, in bytes."""

    answers: dict[int, tuple[int, ...]] = field(default_factory=dict)
    peak: int = 0


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    model = load_language_model(MODEL, dtype="float32", device=asked.device)
    machine = this_machine(model.device)
    measured, tables = [], []
    with ExitStack() as stack:
        server = stack.enter_context(_vllm(asked.vllm, asked.settings)) if asked.vllm else None
        for setting in asked.settings:
            one = _measured(model, setting, server)
            measured.append(one)
            tables.append(_table(one, machine.name))
    publish("passages", machine, tables, {"model": MODEL, "settings": measured}, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, help="of a prompt; by default about 1,000, and 8,000 for a few questions")
    parser.add_argument("--questions", type=int, default=40, help="by default 40")
    parser.add_argument("--sharing", type=int, default=5, help="questions about the same company; by default 5")
    parser.add_argument("--rounds", type=int, default=4, help="in each, some of the companies; by default 4")
    parser.add_argument("--sample", type=int, default=8, help="prompts that generate answers in a round; by default 8")
    parser.add_argument("--vllm", type=Path, help="a folder with vLLM's environment, which is made there (3.5 GB)")
    asked = parser.parse_args()
    one = Setting(asked.tokens or 1000, asked.questions, asked.sharing, 4, FORMS, asked.rounds, asked.sample)
    long = Setting(8000, 5, 5, 2, FORMS[:1], 1, 2)
    asked.settings = [one] if asked.tokens else [one, one._replace(questions=4, sharing=1), long]
    if asked.quick:
        asked.settings = [Setting(300, 2, 2, 2, FORMS[:1], 1, 2)]
    return asked


def made(model: LanguageModel, setting: Setting) -> list[Prompt]:
    """The prompts, those of a company together, then those of a form."""

    def tokens_of(text: str) -> int:
        return len(model.tokenizer(text, add_special_tokens=False)["input_ids"])

    length = (setting.tokens - AROUND) // PASSAGES
    companies = [company(number, length, tokens_of) for number in range(setting.questions // setting.sharing)]
    prompts = []
    for number, one in enumerate(companies):
        for form in setting.forms:
            for question in one.questions[: setting.sharing]:
                for start in range(setting.orders):
                    text = text_of(rotated(one.passages, start))
                    put = answer_prompt(
                        model, question, text, reserved_tokens=TOKENS, prompts=catalog.prompts(cast(Any, form))
                    )
                    prompts.append(Prompt(put.tokens, form, (question, f"rotation {start + 1}"), number))
    return prompts


def _measured(model: LanguageModel, setting: Setting, server: "_Server | None") -> dict[str, Any]:
    prompts = made(model, setting)
    began = time.perf_counter()
    engine = model.engine_of_answers([prompt.tokens for prompt in prompts], to_come=TOKENS)
    compared = time.perf_counter() - began
    count = 1 + max(prompt.company for prompt in prompts)
    rounds = min(setting.rounds, count)

    def everything(number: int) -> list[int]:
        return [place for place, prompt in enumerate(prompts) if prompt.company % rounds == number]

    def some(number: int) -> list[int]:
        places = everything(number)
        step = max(1, len(places) // setting.sample)
        return places[number % step :: step][: setting.sample]

    found = {name: Found() for name in ("engine", "one at a time", "in batches")}
    sides = [
        Side("engine", lambda of: by_engine(model, prompts, of, found["engine"]), everything),
        Side("one at a time", lambda of: by_generate(model, prompts, of, found["one at a time"], 1), some),
        Side("in batches", lambda of: by_generate(model, prompts, of, found["in batches"], AT_ONCE), some),
    ]
    if server:
        found["vLLM"] = Found()
        sides.append(Side("vLLM", lambda of: server.answer(prompts, of, found["vLLM"]), everything))
    interleaved(sides, rounds)
    plain = min(sides[1:3], key=lambda side: side.median)
    return {
        **setting._asdict(),
        "prompts": len(prompts),
        "mean_tokens": float(np.mean([len(one.tokens) for one in prompts])),
        "answered_by": engine,
        "comparison_s": compared,
        "better_plain_side": plain.name,
        "better_plain_over_engine": times(plain, sides[0]),
        "share_from_prefix_cache": float(np.mean(server.cached[-rounds:])) if server else None,
        "sides": [
            {
                "side": side.name,
                "seconds_a_prompt": side.seconds,
                "over_engine": times(side, sides[0]),
                "peak_bytes": found[side.name].peak,
                "equal_answers": _equal(found["engine"], found[side.name]),
            }
            for side in sides
        ],
    }


def by_engine(model: LanguageModel, prompts: Sequence[Prompt], places: Sequence[int], found: Found) -> NDArray[Any]:
    """The engine's answers to these prompts go into found; returns their lengths, (n, 1)."""
    with own_peak(model, found):
        for form in FORMS:
            of_form = [place for place in places if prompts[place].form == form]
            texts = catalog.prompts(cast(Any, form))
            answers = sample_answers(
                model,
                [prompts[place].tokens for place in of_form],
                [prompts[place].identity for place in of_form],
                samples=1, max_new_tokens=TOKENS, form=prompt_form(model, texts), header=answer_header(model, texts),
            )  # fmt: skip
            found.answers |= {place: one.greedy.token_ids for place, one in zip(of_form, answers, strict=True)}
    return _lengths(found, places)


@torch.inference_mode()
def by_generate(
    model: LanguageModel, prompts: Sequence[Prompt], places: Sequence[int], found: Found, at_once: int
) -> NDArray[Any]:
    """As by_engine, by generate with so many prompts at once."""
    ends = sorted(end_tokens(model))
    with own_peak(model, found):
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            ids, mask = left_padded([prompts[place].tokens for place in some], model.device)
            tokens = cast(Any, model.model).generate(
                ids, attention_mask=mask, max_new_tokens=TOKENS, do_sample=False, eos_token_id=ends,
                pad_token_id=ends[0],
            )  # fmt: skip
            for place, answer in zip(some, tokens[:, ids.shape[1] :].tolist(), strict=True):
                found.answers[place] = _ended(answer, ends)
    return _lengths(found, places)


def _ended(answer: Sequence[int], ends: Sequence[int]) -> tuple[int, ...]:
    """An answer up to its end, which is its last token."""
    length = next((place + 1 for place, token in enumerate(answer) if token in ends), len(answer))
    return tuple(answer[:length])


def _lengths(found: Found, places: Sequence[int]) -> NDArray[Any]:
    return np.array([[len(found.answers[place])] for place in places], np.float64)


def _equal(engine: Found, other: Found) -> float:
    """The share of a side's answers that are the engine's, token by token; both may write the end or not."""
    return float(np.mean([answer == engine.answers[place] for place, answer in other.answers.items()]))


@contextmanager
def own_peak(model: LanguageModel, found: Found) -> Iterator[None]:
    """The most memory that the process has within it is found's, if it is more than before."""
    release_memory(model.device)
    forget_peak(model.device)
    yield
    found.peak = max(found.peak, peak_memory(model.device))


class _Server:
    """vLLM on this machine."""

    def __init__(self, address: str, process: int, ends: Sequence[int]) -> None:
        self._address, self._process, self._ends = address, psutil.Process(process), ends
        self.cached: list[float] = []  # the share of each request's tokens that came from the prefix cache

    def answer(self, prompts: Sequence[Prompt], places: Sequence[int], found: Found) -> NDArray[Any]:
        """Greedy answers to these prompts, all in one request, with nothing in the prefix cache before it."""
        requests.post(f"{self._address}/reset_prefix_cache", timeout=60).raise_for_status()
        before = self._counts()
        body = {
            "model": "smol", "prompt": [list(prompts[place].tokens) for place in places], "max_tokens": TOKENS,
            "temperature": 0.0, "return_token_ids": True,
        }  # fmt: skip
        with self._peak(found):
            reply = requests.post(f"{self._address}/v1/completions", json=body, timeout=7200)
            reply.raise_for_status()
            for choice in reply.json()["choices"]:
                found.answers[places[choice["index"]]] = _ended(choice["token_ids"], self._ends)
        hits, queries = self._counts() - before
        self.cached.append(hits / queries)
        return _lengths(found, places)

    def _counts(self) -> NDArray[Any]:
        """Tokens that came from the prefix cache, and tokens that were looked for there, since it was started."""
        said = requests.get(f"{self._address}/metrics", timeout=60).text
        found = (re.findall(rf"^vllm:prefix_cache_{what}_total\S* (\S+)$", said, re.M) for what in ("hits", "queries"))
        return np.array([sum(map(float, numbers)) for numbers in found])

    @contextmanager
    def _peak(self, found: Found) -> Iterator[None]:
        """Looks, while the request is answered, at what the server's processes have resident."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.5):
                processes = [self._process, *self._process.children(recursive=True)]
                found.peak = max(found.peak, sum(one.memory_full_info().pss for one in processes))

        looking = threading.Thread(target=look)
        looking.start()
        try:
            yield
        finally:
            done.set()
            looking.join()


@contextmanager
def _vllm(environment: Path, settings: Sequence[Setting]) -> Iterator[_Server]:
    os.environ |= {"SWAYMETER_VLLM_ENVIRONMENT": str(environment.absolute()), "VLLM_SERVER_DEV_MODE": "1"}
    from tests.tasks.models.endpoints.vllm_server import vllm_server  # reads the first of these

    tokens = max(setting.tokens for setting in settings) + 192
    with vllm_server(tokens=tokens, cache_gib=CACHE_GIB, options=["--enable-prefix-caching"]) as server:
        model = load_language_model(MODEL, dtype="float32", device="cpu")
        yield _Server(server.address, server.process, sorted(end_tokens(model)))


def _table(one: dict[str, Any], machine: str) -> Table:
    rows = [
        (
            side["side"], f"{np.median(side['seconds_a_prompt']):.3g}", f"{side['over_engine']:.2f}",
            f"{side['peak_bytes'] / 2**30:.2f}", f"{side['equal_answers']:.1%}",
        )
        for side in one["sides"]
    ]  # fmt: skip
    alike = f"{one['sharing']} questions with the same passages" if one["sharing"] > 1 else "each its own passages"
    notes = [
        f"{one['questions']} questions x {PASSAGES} passages x {one['orders']} orders x {len(one['forms'])} forms, "
        f"{one['prompts']} prompts of {one['mean_tokens']:.0f} tokens on average; {alike}; at most {TOKENS} tokens of "
        f"an answer. The comparison with plain reading before that took {one['comparison_s']:.0f} s."
    ]
    if one["share_from_prefix_cache"] is not None:
        notes.append(f"vLLM took {one['share_from_prefix_cache']:.0%} of the prompts' tokens from its prefix cache.")
    return Table(f"Answers to prompts of {one['tokens']:,} tokens, {alike}, {machine}", COLUMNS, rows, notes)


if __name__ == "__main__":
    main()
