"""Seconds a query of Fisher susceptibility against Monte Carlo susceptibility, and how well the two agree.

    Fisher         the 10 most probable answers exactly; and the whole vocabulary, unbiased, with 64 draws
    Monte Carlo    persuasion with 128 and with 256 base contexts, 4 and 8 of them relevant to a query, as Liu et al.
                   2024 have it: by the engine, and for some queries in the published way

The contexts are 4 and 8 about each of 32 entities, so that one set serves all their queries. In each of the rounds, all
sides but the published one do the same part of the queries; all rounds together do them all.
"""

import argparse
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from benchmarks import ways, workload
from benchmarks.machine import multiplication, this_machine
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.persuasion import persuasion

FORMS = len(workload.FORMS)
TOP_K, DRAWS = 10, 64
FISHER = (f"Fisher, top {TOP_K}", f"Fisher, {DRAWS} draws")
RELEVANT = (4, 8)
SPEED = ("side", "contexts", "seconds a query", f"times {FISHER[0]}", f"times {FISHER[1]}")
AGREEMENT = ("Fisher", "contexts", "queries", "n", "Pearson", "Spearman")


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    model = load_language_model(asked.model, dtype=asked.dtype, device=asked.device)
    before = multiplication(asked.dtype, model.device, asked.size)
    sides = _sides(model, asked.entities, asked.rounds)
    interleaved(list(sides.values()), asked.rounds)
    after = multiplication(asked.dtype, model.device, asked.size)
    machine = this_machine(model.device)
    counts = [each * asked.entities for each in RELEVANT]
    agreement = [
        _agreement(sides, *which, asked.entities) for which in product(FISHER, counts, ("open", "closed", "all"))
    ]
    speed = [
        {
            "side": side.name,
            "seconds_a_query": side.seconds,
            "over_fisher_top_k": times(side, sides[FISHER[0]]),
            "over_fisher_draws": times(side, sides[FISHER[1]]),
        }
        for side in sides.values()
    ]
    title = f"{asked.model} in {asked.dtype}, {machine.name}"
    notes = [
        f"{asked.entities * FORMS} queries; medians of {asked.rounds} rounds, which share the queries out.",
        f"Product of two {asked.size} x {asked.size} matrices before and after: {before:.0f} and {after:.0f} GFLOP/s.",
    ]
    tables = [
        Table(f"Speed: {title}", SPEED, [_speed_cells(sides, side) for side in sides.values()], notes),
        Table(f"Agreement: {title}", AGREEMENT, [_agreement_cells(one) for one in agreement]),
    ]
    measured = {
        "model": asked.model,
        "dtype": asked.dtype,
        "device": model.device,
        "rounds": asked.rounds,
        "entities": asked.entities,
        "gflops": {"before": before, "after": after, "size": asked.size},
        "speed": speed,
        "agreement": agreement,
    }
    publish(f"fisher-{asked.dtype}", machine, tables, measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--entities", type=int, default=32, help="4 and 8 contexts and 4 queries each; by default 32")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--model", default=MODEL, help="an alias of the catalog, a folder or a hub id")
    parser.add_argument("--rounds", type=int, default=4, help="parts that the queries are done in")
    asked = parser.parse_args()
    asked.size = 2048 if asked.device == "cpu" else 8192
    if asked.quick:
        asked.entities, asked.rounds, asked.size = 3, 1, 128
    asked.rounds = min(asked.rounds, asked.entities)
    return asked


def _sides(model: LanguageModel, entities: int, rounds: int) -> dict[str, Side]:
    queries = workload.texts().queries(entities)

    def part(number: int) -> list[int]:
        return [entity * FORMS + form for entity in range(number, entities, rounds) for form in range(FORMS)]

    def one_of_each_type(number: int) -> list[int]:
        return part(number)[:FORMS:2]

    def by_fisher(top_k: int | None) -> Callable[[list[int]], NDArray[np.float64]]:
        def compute(places: list[int]) -> NDArray[np.float64]:
            asked = [queries[place] for place in places]
            return fisher_susceptibility(model, asked, top_k=top_k, draws=DRAWS, exact=TOP_K).trace

        return compute

    def by_engine(contexts: list[str]) -> Callable[[list[int]], NDArray[np.float64]]:
        return lambda places: persuasion(model, contexts, [queries[place] for place in places]).susceptibility

    def as_published(contexts: list[str]) -> Callable[[list[int]], NDArray[np.float64]]:
        def compute(places: list[int]) -> NDArray[np.float64]:
            prompts = tokenized_prompts(model, contexts, [queries[place] for place in places])
            found: NDArray[np.float64] = ways.published(model, prompts).mean(axis=1)
            return found

        return compute

    sides = [Side(FISHER[0], by_fisher(TOP_K), part), Side(FISHER[1], by_fisher(None), part)]
    for each in RELEVANT:
        contexts = workload.texts().contexts(entities, {"base": each})
        sides.append(Side(_engine(len(contexts)), by_engine(contexts), part))
        sides.append(Side(f"published, {len(contexts)} contexts", as_published(contexts), one_of_each_type))
    return {side.name: side for side in sides}


def _engine(contexts: int) -> str:
    return f"engine, {contexts} contexts"


def _agreement(sides: dict[str, Side], fisher: str, contexts: int, queries: str, entities: int) -> dict[str, Any]:
    places = [place for place in range(entities * FORMS) if queries in ("all", workload.FORMS[place % FORMS])]
    a, b = sides[fisher].rows(places), sides[_engine(contexts)].rows(places)
    return {
        "fisher": fisher,
        "contexts": contexts,
        "queries": queries,
        "n": len(places),
        "pearson": float(pearsonr(a, b).statistic),
        "spearman": float(spearmanr(a, b).statistic),
    }


def _speed_cells(sides: dict[str, Side], side: Side) -> list[str]:
    name, _, contexts = side.name.partition(", ")
    shown = (side.name, "") if side.name in FISHER else (name, contexts.partition(" ")[0])
    return [*shown, f"{side.median:.3g}", *(f"{times(side, sides[fisher]):.2f}" for fisher in FISHER)]


def _agreement_cells(one: dict[str, Any]) -> Sequence[str]:
    return [
        *(str(one[key]) for key in ("fisher", "contexts", "queries", "n")),
        f"{one['pearson']:.3f}",
        f"{one['spearman']:.3f}",
    ]


if __name__ == "__main__":
    main()
