"""Next tokens, sampled replies and given answers per second of the engine, plain transformers and model servers.

    swaymeter       the engine, which computes shared prefixes once
    transformers    each prompt by itself: a forward pass, or `generate`
    measureLM       as published: batches of 32 padded prompts, logits at every position, float32; next tokens only
    llama.cpp       its server with the 4-bit weights of the bundled model; no given answers
    vLLM            its server for the CPU, if `make test-servers` has installed it

Next tokens are whole distributions; vLLM returns only the most probable token. Replies are a greedy reply and four
sampled replies of at most 16 tokens. A given answer gets its log-probability after a prompt. Short prompts are contexts
before queries of the workload. Long prompts are questions after the same passages.

The ceiling is the speed of a product of two large matrices. A share of the ceiling counts the operations of whole
prompts, each read by itself, so that the share of an engine that shares work can exceed 1.

The second table is about the client for served models. llama.cpp's server with four slots writes greedy replies. The
client and 16 plain threads take turns in sending requests of the same kind.
"""

import argparse
import importlib.util
import itertools
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import requests
import torch
from numpy.typing import NDArray

from benchmarks import ways, workload
from benchmarks.machine import multiplication, this_machine
from benchmarks.made_up_companies import PASSAGES, company
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from swaymeter.data.records.passages import text_of
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.endpoints.endpoint import Decoding, Endpoint, Prompt
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.models.next_token.alone import read_equal
from swaymeter.tasks.models.prompts.template_options import end_tokens
from swaymeter.tasks.models.prompts.tokens import tokenize, tokenize_prompts
from tests.tasks.models.endpoints.llama_server import llama_server
from tests.tasks.models.endpoints.vllm_server import ENVIRONMENT, vllm_server

TOKENS, SAMPLES = 16, 4
"""Upper bound on tokens of a reply, and number of sampled replies."""
SLOTS, THREADS = 4, 16
"""For the second table: slots of the server, and plain threads."""
GIVEN = ("Oslo", "Velklund", "Ilka Brumvek", "nobody knows")
"""Answers whose log-probability is computed after each prompt."""
WORKS = ("next tokens", "sampled answers", "given answers")
COLUMNS = ("work", "tokens", "dtype", "side", "a second", "swaymeter / this", "of the ceiling")
LONG = 500  # tokens above which measureLM reads a prompt alone: logits at every position of a batch take gigabytes


@dataclass(frozen=True)
class Texts:
    """Contexts and queries, and the prompts that join each context with each query."""

    contexts: list[str]
    queries: list[str]
    prompts: Sequence[Sequence[Sequence[int]]]
    """Tokens by context and query."""

    @property
    def flat(self) -> list[Sequence[int]]:
        """Tokens of all prompts, context by context."""
        return [prompt for context_prompts in self.prompts for prompt in context_prompts]

    @property
    def tokens(self) -> int:
        """Mean number of tokens of a prompt."""
        return round(float(np.mean([len(prompt) for prompt in self.flat])))


Compute = Callable[[list[int]], NDArray[Any]]
"""Function that does the work for the prompts at some places of `Texts.flat`, and returns a row for each."""


def main() -> None:
    """Measure, print and write."""
    options = _options()
    models = {dtype: load_language_model(MODEL, dtype=dtype, device="cpu") for dtype in options.dtype}
    first_model = next(iter(models.values()))
    ceilings = {dtype: multiplication(dtype, "cpu", options.size) for dtype in options.dtype}
    settings, skipped = (
        [],
        [
            "measureLM: sampled and given answers, which it does not have",
            "llama.cpp: given answers, which its server does not score",
        ],
    )
    with ExitStack() as stack:
        room = min(max(2048, max(options.tokens) + 512), first_model.context_window or sys.maxsize)
        servers = _servers(stack, options.dtype, room, skipped)
        for tokens in options.tokens:
            texts = _texts(first_model, tokens, options.entities)
            for work in options.work:
                sides = _sides(work, models, texts, servers, 1 if tokens else options.sample)
                interleaved(list(sides.values()), options.rounds)
                settings += [_setting(work, texts, side, sides, models, ceilings) for side in sides.values()]
    machine = this_machine("cpu")
    ceiling = "; ".join(f"{dtype} {value:.0f}" for dtype, value in ceilings.items())
    notes = [f"The ceiling, GFLOP/s: {ceiling}.", *(f"Skipped: {reason}." for reason in skipped)]
    table = Table(f"{MODEL}, {machine.name}", COLUMNS, [_cells(entry) for entry in settings], notes)
    measured: dict[str, Any] = {"model": MODEL, "gflops": ceilings, "skipped": skipped, "settings": settings}
    tables = [table]
    if "llama.cpp" in {name for name, _ in servers}:
        clients, seconds = _clients(options, machine.name)
        tables.append(clients)
        measured["seconds_a_request"] = seconds
    publish("servers", machine, tables, measured, options)


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[0, 1000, 4000, 8000], help="of a prompt; 0: short prompts"
    )
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"], choices=["float32", "bfloat16"])
    parser.add_argument("--work", nargs="+", default=WORKS, choices=WORKS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sample", type=int, default=16, help="short prompts of a round, of all sides but the engine")
    parser.add_argument("--requests", type=int, default=160, help="requests of each client in a round")
    options = parser.parse_args()
    options.size, options.entities = 2048, 2
    if options.quick:
        options.requests = 6
        options.tokens, options.rounds, options.sample, options.size, options.entities = [0, 300], 1, 1, 128, 1
    return options


def _clients(options: argparse.Namespace, machine: str) -> tuple[Table, dict[str, list[float]]]:
    """Measure greedy replies per second of the client for served models, and of plain threads.

    Every request has a new prompt. A prompt begins with its side and number, so that the server finds no known prefix.
    """

    def places(number: int) -> list[int]:
        return [*range(number * options.requests, (number + 1) * options.requests)]

    with llama_server(slots=SLOTS) as address, TemporaryDirectory() as folder, requests.Session() as http:
        model = load_served(Endpoint("smol", address, tokenizer=MODEL), Path(folder))
        http.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=THREADS))

        def prompt(side: str, place: int) -> Prompt:
            text = f"{side} {place}. Towns, rivers and mountains of region {place * 7919 % 1000} begin with"
            return Prompt(tokens=tuple(model.tokenizer(text)["input_ids"]))

        def ours(positions: list[int]) -> NDArray[Any]:
            prompts = [prompt("One", place) for place in positions]
            replies = model.server.client.each(lambda entry: model.server.replies(entry, Decoding(TOKENS))[0], prompts)
            return _ones(sum(len(reply.token_ids) for reply in replies), positions)

        def send(place: int) -> int:
            body = {
                "prompt": list(prompt("Two", place).tokens),
                "n_predict": TOKENS,
                "temperature": 0.0,
                "n_probs": 1,
                "return_tokens": True,
                "samplers": ["top_k", "top_p", "temperature"],
            }
            reply = http.post(f"{model.server.client.root}/completion", json=body, timeout=600)
            reply.raise_for_status()
            return len(reply.content)

        with ThreadPoolExecutor(THREADS) as pool:
            sides = [
                Side("plain threads", lambda positions: _ones(sum(pool.map(send, positions)), positions), places),
                Side("swaymeter", ours, places),
            ]
            interleaved(sides, options.rounds)
    rows = [(side.name, f"{1 / side.median:.1f}", f"{times(sides[0], side):.2f}") for side in sides]
    title = f"Greedy replies of {TOKENS} tokens from llama.cpp's server, {machine}"
    return Table(title, ("client", "requests a second", "of plain threads"), rows), {s.name: s.seconds for s in sides}


def _servers(stack: ExitStack, dtypes: Sequence[str], room: int, skipped: list[str]) -> dict[tuple[str, str], str]:
    """Start the installed servers, and return their addresses by side and number format.

    Args:
        stack: Stack that ends the servers.
        dtypes: Number formats of vLLM.
        room: Tokens of a request, prompt and reply.
        skipped: List that gets the reasons for missing servers.
    """
    addresses = {}
    if importlib.util.find_spec("xllamacpp"):
        started = llama_server(slots=2, tokens=2 * room, threads=torch.get_num_threads())
        addresses["llama.cpp", "Q4_1"] = stack.enter_context(started)
    else:
        skipped.append("llama.cpp: xllamacpp is not installed")
    if (ENVIRONMENT / ".set-up").exists():
        options = ["--max-logprobs", "-1", "--enable-prefix-caching"]
        for dtype in dtypes:
            server = vllm_server(tokens=room, cache_gib=2, dtype=dtype, options=options)
            addresses["vLLM", dtype] = stack.enter_context(server)
    else:
        skipped.append("vLLM: not installed; make test-servers installs it (3.5 GB)")
    return addresses


def _texts(model: LanguageModel, tokens: int, entities: int) -> Texts:
    """Return prompts of about `tokens` tokens, or for 0 the short prompts of the workload about `entities` entities."""
    if tokens:

        def tokens_of(text: str) -> int:
            return len(model.tokenizer(text, add_special_tokens=False)["input_ids"])

        invented = company(0, tokens // PASSAGES, tokens_of)
        contexts, queries = (
            [f"{text_of(invented.passages)}\n"],
            [f"Q: {question}\nA:" for question in invented.questions],
        )
    else:
        contexts, queries = workload.texts().contexts(entities), workload.texts().queries(entities)
    return Texts(contexts, queries, tokenize_prompts(model, contexts, queries))


def _sides(
    work: str, models: dict[str, LanguageModel], texts: Texts, servers: dict[tuple[str, str], str], sample: int
) -> dict[str, Side]:
    """Return the sides of a work by name and number format; a slow side reads `sample` prompts in a round."""
    everything = list(range(len(texts.flat)))

    def sampled(number: int) -> list[int]:
        return [(number * sample + place) % len(everything) for place in range(sample)]

    sides = {}

    def add(name: str, dtype: str, compute: Compute, places: Callable[[int], list[int]]) -> None:
        sides[f"{name}, {dtype}"] = Side(f"{name}, {dtype}", compute, places)

    for dtype, model in models.items():
        ours, plain = _of_model(work, model, texts)
        add("swaymeter", dtype, ours, lambda number: everything)
        add("transformers", dtype, plain, sampled)
    if work == "next tokens" and "float32" in models:
        model = models["float32"]
        add("measureLM", "float32", lambda at: _published(model, [texts.flat[position] for position in at]), sampled)
    for (name, dtype), address in servers.items():
        if name == "vLLM" or work != "given answers":
            # Long prompts (`sample` is 1) share a prefix. vLLM reads it once; it therefore gets all prompts.
            ask = _of_server(work, name, address, next(iter(models.values())), texts)
            add(name, dtype, ask, (lambda number: everything) if name == "vLLM" and sample == 1 else sampled)
    return sides


def _of_model(work: str, model: LanguageModel, texts: Texts) -> tuple[Compute, Compute]:
    """Return the functions of the engine, which does the work for all prompts, and of plain transformers."""
    flat = texts.flat
    answers = tokenize(model, [f" {answer}" for answer in GIVEN], start_token=False)

    def ours(positions: list[int]) -> NDArray[Any]:
        if work == "next tokens":
            by_query = model.next_token_by_query(texts.prompts)
            return _ones(sum(len(distributions.log_probs()) for _, distributions in by_query), positions)
        if work == "sampled answers":
            names = [(str(at),) for at in positions]
            options: Any = {"samples": SAMPLES, "max_new_tokens": TOKENS, "form": "chat"}
            return _ones(len(model.sample_answers([flat[at] for at in positions], names, **options)), positions)
        scored = model.complete_answers(
            texts.contexts, texts.queries, GIVEN, terminators=["\n", "."], prompts=texts.prompts
        )
        return _ones(float(scored[0].sum()), positions)

    def plain(positions: list[int]) -> NDArray[Any]:
        if work == "next tokens":
            logits = torch.cat([read_equal(model, [flat[at]]) for at in positions])
            return _ones(len(torch.log_softmax(logits.float(), dim=1)), positions)
        if work == "sampled answers":
            return _ones(sum(_generated(model, flat[at]) for at in positions), positions)
        return _ones(sum(_given(model, flat[at], answer) for at in positions for answer in answers), positions)

    return ours, plain


def _ones(done: float, positions: Sequence[object]) -> NDArray[Any]:
    """Return a row for each place, because sides are only timed; `done` is a result of the work and must be finite."""
    assert np.isfinite(done)
    return np.ones((len(positions), 1))


@torch.inference_mode()
def _generated(model: LanguageModel, prompt: Sequence[int]) -> int:
    """Write the greedy reply and the sampled replies with `generate`, and return their number."""
    ends, ids = sorted(end_tokens(model)), torch.tensor([list(prompt)])
    options = {"attention_mask": torch.ones_like(ids), "max_new_tokens": TOKENS, "eos_token_id": ends}
    replies = 0
    for decoding in (
        {"do_sample": False},
        {"do_sample": True, "temperature": 0.5, "top_k": 0, "num_return_sequences": SAMPLES},
    ):
        replies += len(cast(Any, model.model).generate(ids, pad_token_id=ends[0], **options, **decoding))
    return replies


@torch.inference_mode()
def _given(model: LanguageModel, prompt: Sequence[int], answer: Sequence[int]) -> float:
    """Return the log-probability of an answer after a prompt, in nats."""
    ids = torch.tensor([[*prompt, *answer]])
    logits = model.model(input_ids=ids, use_cache=False, logits_to_keep=len(answer) + 1).logits[0, :-1]
    return float(torch.log_softmax(logits.float(), dim=1)[range(len(answer)), list(answer)].sum())


def _published(model: LanguageModel, prompts: list[Sequence[int]]) -> NDArray[Any]:
    """Read the next tokens as measureLM does."""
    at_once = 1 if max(map(len, prompts)) > LONG else ways.PUBLISHED_BATCH
    parts = [ways.last_of_all(model, prompts[start : start + at_once]) for start in range(0, len(prompts), at_once)]
    return _ones(sum(map(len, parts)), prompts)


def _of_server(work: str, name: str, address: str, model: LanguageModel, texts: Texts) -> Compute:
    """Return the function that sends the requests of a work to a server."""
    http, answers = requests.Session(), tokenize(model, [f" {answer}" for answer in GIVEN], start_token=False)
    path, length = ("/completion", "n_predict") if name == "llama.cpp" else ("/v1/completions", "max_tokens")
    fields: dict[str, Any] = {"model": "smol"}
    if name == "llama.cpp":  # without these fields, its slots would keep the prompt of the call before
        fields = {"samplers": ["top_k", "top_p", "temperature"], "top_k": 0, "cache_prompt": False}
    calls = itertools.count()
    whole = {"logprobs": 1} if name == "vLLM" else {"n_probs": model.vocabulary_size}

    def bodies(prompt: list[int]) -> list[dict[str, Any]]:
        if work == "next tokens":
            return [{"prompt": prompt, length: 1, "temperature": 0.0, **whole}]
        if work == "given answers":
            return [{"prompt": [*prompt, *answer], length: 1, "prompt_logprobs": 0} for answer in answers]
        temperatures = [0.0] + SAMPLES * [0.5]
        log_probs = {"logprobs": 1} if name == "vLLM" else {"n_probs": 1}  # no seed: vLLM's CPU build can fail with one
        return [
            {"prompt": prompt, length: TOKENS, "temperature": temperature, "top_p": 1.0, **log_probs}
            for temperature in temperatures
        ]

    def ask(body: dict[str, Any]) -> int:
        reply = http.post(f"{address}{path}", json={**fields, **body}, timeout=3600)
        reply.raise_for_status()
        return len(reply.json())

    def compute(positions: list[int]) -> NDArray[Any]:
        if name == "vLLM":  # a prefix is shared within a call, and not with the call before
            fields["cache_salt"] = str(next(calls))
        with ThreadPoolExecutor(2 if name == "llama.cpp" else 64) as pool:  # the server has 2 slots; vLLM batches all
            all_bodies = [body for at in positions for body in bodies(list(texts.flat[at]))]
            return _ones(sum(pool.map(ask, all_bodies)), positions)

    return compute


def _setting(
    work: str,
    texts: Texts,
    side: Side,
    sides: dict[str, Side],
    models: dict[str, LanguageModel],
    ceilings: dict[str, float],
) -> dict[str, Any]:
    """Return the row of a side for the JSON file."""
    name, dtype = side.name.split(", ")
    # The work for one prompt: distributions, replies or scored answers.
    items = {"next tokens": 1, "sampled answers": 1 + SAMPLES, "given answers": len(GIVEN)}[work]
    engine_dtype = dtype if dtype in models else next(iter(models))  # llama.cpp's weights have another number format
    operations = _operations(models[engine_dtype], texts, work)
    return {
        "work": work,
        "tokens": texts.tokens,
        "dtype": dtype,
        "side": name,
        "a_second": items / side.median,
        "over_this": times(side, sides[f"swaymeter, {engine_dtype}"]),
        "share_of_ceiling": operations / side.median / 1e9 / ceilings[engine_dtype] if dtype in ceilings else None,
    }


def _operations(model: LanguageModel, texts: Texts, work: str) -> float:
    """Return the operations of the work for a prompt if each pass reads the whole prompt by itself.

    On average, a token attends to half of the prompt's tokens.
    """
    config = model.model.config.get_text_config()
    embedding = config.vocab_size * config.hidden_size
    length, passes, read = texts.tokens, 1, 1
    if work == "given answers":
        passes, read = len(GIVEN), 4  # logits are read at about 4 positions of an answer
    if work == "sampled answers":
        length, passes, read = length + TOKENS, 1 + SAMPLES, TOKENS
    inside = 2 * (model.parameters - embedding) * length + 2 * config.num_hidden_layers * config.hidden_size * length**2
    return float(passes * (inside + 2 * embedding * read))


def _cells(entry: dict[str, Any]) -> list[str]:
    share = "" if entry["share_of_ceiling"] is None else f"{entry['share_of_ceiling']:.2f}"
    return [
        entry["work"],
        str(entry["tokens"]),
        entry["dtype"],
        entry["side"],
        f"{entry['a_second']:.3g}",
        f"{entry['over_this']:.2f}",
        share,
    ]


if __name__ == "__main__":
    main()
