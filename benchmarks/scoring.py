"""Scored prompts per second of the engine and of two plain ways, on a CPU or a GPU.

    engine       swaymeter.tasks.scoring.persuasion: every shared prefix is computed once
    published    padded batches of 32 whole prompts in the given order, logits at every position, numpy
    best plain   prompts sorted by length, logits of the last token only, scores computed as by the engine

Prompts are the token ids of the workload. The engine reads all queries, and the plain ways read a few in each round.
The bundled model is the default on a CPU. A shape, such as llama-3-8b, is a network with random weights that are made
on the device: it needs no files and no tokenizer.

    python benchmarks/scoring.py                              the bundled model on the CPU, about 10 minutes on 2 cores
    PYTHONPATH=. python benchmarks/scoring.py --device cuda   two shapes in bfloat16, a few minutes

A multiplication with a weight counts as 2 operations. Each token of a pass is multiplied with all weights outside of
the embedding matrices. A token whose logits are read is also multiplied with the output matrix. Attention is not
counted.
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
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.next_token import shared
from swaymeter.tasks.models.next_token.by_query import engine, next_token_by_query
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain

FORMS = len(workload.FORMS)
PUBLISHED_QUERIES = 122 * 100 * 4
"""Queries of the published studies: 122 relations, 100 entities, 4 forms."""
# By the number of contexts: the number of entities that they are about, and an entity's number of contexts by type.
CONTEXTS = {128: (32, {"base": 4}), 256: (32, {"base": 8}), 600: (100, workload.TWO_OF_EACH)}
SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "vocab_size": 512,
    "initializer_range": 0.2,
}
"""Settings of a small network, for --quick."""
CHECKED = 8
"""Number of queries whose distributions are compared with a plain pass."""
COLUMNS = (
    "model",
    "dtype",
    "contexts",
    "engine, prompts/s",
    "published",
    "best plain",
    "engine / published",
    "engine / best plain",
    "TFLOP/s",
    "of the ceiling",
    "KL from plain, nats",
    "mean persuasion",
    f"{PUBLISHED_QUERIES:,} queries",
)

Prompts = Sequence[Sequence[Sequence[int]]]


def pythia_6_9b(small: bool) -> GPTNeoXForCausalLM:
    """Make a network in the shape of Pythia-6.9b, or a small one of its family."""
    shape: dict[str, Any] = {
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "vocab_size": 50432,
        "max_position_embeddings": 2048,
        "use_parallel_residual": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.25},
    }
    return GPTNeoXForCausalLM(GPTNeoXConfig(**shape | (SMALL if small else {})))


def llama_3_8b(small: bool) -> LlamaForCausalLM:
    """Make a network in the shape of Llama-3-8B, or a small one of its family."""
    shape: dict[str, Any] = {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
        "max_position_embeddings": 8192,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
    }
    return LlamaForCausalLM(LlamaConfig(**shape | (SMALL if small else {})))


SHAPES: dict[str, Callable[[bool], Any]] = {"pythia-6.9b": pythia_6_9b, "llama-3-8b": llama_3_8b}


def main() -> None:
    """Measure, print and write."""
    options = _options()
    settings, notes = [], []
    for dtype in options.dtype:
        ceiling = multiplication(dtype, options.device, options.size) / 1000
        for name in options.models:
            model = _model(name, dtype, options)
            for contexts in options.contexts:
                print(f"{name} in {dtype}, {contexts} contexts, {options.entities} entities", flush=True)
                settings.append(_setting(model, contexts, ceiling, options))
            del model
            if options.device != "cpu":
                torch.cuda.empty_cache()
        after = multiplication(dtype, options.device, options.size) / 1000
        notes.append(
            f"Ceiling in {dtype}: the product of two {options.size} x {options.size} matrices, {ceiling:.4g} TFLOP/s "
            f"before and {after:.4g} after."
        )
    notes.append("Last column: the published studies, 122 relations x 100 entities x 4 forms, at the engine's pace.")
    machine = this_machine(options.device)
    measured = {
        "device": options.device,
        "entities": options.entities,
        "rounds": options.rounds,
        "sample": options.sample,
        "tokens_a_pass": shared.TOKENS_PER_PASS[torch.device(options.device).type],
        "memory": options.memory,
        "plain_batch": options.plain_batch,
        "settings": settings,
    }
    publish("scoring", machine, [Table(machine.name, COLUMNS, list(map(_cells, settings)), notes)], measured, options)


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--models", nargs="+", help=f"{MODEL}, {' or '.join(SHAPES)}; by default those of the device")
    parser.add_argument("--contexts", type=int, nargs="+", choices=list(CONTEXTS), help="before each query")
    parser.add_argument("--entities", type=int, help="4 queries each; 100 are a whole relation; by default 20 on a CPU")
    parser.add_argument("--rounds", type=int, default=4, help="parts that the queries are done in")
    parser.add_argument("--sample", type=int, default=2, help="queries that the plain ways read in a round")
    parser.add_argument("--dtype", nargs="+", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--memory", type=int, help="the engine's budget in bytes")
    parser.add_argument("--tokens-a-pass", type=int, help="about how many tokens the engine reads in one pass")
    parser.add_argument("--plain-batch", type=int, default=256, help="prompts that the best plain way reads at once")
    options = parser.parse_args()
    kind = torch.device(options.device).type
    if kind == "cuda" and not torch.cuda.is_available():
        raise SystemExit("this machine has no CUDA device; --device cpu runs anywhere")
    is_cpu = kind == "cpu"
    options.models = options.models or ([MODEL] if is_cpu else list(SHAPES))
    options.dtype = options.dtype or (["float32", "bfloat16"] if is_cpu else ["bfloat16"])
    options.contexts = options.contexts or ([128] if is_cpu else list(CONTEXTS))
    options.entities = options.entities or (20 if is_cpu else 100)
    options.size = 2048 if is_cpu else 8192
    if options.quick:
        options.entities, options.rounds, options.size = 4, 2, 128
    options.rounds = min(options.rounds, options.entities)
    if options.tokens_a_pass:
        shared.TOKENS_PER_PASS[kind] = options.tokens_a_pass
    return options


def _model(name: str, dtype: str, options: argparse.Namespace) -> LanguageModel:
    if name in SHAPES:
        return random_model(name, dtype, options.device, small=options.quick)
    return load_language_model(name, dtype=dtype, device=options.device)


def random_model(shape: str, dtype: str, device: str, *, small: bool = False) -> LanguageModel:
    """Make a network with random weights on a device; it has no tokenizer."""
    torch.manual_seed(0)
    with _default_dtype(getattr(torch, dtype)), torch.device(device):
        network = SHAPES[shape](small)
    return LanguageModel(network, cast(Any, None), shape, "random", dtype, device)


@contextlib.contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _setting(model: LanguageModel, contexts: int, ceiling: float, options: argparse.Namespace) -> dict[str, Any]:
    """Measure the three ways on a model and a number of contexts; return the numbers for the JSON file.

    Args:
        model: The model.
        contexts: Number of contexts before each query.
        ceiling: Speed of a matrix product in TFLOP/s.
        options: Options of the command.
    """
    prompts = _prompts(model, contexts, options.entities)
    largest_kl = _largest_kl(model, prompts, options.memory)
    operations: list[int] = []
    peaks: list[int] = []
    baseline = memory_in_use(model.device)

    def places(number: int) -> list[int]:
        """Return the places of the queries of a round, all queries of some entities."""
        return [
            entity * FORMS + form for entity in range(number, options.entities, options.rounds) for form in range(FORMS)
        ]

    def sampled_places(number: int) -> list[int]:
        return places(number)[: options.sample]

    def by_engine(queries: list[int]) -> ways.Scores:
        forget_peak(model.device)
        with _operations(model) as operations_of_passes:
            scores = ways.by_engine(model, _of_queries(prompts, queries), options.memory)
        operations.append(sum(operations_of_passes))
        peaks.append(peak_memory(model.device))
        return scores

    def as_published(queries: list[int]) -> ways.Scores:
        return ways.published(model, _of_queries(prompts, queries))

    def best_plain(queries: list[int]) -> ways.Scores:
        return ways.best_plain(model, _of_queries(prompts, queries), options.plain_batch)

    fast, published = Side("engine", by_engine, places), Side("published", as_published, sampled_places)
    plain = Side("best plain", best_plain, sampled_places)
    interleaved([fast, published, plain], options.rounds)
    round_seconds = [len(places(number)) * seconds for number, seconds in enumerate(fast.seconds)]
    # The first count of operations belongs to the query that was not timed.
    pairs = zip(operations[1:], round_seconds, strict=True)
    reached = statistics.median(count / seconds / 1e12 for count, seconds in pairs)
    return {
        "model": model.name,
        "dtype": model.dtype,
        "ceiling_tflops": ceiling,
        "engine": engine(model, prompts),
        "contexts": contexts,
        "queries": options.entities * FORMS,
        "prompts_a_second": {
            "engine": [contexts / seconds for seconds in fast.seconds],
            "published": [contexts / seconds for seconds in published.seconds],
            "best_plain": [contexts / seconds for seconds in plain.seconds],
        },
        "engine_over_published": times(published, fast),
        "engine_over_best_plain": times(plain, fast),
        "tflops": reached,
        "share_of_ceiling": reached / ceiling,
        "kl_from_plain": largest_kl,
        "mean_persuasion": float(fast.rows(sorted(fast.found)).mean()),
        "seconds_of_published_queries": PUBLISHED_QUERIES * fast.median,
        "baseline_memory": baseline,
        "peak_memory": max(peaks),
    }


def _prompts(model: LanguageModel, contexts: int, entities: int) -> list[list[list[int]]]:
    """Return the prompts as tokens, [context][query], for queries about the first entities."""
    prompts = workload.token_ids(model.model.config.vocab_size)
    context_entities, per_kind = CONTEXTS[contexts]
    queries = prompts.queries(entities)
    return [[context + query for query in queries] for context in prompts.contexts(context_entities, per_kind)]


def _of_queries(prompts: Prompts, places: Sequence[int]) -> Prompts:
    """Return the prompts of the queries at these places."""
    return [[context_prompts[place] for place in places] for context_prompts in prompts]


def _largest_kl(model: LanguageModel, prompts: Prompts, memory: int | None) -> float:
    """Return the largest KL(plain || engine) over CHECKED queries and all contexts."""
    queries = len(prompts[0])
    checked = _of_queries(prompts, [round(place * (queries - 1) / (CHECKED - 1)) for place in range(CHECKED)])
    largest = 0.0
    for place, distributions in next_token_by_query(model, checked, memory=memory):
        plain = Distributions.of(read_plain(model, [context_prompts[place] for context_prompts in checked])).log_probs()
        largest = max(largest, float((plain.exp() * (plain - distributions.log_probs())).sum(dim=1).max()))
    return largest


@contextlib.contextmanager
def _operations(model: LanguageModel) -> Iterator[list[int]]:
    """Yield a list to which each forward pass adds the number of its floating-point operations."""
    network, operations = model.model, []
    outputs = cast(torch.Tensor, network.get_output_embeddings().weight).numel()
    body = sum(weights.numel() for weights in network.parameters()) - outputs
    body -= cast(torch.Tensor, network.get_input_embeddings().weight).numel()

    def count(module: Any, inputs: Any, options: dict[str, Any]) -> None:
        (rows, tokens), to_keep = options["input_ids"].shape, options["logits_to_keep"]
        outputs_read = to_keep if isinstance(to_keep, int) else len(to_keep)
        operations.append(2 * rows * (tokens * body + outputs_read * outputs))

    hook = network.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield operations
    finally:
        hook.remove()


def _cells(setting: dict[str, Any]) -> list[str]:
    return [
        setting["model"],
        setting["dtype"],
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
