"""Prompts a second of the engine against two plain ways, and how far their scores lie apart.

    engine         swaymeter.tasks.scoring.persuasion: every shared prefix computed once; all queries in every round
    published      padded batches of 32 whole prompts in the order given, logits at every position, softmax and
                   logarithms in numpy, float32
    best plain     sorted by length, logits of the last token only, in the engine's dtype, its scores as the engine's

The plain ways, which share nothing between queries, read the queries of a few other entities in each round. A prompt is
a context before a query, tokenising included. Without options: SmolLM2-135M-Instruct on the CPU, 20 entities x 6
contexts before 20 x 4 queries.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks import ways, workload
from benchmarks.machine import multiplication, this_machine
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.next_token.by_query import engine
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.persuasion import persuasion

FORMS = len(workload.FORMS)
REFERENCE = "float32"
DTYPES = (REFERENCE, "bfloat16", "float16")
COLUMNS = (
    "entities", "prompts", "dtype", "engine, prompts/s", "published", "best plain", "engine / published",
    "engine / best plain", "persuasion apart, nats", "susceptibility apart, nats",
)  # fmt: skip


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    dtypes = list(dict.fromkeys(asked.dtype))
    models = {
        dtype: load_language_model(asked.model, dtype=dtype, device=asked.device) for dtype in (REFERENCE, *dtypes)
    }
    device = models[REFERENCE].device
    before = {dtype: multiplication(dtype, device, asked.size) for dtype in dtypes}
    settings, agreement = [], {}
    for entities in asked.entities:
        print(f"{entities} entities, {asked.model} on {device}", flush=True)
        sides = _sides(models, dtypes, entities, min(asked.sample, entities), asked.plain_batch)
        interleaved(list(sides.values()), asked.rounds)
        settings += [_setting(models[dtype], sides, dtype, entities) for dtype in dtypes]
        if {REFERENCE, "bfloat16"} <= set(dtypes):
            agreement[str(entities)] = _agreement(sides, entities)
    after = {dtype: multiplication(dtype, device, asked.size) for dtype in dtypes}
    calibration = {dtype: {"before": before[dtype], "after": after[dtype], "size": asked.size} for dtype in dtypes}
    machine = this_machine(device)
    notes = [_calibrated(calibration), _sampled(settings), *_agreed(agreement)]
    table = Table(f"{asked.model}, {machine.name}", COLUMNS, [_cells(one) for one in settings], notes)
    measured = {
        "model": asked.model,
        "device": device,
        "rounds": asked.rounds,
        "plain_batch": asked.plain_batch,
        "gflops": calibration,
        "settings": settings,
        "spearman_of_bfloat16": agreement,
    }
    publish("next_token", machine, [table], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--entities", type=int, nargs="+", default=[20], help="such as 5 10 20 40; by default 20")
    parser.add_argument(
        "--dtype", nargs="+", default=["float32", "bfloat16"], choices=["float32", "bfloat16", "float16"]
    )
    parser.add_argument("--model", default=MODEL, help="an alias of the catalog, a folder or a hub id")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=3, help="entities whose queries the plain ways read in a round")
    parser.add_argument("--plain-batch", type=int, help="prompts that the best plain way reads at once")
    asked = parser.parse_args()
    asked.size = 2048 if asked.device == "cpu" else 8192
    asked.plain_batch = asked.plain_batch or (32 if asked.device == "cpu" else 256)
    if asked.quick:
        asked.entities, asked.rounds, asked.sample, asked.size = [2], 1, 1, 128
    return asked


def _sides(
    models: dict[str, LanguageModel], dtypes: Sequence[str], entities: int, sample: int, batch: int
) -> dict[str, Side]:
    contexts, queries = workload.texts().contexts(entities), workload.texts().queries(entities)

    def everything(number: int) -> list[int]:
        return list(range(len(queries)))

    def some(number: int) -> list[int]:
        chosen = [(number * sample + place) % entities for place in range(sample)]
        return [entity * FORMS + form for entity in chosen for form in range(FORMS)]

    def by_engine(model: LanguageModel) -> Callable[[list[int]], ways.Scores]:
        return lambda places: persuasion(model, contexts, [queries[place] for place in places]).scores

    def by_prompt(model: LanguageModel, way: Callable[..., ways.Scores], **options: int) -> Callable[..., ways.Scores]:
        return lambda places: way(model, tokenized_prompts(model, contexts, [queries[p] for p in places]), **options)

    sides = [Side("published", by_prompt(models[REFERENCE], ways.published), some)]
    for dtype in dtypes:
        plain = by_prompt(models[dtype], ways.best_plain, batch=batch)
        sides += [
            Side(f"engine {dtype}", by_engine(models[dtype]), everything),
            Side(f"best plain {dtype}", plain, some),
        ]
    return {side.name: side for side in sides}


def _setting(model: LanguageModel, sides: dict[str, Side], dtype: str, entities: int) -> dict[str, Any]:
    contexts, queries = len(workload.texts().contexts(entities)), entities * FORMS
    fast, published, plain = sides[f"engine {dtype}"], sides["published"], sides[f"best plain {dtype}"]
    places = sorted(plain.found)
    apart = np.abs(fast.rows(places) - plain.rows(places))
    apart_of_queries = np.abs(fast.rows(places).mean(axis=1) - plain.rows(places).mean(axis=1))
    return {
        "entities": entities,
        "contexts": contexts,
        "queries": queries,
        "dtype": dtype,
        "engine": engine(model, []),
        "prompts_a_second": {
            "engine": [contexts / seconds for seconds in fast.seconds],
            "published": [contexts / seconds for seconds in published.seconds],
            "best_plain": [contexts / seconds for seconds in plain.seconds],
        },
        "engine_over_published": times(published, fast),
        "engine_over_best_plain": times(plain, fast),
        "share_of_queries_read_plainly": len(places) / queries,
        "largest_difference": {"persuasion": float(apart.max()), "susceptibility": float(apart_of_queries.max())},
    }


def _agreement(sides: dict[str, Side], entities: int) -> float:
    places = range(entities * FORMS)
    of_dtype = [sides[f"engine {dtype}"].rows(places).mean(axis=1) for dtype in (REFERENCE, "bfloat16")]
    return float(spearmanr(*of_dtype).statistic)


def _cells(setting: dict[str, Any]) -> list[str]:
    rates, apart = setting["prompts_a_second"], setting["largest_difference"]
    return [
        str(setting["entities"]),
        f"{setting['contexts']} x {setting['queries']}",
        setting["dtype"],
        *(f"{np.median(rates[side]):.0f}" for side in ("engine", "published", "best_plain")),
        f"{setting['engine_over_published']:.2f}",
        f"{setting['engine_over_best_plain']:.2f}",
        f"{apart['persuasion']:.1e}",
        f"{apart['susceptibility']:.1e}",
    ]


def _calibrated(calibration: dict[str, dict[str, float]]) -> str:
    said = (f"{dtype} {one['before']:.0f} and {one['after']:.0f}" for dtype, one in calibration.items())
    size = next(iter(calibration.values()))["size"]
    return f"Product of two {size} x {size} matrices before and after, GFLOP/s: {'; '.join(said)}."


def _sampled(settings: Sequence[dict[str, Any]]) -> str:
    shares = ", ".join(f"{one['share_of_queries_read_plainly']:.0%}" for one in settings)
    return f"Share of the queries that the plain ways read over all rounds, setting by setting: {shares}."


def _agreed(agreement: dict[str, float]) -> list[str]:
    if not agreement:
        return []
    said = "; ".join(f"{entities} entities {value:.4f}" for entities, value in agreement.items())
    return [f"Spearman correlation of susceptibility in bfloat16 with float32: {said}."]


if __name__ == "__main__":
    main()
