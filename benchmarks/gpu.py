"""The engine on a GPU at the shapes of published models, with random weights; the time of published studies with it.

Needs no weights and no tokenizer: networks are made on the device, prompts are the workload's token ids. Measured are
the engine against the plain forward pass (KL), its prompts a second against two plain ways (ways.py), the ceiling of a
matrix multiplication and the share of it that the engine reaches; from these the time of 122 relations x 100 entities
x 4 forms.

Operations are counted as 2 x the weights that a token meets: all but the two embedding matrices for each token of a
pass, the output matrix for each token whose logits are asked for. Attention itself is not counted.

    PYTHONPATH=. python benchmarks/gpu.py               both shapes, bfloat16, CUDA
    python benchmarks/gpu.py --small --device cpu       to see that it runs; its figures mean nothing
"""

import argparse
import contextlib
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, LlamaConfig, LlamaForCausalLM

from benchmarks import ways, workload
from benchmarks.machine import forget_peak, memory_in_use, multiplication, peak_memory, this_machine
from benchmarks.measuring import Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.next_token import shared
from swaymeter.tasks.models.next_token.by_query import engine, next_token_by_query
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain

FORMS = len(workload.FORMS)
PUBLISHED_QUERIES = 122 * 100 * 4
# How many contexts stand before every query: as entities and contexts of each kind about each of them.
CONTEXTS = {128: (32, {"base": 4}), 256: (32, {"base": 8}), 600: (100, workload.TWO_OF_EACH)}
SMALL: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 8, "vocab_size": 512,
    "initializer_range": 0.2,
}  # fmt: skip
CHECKED = 8
COLUMNS = (
    "shape", "contexts", "engine, prompts/s", "published", "best plain", "engine / published", "engine / best plain",
    "TFLOP/s", "of the ceiling", "KL from plain, nats", "mean persuasion", f"{PUBLISHED_QUERIES:,} queries",
)  # fmt: skip

Prompts = Sequence[Sequence[Sequence[int]]]


def pythia_6_9b(small: bool) -> GPTNeoXForCausalLM:
    """A network in the shape of Pythia-6.9b; small: of its kind alone."""
    shape: dict[str, Any] = {
        "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 32, "num_attention_heads": 32,
        "vocab_size": 50432, "max_position_embeddings": 2048, "use_parallel_residual": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.25},
    }  # fmt: skip
    return GPTNeoXForCausalLM(GPTNeoXConfig(**shape | (SMALL if small else {})))


def llama_3_8b(small: bool) -> LlamaForCausalLM:
    """A network in the shape of Llama-3-8B; small: of its kind alone."""
    shape: dict[str, Any] = {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
    }  # fmt: skip
    return LlamaForCausalLM(LlamaConfig(**shape | (SMALL if small else {})))


SHAPES: dict[str, Callable[[bool], Any]] = {"pythia-6.9b": pythia_6_9b, "llama-3-8b": llama_3_8b}


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    ceiling = multiplication(asked.dtype, asked.device, asked.size) / 1000
    settings = []
    for shape in asked.shapes:
        model = random_model(shape, asked)
        for contexts in asked.contexts:
            print(f"{shape}, {contexts} contexts, {asked.entities} entities", flush=True)
            settings.append(_setting(model, contexts, ceiling, asked))
        del model
        if asked.device != "cpu":
            torch.cuda.empty_cache()
    after = multiplication(asked.dtype, asked.device, asked.size) / 1000
    machine = this_machine(asked.device)
    notes = [
        f"Random weights in {asked.dtype}. Ceiling: the product of two {asked.size} x {asked.size} matrices, "
        f"{ceiling:.4g} TFLOP/s before and {after:.4g} after.",
        "Last column: the published studies, 122 relations x 100 entities x 4 forms, at the engine's measured pace.",
    ]
    table = Table(machine.name, COLUMNS, [_cells(one) for one in settings], notes)
    measured = {
        "dtype": asked.dtype,
        "device": asked.device,
        "entities": asked.entities,
        "rounds": asked.rounds,
        "sample": asked.sample,
        "tokens_a_pass": shared.TOKENS_PER_PASS[torch.device(asked.device).type],
        "memory": asked.memory,
        "plain_batch": asked.plain_batch,
        "ceiling_tflops": {"before": ceiling, "after": after, "size": asked.size},
        "settings": settings,
    }
    publish("gpu", machine, [table], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__, device="cuda")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--contexts", type=int, nargs="+", default=list(CONTEXTS), choices=list(CONTEXTS))
    parser.add_argument("--entities", type=int, default=100, help="4 queries each; 100 are a whole relation")
    parser.add_argument("--rounds", type=int, default=4, help="parts that the queries are done in")
    parser.add_argument("--sample", type=int, default=2, help="queries that the plain ways read in a round")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--memory", type=int, help="the engine's budget in bytes")
    parser.add_argument("--tokens-a-pass", type=int, help="about how many tokens the engine reads in one pass")
    parser.add_argument("--plain-batch", type=int, default=256, help="prompts that the best plain way reads at once")
    asked = parser.parse_args()
    asked.size = 8192
    if asked.quick:
        asked.entities, asked.rounds, asked.size = 4, 2, 128
    asked.rounds = min(asked.rounds, asked.entities)
    kind = torch.device(asked.device).type
    if kind == "cuda" and not torch.cuda.is_available():
        raise SystemExit("this machine has no CUDA device; --small --device cpu runs anywhere")
    if asked.tokens_a_pass:
        shared.TOKENS_PER_PASS[kind] = asked.tokens_a_pass
    return asked


def random_model(shape: str, asked: argparse.Namespace) -> LanguageModel:
    """A network with random weights, made where and as it is to compute; it has no tokenizer."""
    torch.manual_seed(0)
    with _made_as(getattr(torch, asked.dtype)), torch.device(asked.device):
        network = SHAPES[shape](asked.quick)
    return LanguageModel(network, cast(Any, None), shape, "random", asked.dtype, asked.device)


@contextlib.contextmanager
def _made_as(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _setting(model: LanguageModel, contexts: int, ceiling: float, asked: argparse.Namespace) -> dict[str, Any]:
    prompts = _prompts(model, contexts, asked.entities)
    apart = _apart(model, prompts, asked.memory)
    operations: list[int] = []
    peaks: list[int] = []
    baseline = memory_in_use(model.device)

    def part(number: int) -> list[int]:
        return [
            entity * FORMS + form for entity in range(number, asked.entities, asked.rounds) for form in range(FORMS)
        ]

    def some(number: int) -> list[int]:
        return part(number)[: asked.sample]

    def by_engine(places: list[int]) -> ways.Scores:
        forget_peak(model.device)
        with _operations(model) as counted:
            scores = ways.by_engine(model, _of_queries(prompts, places), asked.memory)
        operations.append(sum(counted))
        peaks.append(peak_memory(model.device))
        return scores

    def as_published(places: list[int]) -> ways.Scores:
        return ways.published(model, _of_queries(prompts, places))

    def best_plain(places: list[int]) -> ways.Scores:
        return ways.best_plain(model, _of_queries(prompts, places), asked.plain_batch)

    fast, published = Side("engine", by_engine, part), Side("published", as_published, some)
    plain = Side("best plain", best_plain, some)
    interleaved([fast, published, plain], asked.rounds)
    in_round = [len(part(number)) * seconds for number, seconds in enumerate(fast.seconds)]
    # The first count is of the query that was not timed.
    reached = statistics.median(count / seconds / 1e12 for count, seconds in zip(operations[1:], in_round, strict=True))
    return {
        "shape": model.name,
        "engine": engine(model, prompts),
        "contexts": contexts,
        "queries": asked.entities * FORMS,
        "prompts_a_second": {
            "engine": [contexts / seconds for seconds in fast.seconds],
            "published": [contexts / seconds for seconds in published.seconds],
            "best_plain": [contexts / seconds for seconds in plain.seconds],
        },
        "engine_over_published": times(published, fast),
        "engine_over_best_plain": times(plain, fast),
        "tflops": reached,
        "share_of_ceiling": reached / ceiling,
        "kl_from_plain": apart,
        "mean_persuasion": float(fast.rows(sorted(fast.found)).mean()),
        "seconds_of_published_queries": PUBLISHED_QUERIES * fast.median,
        "baseline_memory": baseline,
        "peak_memory": max(peaks),
    }


def _prompts(model: LanguageModel, contexts: int, entities: int) -> list[list[list[int]]]:
    prompts = workload.token_ids(model.model.config.vocab_size)
    about, per_kind = CONTEXTS[contexts]
    queries = prompts.queries(entities)
    return [[context + query for query in queries] for context in prompts.contexts(about, per_kind)]


def _of_queries(prompts: Prompts, places: Sequence[int]) -> Prompts:
    return [[of_context[place] for place in places] for of_context in prompts]


def _apart(model: LanguageModel, prompts: Prompts, memory: int | None) -> float:
    """The largest KL(plain || engine) over some of the queries, one of them last of all, and all contexts."""
    queries = len(prompts[0])
    some = _of_queries(prompts, [round(place * (queries - 1) / (CHECKED - 1)) for place in range(CHECKED)])
    largest = 0.0
    for place, found in next_token_by_query(model, some, memory=memory):
        plain = Distributions.of(read_plain(model, [of_context[place] for of_context in some])).log_probs()
        largest = max(largest, float((plain.exp() * (plain - found.log_probs())).sum(dim=1).max()))
    return largest


@contextlib.contextmanager
def _operations(model: LanguageModel) -> Iterator[list[int]]:
    """The floating-point operations of each forward pass within."""
    network, counted = model.model, []
    outputs = cast(torch.Tensor, network.get_output_embeddings().weight).numel()
    body = sum(weights.numel() for weights in network.parameters()) - outputs
    body -= cast(torch.Tensor, network.get_input_embeddings().weight).numel()

    def count(module: Any, inputs: Any, options: dict[str, Any]) -> None:
        (rows, tokens), kept = options["input_ids"].shape, options["logits_to_keep"]
        asked_for = kept if isinstance(kept, int) else len(kept)
        counted.append(2 * rows * (tokens * body + asked_for * outputs))

    hook = network.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield counted
    finally:
        hook.remove()


def _cells(setting: dict[str, Any]) -> list[str]:
    return [
        setting["shape"],
        str(setting["contexts"]),
        *(f"{statistics.median(rates):.0f}" for rates in setting["prompts_a_second"].values()),
        f"{setting['engine_over_published']:.2f}",
        f"{setting['engine_over_best_plain']:.2f}",
        f"{setting['tflops']:.3g}",
        f"{setting['share_of_ceiling']:.0%}",
        f"{setting['kl_from_plain']:.1e}",
        f"{setting['mean_persuasion']:.1e}",
        f"{setting['seconds_of_published_queries'] / 60:.3g} min",
    ]


if __name__ == "__main__":
    main()
